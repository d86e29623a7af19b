//! What the names of release files say.

use std::path::Path;

use tofu_oci_types::Version;

use crate::PackError;

/// What every package and every executable is named after.
pub(super) const PREFIX: &str = "terraform-provider-";

/// The parts of `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PackageName<'a> {
    pub(super) provider_type: &'a str,
    pub(super) version: &'a str,
    /// `OS_ARCH`, as it is written.
    pub(super) platform: String,
}

/// The parts of a zip's name; `None` if it has another form.
pub(super) fn package_name(name: &str) -> Option<PackageName<'_>> {
    let rest = name.strip_prefix(PREFIX)?.strip_suffix(".zip")?;
    // `x86_64` is the one usual architecture name with an underscore: it is taken as a whole, so that the error names it.
    let (rest, arch) = match rest.strip_suffix("_x86_64") {
        Some(rest) => (rest, "x86_64"),
        None => rest.rsplit_once('_')?,
    };
    let (rest, os) = rest.rsplit_once('_')?;
    let (provider_type, version) = rest.split_once('_')?;
    let parts = [provider_type, version, os, arch];
    parts.iter().all(|part| !part.is_empty()).then(|| PackageName {
        provider_type,
        version,
        platform: format!("{os}_{arch}"),
    })
}

/// Provider type and version in the name of an executable: `terraform-provider-TYPE[_vVERSION[_xN]][.exe]`.
pub(super) fn executable_name(name: &str) -> Option<(&str, Option<Version>)> {
    let rest = name.strip_prefix(PREFIX)?;
    let rest = rest.strip_suffix(".exe").unwrap_or(rest);
    let end = rest.find(['_', '.']).unwrap_or(rest.len());
    let (provider_type, rest) = rest.split_at(end);
    let version = rest.strip_prefix("_v").map(|rest| rest.split('_').next().unwrap_or(rest));
    (!provider_type.is_empty()).then(|| (provider_type, version.and_then(|version| version.parse().ok())))
}

/// The version in a file's name or a metadata file.
pub(super) fn version(text: &str, path: &Path) -> Result<Version, PackError> {
    text.parse().map_err(|source| PackError::InvalidVersion {
        found: text.to_owned(),
        path: path.to_owned(),
        source: Box::new(source),
        meant: text.strip_prefix(['v', 'V']).and_then(|rest| rest.parse().ok()).map(Box::new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: Option<(&str, &str, &str)>) {
        let found = package_name(name);
        let found = found.as_ref().map(|name| (name.provider_type, name.version, name.platform.as_str()));
        assert_eq!(found, want, "{name}");
    }

    #[test]
    fn takes_package_names_apart() {
        check("terraform-provider-zap_1.4.0_linux_amd64.zip", Some(("zap", "1.4.0", "linux_amd64")));
        check(
            "terraform-provider-google-beta_1.4.0-rc.1_darwin_arm64.zip",
            Some(("google-beta", "1.4.0-rc.1", "darwin_arm64")),
        );
        check("terraform-provider-zap_v1.4.0_linux_amd64.zip", Some(("zap", "v1.4.0", "linux_amd64")));
        check("terraform-provider-zap_1.4.0_linux_x86_64.zip", Some(("zap", "1.4.0", "linux_x86_64")));
        check("terraform-provider-zap_1.4.0_linux.zip", None);
        check("terraform-provider-zap__linux_amd64.zip", None);
        check("zap_1.4.0_linux_amd64.zip", None);
        check("terraform-provider-zap_1.4.0_linux_amd64.tar.gz", None);
    }

    #[track_caller]
    fn check_executable(name: &str, want: Option<(&str, Option<&str>)>) {
        let found =
            executable_name(name).map(|(provider_type, version)| (provider_type, version.map(|v| v.to_string())));
        assert_eq!(found, want.map(|(provider_type, version)| (provider_type, version.map(str::to_owned))), "{name}");
    }

    #[test]
    fn takes_executable_names_apart() {
        check_executable("terraform-provider-zap", Some(("zap", None)));
        check_executable("terraform-provider-zap.exe", Some(("zap", None)));
        check_executable("terraform-provider-zap_v1.4.0", Some(("zap", Some("1.4.0"))));
        check_executable("terraform-provider-zap_v1.4.0_x5.exe", Some(("zap", Some("1.4.0"))));
        check_executable("README.md", None);
    }
}

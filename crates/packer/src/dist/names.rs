//! What the names of release files say.

use std::path::Path;

use tofu_oci_types::Version;

use crate::PackError;

/// What every package and every executable is named after.
pub(super) const PREFIX: &str = "terraform-provider-";

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
    let is_number = |text: &&str| text.starts_with(|first: char| first.is_ascii_digit());
    let number = text.strip_prefix('v').filter(is_number).unwrap_or(text);
    number.parse().map_err(|source| PackError::InvalidVersion {
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

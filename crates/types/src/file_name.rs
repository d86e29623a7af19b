//! What the archives and checksums of a release are called, by every origin registry, mirror and build.
//!
//! Spec: `OpenTofu` 1.12, provider registry protocol, "filename"; seed 001.

use crate::{Platform, ProviderAddr, Version};

/// The name of the archive of one platform: `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
pub fn zip_name(address: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", address.provider_type())
}

/// The name of the checksums of a release: `terraform-provider-TYPE_VERSION_SHA256SUMS`.
pub fn sums_name(address: &ProviderAddr, version: &Version) -> String {
    format!("terraform-provider-{}_{version}_SHA256SUMS", address.provider_type())
}

/// What the name of an archive says: `terraform-provider-TYPE_VERSION_OS_ARCH.zip`, in which builds also write `v1.2.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZipName<'a> {
    pub provider_type: &'a str,
    /// The version, without a `v` before it; it need not be one.
    pub version: &'a str,
    /// What it says of the platform, for [`platforms_of_build`](crate::platforms_of_build).
    pub platform: &'a str,
}

impl<'a> ZipName<'a> {
    /// The parts of a name; `None` if it has another form.
    pub fn parse(name: &'a str) -> Option<Self> {
        let rest = name.strip_prefix("terraform-provider-")?.strip_suffix(".zip")?;
        let (provider_type, rest) = rest.split_once('_')?;
        let (version, platform) = rest.split_once('_')?;
        let is_number = |text: &&str| text.starts_with(|first: char| first.is_ascii_digit());
        let version = version.strip_prefix('v').filter(is_number).unwrap_or(version);
        let (os, arch) = platform.split_once('_')?;
        let parts = [provider_type, version, os, arch];
        parts.iter().all(|part| !part.is_empty()).then_some(Self { provider_type, version, platform })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_version_as_it_is_written() {
        let (address, version) = ("example.com/acme/zap".parse().unwrap(), "1.2.0+b.1".parse().unwrap());
        let platform = "linux_amd64".parse().unwrap();
        assert_eq!(zip_name(&address, &version, &platform), "terraform-provider-zap_1.2.0+b.1_linux_amd64.zip");
        assert_eq!(sums_name(&address, &version), "terraform-provider-zap_1.2.0+b.1_SHA256SUMS");
    }

    #[track_caller]
    fn check(name: &str, want: Option<(&str, &str, &str)>) {
        let found = ZipName::parse(name).map(|name| (name.provider_type, name.version, name.platform));
        assert_eq!(found, want, "{name}");
    }

    #[test]
    fn takes_names_of_archives_apart() {
        check("terraform-provider-zap_1.4.0_linux_amd64.zip", Some(("zap", "1.4.0", "linux_amd64")));
        check(
            "terraform-provider-google-beta_1.4.0-rc.1_darwin_arm64.zip",
            Some(("google-beta", "1.4.0-rc.1", "darwin_arm64")),
        );
        check("terraform-provider-zap_v1.4.0_linux_amd64.zip", Some(("zap", "1.4.0", "linux_amd64")));
        check("terraform-provider-zap_vault_linux_amd64.zip", Some(("zap", "vault", "linux_amd64")));
        check("terraform-provider-zap_1.4.0_Linux_x86_64.zip", Some(("zap", "1.4.0", "Linux_x86_64")));
        check("terraform-provider-zap_1.4.0_linux_mips_softfloat.zip", Some(("zap", "1.4.0", "linux_mips_softfloat")));
        check("terraform-provider-zap_1.4.0_linux.zip", None);
        check("terraform-provider-zap__linux_amd64.zip", None);
        check("zap_1.4.0_linux_amd64.zip", None);
        check("terraform-provider-zap_1.4.0_linux_amd64.tar.gz", None);
    }
}

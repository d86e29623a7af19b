//! The names of a release's files, as every origin registry, mirror and build uses them.
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
}

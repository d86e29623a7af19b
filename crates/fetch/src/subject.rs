//! How events name a package.

use tofu_oci_types::{Platform, ProviderAddr, Version};

/// The subject of a package's events: `HOST/NS/TYPE VERSION OS_ARCH`.
pub fn subject(address: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("{address} {version} {platform}")
}

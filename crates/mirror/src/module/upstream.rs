//! Where modules come from.

use async_trait::async_trait;
use tofu_oci_source::{MethodOpener, ModuleError, ModuleLocation, ModulePackage};
use tofu_oci_types::{ModuleAddr, Version};

/// What answers for the modules of registries, and opens locations.
#[async_trait]
pub trait ModuleUpstream: Send + Sync {
    /// The versions that the registry of the address lists, ascending.
    ///
    /// # Errors
    /// If the registry does not know the module or cannot be asked.
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError>;

    /// Whether there is nothing beyond it: a bundle at a site without a network.
    fn is_closed(&self) -> bool {
        false
    }

    /// The package that the registry names for a version. Its bytes are not fetched yet.
    ///
    /// # Errors
    /// If the registry names no location that tofu-oci fetches from.
    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError>;

    /// The package at a location.
    ///
    /// # Errors
    /// If it cannot be opened.
    async fn package_at(&self, location: &ModuleLocation) -> Result<ModulePackage, ModuleError>;
}

#[async_trait]
impl ModuleUpstream for MethodOpener {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        Ok(self.module_registry(address.hostname()).await?.versions(address).await?.versions)
    }

    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError> {
        let location = self.module_registry(address.hostname()).await?.locate(address, version).await?;
        self.module_package(&location).await
    }

    async fn package_at(&self, location: &ModuleLocation) -> Result<ModulePackage, ModuleError> {
        self.module_package(location).await
    }
}

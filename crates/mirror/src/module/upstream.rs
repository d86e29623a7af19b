//! Where modules come from.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_source::{GitProgram, MethodOpener, ModuleError, ModuleLocation, ModulePackage};
use tofu_oci_types::{ModuleAddr, Version};

use super::pick::NamedPackage;

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

    /// The package that the user names.
    ///
    /// # Errors
    /// If it cannot be opened.
    async fn package_at(&self, named: &NamedPackage) -> Result<ModulePackage, ModuleError>;
}

/// The registries of the hosts, and the repositories that they or the user name.
pub struct HostedModules {
    /// What asks hosts for their services.
    pub opener: MethodOpener,
    /// What runs git.
    pub git: Arc<dyn GitProgram>,
}

#[async_trait]
impl ModuleUpstream for HostedModules {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        Ok(self.opener.module_registry(address.hostname()).await?.versions(address).await?.versions)
    }

    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError> {
        let location = self.opener.module_registry(address.hostname()).await?.locate(address, version).await?;
        self.opener.module_package(&location, Arc::clone(&self.git)).await
    }

    async fn package_at(&self, named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        match named {
            NamedPackage::Oci(source) => {
                let location = ModuleLocation::Oci(source.clone());
                self.opener.module_package(&location, Arc::clone(&self.git)).await
            }
            NamedPackage::Git(source) => Ok(self.opener.git_package(source, Arc::clone(&self.git))),
        }
    }
}

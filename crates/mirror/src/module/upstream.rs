//! Where modules come from.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_source::{GitProgram, Listing, MethodOpener, ModuleError, ModuleLocation, ModulePackage};
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Hostname, ModuleAddr, Place, ProviderAddr, Reference, Subdir, Tag, Version};

use super::pick::NamedPackage;
use crate::OpenStore;

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

    /// Whether the registry of a module may be asked because a module of `caller` calls it.
    ///
    /// # Errors
    /// If it is nearer than the host of the caller.
    async fn admit(&self, caller: &Hostname, address: &ModuleAddr) -> Result<(), ModuleError> {
        let _ = (caller, address);
        Ok(())
    }

    /// The same for a provider that a module of `caller` requires.
    ///
    /// # Errors
    /// If the registry is nearer than the host of the caller.
    async fn admit_provider(&self, caller: &Hostname, provider: &ProviderAddr) -> Result<(), ModuleError> {
        let _ = (caller, provider);
        Ok(())
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
    pub git: Arc<dyn GitProgram>,
}

#[async_trait]
impl ModuleUpstream for HostedModules {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        Ok(self.opener.module_registry(address.hostname()).await?.versions(address).await?.versions)
    }

    async fn admit(&self, caller: &Hostname, address: &ModuleAddr) -> Result<(), ModuleError> {
        Ok(self.opener.admit_called(caller, address.hostname()).await?)
    }

    async fn admit_provider(&self, caller: &Hostname, provider: &ProviderAddr) -> Result<(), ModuleError> {
        Ok(self.opener.admit_required(caller, provider).await?)
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

/// The repositories that a mapping keeps modules in; the modules that no rule is for come from elsewhere.
pub struct MappedModules {
    pub mirrors: ModuleMirrors,
    /// What opens its repositories.
    pub open: OpenStore,
    /// Where all other modules come from.
    pub others: HostedModules,
}

impl MappedModules {
    /// The repository of a module; `None` if no rule is for it, or its rule gives no repository.
    fn repository(&self, address: &ModuleAddr) -> Result<Option<Arc<dyn ReadStore>>, ModuleError> {
        let place = self.mirrors.of(address).and_then(|mirror| mirror.place(address).ok());
        let Some(place) = place.map(Place::from) else { return Ok(None) };
        let store: Arc<dyn ReadStore> = (self.open)(&place)?;
        Ok(Some(store))
    }
}

#[async_trait]
impl ModuleUpstream for MappedModules {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        match self.repository(address)? {
            Some(store) => Ok(Listing::in_store(&*store, &store.tags().await?).await?.versions),
            None => self.others.versions(address).await,
        }
    }

    async fn admit(&self, caller: &Hostname, address: &ModuleAddr) -> Result<(), ModuleError> {
        match self.repository(address)? {
            Some(_) => Ok(()),
            None => self.others.admit(caller, address).await,
        }
    }

    async fn admit_provider(&self, caller: &Hostname, provider: &ProviderAddr) -> Result<(), ModuleError> {
        self.others.admit_provider(caller, provider).await
    }

    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError> {
        let Some(store) = self.repository(address)? else { return self.others.package(address, version).await };
        let Ok(tag) = Tag::for_version(version) else {
            let (address, version) = (address.clone(), version.clone());
            return Err(ModuleError::VersionMissing { address, version, place: store.place() });
        };
        ModulePackage::of_store(store, &Reference::Tag(tag), Subdir::root()).await
    }

    async fn package_at(&self, named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        self.others.package_at(named).await
    }
}

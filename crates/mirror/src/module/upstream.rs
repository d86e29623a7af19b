//! Where modules come from.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_mapper::{ModuleMirrors, ModuleRepositories};
use tofu_oci_source::{GitProgram, Listing, LocationAccess, MethodOpener, ModuleError, ModuleLocation, ModulePackage};
use tofu_oci_store::{ReadStore, StoreError};
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

    /// Where these are listed.
    fn place(&self, address: &ModuleAddr) -> Place {
        Place::from(address.hostname())
    }

    /// Whether there is nothing beyond it: a bundle at a site without a network.
    fn is_closed(&self) -> bool {
        false
    }

    /// Whether it knows modules by the folders of repositories: a version that lacks its folder has no such module.
    fn knows_by_folder(&self) -> bool {
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

/// The registries of the hosts, and the repositories that they or the user name. What a registry names is read without a login: it
/// comes to a place that others read, and the registry could name whatever the logins read.
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
        self.opener.module_package(&location, LocationAccess::Anonymous, Arc::clone(&self.git)).await
    }

    async fn package_at(&self, named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        match named {
            NamedPackage::Oci(source) => {
                let location = ModuleLocation::Oci(source.clone());
                self.opener.module_package(&location, LocationAccess::User, Arc::clone(&self.git)).await
            }
            NamedPackage::Git(source) => {
                Ok(self.opener.git_package(source, Arc::clone(&self.git), LocationAccess::User))
            }
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
            Some(store) => versions_in(&*store).await,
            None => self.others.versions(address).await,
        }
    }

    fn place(&self, address: &ModuleAddr) -> Place {
        match self.repository(address) {
            Ok(Some(store)) => store.place(),
            _ => self.others.place(address),
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
        match self.repository(address)? {
            Some(store) => package_in(store, address, version).await,
            None => self.others.package(address, version).await,
        }
    }

    async fn package_at(&self, named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        self.others.package_at(named).await
    }
}

/// Upstreams in order. The first one that lists a version of a module answers for it; one that fails ends the question.
pub struct ModuleChain(pub Vec<Box<dyn ModuleUpstream>>);

impl ModuleChain {
    /// What the first upstream lists that has a version of the module.
    pub(super) async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        let (mut unknown, mut is_known) = (None, false);
        for upstream in &self.0 {
            match upstream.versions(address).await {
                // It may hold what is remembered of the module, or what was withdrawn.
                Ok(versions) if versions.is_empty() => is_known = true,
                Ok(versions) => return Ok(versions),
                Err(error) if is_unknown(&error) => unknown = Some(error),
                Err(error) => return Err(error),
            }
        }
        if is_known {
            return Ok(Vec::new());
        }
        let place = || Place::Method(String::new());
        Err(unknown.unwrap_or_else(|| ModuleError::UnknownModule { address: address.clone(), place: place() }))
    }
}

/// The repositories that a template names.
pub struct StoredModules {
    pub repositories: ModuleRepositories,
    /// What opens them.
    pub open: OpenStore,
}

impl StoredModules {
    fn store(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleError> {
        // What has no repository here may have one elsewhere.
        let Ok(place) = self.repositories.place(address) else {
            let place = Place::Method(self.repositories.to_string());
            return Err(ModuleError::UnknownModule { address: address.clone(), place });
        };
        let store: Arc<dyn ReadStore> = (self.open)(&place.into())?;
        Ok(store)
    }
}

#[async_trait]
impl ModuleUpstream for StoredModules {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        versions_in(&*self.store(address)?).await
    }

    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError> {
        package_in(self.store(address)?, address, version).await
    }

    /// It has modules by their addresses alone.
    async fn package_at(&self, _named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        Err(StoreError::UnknownRepository { place: Place::Method(self.repositories.to_string()) }.into())
    }
}

/// Whether a place has answered that it does not have the module.
pub(super) fn is_unknown(error: &ModuleError) -> bool {
    matches!(error, ModuleError::UnknownModule { .. } | ModuleError::Store(StoreError::UnknownRepository { .. }))
}

/// The versions of the module that a repository holds.
pub(super) async fn versions_in(store: &dyn ReadStore) -> Result<Vec<Version>, ModuleError> {
    Ok(Listing::in_store(store, &store.tags().await?).await?.versions)
}

/// The package of a version in a repository.
pub(super) async fn package_in(
    store: Arc<dyn ReadStore>,
    address: &ModuleAddr,
    version: &Version,
) -> Result<ModulePackage, ModuleError> {
    let Ok(tag) = Tag::for_version(version) else {
        let (address, version) = (address.clone(), version.clone());
        return Err(ModuleError::VersionMissing { address, version, place: store.place() });
    };
    ModulePackage::of_store(store, &Reference::Tag(tag), Subdir::root()).await
}

//! Where modules are carried to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_mapper::{ModuleMirrors, ModuleRepositories};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_types::{ModuleAddr, Place, Reporter, RepositoryRef};

use super::error::ModuleMirrorError;
use crate::OpenStore;

/// A place of the user's that modules are carried to.
#[async_trait]
pub trait ModuleDestination: Send + Sync {
    /// What is written to, for a module.
    ///
    /// # Errors
    /// [`ModuleMirrorError::NoMirror`] and [`ModuleMirrorError::SharedRepository`].
    fn store(&self, address: &ModuleAddr) -> Result<Arc<dyn Store>, ModuleMirrorError>;

    /// Where a module goes.
    ///
    /// # Errors
    /// As [`ModuleDestination::store`].
    fn place(&self, address: &ModuleAddr) -> Result<Place, ModuleMirrorError> {
        Ok(self.store(address)?.place())
    }

    /// What may have versions of the module before the run; usually what is written to.
    ///
    /// # Errors
    /// As [`ModuleDestination::store`], and if it cannot be opened.
    async fn before(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleMirrorError>;

    /// Whether a repository is one of the destination's.
    fn holds(&self, repository: &RepositoryRef) -> bool;

    /// After all modules: a bundle is written here, and nothing else is done.
    ///
    /// # Errors
    /// If it cannot be written; then the file that was there is unchanged.
    async fn finish(&self, reporter: &dyn Reporter) -> Result<(), ModuleMirrorError>;
}

/// Repositories of registries and image layouts, as a mapping names them.
pub struct MappedModuleRepositories {
    mirrors: ModuleMirrors,
    open: OpenStore,
    opened: Mutex<HashMap<Place, ModuleRepository>>,
}

#[derive(Clone)]
struct ModuleRepository {
    address: ModuleAddr,
    store: Arc<dyn Store>,
}

impl MappedModuleRepositories {
    /// Nothing is opened yet.
    pub fn new(mirrors: ModuleMirrors, open: OpenStore) -> Self {
        Self { mirrors, open, opened: Mutex::default() }
    }
}

#[async_trait]
impl ModuleDestination for MappedModuleRepositories {
    fn store(&self, address: &ModuleAddr) -> Result<Arc<dyn Store>, ModuleMirrorError> {
        let Some(mirror) = self.mirrors.of(address) else {
            return Err(ModuleMirrorError::NoMirror { address: address.clone() });
        };
        let place = mirror.place(address)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let repository = if let Some(known) = opened.get(&place) {
            known.clone()
        } else {
            let repository = ModuleRepository { address: address.clone(), store: (self.open)(&place)? };
            opened.insert(place.clone(), repository.clone());
            repository
        };
        if repository.address != *address {
            let (first, second) = (Box::new(repository.address), Box::new(address.clone()));
            return Err(ModuleMirrorError::SharedRepository { place, first, second });
        }
        Ok(repository.store)
    }

    async fn before(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleMirrorError> {
        let store: Arc<dyn ReadStore> = self.store(address)?;
        Ok(store)
    }

    /// By what the templates begin with, before their first variable.
    fn holds(&self, repository: &RepositoryRef) -> bool {
        let name = repository.to_string();
        self.mirrors.mirrors().iter().any(|mirror| match &mirror.repositories {
            ModuleRepositories::Registry(template) => {
                let start = template.as_str().split("${").next().unwrap_or_default();
                start.contains('/') && name.starts_with(start)
            }
            ModuleRepositories::Layouts(_) => false,
        })
    }

    async fn finish(&self, _reporter: &dyn Reporter) -> Result<(), ModuleMirrorError> {
        Ok(())
    }
}

//! Where modules are carried to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_mapper::{ModuleMirrors, ModuleRepositories};
use tofu_oci_source::{Listing, ModulePackage};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_types::{ModuleAddr, Place, Predecessors, Reference, Reporter, RepositoryRef, Subdir, Tag};
use tokio::sync::OnceCell;

use super::error::ModuleMirrorError;
use crate::OpenStore;

/// How many of the newest versions of a repository are asked which module they are.
const LOOKED_INTO: usize = 2;

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

    /// The module that the packages of the module's repository say they are, as it was before the run; `None` if none says so,
    /// or the repository is named by the module itself.
    ///
    /// # Errors
    /// As [`ModuleDestination::store`].
    async fn kept_for(&self, _address: &ModuleAddr) -> Result<Option<ModuleAddr>, ModuleMirrorError> {
        Ok(None)
    }

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
    predecessors: Predecessors,
    opened: Mutex<HashMap<Place, ModuleRepository>>,
}

#[derive(Clone)]
struct ModuleRepository {
    address: ModuleAddr,
    store: Arc<dyn Store>,
    kept: Arc<OnceCell<Option<ModuleAddr>>>,
}

impl MappedModuleRepositories {
    /// Nothing is opened yet.
    pub fn new(mirrors: ModuleMirrors, open: OpenStore) -> Self {
        Self { mirrors, open, predecessors: Predecessors::default(), opened: Mutex::default() }
    }

    /// The same, in which a module and its predecessor may share a repository.
    #[must_use]
    pub fn shared_by(self, predecessors: Predecessors) -> Self {
        Self { predecessors, ..self }
    }

    fn place_of(&self, address: &ModuleAddr) -> Result<Place, ModuleMirrorError> {
        match self.mirrors.of(address) {
            Some(mirror) => Ok(mirror.place(address)?.into()),
            None => Err(ModuleMirrorError::NoMirror { address: address.clone() }),
        }
    }

    fn repository(&self, address: &ModuleAddr) -> Result<ModuleRepository, ModuleMirrorError> {
        let place = self.place_of(address)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let repository = if let Some(known) = opened.get(&place) {
            known.clone()
        } else {
            let (store, kept) = ((self.open)(&place)?, Arc::default());
            let repository = ModuleRepository { address: address.clone(), store, kept };
            opened.insert(place.clone(), repository.clone());
            repository
        };
        if !self.predecessors.same_module(&repository.address, address) {
            let (first, second) = (Box::new(repository.address), Box::new(address.clone()));
            return Err(ModuleMirrorError::SharedRepository { place, first, second });
        }
        Ok(repository)
    }
}

#[async_trait]
impl ModuleDestination for MappedModuleRepositories {
    fn store(&self, address: &ModuleAddr) -> Result<Arc<dyn Store>, ModuleMirrorError> {
        Ok(self.repository(address)?.store)
    }

    async fn before(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleMirrorError> {
        let store: Arc<dyn ReadStore> = self.store(address)?;
        Ok(store)
    }

    async fn kept_for(&self, address: &ModuleAddr) -> Result<Option<ModuleAddr>, ModuleMirrorError> {
        let ModuleRepository { store, kept, .. } = self.repository(address)?;
        let place = self.place_of(address)?;
        let recorded = kept.get_or_init(|| recorded_in(store)).await.clone();
        // A package that was copied from elsewhere may say that it is a module that never goes to this repository.
        Ok(recorded.filter(|kept| self.place_of(kept).is_ok_and(|own| own == place)))
    }

    /// By the texts of the templates around their variables.
    fn holds(&self, repository: &RepositoryRef) -> bool {
        let name = repository.to_string();
        self.mirrors.mirrors().iter().any(|mirror| match &mirror.repositories {
            ModuleRepositories::Registry(template) => could_be_of(template.as_str(), &name),
            ModuleRepositories::Layouts(_) => false,
        })
    }

    async fn finish(&self, _reporter: &dyn Reporter) -> Result<(), ModuleMirrorError> {
        Ok(())
    }
}

/// The module that the newest versions of a repository say they are. What cannot be read says nothing.
async fn recorded_in(store: Arc<dyn Store>) -> Option<ModuleAddr> {
    let listing = Listing::of(&store.tags().await.ok()?);
    for version in listing.versions.iter().rev().take(LOOKED_INTO) {
        let reference = Reference::Tag(Tag::for_version(version).ok()?);
        let store: Arc<dyn ReadStore> = Arc::clone(&store) as _;
        let package = ModulePackage::of_store(store, &reference, Subdir::root()).await.ok();
        if let Some(kept) = package.as_ref().and_then(ModulePackage::published_as) {
            return Some(kept);
        }
    }
    None
}

/// Whether a template could give this repository: it has the texts around the variables in their order, and as many parts.
fn could_be_of(template: &str, repository: &str) -> bool {
    let mut pieces = template.split("${").enumerate().map(|(number, piece)| match number {
        0 => piece,
        _ => piece.split_once('}').map_or("", |(_, rest)| rest),
    });
    let slashes = |text: &str| text.matches('/').count();
    let (first, rest): (&str, Vec<&str>) = (pieces.next().unwrap_or_default(), pieces.collect());
    let all = slashes(first) + rest.iter().map(|piece| slashes(piece)).sum::<usize>();
    let Some(mut left) = repository.strip_prefix(first).filter(|_| slashes(repository) == all) else { return false };
    for (number, piece) in rest.iter().enumerate() {
        let is_last = number + 1 == rest.len();
        let at = if is_last && !piece.is_empty() { left.rfind(piece) } else { left.find(piece) };
        let Some(at) = at else { return false };
        left = &left[at + piece.len()..];
        if is_last && !piece.is_empty() {
            return left.is_empty();
        }
    }
    !rest.is_empty() || left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, repository: &str, want: bool) {
        assert_eq!(could_be_of(template, repository), want, "{template} {repository}");
    }

    #[test]
    fn a_repository_of_strangers_is_not_taken_for_one_of_the_template() {
        check("ghcr.io/acme/${name}-${target_system}", "ghcr.io/acme/network-aws", true);
        check("ghcr.io/acme/${name}-${target_system}", "ghcr.io/acme/network", false);
        check("ghcr.io/acme/${name}", "ghcr.io/evil/network", false);
        check("ghcr.io/${namespace}/m/${name}", "ghcr.io/acme/m/network", true);
        check("ghcr.io/${namespace}/m/${name}", "ghcr.io/acme/x/network", false);
        check("ghcr.io/${namespace}/m/${name}", "ghcr.io/acme/m/x/network", false);
        check("ghcr.io/m/${name}/end", "ghcr.io/m/network/end", true);
        check("ghcr.io/m/${name}/end", "ghcr.io/m/network/endless", false);
        check("ghcr.io/m", "ghcr.io/m", true);
        check("ghcr.io/m", "ghcr.io/mm", false);
    }
}

//! Where modules are carried to.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tofu_oci_mapper::{ModuleMirrors, ModuleRepositories};
use tofu_oci_source::{Listing, ModulePackage};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_types::{ModuleAddr, Place, Predecessors, Reference, Reporter, RepositoryRef, Subdir, Tag};
use tokio::sync::OnceCell;

use super::error::ModuleMirrorError;
use crate::OpenStore;
use crate::destination::first_seen::{record_module, recorded_modules};

/// How many of the newest versions of a repository are asked which module they are.
const LOOKED_INTO: usize = 2;

/// A place of the user's that modules are carried to.
#[async_trait]
pub trait ModuleDestination: Send + Sync {
    /// What is written to, for a module.
    ///
    /// # Errors
    /// As [`ModuleDestination::place`].
    fn store(&self, address: &ModuleAddr) -> Result<Arc<dyn Store>, ModuleMirrorError>;

    /// Where a module goes.
    ///
    /// # Errors
    /// [`ModuleMirrorError::NoMirror`].
    fn place(&self, address: &ModuleAddr) -> Result<Place, ModuleMirrorError>;

    /// The same, and from now on the place is for this module. Whoever calls it knows that there is such a module: a call that
    /// someone made up must not keep another module out. A bundle keeps all modules apart itself.
    ///
    /// # Errors
    /// As [`ModuleDestination::place`], and [`ModuleMirrorError::SharedRepository`] if the place is another module's.
    fn claim(&self, address: &ModuleAddr) -> Result<Place, ModuleMirrorError> {
        self.place(address)
    }

    /// What may have versions of the module before the run; usually what is written to.
    ///
    /// # Errors
    /// As [`ModuleDestination::place`], and if it cannot be opened.
    async fn before(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleMirrorError>;

    /// The module whose packages lie in the module's repository, as it was before the run: this one if it is among them, `None` if
    /// nothing says whose they are, or the repository is named by the module itself. Packages say it, and earlier runs have
    /// recorded it.
    ///
    /// # Errors
    /// As [`ModuleDestination::place`], and if the record cannot be read.
    async fn module_there(&self, _address: &ModuleAddr) -> Result<Option<ModuleAddr>, ModuleMirrorError> {
        Ok(None)
    }

    /// Records that packages of the module lie in its repository, and gives another module that a run at the same time has
    /// recorded. A bundle names its repositories by their modules, and records nothing.
    ///
    /// # Errors
    /// As [`ModuleDestination::place`], and if the record cannot be read or written.
    async fn record_module(&self, _address: &ModuleAddr) -> Result<Option<ModuleAddr>, ModuleMirrorError> {
        Ok(None)
    }

    /// Whether a repository is one of the destination's.
    fn holds(&self, repository: &RepositoryRef) -> bool;

    /// After all modules: a bundle is written here, and a folder is made to outlast a power cut.
    ///
    /// # Errors
    /// If it cannot be written; then the bundle that was there is unchanged.
    async fn finish(&self, reporter: &dyn Reporter) -> Result<(), ModuleMirrorError>;
}

/// Repositories of registries and image layouts, as a mapping names them.
pub struct MappedModuleRepositories {
    mirrors: ModuleMirrors,
    open: OpenStore,
    predecessors: Predecessors,
    claimed: Mutex<HashMap<Place, ModuleRepository>>,
    /// What was found in repositories.
    found: Mutex<HashMap<Place, FoundModules>>,
}

/// The modules of a repository before the run, asked for once.
type FoundModules = Arc<OnceCell<BTreeSet<ModuleAddr>>>;

#[derive(Clone)]
struct ModuleRepository {
    address: ModuleAddr,
    store: Arc<dyn Store>,
}

impl MappedModuleRepositories {
    /// Nothing is opened yet.
    pub fn new(mirrors: ModuleMirrors, open: OpenStore) -> Self {
        Self {
            mirrors,
            open,
            predecessors: Predecessors::default(),
            claimed: Mutex::default(),
            found: Mutex::default(),
        }
    }

    /// The same, in which a module and its predecessor may share a repository.
    #[must_use]
    pub fn shared_by(self, predecessors: Predecessors) -> Self {
        Self { predecessors, ..self }
    }

    /// The repository, opened. Only one that is claimed is kept open: anyone may call any module.
    fn repository(&self, address: &ModuleAddr) -> Result<ModuleRepository, ModuleMirrorError> {
        let place = self.place(address)?;
        match self.claimed().get(&place) {
            Some(known) => Ok(known.clone()),
            None => self.opened(address, &place),
        }
    }

    fn opened(&self, address: &ModuleAddr, place: &Place) -> Result<ModuleRepository, ModuleMirrorError> {
        Ok(ModuleRepository { address: address.clone(), store: (self.open)(place)? })
    }

    fn found(&self, address: &ModuleAddr) -> Result<FoundModules, ModuleMirrorError> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(found.entry(self.place(address)?).or_default()))
    }

    fn claimed(&self) -> MutexGuard<'_, HashMap<Place, ModuleRepository>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ModuleDestination for MappedModuleRepositories {
    fn place(&self, address: &ModuleAddr) -> Result<Place, ModuleMirrorError> {
        match self.mirrors.of(address) {
            Some(mirror) => Ok(mirror.place(address)?.into()),
            None => Err(ModuleMirrorError::NoMirror { address: address.clone() }),
        }
    }

    fn claim(&self, address: &ModuleAddr) -> Result<Place, ModuleMirrorError> {
        let place = self.place(address)?;
        let mut claimed = self.claimed();
        match claimed.get(&place) {
            Some(ModuleRepository { address: first, .. }) if !self.predecessors.same_module(first, address) => {
                let (first, second) = (Box::new(first.clone()), Box::new(address.clone()));
                return Err(ModuleMirrorError::SharedRepository { place, first, second });
            }
            Some(_) => {}
            None => drop(claimed.insert(place.clone(), self.opened(address, &place)?)),
        }
        Ok(place)
    }

    fn store(&self, address: &ModuleAddr) -> Result<Arc<dyn Store>, ModuleMirrorError> {
        Ok(self.repository(address)?.store)
    }

    async fn before(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleMirrorError> {
        let store: Arc<dyn ReadStore> = self.store(address)?;
        Ok(store)
    }

    async fn module_there(&self, address: &ModuleAddr) -> Result<Option<ModuleAddr>, ModuleMirrorError> {
        let store = self.repository(address)?.store;
        let modules = self.found(address)?;
        let modules = modules.get_or_try_init(|| modules_in(store)).await?;
        let own = modules.iter().find(|there| self.predecessors.same_module(there, address));
        Ok(own.or(modules.first()).cloned())
    }

    async fn record_module(&self, address: &ModuleAddr) -> Result<Option<ModuleAddr>, ModuleMirrorError> {
        let before = self.found(address)?.get().cloned().unwrap_or_default();
        let recorded = record_module(&*self.repository(address)?.store, address, &before).await?;
        let is_own = |module: &ModuleAddr| self.predecessors.same_module(module, address);
        Ok(recorded.into_iter().find(|module| !is_own(module) && !before.contains(module)))
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
        let stores: Vec<Arc<dyn Store>> = self.claimed().values().map(|claimed| Arc::clone(&claimed.store)).collect();
        for store in stores {
            store.persist().await?;
        }
        Ok(())
    }
}

/// The modules that earlier runs have recorded, and the one that the newest versions say they are. A package that cannot be read
/// says nothing.
async fn modules_in(store: Arc<dyn Store>) -> Result<BTreeSet<ModuleAddr>, ModuleMirrorError> {
    let tags = match store.tags().await {
        Ok(tags) => Some(tags),
        Err(error) if error.is_not_found() => Some(Vec::new()),
        Err(error) if error.is_transient() => return Err(error.into()),
        // Some registries list no tags, and have them.
        Err(_) => None,
    };
    let is_recorded = |tags: &Vec<Tag>| tags.iter().any(|tag| tag.as_str() == Tag::FIRST_SEEN);
    let mut modules =
        if tags.as_ref().is_none_or(is_recorded) { recorded_modules(&*store).await? } else { BTreeSet::new() };
    let listing = Listing::in_store(&*store, &tags.unwrap_or_default()).await?;
    for version in listing.versions.iter().rev().take(LOOKED_INTO) {
        let Ok(tag) = Tag::for_version(version) else { continue };
        let store: Arc<dyn ReadStore> = Arc::clone(&store) as _;
        let package = ModulePackage::of_store(store, &Reference::Tag(tag), Subdir::root()).await.ok();
        if let Some(said) = package.as_ref().and_then(ModulePackage::published_as) {
            modules.insert(said);
            break;
        }
    }
    Ok(modules)
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
    use tofu_oci_store::MemoryStore;

    use super::*;

    #[test]
    fn a_call_of_a_stranger_locks_no_module_of_the_user_out() {
        let open = |place: &Place| Ok(Arc::new(MemoryStore::new(place.clone())) as _);
        let template = "r.test/${namespace}/${name}/${target_system}".parse().unwrap();
        let repositories = MappedModuleRepositories::new(ModuleMirrors::everywhere(template), Arc::new(open));
        let (called, own): (ModuleAddr, ModuleAddr) =
            ("other.test/acme/net/aws".parse().unwrap(), "registry.example.com/acme/net/aws".parse().unwrap());
        assert_eq!(repositories.place(&called).unwrap(), repositories.place(&own).unwrap());
        repositories.store(&called).unwrap();
        repositories.claim(&own).unwrap();
        assert_eq!(repositories.claim(&called).unwrap_err().code(), "shared-repository");
        repositories.store(&called).unwrap();
    }

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

//! Repositories of modules, each asked once for everything.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use tofu_oci_source::{Listing, ModuleError, ModulePackage, module_notice, withdrawal};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::{NoticeReason, VersionOf};
use tofu_oci_types::{Digest, Place, Reference, RepositoryRef, Subdir, Tag, Version};
use tokio::sync::OnceCell;

/// How many versions are compared with a digest whose version is not known.
const MOST_COMPARED: usize = 100;
/// How many of them are asked for at a time.
const COMPARED_AT_ONCE: usize = 4;

/// Repositories of modules. What was asked is remembered, as long as this lives.
#[derive(Default)]
pub struct AskedRepositories(BTreeMap<RepositoryRef, AskedRepository>);

impl AskedRepositories {
    /// Adds a repository, unless it is there.
    pub fn insert(&mut self, repository: RepositoryRef, store: Arc<dyn ReadStore>) {
        self.0.entry(repository).or_insert_with(|| AskedRepository::new(store));
    }

    /// Whether a repository is there.
    pub fn has(&self, repository: &RepositoryRef) -> bool {
        self.0.contains_key(repository)
    }

    /// The repository. The caller adds every one that its requests name.
    pub(super) fn get(&self, repository: &RepositoryRef) -> &AskedRepository {
        self.0.get(repository).expect("the caller has added the repository of each request")
    }
}

type AskedOnce<T, E> = Arc<OnceCell<Result<T, E>>>;

/// A repository, and what it has answered.
pub(super) struct AskedRepository {
    store: Arc<dyn ReadStore>,
    listing: OnceCell<Result<Arc<Listing>, StoreError>>,
    packages: Mutex<BTreeMap<String, AskedOnce<Arc<ModulePackage>, ModuleError>>>,
    digests: Mutex<BTreeMap<Tag, AskedOnce<Option<Digest>, StoreError>>>,
}

impl AskedRepository {
    fn new(store: Arc<dyn ReadStore>) -> Self {
        Self { store, listing: OnceCell::new(), packages: Mutex::default(), digests: Mutex::default() }
    }

    pub(super) fn place(&self) -> Place {
        self.store.place()
    }

    /// Its versions, and those that were withdrawn or deprecated.
    pub(super) async fn listing(&self) -> Result<Arc<Listing>, StoreError> {
        let ask = || async {
            let tags = self.store.tags().await?;
            Ok(Arc::new(Listing::in_store(&*self.store, &tags).await?))
        };
        self.listing.get_or_init(ask).await.clone()
    }

    /// Why a version was withdrawn, unverified; `None` if it was not, or the reason cannot be read.
    pub(super) async fn withdrawal(&self, version: &Version) -> Option<NoticeReason> {
        Some(withdrawal(&*self.store, &VersionOf::Module, version).await?.reason)
    }

    /// Why its publisher calls a version deprecated now, unverified; `None` if it does not. A notice is read only if a tag
    /// names one.
    pub(super) async fn deprecation(&self, version: &Version) -> Result<Option<NoticeReason>, StoreError> {
        if !self.listing().await?.deprecated.contains(version) {
            return Ok(None);
        }
        Ok(module_notice(&*self.store, version).await.map(|notice| notice.reason))
    }

    /// The module package of a tag or digest; its manifest is read.
    pub(super) async fn package(&self, reference: &Reference) -> Result<Arc<ModulePackage>, ModuleError> {
        let cell = cell(&self.packages, reference.to_string());
        let ask = || async {
            ModulePackage::of_store(Arc::clone(&self.store), reference, Subdir::root()).await.map(Arc::new)
        };
        cell.get_or_init(ask).await.clone()
    }

    /// What a tag names; `None` if there is no such tag.
    pub(super) async fn digest(&self, tag: &Tag) -> Result<Option<Digest>, StoreError> {
        let cell = cell(&self.digests, tag.clone());
        let ask = || async {
            match self.store.resolve(&Reference::Tag(tag.clone())).await {
                Ok(found) => Ok(Some(found.digest)),
                Err(error) if error.is_not_found() => Ok(None),
                Err(error) => Err(error),
            }
        };
        cell.get_or_init(ask).await.clone()
    }

    /// The newest version whose tag names this package; `None` if none of the newest 100 does. The version that the package
    /// says it is comes first.
    pub(super) async fn tag_of(&self, digest: &Digest, claimed: Option<&Version>) -> Result<Option<Tag>, StoreError> {
        if let Some(tag) = claimed.and_then(|version| Tag::for_version(version).ok())
            && self.digest(&tag).await?.as_ref() == Some(digest)
        {
            return Ok(Some(tag));
        }
        let listing = self.listing().await?;
        let newest = listing.versions.iter().rev().take(MOST_COMPARED);
        let tags = newest.filter_map(|version| Tag::for_version(version).ok());
        let asked = tags.map(|tag| async move { self.digest(&tag).await.map(|found| (tag, found)) });
        let mut asked = futures_util::stream::iter(asked).buffered(COMPARED_AT_ONCE);
        while let Some(answer) = asked.next().await {
            let (tag, found) = answer?;
            if found.as_ref() == Some(digest) {
                return Ok(Some(tag));
            }
        }
        Ok(None)
    }
}

/// The cell of a question: whoever asks first fills it, and the others wait.
fn cell<K: Ord, T, E>(cells: &Mutex<BTreeMap<K, AskedOnce<T, E>>>, key: K) -> AskedOnce<T, E> {
    let mut cells = cells.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(cells.entry(key).or_default())
}

//! A repository for each provider: in a registry, or as a folder.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tofu_oci_mapper::TemplateRepositories;
use tofu_oci_source::{OciSource, Release, Source};
use tofu_oci_store::{ComparedBy, Store, StoreError, is_whole, remove_damaged};
use tofu_oci_types::{Place, Predecessors, ProviderAddr, Reporter, Tag, Version};

use super::Destination;
use super::first_seen::{FirstSeen, Moves};
use crate::transfer::resolve;
use crate::{MirrorError, Sightings, TransferRequest, Transferred, transfer};

/// Opens the repository at a place, which is [`Place::Registry`] or [`Place::Layout`], to write to it.
pub type OpenStore = Arc<dyn Fn(&Place) -> Result<Arc<dyn Store>, StoreError> + Send + Sync>;

/// Repositories that a template names.
pub struct Repositories {
    template: TemplateRepositories,
    open: OpenStore,
    predecessors: Predecessors,
    compared: ComparedBy,
    claimed: Mutex<HashMap<Place, ProviderRepository>>,
}

struct ProviderRepository {
    address: ProviderAddr,
    store: Arc<dyn Store>,
}

impl Repositories {
    /// Nothing is opened yet.
    pub fn new(template: TemplateRepositories, open: OpenStore) -> Self {
        let (predecessors, compared) = (Predecessors::default(), ComparedBy::default());
        Self { template, open, predecessors, compared, claimed: Mutex::default() }
    }

    /// The same, in which a provider and its predecessor may share a repository.
    #[must_use]
    pub fn shared_by(self, predecessors: Predecessors) -> Self {
        Self { predecessors, ..self }
    }

    /// The same, in which what an image layout has already is compared so with what is to be there.
    #[must_use]
    pub fn comparing(self, compared: ComparedBy) -> Self {
        Self { compared, ..self }
    }

    fn claimed(&self) -> MutexGuard<'_, HashMap<Place, ProviderRepository>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The repository, opened. Only one that is claimed is kept open: anyone may ask for any address.
    fn open(&self, address: &ProviderAddr) -> Result<Arc<dyn Store>, MirrorError> {
        let place = self.place(address)?;
        let known = self.claimed().get(&place).map(|claimed| Arc::clone(&claimed.store));
        match known {
            Some(store) => Ok(store),
            None => Ok((self.open)(&place)?),
        }
    }
}

#[async_trait]
impl Destination for Repositories {
    fn place(&self, address: &ProviderAddr) -> Result<Place, MirrorError> {
        Ok(self.template.place(address)?.into())
    }

    fn claim(&self, address: &ProviderAddr) -> Result<Place, MirrorError> {
        let place = self.place(address)?;
        let mut claimed = self.claimed();
        match claimed.get(&place) {
            Some(ProviderRepository { address: first, .. }) if !self.predecessors.same_provider(first, address) => {
                let (first, second) = (Box::new(first.clone()), Box::new(address.clone()));
                return Err(MirrorError::SharedRepository { place, first, second });
            }
            Some(_) => {}
            None => {
                let repository = ProviderRepository { address: address.clone(), store: (self.open)(&place)? };
                claimed.insert(place.clone(), repository);
            }
        }
        Ok(place)
    }

    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, MirrorError> {
        Ok(Arc::new(OciSource::new(self.open(address)?)))
    }

    fn store(&self, address: &ProviderAddr) -> Result<Option<Arc<dyn Store>>, MirrorError> {
        self.open(address).map(Some)
    }

    async fn is_whole(&self, address: &ProviderAddr, version: &Version) -> Result<bool, MirrorError> {
        let (store, Ok(tag)) = (self.open(address)?, Tag::for_version(version)) else { return Ok(true) };
        if !matches!(store.place(), Place::Layout(_)) {
            return Ok(true);
        }
        match resolve(&*store, &tag).await? {
            Some(root) => Ok(is_whole(&*store, &root, self.compared).await?),
            None => Ok(false),
        }
    }

    async fn receive(
        &self,
        request: &TransferRequest<'_>,
        release: Arc<dyn Release>,
        reporter: &dyn Reporter,
    ) -> Result<Transferred, MirrorError> {
        let address = &release.id().address;
        self.claim(address)?;
        let names = (request.rename, request.predecessors);
        let says_its_own = |said| request.predecessors.same_provider(said, address);
        let first_seen = FirstSeen::of(self, address)?;
        // It is copied byte for byte, so that only the record tells whose it is.
        let is_silent = release.store().is_some() && !release.published_as().is_some_and(says_its_own);
        let brings = Moves { brings: true, ..Moves::default() };
        let is_new = is_silent && first_seen.begin(&Sightings::default(), &brings, self, names).await?;
        let store = self.open(address)?;
        if self.compared == ComparedBy::Digests
            && let Ok(tag) = Tag::for_version(&release.id().version)
            && let Some(root) = resolve(&*store, &tag).await?
        {
            remove_damaged(&*store, &root).await?;
        }
        let transferred = transfer(request, release, &*store, reporter).await;
        if transferred.is_err() && is_new {
            // What refused the release counts.
            let _ = first_seen.unclaim().await;
        }
        transferred
    }

    async fn finish(&self, _reporter: &dyn Reporter) -> Result<(), MirrorError> {
        let stores: Vec<Arc<dyn Store>> = self.claimed().values().map(|claimed| Arc::clone(&claimed.store)).collect();
        for store in stores {
            store.persist().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tofu_oci_store::MemoryStore;
    use tofu_oci_types::Predecessor;

    use super::*;

    fn repositories() -> Repositories {
        let open = |place: &Place| Ok(Arc::new(MemoryStore::new(place.clone())) as _);
        Repositories::new("oci:example.com/x/${namespace}-${type}".parse().unwrap(), Arc::new(open))
    }

    fn address(text: &str) -> ProviderAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_made_up_address_locks_nobody_out() {
        let repositories = repositories();
        let (made_up, own) = (address("example.com/acme-google/beta"), address("example.com/acme/google-beta"));
        assert_eq!(repositories.place(&made_up).unwrap(), repositories.place(&own).unwrap());
        repositories.source(&made_up).unwrap();
        repositories.store(&made_up).unwrap();
        repositories.claim(&own).unwrap();
        assert_eq!(repositories.claim(&made_up).unwrap_err().code(), "shared-repository");
        // What lies there may be read, and says whose it is.
        repositories.source(&made_up).unwrap();
    }

    #[test]
    fn a_predecessor_shares_a_repository() {
        let moved: Predecessor = "new.example=old.example".parse().unwrap();
        let shared = repositories().shared_by([moved].into_iter().collect());
        shared.claim(&address("old.example/acme/zap")).unwrap();
        shared.claim(&address("new.example/acme/zap")).unwrap();
        assert_eq!(shared.claim(&address("other.example/acme/zap")).unwrap_err().code(), "shared-repository");
    }
}

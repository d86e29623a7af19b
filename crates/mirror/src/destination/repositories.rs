//! A repository for each provider: in a registry, or as a folder.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_mapper::RepositoryTemplate;
use tofu_oci_source::{OciSource, Release, Source};
use tofu_oci_store::{Store, StoreError};
use tofu_oci_types::{Place, ProviderAddr, Reporter};

use super::Destination;
use crate::{MirrorError, TransferRequest, Transferred, transfer};

/// Opens the repository at a place, which is [`Place::Registry`] or [`Place::Layout`], to write to it.
pub type OpenStore = Arc<dyn Fn(&Place) -> Result<Arc<dyn Store>, StoreError> + Send + Sync>;

/// How many repositories are kept open: a server asks for whatever addresses its clients make up.
const MOST_OPENED: usize = 1024;

/// Repositories that a template names.
pub struct Repositories {
    template: RepositoryTemplate,
    kind: RepositoryKind,
    open: OpenStore,
    opened: Mutex<HashMap<Place, ProviderRepository>>,
}

#[derive(Clone, Copy)]
enum RepositoryKind {
    Registry,
    Layout,
}

#[derive(Clone)]
struct ProviderRepository {
    address: ProviderAddr,
    store: Arc<dyn Store>,
}

impl Repositories {
    /// Repositories of registries. Nothing is opened yet.
    pub fn of_registries(template: RepositoryTemplate, open: OpenStore) -> Self {
        Self { template, kind: RepositoryKind::Registry, open, opened: Mutex::default() }
    }

    /// Image layouts, each in the folder that the template names. Nothing is opened yet.
    pub fn of_layouts(template: RepositoryTemplate, open: OpenStore) -> Self {
        Self { template, kind: RepositoryKind::Layout, open, opened: Mutex::default() }
    }

    fn open(&self, address: &ProviderAddr) -> Result<(Place, Arc<dyn Store>), MirrorError> {
        let place = match self.kind {
            RepositoryKind::Registry => Place::Registry(self.template.apply(address)?),
            RepositoryKind::Layout => Place::Layout(self.template.render(address)?.into()),
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let repository = if let Some(known) = opened.get(&place) {
            known.clone()
        } else {
            if opened.len() >= MOST_OPENED {
                opened.clear();
            }
            let repository = ProviderRepository { address: address.clone(), store: (self.open)(&place)? };
            opened.insert(place.clone(), repository.clone());
            repository
        };
        if repository.address != *address {
            let (first, second) = (Box::new(repository.address), Box::new(address.clone()));
            return Err(MirrorError::SharedRepository { place, first, second });
        }
        Ok((place, repository.store))
    }
}

#[async_trait]
impl Destination for Repositories {
    fn place(&self, address: &ProviderAddr) -> Result<Place, MirrorError> {
        self.open(address).map(|(place, _)| place)
    }

    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, MirrorError> {
        let (_, store) = self.open(address)?;
        Ok(Arc::new(OciSource::new(store)))
    }

    fn store(&self, address: &ProviderAddr) -> Result<Option<Arc<dyn Store>>, MirrorError> {
        self.open(address).map(|(_, store)| Some(store))
    }

    async fn receive(
        &self,
        request: &TransferRequest<'_>,
        release: Arc<dyn Release>,
        reporter: &dyn Reporter,
    ) -> Result<Transferred, MirrorError> {
        let (_, store) = self.open(&release.id().address)?;
        transfer(request, release, &*store, reporter).await
    }
}

//! A bundle as a source: one file with the releases of several providers.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_store::{BundleArchive, StoreError};
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Place, ProviderAddr, Version};
use tokio::sync::OnceCell;

use crate::{Listing, NotOffered, OciSource, Release, Source, SourceError};

/// A bundle. Each of its repositories is named by the address of a provider: `HOST/NAMESPACE/TYPE`.
pub struct BundleSource {
    file: PathBuf,
    place: Place,
    bundle: OnceCell<BundleArchive>,
    opened: Mutex<HashMap<ProviderAddr, Arc<OciSource>>>,
}

impl BundleSource {
    /// The bundle in `FILE`, or in its parts, as a source. It is opened by the first question.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        Self { place: Place::Bundle(file.clone()), file, bundle: OnceCell::new(), opened: Mutex::default() }
    }

    /// The providers of the bundle, sorted. A repository whose name is not an address is not among them.
    ///
    /// # Errors
    /// As [`BundleArchive::open`].
    pub async fn providers(&self) -> Result<Vec<ProviderAddr>, StoreError> {
        let names = self.bundle().await?.repositories();
        let address = |name: &str| name.parse().ok().filter(|address: &ProviderAddr| address.to_string() == name);
        Ok(names.filter_map(address).collect())
    }

    /// The opened bundle.
    ///
    /// # Errors
    /// As [`BundleArchive::open`].
    pub async fn bundle(&self) -> Result<&BundleArchive, StoreError> {
        self.bundle.get_or_try_init(|| BundleArchive::open(&self.file)).await
    }

    async fn repository(&self, address: &ProviderAddr) -> Result<Arc<OciSource>, SourceError> {
        let bundle = self.bundle().await?;
        let name = address.to_string();
        if !bundle.repositories().any(|known| known == name) {
            let (address, place) = (address.clone(), self.place.clone());
            return Err(SourceError::NotOffered { address, place, what: NotOffered::UnknownProvider });
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let source = opened.entry(address.clone());
        Ok(Arc::clone(source.or_insert_with(|| Arc::new(OciSource::new(Arc::new(bundle.repository(&name)))))))
    }
}

#[async_trait]
impl Source for BundleSource {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.repository(address).await?.versions(address).await
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.repository(address).await?.release(address, version).await
    }

    async fn withdrawal_notices(
        &self,
        address: &ProviderAddr,
        version: &Version,
    ) -> Result<Vec<Evidence>, SourceError> {
        self.repository(address).await?.withdrawal_notices(address, version).await
    }
}

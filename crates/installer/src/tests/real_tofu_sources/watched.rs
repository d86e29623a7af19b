//! Whose packages are opened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tofu_oci_source::{Listing, Offer, Source, SourceError};
use tofu_oci_store::ByteStream;
use tofu_oci_types::{PackageHash, Platform, ProviderAddr, Version};

/// Keeps a record of whose packages are opened.
pub(super) struct Watched {
    pub(super) inner: Arc<dyn Source>,
    pub(super) served: Served,
    pub(super) log: Arc<Mutex<Vec<Served>>>,
}

/// A method, and its repository where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Served {
    pub(super) method: &'static str,
    pub(super) repository: Option<String>,
}

#[async_trait]
impl Source for Watched {
    fn place(&self) -> String {
        self.inner.place()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.inner.versions(address).await
    }

    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        self.inner.platforms(address, version).await
    }

    async fn offer(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
        self.inner.offer(address, version, platform).await
    }

    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        self.inner.hashes(offer).await
    }

    async fn open(&self, offer: &Offer, part: usize) -> Result<ByteStream, SourceError> {
        self.log.lock().unwrap().push(self.served.clone());
        self.inner.open(offer, part).await
    }
}

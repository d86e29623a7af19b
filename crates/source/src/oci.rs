//! A repository as a source.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_store::{ByteStream, ReadStore, StoreError, StoreItem};
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Descriptor, PackageHash, Platform, ProviderAddr, Version};

use self::reading::Reading;
use crate::evidence::Reader;
use crate::memory::Memory;
use crate::{Listing, NotOffered, Offer, Release, Search, Source, SourceError};

mod reading;

/// One repository that holds one provider's releases.
///
/// A tag is resolved once, for as long as the source lives; index, leaf, config and package are then fetched by the
/// digests that the document before names, so that nothing can be exchanged on the way. What has been read is kept (64 MiB
/// of manifests at most): the packages of ten platforms cost one request for their index, not ten.
pub struct OciSource {
    store: Arc<dyn ReadStore>,
    memory: Memory,
}

impl OciSource {
    /// The repository as a source.
    pub fn new(store: Arc<dyn ReadStore>) -> Self {
        Self { store, memory: Memory::default() }
    }
}

#[async_trait]
impl Source for OciSource {
    fn place(&self) -> String {
        self.store.place()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        match self.store.tags().await {
            Ok(tags) => {
                self.memory.set_listed(&tags);
                Ok(Listing::of(&tags))
            }
            Err(StoreError::UnknownRepository { .. }) => Err(self.not_offered(address, NotOffered::UnknownProvider)),
            Err(error) => Err(error.into()),
        }
    }

    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        let reading = Reading { source: self, address, version };
        let (_, _, index) = reading.whole_index().await?;
        Ok(index.platforms())
    }

    async fn offer(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
        Reading { source: self, address, version }.offer(platform).await
    }

    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        let reading = Reading { source: self, address: &offer.address, version: &offer.version };
        let index = reading.parse(&offer.index).await?;
        reading.hashes(&index, offer.claims.clone()).await
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Release, SourceError> {
        Reading { source: self, address, version }.release().await
    }

    async fn evidence(&self, release: &Release, search: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(Reader::new(&*self.store, &self.memory, &release.index).search(search).await?)
    }

    async fn release_hashes(
        &self,
        release: &Release,
    ) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        let reading = Reading { source: self, address: &release.address, version: &release.version };
        let mut index = reading.parse(&release.index).await?;
        while reading.absorb(&mut index, None).await? {}
        let mut hashes = reading.hashes(&index, release.claims.clone()).await?;
        hashes.retain(|platform, _| release.kinds.contains_key(platform));
        Ok(hashes)
    }

    /// By the digest of the offer's index: a tag that has moved since leads nowhere else.
    async fn release_of(&self, offer: &Offer) -> Result<Release, SourceError> {
        Reading { source: self, address: &offer.address, version: &offer.version }.release_of(offer).await
    }

    async fn open(&self, offer: &Offer, part: usize) -> Result<ByteStream, SourceError> {
        let part = &offer.parts[part];
        self.store.fetch(part).await.map_err(|error| missing(part, error).into())
    }
}

impl OciSource {
    fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place(), what }
    }
}

/// Once a tag has led to a release, the repository is known, whatever the registry says of it: what lacks is the content.
fn missing(descriptor: &Descriptor, error: StoreError) -> StoreError {
    match error {
        StoreError::UnknownRepository { place } => StoreError::NotFound { place, what: StoreItem::of(descriptor) },
        other => other,
    }
}

#[cfg(test)]
pub(crate) mod answers;
#[cfg(test)]
pub(crate) mod tests;

//! What the bridges of a run read: sources and archives, and what went wrong with them.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tofu_oci_source::{
    ClaimedHashes, Listing, Offer, Part, PartStream, Release, ReleaseDate, ReleaseDescription, ReleaseId, Search,
    Source, SourceError, ZipNames,
};
use tofu_oci_store::{BlobSender, ByteStream, Lists, ReadStore, StoreError, Transport};
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Descriptor, Digest, Place, Platform, ProviderAddr, Reference, RepositoryRef, Tag, Version};

use super::watched::Watched;

pub(super) struct WatchedSource {
    source: Arc<dyn Source>,
    watched: Arc<Watched>,
}

impl WatchedSource {
    pub(super) fn new(source: Arc<dyn Source>, watched: Arc<Watched>) -> Self {
        Self { source, watched }
    }
}

#[async_trait]
impl Source for WatchedSource {
    fn place(&self) -> &Place {
        self.source.place()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        let versions = self.source.versions(address).await;
        versions.inspect_err(|error| self.watched.failed(&address.to_string(), error))
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.watched.asked(address, version);
        let release = self.source.release(address, version).await;
        let release = release.inspect_err(|error| self.watched.failed(&address.to_string(), error))?;
        Ok(Arc::new(WatchedRelease { release, watched: Arc::clone(&self.watched) }))
    }
}

struct WatchedRelease {
    release: Arc<dyn Release>,
    watched: Arc<Watched>,
}

#[async_trait]
impl Release for WatchedRelease {
    fn id(&self) -> &ReleaseId {
        self.release.id()
    }

    fn published_as(&self) -> Option<&ProviderAddr> {
        self.release.published_as()
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.release.describe().await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        self.release.platforms().await
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        self.release.created().await
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.release).offer(platform).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        self.release.evidence(search).await
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        self.release.leaf_evidence().await
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        self.release.notice().await
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        self.release.zip_names().await
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        self.release.hashes().await
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        self.release.size(part).await
    }

    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        let (store, of, watched) = (self.release.store()?, self.id().address.to_string(), Arc::clone(&self.watched));
        Some(Arc::new(WatchedStore { store, of, watched }))
    }

    fn note_use(&self) {
        self.release.note_use();
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        let (of, watched) = (self.id().address.to_string(), Arc::clone(&self.watched));
        let opened = self.release.open(part).await.inspect_err(|error| watched.failed(&of, error))?;
        let stream = opened.stream.inspect_err(move |error| watched.failed(&of, &error.clone().into()));
        Ok(PartStream { stream: Box::pin(stream), ..opened })
    }
}

/// The repository of a provider or module whose blobs are watched.
pub(super) struct WatchedStore {
    pub(super) store: Arc<dyn ReadStore>,
    pub(super) of: String,
    pub(super) watched: Arc<Watched>,
}

impl WatchedStore {
    fn failed(&self, error: &StoreError) {
        self.watched.failed(&self.of, &error.clone().into());
    }

    fn watch(&self, stream: ByteStream) -> ByteStream {
        let (of, watched) = (self.of.clone(), Arc::clone(&self.watched));
        Box::pin(stream.inspect_err(move |error| watched.failed(&of, &error.clone().into())))
    }
}

#[async_trait]
impl ReadStore for WatchedStore {
    fn place(&self) -> Place {
        self.store.place()
    }

    fn repository(&self) -> Option<&RepositoryRef> {
        self.store.repository()
    }

    fn prepare(&self, requests: usize) {
        self.store.prepare(requests);
    }

    async fn transport(&self) -> Transport {
        self.store.transport().await
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.store.resolve(reference).await
    }

    async fn manifest(&self, reference: &Reference) -> Result<(Descriptor, Bytes), StoreError> {
        self.store.manifest(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.store.tags().await
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.store.exists(descriptor).await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.store.fetch_unverified(descriptor).await
    }

    async fn fetch(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let stream = self.store.fetch(descriptor).await.inspect_err(|error| self.failed(error))?;
        Ok(self.watch(stream))
    }

    async fn blob_sender(&self, blob: &Descriptor) -> Result<BlobSender, StoreError> {
        Ok(match self.store.blob_sender(blob).await.inspect_err(|error| self.failed(error))? {
            BlobSender::Store(stream) => BlobSender::Store(self.watch(stream)),
            other_host @ BlobSender::OtherHost(_) => other_host,
        })
    }

    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        self.store.fetch_range_unverified(blob, range).await
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.store.referrers(subject).await
    }

    async fn referrers_in(&self, subject: &Digest, lists: Lists) -> Result<Vec<Descriptor>, StoreError> {
        self.store.referrers_in(subject, lists).await
    }
}

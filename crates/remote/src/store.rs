//! A repository of a registry as a store.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_store::{
    BlobAhead, BlobSender, ByteStream, Lists, Pushed, ReadStore, Store, StoreError, Transport, UnverifiedManifest,
    is_manifest_type, verified,
};
use tofu_oci_types::{Descriptor, Digest, Place, Reference, RepositoryRef, Tag};

use crate::repository::RemoteStore;

#[async_trait]
impl ReadStore for RemoteStore {
    fn place(&self) -> Place {
        Place::Registry(self.repository.clone())
    }

    fn repository(&self) -> Option<&RepositoryRef> {
        Some(&self.repository)
    }

    fn prepare(&self, requests: usize) {
        self.client.connect_ahead(self.repository.registry(), requests);
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        let found = self.resolve_settled(reference).await.map_err(|error| self.scrub(error))?;
        self.unless_going(reference, &found).map(|()| found)
    }

    async fn transport(&self) -> Transport {
        match self.client.network.hosts.root(self.repository.registry()).await {
            Ok(root) if root.scheme() == "http" => Transport::PlainHttp,
            _ => Transport::Tls,
        }
    }

    async fn manifest(&self, reference: &Reference) -> Result<(Descriptor, Bytes), StoreError> {
        let (found, bytes) = self.get_manifest(reference, None).await.map_err(|error| self.scrub(error))?;
        self.unless_going(reference, &found).map(|()| (found, bytes))
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.list_tags().await.map_err(|error| self.scrub(error))
    }

    async fn manifest_unverified(&self, reference: &Reference, limit: u64) -> Result<UnverifiedManifest, StoreError> {
        self.get_manifest_unverified(reference, limit).await.map_err(|error| self.scrub(error))
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        let found = if is_manifest_type(&descriptor.media_type) {
            if self.memory.has_stored(&descriptor.digest) {
                return Ok(true);
            }
            self.has_manifest(&descriptor.digest, &self.pull).await
        } else {
            self.has_blob(&descriptor.digest, &self.pull).await
        };
        found.map_err(|error| self.scrub(error))
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        if is_manifest_type(&descriptor.media_type) {
            let bytes = self.fetch_manifest(descriptor).await.map_err(|error| self.scrub(error))?;
            return Ok(futures_util::stream::once(async move { Ok(bytes) }).boxed());
        }
        let stream = self.blob_stream(descriptor).await.map_err(|error| self.scrub(error))?;
        let network = self.client.network.clone();
        Ok(stream.map_err(move |error| network.scrub(error)).boxed())
    }

    async fn blob_ahead(&self, digest: &Digest, claimed: Option<u64>) -> Result<Option<BlobAhead>, StoreError> {
        let found = self.unsized_blob(digest, claimed).await.map_err(|error| self.scrub(error))?;
        let network = self.client.network.clone();
        Ok(found.map(|BlobAhead { size, stream }| {
            let stream = stream.map_err(move |error| network.scrub(error)).boxed();
            BlobAhead { size, stream }
        }))
    }

    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        let stream = self.blob_part(blob, range).await.map_err(|error| self.scrub(error))?;
        let network = self.client.network.clone();
        Ok(stream.map_err(move |error| network.scrub(error)).boxed())
    }

    async fn blob_sender(&self, blob: &Descriptor) -> Result<BlobSender, StoreError> {
        let stream = match self.sender_of(blob).await.map_err(|error| self.scrub(error))? {
            BlobSender::Store(stream) => stream,
            other_host @ BlobSender::OtherHost(_) => return Ok(other_host),
        };
        let network = self.client.network.clone();
        let stream = stream.map_err(move |error| network.scrub(error)).boxed();
        verified(self.place(), stream, blob).map(BlobSender::Store)
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.list_referrers(subject).await.map_err(|error| self.scrub(error))
    }

    async fn referrers_in(&self, subject: &Digest, lists: Lists) -> Result<Vec<Descriptor>, StoreError> {
        let found = match lists {
            Lists::Nearest => self.nearest_referrers(subject).await,
            Lists::All => self.all_referrers(subject).await,
        };
        found.map_err(|error| self.scrub(error))
    }
}

#[async_trait]
impl Store for RemoteStore {
    async fn push(&self, descriptor: &Descriptor, content: &dyn tofu_oci_store::Body) -> Result<Pushed, StoreError> {
        let pushed = if is_manifest_type(&descriptor.media_type) {
            self.push_manifest(descriptor, content).await
        } else {
            self.push_blob(descriptor, content).await
        };
        pushed.map_err(|error| self.scrub(error))
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.tag_manifest(descriptor, tag).await.map_err(|error| self.scrub(error))
    }

    async fn retag(&self, descriptor: &Descriptor, tag: &Tag, before: Option<&Digest>) -> Result<bool, StoreError> {
        self.retag_manifest(descriptor, tag, before).await.map_err(|error| self.scrub(error))
    }

    async fn push_as(
        &self,
        manifest: &Descriptor,
        bytes: &Bytes,
        tag: &Tag,
        before: Option<&Digest>,
    ) -> Result<bool, StoreError> {
        self.check_content(manifest, bytes)?;
        self.memory.keep_manifest(&manifest.digest, bytes);
        self.retag(manifest, tag, before).await
    }

    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        Box::pin(self.untag_manifest(tag, expected)).await.map_err(|error| self.scrub(error))
    }

    async fn demand_untag(&self, tag: &Tag) -> Result<(), StoreError> {
        self.demand_deletions_of_tags(tag).await.map_err(|error| self.scrub(error))
    }

    async fn settle(&self) -> Result<(), StoreError> {
        self.settle_lists().await.map(drop).map_err(|error| self.scrub(error))
    }

    async fn settled_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let mut read = self.settle_lists().await.map_err(|error| self.scrub(error))?;
        match read.remove(&self.referrers_tag(subject)?) {
            Some(found) => Ok(found),
            None => self.referrers(subject).await,
        }
    }

    async fn uncontended_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        match self.read_back_list(subject).await.map_err(|error| self.scrub(error))? {
            Some(found) => Ok(found),
            None => self.referrers(subject).await,
        }
    }

    async fn settle_tag(&self, tag: &Tag) -> Result<(), StoreError> {
        self.settle_new_tag(tag).await;
        Ok(())
    }

    async fn mount(&self, descriptor: &Descriptor, from: &RepositoryRef) -> Result<bool, StoreError> {
        self.mount_blob(descriptor, from).await.map_err(|error| self.scrub(error))
    }
}

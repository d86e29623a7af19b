//! A repository in which a version's tag names one manifest, whatever its publisher calls it.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_store::{BlobSender, ByteStream, Lists, ReadStore, StoreError, Transport};
use tofu_oci_types::{Descriptor, Digest, Place, Reference, RepositoryRef, Tag};

/// The repository, and the manifest that the tag is read as.
pub(super) struct OneTag {
    pub(super) store: Arc<dyn ReadStore>,
    pub(super) tag: Tag,
    pub(super) manifest: Descriptor,
}

#[async_trait]
impl ReadStore for OneTag {
    fn place(&self) -> Place {
        self.store.place()
    }

    fn repository(&self) -> Option<&RepositoryRef> {
        self.store.repository()
    }

    async fn transport(&self) -> Transport {
        self.store.transport().await
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        match reference {
            Reference::Tag(tag) if *tag == self.tag => Ok(self.manifest.clone()),
            other => self.store.resolve(other).await,
        }
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

    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        self.store.fetch_range_unverified(blob, range).await
    }

    async fn blob_sender(&self, blob: &Descriptor) -> Result<BlobSender, StoreError> {
        self.store.blob_sender(blob).await
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.store.referrers(subject).await
    }

    async fn referrers_in(&self, subject: &Digest, lists: Lists) -> Result<Vec<Descriptor>, StoreError> {
        self.store.referrers_in(subject, lists).await
    }
}

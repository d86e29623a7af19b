//! A store of a test: what every store must have goes to the one inside, except what the test does itself. The rest is as the traits
//! make it of that.

use async_trait::async_trait;
use tofu_oci_store::{Body, ByteStream, Pushed, ReadStore, Store, StoreError};
use tofu_oci_types::{Descriptor, Digest, Place, Reference, Tag};

/// What a test does itself. Everything else goes to the store inside.
#[async_trait]
pub trait StoreHook: Send + Sync {
    /// The store inside.
    fn inner(&self) -> &dyn Store;

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.inner().resolve(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.inner().tags().await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.inner().fetch_unverified(descriptor).await
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.inner().referrers(subject).await
    }

    async fn settle(&self) -> Result<(), StoreError> {
        self.inner().settle().await
    }
}

/// The store with what the test does.
pub struct HookedStore<H>(pub H);

#[async_trait]
impl<H: StoreHook> ReadStore for HookedStore<H> {
    fn place(&self) -> Place {
        self.0.inner().place()
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.0.resolve(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.0.tags().await
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.0.inner().exists(descriptor).await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.0.fetch_unverified(descriptor).await
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.0.referrers(subject).await
    }
}

#[async_trait]
impl<H: StoreHook> Store for HookedStore<H> {
    async fn push(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<Pushed, StoreError> {
        self.0.inner().push(descriptor, body).await
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.0.inner().tag(descriptor, tag).await
    }

    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        self.0.inner().untag(tag, expected).await
    }

    async fn settle(&self) -> Result<(), StoreError> {
        self.0.settle().await
    }
}

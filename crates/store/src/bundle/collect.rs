//! What a bundle of some repositories consists of. Blobs are listed and not read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use tofu_oci_types::{Descriptor, Digest, NoReporter, Place, Reference, Tag};

use crate::copy::{CopyOptions, CopyReferrers, copy};
use crate::copy_error::CopyError;
use crate::error::StoreError;
use crate::manifest::is_manifest_type;
use crate::memory::MemoryStore;
use crate::traits::{Body, Pushed, ReadStore, Store, fetch_bytes};
use crate::verify::ByteStream;

/// How many manifests are read at a time.
const JOBS: usize = 4;

/// What a tag leads to, with everything that refers to it.
pub(super) struct Tagged {
    pub(super) root: Descriptor,
    pub(super) manifests: Vec<(Descriptor, Bytes)>,
    pub(super) blobs: Vec<Descriptor>,
}

impl Tagged {
    pub(super) async fn read(store: &dyn ReadStore, tag: &Tag) -> Result<Self, CopyError> {
        let root = store.resolve(&Reference::Tag(tag.clone())).await.map_err(CopyError::source)?;
        let collector = Collector { manifests: MemoryStore::new(store.place()), blobs: Mutex::default() };
        let referrers = CopyReferrers::Copy;
        let options = CopyOptions { jobs: JOBS, reporter: &NoReporter, tag: None, referrers, budget: Arc::default() };
        copy(store, &collector, &root, options).await?;
        let mut manifests = Vec::new();
        for digest in collector.manifests.digests() {
            let read = async {
                let descriptor = collector.manifests.resolve(&Reference::Digest(digest)).await?;
                let bytes = fetch_bytes(&collector.manifests, &descriptor, descriptor.size).await?;
                Ok((descriptor, bytes))
            };
            manifests.push(read.await.map_err(CopyError::source)?);
        }
        let blobs = collector.blobs.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect();
        Ok(Self { root, manifests, blobs })
    }
}

/// A store that keeps manifests, and remembers the blobs without reading them.
struct Collector {
    manifests: MemoryStore,
    blobs: Mutex<BTreeMap<Digest, Descriptor>>,
}

#[async_trait]
impl ReadStore for Collector {
    fn place(&self) -> Place {
        self.manifests.place()
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.manifests.resolve(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.manifests.tags().await
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.manifests.exists(descriptor).await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.manifests.fetch_unverified(descriptor).await
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.manifests.referrers(subject).await
    }
}

#[async_trait]
impl Store for Collector {
    async fn push(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<Pushed, StoreError> {
        if is_manifest_type(&descriptor.media_type) {
            return self.manifests.push(descriptor, body).await;
        }
        let mut blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        blobs.insert(descriptor.digest.clone(), descriptor.clone());
        Ok(Pushed::Uploaded)
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.manifests.tag(descriptor, tag).await
    }

    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        self.manifests.untag(tag, expected).await
    }
}

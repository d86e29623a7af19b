//! A repository, and what has been read of it.

use std::sync::Arc;

use bytes::Bytes;
use tofu_oci_store::{ReadStore, StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Place};

use crate::memory::DocumentCache;

pub(super) struct OpenedRepository {
    pub(super) place: Place,
    pub(super) store: Arc<dyn ReadStore>,
    pub(super) memory: DocumentCache,
}

impl OpenedRepository {
    pub(super) fn new(store: Arc<dyn ReadStore>) -> Self {
        Self { place: store.place(), store, memory: DocumentCache::default() }
    }

    /// The bytes of a manifest or config, verified.
    pub(super) async fn document(&self, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
        self.memory.document(&*self.store, descriptor).await.map_err(|error| missing(descriptor, error))
    }
}

/// After a tag has led to a release the repository exists: if the registry calls it unknown, the content is missing.
pub(super) fn missing(descriptor: &Descriptor, error: StoreError) -> StoreError {
    match error {
        StoreError::UnknownRepository { place } => StoreError::NotFound { place, what: StoreItem::of(descriptor) },
        other => other,
    }
}

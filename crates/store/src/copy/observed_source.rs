//! Remembers which errors came from the source, and counts what flows.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use tofu_oci_types::{Descriptor, Digest, Place, Reference, RepositoryRef, Tag};
use tokio::sync::mpsc::UnboundedSender;

use crate::{ByteStream, ReadStore, StoreError};

/// The source of a copy as the destination sees it. A push fails with one error, whichever end it came from; this knows.
pub(super) struct ObservedSource<'a> {
    inner: &'a dyn ReadStore,
    failure: Arc<Mutex<Option<StoreError>>>,
    progress: UnboundedSender<u64>,
}

impl<'a> ObservedSource<'a> {
    /// `progress` hears how many bytes have flowed since the content was last opened.
    pub(super) fn new(inner: &'a dyn ReadStore, progress: UnboundedSender<u64>) -> Self {
        Self { inner, failure: Arc::default(), progress }
    }

    /// What the source said when it was read last, if that went wrong.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn watch(&self, opened: Result<ByteStream, StoreError>) -> Result<ByteStream, StoreError> {
        note(&self.failure, opened.as_ref().err().cloned());
        let (failure, progress, mut done) = (Arc::clone(&self.failure), self.progress.clone(), 0);
        let watched = opened?.inspect(move |piece| match piece {
            Ok(bytes) => {
                done += bytes.len() as u64;
                // Nobody listens any more when the copy has been given up.
                let _ = progress.send(done);
            }
            Err(error) => note(&failure, Some(error.clone())),
        });
        Ok(watched.boxed())
    }
}

fn note(failure: &Mutex<Option<StoreError>>, error: Option<StoreError>) {
    *failure.lock().unwrap_or_else(PoisonError::into_inner) = error;
}

#[async_trait]
impl ReadStore for ObservedSource<'_> {
    fn place(&self) -> Place {
        self.inner.place()
    }

    fn repository(&self) -> Option<&RepositoryRef> {
        self.inner.repository()
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.inner.resolve(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.inner.tags().await
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.inner.exists(descriptor).await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.watch(self.inner.fetch_unverified(descriptor).await)
    }

    async fn fetch(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.watch(self.inner.fetch(descriptor).await)
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.inner.referrers(subject).await
    }
}

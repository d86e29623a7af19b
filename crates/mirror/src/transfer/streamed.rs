//! Bytes that flow from the place that offers them, without lying anywhere.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_source::{Part, Release, SourceError};
use tofu_oci_store::{Body, ByteStream, StoreError};
use tofu_oci_types::Place;

/// A part of a release, verified on its way. It remembers why it could not be read.
pub(super) struct StreamedPart {
    release: Arc<dyn Release>,
    /// Its size and digest are known.
    part: Part,
    /// What was opened for the size, and is read first.
    opened: Mutex<Option<ByteStream>>,
    failure: Arc<Mutex<Option<SourceError>>>,
}

impl StreamedPart {
    pub(super) fn new(release: Arc<dyn Release>, part: Part, opened: Option<ByteStream>) -> Self {
        Self { release, part, opened: Mutex::new(opened), failure: Arc::default() }
    }

    /// Why it could not be read when it was last opened.
    pub(super) fn failure(&self) -> Option<SourceError> {
        lock(&self.failure).take()
    }

    async fn checked(&self) -> Result<ByteStream, SourceError> {
        let opened = lock(&self.opened).take();
        let stream = match opened {
            Some(stream) => stream,
            None => self.release.open(&self.part).await?.stream,
        };
        Ok(self.part.checked(&self.release.id().place, stream)?)
    }
}

#[async_trait]
impl Body for StreamedPart {
    async fn open(&self) -> Result<ByteStream, StoreError> {
        *lock(&self.failure) = None;
        let place = self.release.id().place.clone();
        let stream = self.checked().await.map_err(|error| broken(&self.failure, &place, error))?;
        let failure = Arc::clone(&self.failure);
        Ok(last_when_complete(stream).map_err(move |error| broken(&failure, &place, error.into())).fuse().boxed())
    }
}

/// Remembers the error. What a store gets instead is one that it does not try to fix: the place has been asked again
/// already, as often as that may help.
fn broken(failure: &Mutex<Option<SourceError>>, place: &Place, error: SourceError) -> StoreError {
    let problem = error.to_string();
    *lock(failure) = Some(error);
    StoreError::Malformed { place: place.clone(), problem }
}

/// Holds each piece back until the next one is there, so that the last one is sent only after the check at the end: no store
/// ever gets all bytes of a wrong package.
fn last_when_complete(stream: ByteStream) -> ByteStream {
    let pieces = futures_util::stream::try_unfold((stream, None), |(mut stream, held)| async move {
        let first = match held {
            Some(piece) => Some(piece),
            None => stream.try_next().await?,
        };
        let Some(first) = first else { return Ok(None) };
        let next = stream.try_next().await?;
        Ok(Some((first, (stream, next))))
    });
    pieces.boxed()
}

fn lock<T>(value: &Mutex<Option<T>>) -> MutexGuard<'_, Option<T>> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

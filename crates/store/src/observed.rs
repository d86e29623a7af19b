//! A push that reports how much of its body has been read, and which end failed.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use tofu_oci_types::Descriptor;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::copy_error::CopyError;
use crate::error::StoreError;
use crate::traits::{Body, Pushed, Store};
use crate::verify::ByteStream;

/// Pushes, and calls `progress` with the number of bytes that have been read since the body was last opened.
///
/// # Errors
/// [`CopyError`] says whether the body could not be read or the store did not take it.
pub async fn push_observed(
    to: &dyn Store,
    descriptor: &Descriptor,
    body: &dyn Body,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Pushed, CopyError> {
    let (counts, mut counted) = unbounded_channel();
    let observed = ObservedBody { inner: body, failure: Arc::default(), counts };
    let mut push = to.push(descriptor, &observed);
    let pushed = loop {
        tokio::select! {
            biased;
            Some(done) = counted.recv() => progress(done),
            pushed = &mut push => break pushed,
        }
    };
    drop(push);
    // What the last step read has been sent and not yet received.
    while let Ok(done) = counted.try_recv() {
        progress(done);
    }
    pushed.map_err(|error| match lock(&observed.failure).take() {
        Some(error) => CopyError::source(error),
        None => CopyError::destination(error),
    })
}

/// Counts what flows, and remembers the error with which the body ended: a push fails with one error, whichever end it
/// came from.
struct ObservedBody<'a> {
    inner: &'a dyn Body,
    failure: Arc<Mutex<Option<StoreError>>>,
    counts: UnboundedSender<u64>,
}

fn lock(failure: &Mutex<Option<StoreError>>) -> std::sync::MutexGuard<'_, Option<StoreError>> {
    failure.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Body for ObservedBody<'_> {
    async fn open(&self) -> Result<ByteStream, StoreError> {
        let opened = self.inner.open().await;
        *lock(&self.failure) = opened.as_ref().err().cloned();
        let (failure, counts, mut done) = (Arc::clone(&self.failure), self.counts.clone(), 0);
        let observed = opened?.inspect(move |piece| match piece {
            Ok(bytes) => {
                done += bytes.len() as u64;
                // The receiver is gone if the push has been given up.
                let _ = counts.send(done);
            }
            Err(error) => *lock(&failure) = Some(error.clone()),
        });
        Ok(observed.boxed())
    }
}

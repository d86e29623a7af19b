//! What a request sends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_store::{ByteStream, Content, StoreError};

/// The body of a request; it can be sent again from the start.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    None,
    Bytes(&'a Bytes),
    /// Pieces that lie one behind the other, and their length.
    Pieces(&'a [Bytes], u64),
    /// A blob of this size, streamed.
    Content(&'a Content<'a>, u64),
}

/// How much of a body has gone out, and why it ended early.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    moved: Arc<AtomicU64>,
    size: u64,
    failure: Arc<Mutex<Option<StoreError>>>,
}

impl Progress {
    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Whether there is a body to send.
    pub(crate) fn has_body(&self) -> bool {
        self.size > 0
    }

    /// Why the content could not be read, if that is what ended the request.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Body<'_> {
    /// How many bytes are sent; nothing for a request without a body.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::Pieces(_, length) | Self::Content(_, length) => Some(*length),
        }
    }

    /// The body from its start.
    pub(crate) async fn open(&self, place: &str) -> Result<(reqwest::Body, Progress), StoreError> {
        let progress = Progress { size: self.length().unwrap_or(0), ..Progress::default() };
        let body = match self {
            Self::None => reqwest::Body::from(Bytes::new()),
            Self::Bytes(bytes) => reqwest::Body::from(Bytes::clone(bytes)),
            Self::Pieces(pieces, _) => {
                let stream = futures_util::stream::iter(pieces.to_vec()).map(Ok).boxed();
                reqwest::Body::wrap_stream(counted(stream, &progress, place))
            }
            Self::Content(content, _) => reqwest::Body::wrap_stream(counted(content.open().await?, &progress, place)),
        };
        Ok((body, progress))
    }
}

/// The stream, counted; it ends in an error when it is not exactly as long as was announced.
fn counted(
    stream: ByteStream,
    progress: &Progress,
    place: &str,
) -> impl futures_util::Stream<Item = Result<Bytes, StoreError>> + Send + 'static {
    let state = (stream, progress.clone(), place.to_owned());
    futures_util::stream::try_unfold(state, async |(mut stream, progress, place)| {
        let next = stream.try_next().await;
        let moved =
            progress.moved() + next.as_ref().ok().and_then(Option::as_ref).map_or(0, |piece| piece.len() as u64);
        let wrong_size = moved > progress.size || (matches!(next, Ok(None)) && moved < progress.size);
        let next = if wrong_size {
            let what = "the content to send".to_owned();
            Err(StoreError::SizeMismatch { place: place.clone(), what, expected: progress.size, actual: moved })
        } else {
            next
        };
        match next {
            Ok(piece) => {
                progress.moved.store(moved, Ordering::Relaxed);
                Ok(piece.map(|piece| (piece, (stream, progress, place))))
            }
            Err(error) => {
                *progress.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
                Err(error)
            }
        }
    })
}

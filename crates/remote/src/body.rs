//! What a request sends.

use std::sync::{Arc, Mutex, PoisonError};
use tofu_oci_types::Place;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_http::{Progress, metered};
use tofu_oci_store::{ByteStream, StoreError, StoreItem};

/// The body of a request; it can be sent again from the start.
#[derive(Clone, Copy)]
pub(crate) enum CallBody<'a> {
    None,
    Bytes(&'a Bytes),
    /// Pieces that follow each other, and their length.
    Pieces(&'a [Bytes], u64),
    /// A blob of this size, streamed.
    Content(&'a dyn tofu_oci_store::Body, u64),
}

/// Why the content could not be read, if that is what ended a request.
#[derive(Clone, Default)]
pub(crate) struct ContentFailure(Arc<Mutex<Option<StoreError>>>);

impl ContentFailure {
    pub(crate) fn take(&self) -> Option<StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: &StoreError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
    }
}

impl CallBody<'_> {
    /// How many bytes are sent; `None` for a request without a body.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::Pieces(_, length) | Self::Content(_, length) => Some(*length),
        }
    }

    /// The body from its start; the registry must take `floor` bytes in its time.
    pub(crate) async fn open(
        &self,
        place: &Place,
        floor: u64,
    ) -> Result<(reqwest::Body, Progress, ContentFailure), StoreError> {
        let expected = self.length().unwrap_or(0);
        let (progress, failure) = (Progress::of_body(expected, floor), ContentFailure::default());
        let streamed = |stream: ByteStream| {
            let (place, failure) = (place.clone(), failure.clone());
            let wrong_length = move |actual| {
                let (place, what) = (place.clone(), StoreItem::Other("the content to send"));
                StoreError::SizeMismatch { place, what, expected, actual }
            };
            let stream = metered(stream, &progress, wrong_length).inspect_err(move |error| failure.keep(error));
            reqwest::Body::wrap_stream(stream)
        };
        let body = match self {
            Self::None => reqwest::Body::from(Bytes::new()),
            Self::Bytes(bytes) => reqwest::Body::from(Bytes::clone(bytes)),
            Self::Pieces(pieces, _) => streamed(futures_util::stream::iter(pieces.to_vec()).map(Ok).boxed()),
            Self::Content(content, _) => streamed(content.open().await?),
        };
        Ok((body, progress, failure))
    }
}

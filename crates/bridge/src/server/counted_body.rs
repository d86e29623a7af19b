//! The body of an answer on its way to the client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use super::request_record::RequestRecord;
use super::watch::InFlight;

/// A body whose bytes are counted. The request is over when it is dropped.
pub(super) struct CountedBody {
    pub(super) body: Body,
    /// How many bytes the header announces. HTTP/1 asks for no more, and so never for the end.
    pub(super) length: Option<u64>,
    pub(super) record: RequestRecord,
    pub(super) in_flight: InFlight,
}

/// What a body ends with if the code that makes it panics.
#[derive(Debug, thiserror::Error)]
#[error("the body could not be made")]
struct BodyPanicked;

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.in_flight.asked();
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.body).poll_frame(cx)));
        let frame = ready!(polled.unwrap_or_else(|_| Poll::Ready(Some(Err(axum::Error::new(BodyPanicked))))));
        match &frame {
            Some(Ok(frame)) => {
                self.record.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                self.in_flight.handed();
                if self.body.is_end_stream() || self.length == Some(self.record.bytes) {
                    self.record.is_whole = true;
                }
            }
            Some(Err(error)) => self.record.broke(error),
            None => self.record.is_whole = true,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! The last piece of a body, held back until it is known that all is right.

use bytes::Bytes;
use futures_util::stream::Fuse;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use tofu_oci_store::{ByteStream, StoreError, StoreItem};
use tofu_oci_types::Place;

/// How many bytes a body has, and whose they are.
#[derive(Clone, Debug)]
pub(super) struct BodyLength {
    pub(super) place: Place,
    pub(super) what: StoreItem,
    pub(super) bytes: u64,
}

/// Passes the bytes on, one piece late: the last piece comes after the end of `stream`. So a stream that finds out at its end
/// that its bytes are wrong never becomes a complete body of the announced length, nor does one of another length.
pub(super) fn held_back(
    stream: ByteStream,
    length: BodyLength,
) -> impl Stream<Item = Result<Bytes, StoreError>> + Send + 'static {
    let state = HoldingBack { stream: stream.fuse(), length, seen: 0, held: None };
    futures_util::stream::try_unfold(state, HoldingBack::step)
}

struct HoldingBack {
    stream: Fuse<ByteStream>,
    length: BodyLength,
    seen: u64,
    held: Option<Bytes>,
}

impl HoldingBack {
    async fn step(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        loop {
            let Some(piece) = self.stream.try_next().await? else {
                if self.seen != self.length.bytes {
                    return Err(self.length.differs(self.seen));
                }
                return Ok(self.held.take().map(|last| (last, self)));
            };
            self.seen += piece.len() as u64;
            if self.seen > self.length.bytes {
                return Err(self.length.differs(self.seen));
            }
            if piece.is_empty() {
                continue;
            }
            if let Some(before) = self.held.replace(piece) {
                return Ok(Some((before, self)));
            }
        }
    }
}

impl BodyLength {
    fn differs(&self, actual: u64) -> StoreError {
        let Self { place, what, bytes } = self.clone();
        StoreError::SizeMismatch { place, what, expected: bytes, actual }
    }
}

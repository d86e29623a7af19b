//! The end of a body, held back until all of it is verified.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream::Fuse;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use tofu_oci_store::{ByteStream, StoreError, StoreItem};
use tofu_oci_types::Place;

/// How many bytes are held back, or one piece if that is larger. A smaller wrong package has sent no header yet, so it
/// becomes a 502.
const HELD: usize = 128 << 10;

/// How many bytes a body has, and whose they are.
#[derive(Clone, Debug)]
pub(super) struct BodyLength {
    pub(super) place: Place,
    pub(super) what: StoreItem,
    pub(super) bytes: u64,
}

/// Passes the bytes on, [`HELD`] late: the last pieces follow the end of `stream`. So a stream whose bytes turn out
/// wrong at its end, or that has another length, never becomes a complete body of the announced length.
pub(super) fn held_back(
    stream: ByteStream,
    length: BodyLength,
) -> impl Stream<Item = Result<Bytes, StoreError>> + Send + 'static {
    let state = HoldingBack { stream: stream.fuse(), length, seen: 0, held: VecDeque::new(), held_bytes: 0 };
    futures_util::stream::try_unfold(state, HoldingBack::step)
}

struct HoldingBack {
    stream: Fuse<ByteStream>,
    length: BodyLength,
    seen: u64,
    held: VecDeque<Bytes>,
    held_bytes: usize,
}

impl HoldingBack {
    async fn step(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        loop {
            let Some(piece) = self.stream.try_next().await? else {
                if self.seen != self.length.bytes {
                    return Err(self.length.differs(self.seen));
                }
                return Ok(self.held.pop_front().map(|piece| (piece, self)));
            };
            self.seen += piece.len() as u64;
            if self.seen > self.length.bytes {
                return Err(self.length.differs(self.seen));
            }
            if piece.is_empty() {
                continue;
            }
            self.held_bytes += piece.len();
            self.held.push_back(piece);
            // What is left after it is enough.
            if let Some(first) = self.held.pop_front_if(|first| self.held_bytes - first.len() >= HELD) {
                self.held_bytes -= first.len();
                return Ok(Some((first, self)));
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

//! The check of every byte that comes from a store.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use tofu_oci_types::{Descriptor, Digest, DigestHasher, Place};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::{StoreError, StoreItem};

/// How many bytes are hashed at a time. A stream holds at most twice as many besides the piece that it passes on.
const AT_A_TIME: usize = 128 << 10;

/// Bytes on their way, in pieces of any size.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, StoreError>> + Send>>;

/// Passes the bytes on while counting and hashing them (polled in a `tokio` runtime); ends in an error as soon as there are more than the
/// descriptor's size, and at the end if there were fewer or the digest differs.
///
/// # Errors
/// [`StoreError::UnsupportedDigest`] at once for an algorithm that cannot be verified.
pub fn verified(place: Place, stream: ByteStream, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
    let hasher = descriptor
        .digest
        .hasher()
        .ok_or_else(|| StoreError::UnsupportedDigest { digest: descriptor.digest.clone() })?;
    let hashing = Hashing { state: HashingState::Idle(Box::new(hasher)), waiting: Vec::new(), bytes: 0 };
    let state = Verification { place, stream, descriptor: descriptor.clone(), hashing: Some(hashing), seen: 0 };
    Ok(futures_util::stream::try_unfold(state, Verification::step).boxed())
}

struct Verification {
    place: Place,
    stream: ByteStream,
    descriptor: Descriptor,
    /// Until the end of the stream.
    hashing: Option<Hashing>,
    seen: u64,
}

/// Hashes pieces on another core while the next ones are on their way.
struct Hashing {
    state: HashingState,
    /// Pieces that come after those that are being hashed.
    waiting: Vec<Bytes>,
    /// How many bytes these are.
    bytes: usize,
}

enum HashingState {
    Idle(Box<DigestHasher>),
    UnderWay(JoinHandle<Box<DigestHasher>>),
}

impl Hashing {
    async fn add(mut self, piece: Bytes) -> Self {
        self.bytes += piece.len();
        self.waiting.push(piece);
        if self.bytes < AT_A_TIME {
            return self;
        }
        let mut hasher = self.state.hasher().await;
        let under_way = spawn_blocking(move || {
            self.waiting.iter().for_each(|piece| hasher.update(piece));
            hasher
        });
        Self { state: HashingState::UnderWay(under_way), waiting: Vec::new(), bytes: 0 }
    }

    async fn finish(self) -> Digest {
        let mut hasher = self.state.hasher().await;
        self.waiting.iter().for_each(|piece| hasher.update(piece));
        hasher.finish()
    }
}

impl HashingState {
    async fn hasher(self) -> Box<DigestHasher> {
        match self {
            Self::Idle(hasher) => hasher,
            Self::UnderWay(under_way) => under_way.await.expect("hashing does not panic"),
        }
    }
}

impl Verification {
    async fn step(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        let Some(chunk) = self.stream.try_next().await? else {
            return self.finish().await;
        };
        self.seen += chunk.len() as u64;
        if self.seen > self.descriptor.size {
            return Err(self.wrong_size());
        }
        if let Some(hashing) = self.hashing.take() {
            self.hashing = Some(hashing.add(chunk.clone()).await);
        }
        Ok(Some((chunk, self)))
    }

    async fn finish(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        if self.seen != self.descriptor.size {
            return Err(self.wrong_size());
        }
        let Some(hashing) = self.hashing.take() else { return Ok(None) };
        let actual = hashing.finish().await;
        if actual == self.descriptor.digest {
            return Ok(None);
        }
        Err(StoreError::DigestMismatch {
            what: StoreItem::of(&self.descriptor),
            expected: self.descriptor.digest,
            actual: Box::new(actual),
            place: self.place,
        })
    }

    fn wrong_size(&self) -> StoreError {
        StoreError::SizeMismatch {
            place: self.place.clone(),
            what: StoreItem::of(&self.descriptor),
            expected: self.descriptor.size,
            actual: self.seen,
        }
    }
}

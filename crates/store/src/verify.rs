//! The check of every byte that comes from a store.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use tofu_oci_types::{Descriptor, DigestHasher, Place};

use crate::error::{StoreError, StoreItem};

/// Bytes on their way, in pieces of any size.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, StoreError>> + Send>>;

/// Passes the bytes on while counting and hashing them; ends in an error as soon as there are more than the
/// descriptor's size, and at the end if there were fewer or the digest differs.
///
/// # Errors
/// [`StoreError::UnsupportedDigest`] at once for an algorithm that cannot be verified.
pub fn verified(place: Place, stream: ByteStream, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
    let hasher = descriptor
        .digest
        .hasher()
        .ok_or_else(|| StoreError::UnsupportedDigest { digest: descriptor.digest.clone() })?;
    let state = Verification { place, stream, descriptor: descriptor.clone(), hasher: Some(hasher), seen: 0 };
    Ok(futures_util::stream::try_unfold(state, Verification::step).boxed())
}

struct Verification {
    place: Place,
    stream: ByteStream,
    descriptor: Descriptor,
    hasher: Option<DigestHasher>,
    seen: u64,
}

impl Verification {
    async fn step(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        let Some(chunk) = self.stream.try_next().await? else {
            return self.finish();
        };
        self.seen += chunk.len() as u64;
        if self.seen > self.descriptor.size {
            return Err(self.wrong_size());
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&chunk);
        }
        Ok(Some((chunk, self)))
    }

    fn finish(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        if self.seen != self.descriptor.size {
            return Err(self.wrong_size());
        }
        let Some(hasher) = self.hasher.take() else { return Ok(None) };
        let actual = hasher.finish();
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

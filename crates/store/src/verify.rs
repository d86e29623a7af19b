//! The gate that every byte from a store passes.

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_types::{Descriptor, DigestHasher, Place};

use crate::{ByteStream, ReadStore, StoreError};

/// Passes the bytes on while counting and hashing them; ends in an error as soon as there are more than the
/// descriptor's size, and at the end when there were fewer or the digest differs.
///
/// # Errors
/// [`StoreError::UnsupportedDigest`] at once for an algorithm that cannot be verified.
pub fn verified(place: Place, stream: ByteStream, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
    let hasher = descriptor
        .digest
        .hasher()
        .ok_or_else(|| StoreError::UnsupportedDigest { digest: descriptor.digest.clone() })?;
    let state = State { place, stream, descriptor: descriptor.clone(), hasher: Some(hasher), seen: 0 };
    Ok(futures_util::stream::try_unfold(state, State::step).boxed())
}

struct State {
    place: Place,
    stream: ByteStream,
    descriptor: Descriptor,
    hasher: Option<DigestHasher>,
    seen: u64,
}

impl State {
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
            what: what(&self.descriptor),
            expected: self.descriptor.digest,
            actual,
            place: self.place,
        })
    }

    fn wrong_size(&self) -> StoreError {
        StoreError::SizeMismatch {
            place: self.place.clone(),
            what: what(&self.descriptor),
            expected: self.descriptor.size,
            actual: self.seen,
        }
    }
}

pub(crate) fn what(descriptor: &Descriptor) -> String {
    format!("{} ({})", descriptor.digest, descriptor.media_type)
}

/// The verified content as one piece of memory, for manifests and configs.
///
/// # Errors
/// [`StoreError::TooLarge`] before anything is read when the descriptor claims more than `limit` bytes.
pub async fn fetch_bytes(store: &dyn ReadStore, descriptor: &Descriptor, limit: u64) -> Result<Bytes, StoreError> {
    if descriptor.size > limit {
        return Err(StoreError::TooLarge { place: store.place(), what: what(descriptor), limit });
    }
    let mut stream = store.fetch(descriptor).await?;
    let mut bytes = BytesMut::new();
    while let Some(chunk) = stream.try_next().await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

//! What a package consists of.

use std::path::PathBuf;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_store::{ByteStream, StoreError, StoreItem};
use tofu_oci_types::{Digest, Place};

/// What a package is kept as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Package {
    /// The release's zip.
    Zip(Part),
    /// The layers of an image, from the lowest up.
    Layers(Vec<Layer>),
    /// A folder with the unpacked package on this machine.
    Folder(PathBuf),
}

/// Bytes to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the release finds them.
    pub at: Locator,
    /// How many bytes they are; `None` if the place does not say.
    pub size: Option<u64>,
    /// Their digest. A `zh:` is one.
    pub digest: Digest,
}

/// Where the bytes of a part are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// A blob of the repository, of this media type.
    Blob(String),
    /// A document of the web.
    Url(String),
}

/// One layer of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its bytes, as they are sent.
    pub part: Part,
    /// The digest of the uncompressed layer; `None` if the image's config names no layers.
    pub diff_id: Option<Digest>,
}

impl Part {
    /// The stream, which ends in an error unless it has the part's size and digest. A blob passes as it is: its store
    /// checks it.
    ///
    /// # Errors
    /// [`StoreError::UnsupportedDigest`] at once for an algorithm that cannot be verified.
    pub fn checked(&self, place: &Place, stream: ByteStream) -> Result<ByteStream, StoreError> {
        if matches!(self.at, Locator::Blob(_)) {
            return Ok(stream);
        }
        let unsupported = || StoreError::UnsupportedDigest { digest: self.digest.clone() };
        let state = (stream, self.digest.hasher().ok_or_else(unsupported)?, 0);
        let (part, place) = (self.clone(), place.clone());
        let checked = futures_util::stream::try_unfold(state, move |(mut stream, mut hasher, mut seen)| {
            let (part, place) = (part.clone(), place.clone());
            async move {
                let next = stream.try_next().await?;
                seen += next.as_ref().map_or(0, |piece: &Bytes| piece.len() as u64);
                if let Some(expected) = part.size.filter(|size| seen > *size || (next.is_none() && seen < *size)) {
                    let what = StoreItem::Blob(part.digest);
                    return Err(StoreError::SizeMismatch { place, what, expected, actual: seen });
                }
                let Some(piece) = next else {
                    let (what, expected, actual) = (StoreItem::Blob(part.digest.clone()), part.digest, hasher.finish());
                    let is_right = actual == expected;
                    let wrong = StoreError::DigestMismatch { place, what, expected, actual: Box::new(actual) };
                    return if is_right { Ok(None) } else { Err(wrong) };
                };
                hasher.update(&piece);
                Ok(Some((piece, (stream, hasher, seen))))
            }
        });
        Ok(checked.boxed())
    }
}

impl Package {
    /// What to fetch, in order.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        let (zip, layers): (_, &[Layer]) = match self {
            Self::Zip(zip) => (Some(zip), &[]),
            Self::Layers(layers) => (None, layers),
            Self::Folder(_) => (None, &[]),
        };
        zip.into_iter().chain(layers.iter().map(|layer| &layer.part))
    }
}

//! What a package consists of.

use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_http::shown_url;
use tofu_oci_store::{ByteStream, StoreError, StoreItem};
use tofu_oci_types::{Digest, Place};
use url::Url;

/// What a package is kept as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Package {
    Zip(Part),
    /// The layers of an image, from the lowest up.
    Layers(Vec<Layer>),
    /// A folder with the unpacked package on this machine.
    Folder(PathBuf),
}

/// Bytes to fetch, with the digest that they must have if the place names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the release finds them.
    pub at: Locator,
    /// How many bytes they are; `None` if the place does not say.
    pub size: Option<u64>,
    /// Their digest; `None` if the place does not say. A `zh:` is one.
    pub digest: Option<Digest>,
}

/// Where the bytes of a part are.
#[derive(Clone, PartialEq, Eq)]
pub enum Locator {
    /// A blob of the repository, of this media type.
    Blob(String),
    /// A document of the web. The query may be a secret, so that `Debug` does not show it.
    Url(Url),
    /// A file of this machine.
    File(PathBuf),
}

impl fmt::Debug for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blob(media_type) => write!(f, "Blob({media_type:?})"),
            Self::Url(url) => write!(f, "Url({})", shown_url(url)),
            Self::File(path) => write!(f, "File({path:?})"),
        }
    }
}

/// The bytes of a part, as its release opens it.
pub struct PartStream {
    /// How many bytes the place announces; `None` if it does not say.
    pub size: Option<u64>,
    pub stream: ByteStream,
}

/// One layer of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its bytes, as they are sent.
    pub part: Part,
    /// The digest of the uncompressed layer; `None` if the image's config names no layers.
    pub diff_id: Option<Digest>,
}

/// How errors name it: the digest, or where it is.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.digest, &self.at) {
            (Some(digest), _) => digest.fmt(f),
            (None, Locator::Blob(media_type)) => f.write_str(media_type),
            (None, Locator::Url(url)) => f.write_str(&shown_url(url)),
            (None, Locator::File(path)) => path.display().fmt(f),
        }
    }
}

impl Part {
    /// The stream, which ends in an error unless it has the part's size and digest, as far as they are known. A blob passes
    /// as it is: its store checks it.
    ///
    /// # Errors
    /// [`StoreError::UnsupportedDigest`] at once for an algorithm that cannot be verified.
    pub fn checked(&self, place: &Place, stream: ByteStream) -> Result<ByteStream, StoreError> {
        if matches!(self.at, Locator::Blob(_)) {
            return Ok(stream);
        }
        let hasher = match &self.digest {
            Some(digest) => {
                Some(digest.hasher().ok_or_else(|| StoreError::UnsupportedDigest { digest: digest.clone() })?)
            }
            None => None,
        };
        let (part, place) = (self.clone(), place.clone());
        let checked =
            futures_util::stream::try_unfold((stream, hasher, 0), move |(mut stream, mut hasher, mut seen)| {
                let (part, place) = (part.clone(), place.clone());
                let what = part.digest.clone().map_or(StoreItem::Other("package"), StoreItem::Blob);
                async move {
                    let next = stream.try_next().await?;
                    seen += next.as_ref().map_or(0, |piece: &Bytes| piece.len() as u64);
                    if let Some(expected) = part.size.filter(|size| seen > *size || (next.is_none() && seen < *size)) {
                        return Err(StoreError::SizeMismatch { place, what, expected, actual: seen });
                    }
                    let Some(piece) = next else {
                        let (Some(expected), Some(hasher)) = (part.digest, hasher) else { return Ok(None) };
                        let actual = hasher.finish();
                        let is_right = actual == expected;
                        let wrong = StoreError::DigestMismatch { place, what, expected, actual: Box::new(actual) };
                        return if is_right { Ok(None) } else { Err(wrong) };
                    };
                    if let Some(hasher) = &mut hasher {
                        hasher.update(&piece);
                    }
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

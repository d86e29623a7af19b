//! What identifies a release.

use serde::{Serialize, Serializer};

use crate::{Digest, DigestHasher};

/// What a signature, a pin and a verdict about a release are about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// The index of the release.
    Index {
        /// Its SHA-256.
        sha256: Digest,
        /// The SHA-512 of the same bytes, by which an earlier tofu-oci may have pinned it; `None` without the bytes.
        sha512: Option<Digest>,
    },
    /// The release's `SHA256SUMS`, by its SHA-256.
    Sums(Digest),
    /// The place names neither.
    Unidentified,
}

impl Identity {
    /// The index with these bytes.
    pub fn of_index(bytes: &[u8]) -> Self {
        let mut sha512 = DigestHasher::sha512();
        sha512.update(bytes);
        Self::Index { sha256: Digest::sha256(bytes), sha512: Some(sha512.finish()) }
    }

    /// The SHA-256 of the index; `None` if the release has no index.
    pub fn index(&self) -> Option<&Digest> {
        match self {
            Self::Index { sha256, .. } => Some(sha256),
            Self::Sums(_) | Self::Unidentified => None,
        }
    }

    /// The digest that a signature or a pin names; `None` if the release has neither an index nor a `SHA256SUMS`.
    pub fn digest(&self) -> Option<&Digest> {
        match self {
            Self::Index { sha256, .. } | Self::Sums(sha256) => Some(sha256),
            Self::Unidentified => None,
        }
    }

    /// Whether the release's index or `SHA256SUMS` has this digest, of either algorithm.
    pub fn is(&self, digest: &Digest) -> bool {
        match self {
            Self::Index { sha256, sha512 } => digest == sha256 || Some(digest) == sha512.as_ref(),
            Self::Sums(sha256) => digest == sha256,
            Self::Unidentified => false,
        }
    }
}

/// The digest of the index, or `null`.
impl Serialize for Identity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.index().serialize(serializer)
    }
}

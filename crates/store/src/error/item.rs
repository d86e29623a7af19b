//! What a store was asked for.

use std::fmt;

use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use crate::manifest::is_manifest_type;

/// Something in a repository, as errors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreItem {
    Tag(Tag),
    /// The manifest that a listed tag points at.
    ManifestOfTag(Tag),
    Manifest(Digest),
    Blob(Digest),
    /// Something else, by its name in messages: `list of tags`.
    Other(&'static str),
}

impl StoreItem {
    /// The content that a descriptor names.
    pub fn of(descriptor: &Descriptor) -> Self {
        let digest = descriptor.digest.clone();
        if is_manifest_type(&descriptor.media_type) { Self::Manifest(digest) } else { Self::Blob(digest) }
    }
}

impl From<&Reference> for StoreItem {
    fn from(reference: &Reference) -> Self {
        match reference {
            Reference::Tag(tag) => Self::Tag(tag.clone()),
            Reference::Digest(digest) => Self::Manifest(digest.clone()),
        }
    }
}

impl fmt::Display for StoreItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => write!(f, "tag {tag}"),
            Self::ManifestOfTag(tag) => write!(f, "manifest for its tag {tag}"),
            Self::Manifest(digest) => write!(f, "manifest {digest}"),
            Self::Blob(digest) => write!(f, "blob {digest}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

//! A tag that is taken, and how the release under it differs from the one that was to be pushed.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{Digest, PackageHash, Place, Platform, ProviderAddr, Tag};

/// A tag, its present target, and the target of this push.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} has a tag {tag} already: {}", difference.in_words())]
pub struct TagTaken {
    pub place: Place,
    pub tag: Tag,
    pub existing: Digest,
    pub new: Digest,
    pub difference: ReleaseDifference,
    /// The provider that the release under the tag says it is of; `None` if it does not say.
    pub of: Option<ProviderAddr>,
}

/// How the release under a taken tag differs from the one that was to be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseDifference {
    /// Its packages are others.
    Packages,
    /// What both have is the same, and one has more: another layout, or more platforms.
    Extent,
    /// The zips of its platforms are the same, and what lies beside them is not: small layers, or images.
    Layers,
    /// Its packages are the same; annotations of the index (`h1:` checksums, protocols) are others.
    Annotations,
    /// It is not a release of a provider.
    NotARelease,
}

/// The leaves of a release, as far as two releases are compared by them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownLeaves {
    /// The digests of all leaf manifests.
    pub(crate) digests: BTreeSet<Digest>,
    /// The `zh:` checksums, as the index claims them.
    pub(crate) zips: BTreeMap<Platform, PackageHash>,
    /// The `h1:` checksums, as the index claims them.
    pub(crate) contents: BTreeMap<Platform, PackageHash>,
}

impl ReleaseDifference {
    /// What differs between two releases; `None` if one of them is not a release.
    pub(crate) fn between(there: Option<&KnownLeaves>, new: Option<&KnownLeaves>) -> Self {
        let Some(there) = there else { return Self::NotARelease };
        let Some(new) = new else { return Self::Packages };
        let (old, zips) = (&there.digests, &there.zips);
        if *old == new.digests {
            Self::Annotations
        } else if !old.is_empty() && (old.is_subset(&new.digests) || new.digests.is_subset(old)) {
            Self::Extent
        } else if !zips.is_empty() && *zips == new.zips {
            Self::Layers
        } else if (zips.is_empty() || new.zips.is_empty()) && !new.contents.is_empty() && there.contents == new.contents
        {
            // One has zips, the other images of the same files.
            Self::Extent
        } else {
            Self::Packages
        }
    }

    /// What to do about it.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Packages => {
                "publish the change as a new version: lock files refuse another package under a known one"
            }
            Self::Extent => {
                "push with the --layout and the platforms of the published release, and nothing has to be sent"
            }
            Self::Layers => {
                "the published release has the same zips, and differs in small layers: push again with (or without) --small, \
                 as it was pushed, or publish a new version"
            }
            Self::Annotations => {
                "what clients install is the same: the address, the checksums or the protocol versions differ"
            }
            Self::NotARelease => "check that this is the repository you mean",
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Packages => "it points at a release with other packages",
            Self::Extent => "it points at a release with the same packages in another layout, or for other platforms",
            Self::Layers => "it points at a release with the same zips and other layers beside them",
            Self::Annotations => "it points at a release with the same packages and other annotations",
            Self::NotARelease => "it points at something that is not a provider release",
        }
    }
}

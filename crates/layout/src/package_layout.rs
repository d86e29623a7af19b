//! The layouts of a release in a repository, and which layer of a leaf is the zip and which the small one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::media_type;

/// How a release lies in a repository: chosen when writing, detected from the bytes when reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageLayout {
    /// What released `OpenTofu` (1.10 and later) installs: one zip for each platform, marked by artifact types.
    #[default]
    Artifact,
    /// The form of the RFC: a labelled container image for each platform.
    Image,
    /// One index that carries the leaves of both: images first, then artifacts.
    Both,
}

impl PackageLayout {
    /// Whether a release of this layout has leaves of this kind.
    pub fn has(self, kind: LeafKind) -> bool {
        match self {
            Self::Artifact => kind == LeafKind::Artifact,
            Self::Image => kind == LeafKind::Image,
            Self::Both => true,
        }
    }
}

/// How one platform's package lies in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeafKind {
    /// A container image whose layers together are the package's folder.
    Image,
    /// One zip, byte for byte the release's.
    Artifact,
}

impl LeafKind {
    /// The small layer of a leaf of this kind: the only layer of an artifact that is tar in Zstandard.
    pub fn small_layer<L>(self, layers: &[L], type_of: impl Fn(&L) -> &str) -> Option<&L> {
        let mut small = layers.iter().filter(|layer| type_of(layer) == media_type::LAYER_TAR_ZSTD);
        let only = small.next().filter(|_| small.next().is_none());
        only.filter(|_| self == Self::Artifact)
    }
}

impl fmt::Display for LeafKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "image",
            Self::Artifact => "artifact",
        })
    }
}

/// A text that is not a layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a layout: it must be artifact, image or both")]
pub struct InvalidPackageLayout {
    input: String,
}

impl FromStr for PackageLayout {
    type Err = InvalidPackageLayout;

    fn from_str(input: &str) -> Result<Self, InvalidPackageLayout> {
        match input {
            "artifact" => Ok(Self::Artifact),
            "image" => Ok(Self::Image),
            "both" => Ok(Self::Both),
            _ => Err(InvalidPackageLayout { input: input.to_owned() }),
        }
    }
}

impl fmt::Display for PackageLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Artifact => "artifact",
            Self::Image => "image",
            Self::Both => "both",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for layout in [PackageLayout::Artifact, PackageLayout::Image, PackageLayout::Both] {
            assert_eq!(layout.to_string().parse(), Ok(layout));
        }
        insta::assert_snapshot!("Zip".parse::<PackageLayout>().expect_err("no layout"), @"`Zip` is not a layout: it must be artifact, image or both");
    }

    #[test]
    fn has_the_leaves_it_says() {
        assert!(PackageLayout::Both.has(LeafKind::Image) && PackageLayout::Both.has(LeafKind::Artifact));
        assert!(!PackageLayout::Image.has(LeafKind::Artifact) && !PackageLayout::Artifact.has(LeafKind::Image));
    }
}

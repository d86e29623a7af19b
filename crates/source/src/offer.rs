//! One package, found and not yet fetched.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
pub use tofu_oci_layout::LeafKind;
use tofu_oci_layout::media_type;
use tofu_oci_types::{Descriptor, Digest, PackageHash, Platform, ProviderAddr, Tag, Version};

/// What a package consists of: data to print, to compare and to fetch by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// The provider.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The platform.
    pub platform: Platform,
    /// The place that offers it.
    pub place: String,
    /// The tag that was resolved, once; everything after is by digest.
    pub tag: Tag,
    /// The release's index.
    pub index: Descriptor,
    /// The SHA-512 of the same bytes, by which an earlier tofu-oci may have pinned it.
    #[serde(skip)]
    pub index_sha512: Digest,
    /// The leaf manifest, as its index lists it.
    pub leaf: Descriptor,
    /// Whether the parts are one zip or the layers of an image.
    pub kind: LeafKind,
    /// What to fetch: the zip, or the layers from the lowest up.
    pub parts: Vec<Descriptor>,
    /// Digests of the uncompressed layers, as the image's config lists them; empty for a zip, and for an image
    /// whose config names none.
    pub diff_ids: Vec<Digest>,
    /// Every platform of the release, sorted.
    pub offered: Vec<Platform>,
    /// The plugin protocols that the index claims, such as `6.0`.
    pub protocols: Vec<String>,
    /// The address that the index says it was published under; a mirror may well offer it under another one.
    pub published_as: Option<ProviderAddr>,
    /// Checksums that the release claims for its platforms: `ch:` of the leaves, and what annotations say.
    /// Claims: good for telling whose a checksum is, never for trusting a package.
    pub claims: BTreeMap<Platform, BTreeSet<PackageHash>>,
}

impl Offer {
    /// The bytes to fetch, all parts together, as the descriptors claim; `u64::MAX` if the sum is out of range.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.size))
    }

    /// `ch:` of the leaf; nothing for a package from elsewhere, which has no manifest.
    pub fn ch(&self) -> Option<PackageHash> {
        let manifest = matches!(self.leaf.media_type.as_str(), media_type::OCI_MANIFEST | media_type::DOCKER_MANIFEST);
        manifest.then(|| PackageHash::ch(&self.leaf.digest))
    }

    /// `zh:` of the zip; nothing for an image.
    pub fn zh(&self) -> Option<PackageHash> {
        match (self.kind, &self.parts[..]) {
            (LeafKind::Artifact, [zip]) => PackageHash::zh(&zip.digest),
            _ => None,
        }
    }
}

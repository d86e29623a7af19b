//! One release, all platforms together.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tofu_oci_layout::{LeafKind, PackageLayout};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Platform, ProviderAddr, Tag, Version};

/// What the index of a release says. The index has been verified by its digest; what it says are claims until somebody
/// who is trusted stands for that digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Release {
    /// The provider.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The place that has it.
    pub place: String,
    /// The tag that was resolved, once; everything after is by digest.
    pub tag: Tag,
    /// The release's index: what is signed.
    pub index: Descriptor,
    /// The SHA-512 of the same bytes, by which an earlier tofu-oci may have pinned it.
    #[serde(skip)]
    pub index_sha512: Digest,
    /// How the packages lie in the repository.
    pub layout: PackageLayout,
    /// The platforms that a package can be installed for, sorted.
    pub platforms: Vec<Platform>,
    /// The kind of the leaf that each of them is installed from.
    pub kinds: BTreeMap<Platform, LeafKind>,
    /// Checksums of each of them: `ch:` of every leaf, and what annotations say.
    pub claims: BTreeMap<Platform, BTreeSet<PackageHash>>,
    /// The `zh:` of each platform's zip, where an annotation says it.
    pub zips: BTreeMap<Platform, PackageHash>,
    /// The plugin protocols that the index claims, such as `6.0`.
    pub protocols: Vec<String>,
    /// The address that the index says it was published under; a mirror may well offer it under another one.
    pub published_as: Option<ProviderAddr>,
}

/// How far evidence is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Search {
    /// Where it usually is, with as few requests as it takes, and no further than the first place that has a signature.
    /// What is found this way can convince; that nothing is found says nothing.
    Likely,
    /// Everywhere.
    Everywhere,
}

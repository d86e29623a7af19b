//! One release, all platforms together.

use std::collections::BTreeMap;

use serde::Serialize;
use tofu_oci_layout::{LeafKind, PackageLayout};
use tofu_oci_types::{Identity, PackageHash, Place, Platform, ProviderAddr, Tag, Version};

use crate::Claims;

/// Which release, and where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReleaseId {
    /// The provider.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The place that has it.
    pub place: Place,
    /// What signatures of it are about.
    pub identity: Identity,
}

/// What a release says of itself. These are claims until somebody who is trusted has signed the release's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReleaseDescription {
    /// The tag that was resolved, once; everything after is by digest. `None` if the release lies in no repository.
    pub tag: Option<Tag>,
    /// How the packages lie in the repository; `None` if they lie elsewhere.
    pub layout: Option<PackageLayout>,
    /// The platforms that a package can be installed for, sorted.
    pub platforms: Vec<Platform>,
    /// The kind of the manifest that each of them is installed from.
    pub kinds: BTreeMap<Platform, LeafKind>,
    /// Checksums of each of them: `ch:` of every manifest, and what annotations say.
    pub claims: Claims,
    /// The `zh:` of each platform's zip, if the release itself names it.
    pub zips: BTreeMap<Platform, PackageHash>,
    /// The plugin protocols, such as `6.0`.
    pub protocols: Vec<String>,
    /// The address that the release says it was published under; a mirror may well offer it under another one.
    pub published_as: Option<ProviderAddr>,
}

/// How far evidence is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Search {
    /// Where it usually is, with as few requests as it takes, and no further than the first place that has a signature.
    /// What is found this way can convince; finding nothing this way says nothing.
    Likely,
    /// Everywhere.
    Everywhere,
}

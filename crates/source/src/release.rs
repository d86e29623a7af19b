//! One release, all platforms together.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tofu_oci_layout::{CreationTime, LeafKind, PackageLayout};
use tofu_oci_trust::Subject;
use tofu_oci_types::{Identity, PackageHash, Place, Platform, ProviderAddr, Tag, Version};

/// Checksums by platform.
pub type ClaimedHashes = BTreeMap<Platform, BTreeSet<PackageHash>>;

/// File names of zips by platform.
pub type ZipNames = BTreeMap<Platform, String>;

/// Which release, and where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReleaseId {
    pub address: ProviderAddr,
    pub version: Version,
    /// The place that has it.
    pub place: Place,
    /// What its signatures are about.
    pub identity: Identity,
}

impl ReleaseId {
    /// What is judged of it.
    pub fn subject(&self) -> Subject<'_> {
        Subject::Provider { address: &self.address, version: &self.version }
    }
}

/// How a release describes itself. All of it is a claim until a trusted key has signed the release's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReleaseDescription {
    /// The tag that was resolved, once; everything else is read by digest. `None` outside of repositories.
    pub tag: Option<Tag>,
    /// How the packages lie in the repository; `None` if they lie elsewhere.
    pub layout: Option<PackageLayout>,
    /// The platforms that a package can be installed for, sorted.
    pub platforms: Vec<Platform>,
    /// The kind of manifest that each platform is installed from.
    pub kinds: BTreeMap<Platform, LeafKind>,
    /// Checksums by platform: `ch:` of every manifest, and what annotations say.
    pub claims: ClaimedHashes,
    /// The `zh:` of each platform's zip, if the release itself names it.
    pub zips: BTreeMap<Platform, PackageHash>,
    /// The plugin protocols, such as `6.0`.
    pub protocols: Vec<String>,
    /// The address that the release was published under, by its own word; a mirror may offer it under another one.
    pub published_as: Option<ProviderAddr>,
}

/// When a release was made, by its own word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseDate {
    /// When.
    pub at: CreationTime,
    /// Which of its documents says so.
    pub by: CreatedBy,
}

/// The document that says when a release was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CreatedBy {
    /// The annotation of the index.
    Index,
    /// The annotation of a platform's manifest, as `oras push` writes it.
    Manifest,
    /// The config of a platform's image, as `docker build` writes it.
    ImageConfig,
}

/// How far a search for evidence goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Search {
    /// Where it usually is, with few requests, and no further than the first place that has a signature. Such a
    /// signature may suffice, but finding no signature proves nothing.
    Likely,
    Everywhere,
}

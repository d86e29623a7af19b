//! What lies in a repository, as it lies there: raw bytes, and faults as facts.
//!
//! Nothing is judged here and nothing is believed. A manifest that is missing, damaged or no JSON is written down as
//! that; only a repository whose tags cannot be listed is an error. The rules and the prediction read from here, so
//! that both speak about the same bytes.
//!
//! ```text
//! tags ──> versions ──> the manifest of each version's tag ──> its entries ──> each leaf ──> config, layers
//! (texts)  (lenient)    raw bytes, how they were sent          as Go reads     raw bytes     there? size? digest? zip?
//! ```

mod blobs;
mod budget;
mod document;
mod fault;
mod packages;
mod read;

pub use blobs::{BlobContent, FoundBlob};
pub use document::{FoundDocument, FoundJson, FoundManifest};
pub use fault::{FaultKind, ReadFault};
pub use packages::PackageFacts;
pub(crate) use packages::is_any_executable;
pub use read::read;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tofu_oci_types::{Descriptor, Place, Platform, Tag, Version};

use crate::opentofu::GoDescriptor;

/// What to read of a repository.
#[derive(Clone, Debug)]
pub struct What {
    /// Which versions.
    pub versions: Versions,
    /// How deep.
    pub depth: Depth,
    /// Where layers are put while they are read; an existing folder.
    pub work_dir: PathBuf,
}

/// Which versions are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Every version that a tag reads as.
    All,
    /// One of them; the tags are listed all the same.
    One(Version),
}

/// How deep is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Manifests and configs; of layers only whether they are there.
    Manifests,
    /// The contents of every layer too.
    Packages,
}

/// A repository as it was found.
#[derive(Clone, Debug)]
pub struct RepositoryFacts {
    /// The repository as people write it.
    pub place: Place,
    /// How deep was read.
    pub depth: Depth,
    /// Every tag in the order in which the repository lists them; texts, since a folder may hold what is not a tag.
    pub tags: Vec<String>,
    /// The versions that the tags read as, lowest first; with [`Versions::One`] that version alone, read or not.
    pub releases: Vec<FoundRelease>,
}

/// One version, and what the tag that it is asked for by points at.
#[derive(Clone, Debug)]
pub struct FoundRelease {
    /// The version, with its build metadata.
    pub version: Version,
    /// The tag that it is asked for by: the canonical one. None when the version's text is too long for a tag.
    pub tag: Option<Tag>,
    /// The tags that read as this version, in the order of the list; empty when a version was asked for that no tag
    /// reads as.
    pub read_from: Vec<String>,
    /// What the canonical tag points at.
    pub index: FoundManifest,
    /// The entries of the index, in its order; at most 1000.
    pub entries: Vec<IndexEntry>,
    /// How many entries there are beyond those.
    pub entries_left_out: usize,
    /// What refers to the index, as the repository lists it.
    pub referrers: Result<Vec<Descriptor>, ReadFault>,
}

/// One entry of an index.
#[derive(Clone, Debug)]
pub struct IndexEntry {
    /// Its position, from 0.
    pub position: usize,
    /// As the index has it; [`Value::Null`] where only Go's reading finds an entry here.
    pub raw: Value,
    /// As Go reads it.
    pub descriptor: GoDescriptor,
    /// The manifest that it points at, and what belongs to it.
    pub leaf: Arc<FoundLeaf>,
}

/// A manifest that an entry points at, with its parts.
#[derive(Clone, Debug)]
pub struct FoundLeaf {
    /// The manifest.
    pub manifest: FoundManifest,
    /// Its config.
    pub config: Option<LeafPart>,
    /// Its layers, in their order.
    pub layers: Vec<LeafPart>,
}

/// A blob that a manifest names.
#[derive(Clone, Debug)]
pub struct LeafPart {
    /// Its position among the layers, from 0; 0 for a config.
    pub position: usize,
    /// As the manifest has it.
    pub raw: Value,
    /// As Go reads it.
    pub descriptor: GoDescriptor,
    /// What lies at its digest.
    pub blob: Arc<FoundBlob>,
}

impl RepositoryFacts {
    /// The release of a version, build metadata and all.
    pub fn release(&self, version: &Version) -> Option<&FoundRelease> {
        self.releases.iter().find(|release| release.version == *version)
    }

    /// Every platform that an entry of an index names, sorted.
    pub fn platforms(&self) -> Vec<Platform> {
        let entries = self.releases.iter().flat_map(|release| &release.entries);
        let found: BTreeSet<Platform> = entries.filter_map(|entry| entry.descriptor.platform()).collect();
        found.into_iter().collect()
    }
}

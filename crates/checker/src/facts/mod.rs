//! The content of a repository, as stored: raw bytes, and faults as facts.
//!
//! This module judges and believes nothing. A missing, damaged or invalid manifest is a fact; only a repository whose
//! tags cannot be listed is an error. The rules and the prediction read the same facts.
//!
//! ```text
//! tags ──> versions ──> the manifest of each version's tag ──> its entries ──> each leaf ──> config, layers
//! (texts)  (lenient)    raw bytes, how they were sent          as Go reads     raw bytes     there? size? digest? zip?
//! ```

mod blobs;
mod budget;
mod document;
mod fault;
mod module;
mod packages;
mod read;
mod zip_end;

pub use blobs::{BlobContent, FoundBlob};
pub use document::{FoundDocument, FoundJson, FoundManifest};
pub use fault::{FaultKind, ReadFault};
pub use module::{FoundModule, FoundModulePackage, ModuleContent, ModulePackageFacts, WhatModules, read_modules};
pub use packages::PackageFacts;
pub(crate) use packages::is_any_executable;
pub use read::read;
pub(crate) use read::withdrawn;
pub use zip_end::{LARGEST_DIRECTORY, repository_in_file, repository_in_zip};

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tofu_oci_types::{Descriptor, Place, Platform, Tag, Version};

use crate::go::GoDescriptor;

/// What to read of a repository.
#[derive(Clone, Debug)]
pub struct What {
    /// Which versions to read.
    pub versions: Versions,
    /// How deep to read.
    pub depth: Depth,
    /// An existing folder for layers while they are read.
    pub work_dir: PathBuf,
}

/// A choice of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Every tag that is a version.
    All,
    /// One version; the tags are still listed.
    One(Version),
}

/// How much of a release is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Manifests and configs; layers only as to whether they exist.
    Manifests,
    /// The contents of every layer too.
    Packages,
}

/// The facts about a repository.
#[derive(Clone, Debug)]
pub struct RepositoryFacts {
    /// The repository as people write it.
    pub place: Place,
    /// How much was read of each release.
    pub depth: Depth,
    /// Every tag, in the order of the repository's list. Texts, because a folder may hold names that are not tags.
    pub tags: Vec<String>,
    /// The versions of the tags, lowest first; with [`Versions::One`] that version alone, even if no tag has it.
    pub releases: Vec<FoundRelease>,
}

/// One version, and what its canonical tag points at.
#[derive(Clone, Debug)]
pub struct FoundRelease {
    /// The version, with its build metadata.
    pub version: Version,
    /// Its canonical tag; `None` if the version's text is too long for a tag.
    pub tag: Option<Tag>,
    /// The tags that have this version, in the order of the list; empty for a requested version without a tag.
    pub read_from: Vec<String>,
    /// If it was asked for and was withdrawn: that, and why.
    pub withdrawn: Option<String>,
    /// What the canonical tag points at.
    pub index: FoundManifest,
    /// The entries of the index, in its order; at most 1000.
    pub entries: Vec<IndexEntry>,
    /// The number of further entries, which were not read.
    pub entries_left_out: usize,
    /// The referrers of the index, as the repository lists them.
    pub referrers: Result<Vec<Descriptor>, ReadFault>,
}

/// One entry of an index.
#[derive(Clone, Debug)]
pub struct IndexEntry {
    /// Its position, from 0.
    pub position: usize,
    /// As the index has it; [`Value::Null`] if only Go's reading finds this entry.
    pub raw: Value,
    /// As Go reads it.
    pub descriptor: GoDescriptor,
    /// The manifest that it points at, with its parts.
    pub leaf: Arc<FoundLeaf>,
}

/// A manifest that an entry points at, with its parts.
#[derive(Clone, Debug)]
pub struct FoundLeaf {
    pub manifest: FoundManifest,
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
    /// The blob at its digest.
    pub blob: Arc<FoundBlob>,
}

impl RepositoryFacts {
    /// The release of a version; build metadata counts.
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

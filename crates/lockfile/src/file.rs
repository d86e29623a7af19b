//! A lock file in memory.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use tofu_oci_types::{Constraints, PackageHash, ProviderAddr, Scheme, Version};

/// The name of the lock file in a working directory.
pub const LOCK_FILE_NAME: &str = ".terraform.lock.hcl";

/// What is locked, sorted by address.
///
/// Two lock files are equal if they lock the same: constraints and the maintaining program do not count.
#[derive(Clone, Debug, Default)]
pub struct LockFile {
    entries: BTreeMap<ProviderAddr, LockEntry>,
    maintainer: Maintainer,
    ignored_modules: usize,
    has_disorder: bool,
}

/// What is locked of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockEntry {
    /// The version that was chosen.
    pub version: Version,
    /// The constraints at the time of the choice. They inform people and lock nothing.
    pub constraints: Constraints,
    /// Checksums of the version's packages, for every recorded platform.
    pub hashes: BTreeSet<PackageHash>,
}

/// The program that the first line of a lock file names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maintainer {
    /// `tofu init`; new files name it.
    #[default]
    OpenTofu,
    /// `terraform init`.
    Terraform,
}

impl LockFile {
    pub fn get(&self, address: &ProviderAddr) -> Option<&LockEntry> {
        self.entries.get(address)
    }

    /// Locks a provider, in place of its entry; the other entries stay.
    pub fn insert(&mut self, address: ProviderAddr, entry: LockEntry) -> Option<LockEntry> {
        self.entries.insert(address, entry)
    }

    pub fn remove(&mut self, address: &ProviderAddr) -> Option<LockEntry> {
        self.entries.remove(address)
    }

    /// Every entry, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&ProviderAddr, &LockEntry)> {
        self.entries.iter()
    }

    /// Whether nothing is locked.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The program that the file's first line names.
    pub fn maintainer(&self) -> Maintainer {
        self.maintainer
    }

    pub(crate) fn set_maintainer(&mut self, maintainer: Maintainer) {
        self.maintainer = maintainer;
    }

    /// How many `module` blocks the text had. They are reserved and have no meaning; writing the file removes them.
    ///
    /// Spec: `OpenTofu` 1.12, depsfile: "Dependency locks for modules are not yet supported".
    pub fn ignored_modules(&self) -> usize {
        self.ignored_modules
    }

    /// Whether the text had checksums out of order, or one of them twice. `init` of both programs puts them in order.
    pub(crate) fn has_disorder(&self) -> bool {
        self.has_disorder
    }

    pub(crate) fn note_disorder(&mut self) {
        self.has_disorder = true;
    }

    pub(crate) fn count_ignored_module(&mut self) {
        self.ignored_modules += 1;
    }
}

impl PartialEq for LockFile {
    fn eq(&self, other: &Self) -> bool {
        let same = |((address, entry), (other_address, other)): ((_, &LockEntry), (_, &LockEntry))| {
            address == other_address && entry.version == other.version && entry.hashes == other.hashes
        };
        self.entries.len() == other.entries.len() && self.entries.iter().zip(&other.entries).all(same)
    }
}

impl LockEntry {
    /// An entry without checksums.
    pub fn new(version: Version, constraints: Constraints) -> Self {
        Self { version, constraints, hashes: BTreeSet::new() }
    }

    /// The entry without `ch:` lines; unchanged if only they say which package was locked.
    #[must_use]
    pub fn without_manifests(mut self) -> Self {
        let binds = |hash: &PackageHash| matches!(hash.scheme(), Scheme::H1 | Scheme::Zh);
        if self.hashes.iter().any(binds) {
            self.hashes.retain(|hash| hash.scheme() != Scheme::Ch);
        }
        self
    }
}

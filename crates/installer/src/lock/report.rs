//! What came of locking.

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_fetch::Vouched;
use tofu_oci_lockfile::{LockEntry, LockFile, StoredLockFile, Written};
use tofu_oci_trust::ManifestChecksums;
use tofu_oci_types::{Digest, PackageHash, Platform, ProviderAddr, Version};

/// What came of locking.
#[derive(Clone, Debug)]
pub struct LockReport {
    /// One for each job, in the order of the jobs.
    pub providers: Vec<LockedProvider>,
    /// The lock file as it was.
    pub before: StoredLockFile,
    /// What it locks now, or would lock.
    pub after: LockFile,
    /// How the two differ.
    pub difference: Difference,
    /// What was done about it.
    pub written: Written,
}

/// How a lock file differs from what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// Not at all.
    None,
    /// It only lacks `ch:` lines that an `init` has dropped, and no rule demands them.
    OptionalManifests,
    /// It lacks, or has, something else.
    Entries,
}

/// What is locked of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockedProvider {
    /// The provider.
    pub address: ProviderAddr,
    /// Its version.
    pub version: Version,
    /// The place that was asked.
    pub place: String,
    /// The release's index.
    pub index: Digest,
    /// What is locked of each platform, sorted.
    pub platforms: Vec<LockedPlatform>,
    /// `ch:` lines that come beside other lines of their packages, sorted.
    pub restored: Vec<PackageHash>,
    /// Whether this index was seen before, and an `init` has dropped them; else they may never have been there.
    pub seen_before: bool,
    /// Whether a rule demands `ch:` lines.
    pub manifest_checksums: ManifestChecksums,
}

/// What is locked of one platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockedPlatform {
    /// The platform.
    pub platform: Platform,
    /// How its checksums are known.
    pub basis: Basis,
    /// Bytes that had to be fetched for that.
    pub bytes: u64,
    /// Who stands for the package.
    pub trust: Vouched,
    /// Its checksums, sorted.
    pub hashes: Vec<PackageHash>,
    /// Those that the lock file did not have, sorted.
    pub added: Vec<PackageHash>,
}

/// How checksums are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A trusted signature covers them.
    Signed,
    /// The package was fetched, verified and thrown away.
    Downloaded,
    /// The lock file had them.
    Kept,
}

impl LockedProvider {
    /// The entry without the `ch:` lines that an `init` has dropped, where no rule demands them.
    pub(super) fn without_optional(&self, entry: &LockEntry) -> LockEntry {
        let mut entry = entry.clone();
        if self.manifest_checksums == ManifestChecksums::Optional {
            let restored: BTreeSet<&PackageHash> = self.restored.iter().collect();
            entry.hashes.retain(|hash| !restored.contains(hash));
        }
        entry
    }

    /// Bytes that had to be fetched.
    pub fn bytes(&self) -> u64 {
        self.platforms.iter().map(|platform| platform.bytes).sum()
    }
}

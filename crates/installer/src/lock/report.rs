//! The result of locking.

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_fetch::VouchedBy;
use tofu_oci_lockfile::{LockEntry, LockFile, StoredLockFile, WriteOutcome};
use tofu_oci_trust::ManifestChecksums;
use tofu_oci_types::{Identity, PackageHash, Place, Platform, ProviderAddr, Scheme, Version};

/// The result of locking.
#[derive(Clone, Debug)]
pub struct LockReport {
    /// One for each request, in their order.
    pub providers: Vec<LockedProvider>,
    pub before: StoredLockFile,
    /// What it locks now, or would lock.
    pub after: LockFile,
    /// How the two differ.
    pub difference: LockDifference,
    /// What was done about it.
    pub written: WriteOutcome,
}

/// How a lock file differs from what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockDifference {
    /// Not at all.
    None,
    /// By `ch:` lines alone: an `init` has dropped them and no rule demands them, or a rule turns them off.
    OptionalManifests,
    /// Other lines or entries differ.
    Entries,
}

/// What is locked of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockedProvider {
    /// The provider.
    pub address: ProviderAddr,
    /// Its version.
    pub version: Version,
    /// The provider that the release says it is of, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_as: Option<ProviderAddr>,
    /// The place that was asked.
    pub place: Place,
    /// What identifies the release.
    #[serde(rename = "index")]
    pub identity: Identity,
    /// What is locked of each platform, sorted.
    pub platforms: Vec<LockedPlatform>,
    /// `ch:` lines that are added to other lines of their packages, sorted.
    pub restored: Vec<PackageHash>,
    /// Whether this index was pinned before, so that an `init` has dropped these lines; otherwise they may be new.
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
    /// Bytes that were fetched for that.
    pub bytes: u64,
    /// Who vouches for the package.
    pub trust: VouchedBy,
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
    /// A key that the origin registry names has signed them. There is no `h1:` among them.
    SignedAtOrigin,
    /// The package was fetched, verified and thrown away.
    Downloaded,
    /// The lock file had them.
    Kept,
}

impl LockedProvider {
    /// The entry without the `ch:` lines that an `init` has dropped, if no rule demands them, and with those that are
    /// there, if a rule turns them off.
    pub(super) fn with_manifests_of(&self, before: Option<&LockEntry>, entry: &LockEntry) -> LockEntry {
        let mut entry = entry.clone();
        match self.manifest_checksums {
            ManifestChecksums::Required => {}
            ManifestChecksums::Optional => {
                let restored: BTreeSet<&PackageHash> = self.restored.iter().collect();
                entry.hashes.retain(|hash| !restored.contains(hash));
            }
            ManifestChecksums::Off => {
                let before = before.filter(|before| before.version == entry.version);
                let manifests = before.into_iter().flat_map(|before| &before.hashes);
                entry.hashes.extend(manifests.filter(|hash| hash.scheme() == Scheme::Ch).cloned());
            }
        }
        entry
    }

    /// Bytes that were fetched.
    pub fn bytes(&self) -> u64 {
        self.platforms.iter().map(|platform| platform.bytes).sum()
    }
}

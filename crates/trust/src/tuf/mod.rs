//! A newer `trusted_root.json` out of a TUF repository, by TUF's own rules: signatures by thresholds, versions, expiry, lengths,
//! hashes.
//!
//! ```text
//! RootChain --root(N+1)…--timestamp--> SnapshotWanted --snapshot--> TargetsWanted --targets--> TargetWanted --target--> bytes
//! ```
//!
//! Whoever calls it reads the files; each step says which file is next, and how many bytes of it may be read.
//!
//! Spec: The Update Framework 1.0, section 5.

mod canonical;
mod error;
mod metadata;
mod promise;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::SystemTime;

pub use error::TufError;
use metadata::{Metadata, Role, RoleKeyIds, Roles};
use promise::{LARGE, Promise};
use serde::{Deserialize, Serialize};

/// The root of Sigstore's public instance that is built in.
const BUILT_IN: &[u8] = include_bytes!("sigstore-root.json");
/// The versions that were current with it: with the same keys, an older one is an old one that somebody offers again.
const CURRENT: TufVersions = TufVersions { root: 15, timestamp: 762, snapshot: 165, targets: 14 };
/// The file in it that is wanted.
const TARGET: &str = "trusted_root.json";
/// The most bytes of a timestamp.
const SMALL: u64 = 16 << 10;
/// The most new roots: there is about one in half a year.
const ROOTS: u64 = 256;

/// The versions of the files that were current.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with the versions of a TUF repository")]
pub struct TufVersions {
    pub root: u64,
    pub timestamp: u64,
    pub snapshot: u64,
    pub targets: u64,
}

/// The versions that were current, and the keys that signed them: of which instance they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with the versions and keys of a TUF repository")]
pub struct TufState {
    pub versions: TufVersions,
    keys: RoleKeyIds,
}

/// A file that is to be read: the names that it may have, the best first, and its limit in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedFile {
    pub names: Vec<String>,
    pub limit: u64,
}

/// The trusted root, and newer ones as long as there are any.
#[derive(Clone, Debug)]
pub struct RootChain {
    root: Metadata,
    roles: Roles,
    /// The keys of every root so far.
    root_keys: BTreeSet<String>,
    known: Vec<TufState>,
    /// The versions below which a file is an old one.
    least: TufVersions,
    found: TufVersions,
    read: u64,
    now: SystemTime,
}

/// The root and the timestamp are right.
#[derive(Clone, Debug)]
pub struct SnapshotWanted {
    chain: RootChain,
    promise: Promise,
}

/// The snapshot is right, too.
#[derive(Clone, Debug)]
pub struct TargetsWanted {
    chain: RootChain,
    promise: Promise,
}

/// All metadata are right.
#[derive(Clone, Debug)]
pub struct TargetWanted {
    promise: Promise,
    found: TufState,
}

impl RootChain {
    /// From the root of Sigstore's public instance that is built in.
    pub fn built_in(now: SystemTime) -> Self {
        let mut chain = Self::of(BUILT_IN, now).expect("the built-in root is one, as a test shows");
        chain.known.push(TufState { versions: CURRENT, keys: chain.roles.key_ids() });
        chain
    }

    /// From the root of another instance, which must be trusted.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(root: &[u8], now: SystemTime) -> Result<Self, TufError> {
        let root = Metadata::read("root.json", "root", root, LARGE)?;
        let roles = Roles::of(&root)?;
        roles.verify(Role::Root, &root)?;
        let (root_keys, found) = (roles.keys_of(Role::Root), TufVersions::default());
        Ok(Self { root, roles, root_keys, known: Vec::new(), least: found, found, read: 0, now })
    }

    /// The same, if this was current when a root was taken before: an older file is refused. The count of files by other keys may
    /// have begun anew.
    #[must_use]
    pub fn remembering(mut self, before: Option<TufState>) -> Self {
        self.known.extend(before);
        self
    }

    /// The version of the root that counts now.
    pub fn version(&self) -> u64 {
        self.root.version
    }

    /// The next root, if there is one; `None` if so many were read that it is no use to go on.
    pub fn wanted(&self) -> Option<WantedFile> {
        let next = self.root.version.checked_add(1).filter(|_| self.read < ROOTS)?;
        let names = vec![format!("{next}.root.json"), format!("root_history/{next}.root.json")];
        Some(WantedFile { names, limit: LARGE })
    }

    /// Takes the next root: the one before it and it itself must have signed it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn root(&mut self, bytes: &[u8]) -> Result<(), TufError> {
        let next = Metadata::read("root.json", "root", bytes, LARGE)?;
        self.roles.verify(Role::Root, &next)?;
        let roles = Roles::of(&next)?;
        roles.verify(Role::Root, &next)?;
        next.demand_version(self.root.version.saturating_add(1))?;
        (self.root, self.roles, self.read) = (next, roles, self.read + 1);
        self.root_keys.extend(self.roles.keys_of(Role::Root));
        Ok(())
    }

    /// The timestamp, after the last root.
    pub fn timestamp_wanted() -> WantedFile {
        WantedFile { names: vec!["timestamp.json".to_owned()], limit: SMALL }
    }

    /// Takes the timestamp. No root comes after it.
    ///
    /// # Errors
    /// What is wrong with it, or with the last root.
    pub fn timestamp(mut self, bytes: &[u8]) -> Result<SnapshotWanted, TufError> {
        let keys = self.roles.key_ids();
        for TufState { versions, keys: before } in &self.known {
            if before.root.is_disjoint(&self.root_keys) {
                return Err(TufError::OtherInstance);
            }
            self.root.demand_no_rollback(versions.root)?;
            // With new keys the count may begin anew: it is how a repository recovers from a stolen key.
            if before.timestamp == keys.timestamp && before.snapshot == keys.snapshot {
                self.least.timestamp = self.least.timestamp.max(versions.timestamp);
                self.least.snapshot = self.least.snapshot.max(versions.snapshot);
            }
            if before.targets == keys.targets {
                self.least.targets = self.least.targets.max(versions.targets);
            }
        }
        self.root.demand_fresh(self.now)?;
        let found = Metadata::read("timestamp.json", "timestamp", bytes, SMALL)?;
        self.roles.verify(Role::Timestamp, &found)?;
        found.demand_no_rollback(self.least.timestamp)?;
        found.demand_fresh(self.now)?;
        (self.found.root, self.found.timestamp) = (self.root.version, found.version);
        let promise = found.promise("meta", "snapshot.json")?.ok_or_else(|| found.lacks("snapshot.json"))?;
        Ok(SnapshotWanted { promise, chain: self })
    }
}

impl SnapshotWanted {
    /// The snapshot.
    pub fn wanted(&self) -> WantedFile {
        WantedFile { names: self.promise.names("snapshot.json"), limit: self.promise.limit() }
    }

    /// Takes the snapshot.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn snapshot(self, bytes: &[u8]) -> Result<TargetsWanted, TufError> {
        let Self { mut chain, promise } = self;
        promise.check("snapshot.json", bytes)?;
        let found = Metadata::read("snapshot.json", "snapshot", bytes, LARGE)?;
        chain.roles.verify(Role::Snapshot, &found)?;
        found.demand_version(promise.version.ok_or_else(|| found.lacks("version"))?)?;
        found.demand_no_rollback(chain.least.snapshot)?;
        found.demand_fresh(chain.now)?;
        chain.found.snapshot = found.version;
        let promise = found.promise("meta", "targets.json")?.ok_or_else(|| found.lacks("targets.json"))?;
        Ok(TargetsWanted { chain, promise })
    }
}

impl TargetsWanted {
    /// The list of targets.
    pub fn wanted(&self) -> WantedFile {
        WantedFile { names: self.promise.names("targets.json"), limit: self.promise.limit() }
    }

    /// Takes the list of targets.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn targets(self, bytes: &[u8]) -> Result<TargetWanted, TufError> {
        let Self { chain, promise } = self;
        promise.check("targets.json", bytes)?;
        let found = Metadata::read("targets.json", "targets", bytes, LARGE)?;
        chain.roles.verify(Role::Targets, &found)?;
        found.demand_version(promise.version.ok_or_else(|| found.lacks("version"))?)?;
        found.demand_no_rollback(chain.least.targets)?;
        found.demand_fresh(chain.now)?;
        let promise = found.promise("targets", TARGET)?.ok_or(TufError::NoTarget)?;
        if promise.sha256.is_none() || promise.length.is_none() {
            return Err(found.lacks("the length and the sha256 of trusted_root.json"));
        }
        let versions = TufVersions { targets: found.version, ..chain.found };
        Ok(TargetWanted { promise, found: TufState { versions, keys: chain.roles.key_ids() } })
    }
}

impl TargetWanted {
    /// The `trusted_root.json`.
    pub fn wanted(&self) -> WantedFile {
        let hashed = self.promise.sha256.as_ref().map(|hash| format!("targets/{}.{TARGET}", hash.encoded()));
        let names = hashed.into_iter().chain([format!("targets/{TARGET}")]).collect();
        WantedFile { names, limit: self.promise.limit() }
    }

    /// What proves it, to be remembered.
    pub fn state(&self) -> &TufState {
        &self.found
    }

    /// Takes the file.
    ///
    /// # Errors
    /// If it is another one.
    pub fn target(&self, bytes: &[u8]) -> Result<(), TufError> {
        self.promise.check(TARGET, bytes)
    }
}

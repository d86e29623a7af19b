//! What is asked: a provider, and which version of it for which platform.

use std::path::PathBuf;

use tofu_oci_types::{Constraints, Platform, ProviderAddr, Version};

/// Where a provider would come from.
pub struct ProviderQuestion<'a> {
    pub address: &'a ProviderAddr,
    /// Which versions are admitted.
    pub constraints: &'a Constraints,
    pub platform: Platform,
    /// The version that the lock file names.
    pub locked: Option<LockedVersion>,
}

/// The version that a lock file names.
pub struct LockedVersion {
    pub path: PathBuf,
    pub version: Version,
    /// The provider whose entry names it: the one that was asked for, or its predecessor.
    pub by: ProviderAddr,
    /// Whether the constraints admit it.
    pub admitted: bool,
}

impl ProviderQuestion<'_> {
    /// The version to install: the locked one, or the newest that is admitted.
    pub(crate) fn select<'v>(&self, versions: &'v [Version]) -> Option<&'v Version> {
        match &self.locked {
            Some(locked) => Constraints::exactly(locked.version.clone()).select(versions),
            None => self.constraints.select(versions),
        }
    }
}

//! Versions at the destination that say another provider than the one they were asked for.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_source::Release;
use tofu_oci_types::{ProviderAddr, Version};

/// The most providers that are remembered.
const MOST: usize = 1000;

/// The versions of opened releases that said another provider, by the provider that was asked for.
#[derive(Default)]
pub(super) struct VersionsOfOthers(Mutex<HashMap<ProviderAddr, HashSet<Version>>>);

impl VersionsOfOthers {
    /// Whether the version is known to be of another provider.
    pub(super) fn contains(&self, address: &ProviderAddr, version: &Version) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(address).is_some_and(|versions| versions.contains(version))
    }

    /// Whether this release of the destination is of another provider; remembered.
    pub(super) fn note(&self, release: &dyn Release, trust: &Trust) -> bool {
        let (address, version) = (&release.id().address, &release.id().version);
        let is_of_other =
            trust.renamed != RenamedReleases::Accept && release.other_address(trust.policy.predecessors()).is_some();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_of_other {
            if known.len() == MOST && !known.contains_key(address) {
                known.clear();
            }
            known.entry(address.clone()).or_default().insert(version.clone());
        } else if let Some(versions) = known.get_mut(address) {
            versions.remove(version);
        }
        is_of_other
    }
}

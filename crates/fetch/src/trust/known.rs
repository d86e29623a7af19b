//! What is known of the contents of packages, for bytes that were not fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use tofu_oci_trust::{Action, Admission, Contents, ReleaseFacts, Standing, Verdict};
use tofu_oci_types::{PackageHash, Platform, ProviderAddr, Scheme};

use super::Trust;

/// The contents of the packages of a release that was judged.
#[derive(Debug)]
pub(crate) struct KnownContents {
    /// By hand if signatures are required, the release is unsigned, and a person accepted it.
    pub(super) admission: Admission,
    /// What the pins know.
    remembered: Contents,
    /// What was computed in this run.
    computed: Mutex<Contents>,
}

/// Which locked packages may be used without asking their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfflineScope {
    /// All of them: neither a rule nor a pin requires signatures.
    Locked,
    /// Those with one of these `h1:`.
    Known(BTreeSet<PackageHash>),
}

/// Whether a rule or a pin requires signatures of a provider, or refuses or reports unsigned releases.
pub(super) fn asks(trust: &Trust, address: &ProviderAddr) -> bool {
    let Trust { policy, pins, .. } = trust;
    policy.wants_evidence(pins, address) || policy.rule(address).unsigned.action() != Action::Allow
}

impl KnownContents {
    pub(super) fn new(trust: &Trust, facts: &ReleaseFacts<'_>, verdict: &Verdict) -> Self {
        let admission = match (trust.pins.agreed(facts), verdict.standing) {
            (Some(pin), Standing::Unsigned) if facts.provider().is_some_and(|(address, _)| asks(trust, address)) => {
                pin.admission
            }
            _ => Admission::ByPolicy,
        };
        Self { admission, remembered: trust.pins.contents(facts, verdict), computed: Mutex::default() }
    }

    pub(super) fn has(&self, platform: &Platform, h1: &PackageHash) -> bool {
        let computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        let has = |contents: &Contents| contents.get(platform).is_some_and(|hashes| hashes.contains(h1));
        has(&self.remembered) || has(&computed)
    }

    pub(super) fn put(&self, platform: &Platform, h1: &PackageHash) {
        let mut computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        computed.entry(platform.clone()).or_default().insert(h1.clone());
    }

    /// What the pin should know: what was computed, and for the other platforms what signatures cover.
    pub(super) fn to_remember(&self, covered: &BTreeMap<Platform, BTreeSet<PackageHash>>) -> Contents {
        let mut contents = self.computed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (platform, hashes) in covered {
            let h1 = hashes.iter().filter(|hash| hash.scheme() == Scheme::H1).cloned();
            contents.entry(platform.clone()).or_insert_with(|| h1.collect());
        }
        contents.retain(|_, hashes| !hashes.is_empty());
        contents
    }
}

impl OfflineScope {
    /// Whether a package with these contents is among them.
    pub fn admits(&self, h1: &PackageHash) -> bool {
        match self {
            Self::Locked => true,
            Self::Known(known) => known.contains(h1),
        }
    }

    /// Whether the place must be asked for every package.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Known(known) if known.is_empty())
    }
}

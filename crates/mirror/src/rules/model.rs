//! Rules as values.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tofu_oci_types::{Constraints, Platform, Predecessors, ProviderAddr, Version};

use super::address::MirroredAddress;
use super::min_age::MinAge;

/// What is mirrored: of providers, or of modules.
#[derive(Clone, Debug)]
pub struct MirrorRules<A: MirroredAddress = ProviderAddr> {
    /// Which versions of which providers or modules; a version that one of them names is wanted.
    pub providers: Vec<ProviderRule<A>>,
    /// If there are any, only what one of them allows may be mirrored.
    pub allow: Vec<VersionRule<A>>,
    /// They forbid a version under each host that counts as one.
    pub deny: Vec<DenyRule<A>>,
    /// Which addresses count as one.
    pub predecessors: Predecessors,
    /// How long a version must have been seen.
    pub min_age: MinAge,
    /// What happens to a version that its place no longer lists.
    pub gone: DelistedPolicy,
}

/// Which versions of which providers or modules are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRule<A: MirroredAddress = ProviderAddr> {
    pub providers: Providers<A>,
    /// What their versions must meet.
    pub versions: Constraints,
    /// How many of the newest of these are wanted; `None` for all.
    pub latest: Option<usize>,
    /// For which platforms; empty for all that the release has. A module has none.
    pub platforms: BTreeSet<Platform>,
    /// The version that a lock file names. It is not held back in the first run for a provider: it is in use already.
    pub locked: Option<Version>,
}

/// The providers or modules of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Providers<A: MirroredAddress = ProviderAddr> {
    One(A),
    /// All that match and that a source can list.
    Matching(A::Pattern),
}

/// Versions that are allowed: `HOST/NAMESPACE/TYPE`, or `HOST/NAMESPACE/NAME/SYSTEM`, with wildcards or not, perhaps with
/// `@CONSTRAINT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRule<A: MirroredAddress = ProviderAddr> {
    pub pattern: A::Pattern,
    /// The versions; without constraints also prereleases.
    pub versions: Constraints,
}

/// Versions that are denied, written in the same way. It names more of them: see [`Constraints::forbids`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenyRule<A: MirroredAddress = ProviderAddr>(VersionRule<A>);

/// What happens to a mirrored version that its place no longer lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DelistedPolicy {
    /// It stays, and the report names it.
    #[default]
    Report,
    /// It is withdrawn, unless too many are gone at once.
    Withdraw,
    /// It is withdrawn, however many are gone.
    #[serde(skip)]
    WithdrawAll,
}

impl<A: MirroredAddress> Default for MirrorRules<A> {
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            allow: Vec::new(),
            deny: Vec::new(),
            predecessors: Predecessors::default(),
            min_age: MinAge::default(),
            gone: DelistedPolicy::default(),
        }
    }
}

impl<A: MirroredAddress> ProviderRule<A> {
    /// Every version for every platform.
    pub fn all_of(address: A) -> Self {
        let providers = Providers::One(address);
        Self { providers, versions: Constraints::any(), latest: None, platforms: BTreeSet::new(), locked: None }
    }

    /// Whether it is about this provider or module.
    pub fn is_for(&self, address: &A) -> bool {
        match &self.providers {
            Providers::One(one) => one == address,
            Providers::Matching(pattern) => address.is_matched(pattern),
        }
    }
}

impl<A: MirroredAddress> VersionRule<A> {
    /// Whether it allows this version.
    pub fn allows(&self, address: &A, version: &Version) -> bool {
        address.is_matched(&self.pattern) && (self.versions.is_any() || self.versions.admits(version))
    }
}

impl<A: MirroredAddress> DenyRule<A> {
    /// Whether it denies this version.
    pub fn denies(&self, address: &A, version: &Version) -> bool {
        address.is_matched(&self.0.pattern) && self.0.versions.forbids(version)
    }
}

impl<A: MirroredAddress> From<VersionRule<A>> for DenyRule<A> {
    fn from(written: VersionRule<A>) -> Self {
        Self(written)
    }
}

impl<A: MirroredAddress> std::fmt::Display for DenyRule<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<A: MirroredAddress> std::fmt::Display for VersionRule<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pattern.fmt(f)?;
        if self.versions.is_any() { Ok(()) } else { write!(f, "@{}", self.versions) }
    }
}

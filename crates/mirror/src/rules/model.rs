//! Rules as values.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tofu_oci_types::{Constraints, Pattern, Platform, Predecessors, ProviderAddr, Version};

use super::min_age::MinAge;

/// What is mirrored.
#[derive(Clone, Debug, Default)]
pub struct MirrorRules {
    /// Which versions of which providers; a version that one of them names is wanted.
    pub providers: Vec<ProviderRule>,
    /// If there are any, only what one of them allows may be mirrored.
    pub allow: Vec<VersionRule>,
    /// They forbid a version under each host that counts as one.
    pub deny: Vec<DenyRule>,
    /// Which addresses count as one.
    pub predecessors: Predecessors,
    /// How long a version must have been seen.
    pub min_age: MinAge,
    /// What happens to a version that its place no longer lists.
    pub gone: DelistedPolicy,
}

/// Which versions of which providers are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRule {
    pub providers: Providers,
    /// What their versions must meet.
    pub versions: Constraints,
    /// How many of the newest of these are wanted; `None` for all.
    pub latest: Option<usize>,
    /// For which platforms; empty for all that the release has.
    pub platforms: BTreeSet<Platform>,
    /// The version that a lock file names. It is not held back in the first run for a provider: it is in use already.
    pub locked: Option<Version>,
}

/// The providers of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Providers {
    One(ProviderAddr),
    /// All that match and that a source can list.
    Matching(Pattern),
}

/// Versions that are allowed: `HOST/NAMESPACE/TYPE`, with wildcards or not, perhaps with `@CONSTRAINT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRule {
    pub pattern: Pattern,
    /// The versions; without constraints also prereleases.
    pub versions: Constraints,
}

/// Versions that are denied, written in the same way. It names more of them: see [`Constraints::forbids`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenyRule(VersionRule);

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

impl ProviderRule {
    /// Every version for every platform.
    pub fn all_of(address: ProviderAddr) -> Self {
        let providers = Providers::One(address);
        Self { providers, versions: Constraints::any(), latest: None, platforms: BTreeSet::new(), locked: None }
    }

    /// Whether it is about this provider.
    pub fn is_for(&self, address: &ProviderAddr) -> bool {
        match &self.providers {
            Providers::One(one) => one == address,
            Providers::Matching(pattern) => pattern.matches(address),
        }
    }
}

impl VersionRule {
    /// Whether it allows this version.
    pub fn allows(&self, address: &ProviderAddr, version: &Version) -> bool {
        self.pattern.matches(address) && (self.versions.is_any() || self.versions.admits(version))
    }
}

impl DenyRule {
    /// Whether it denies this version.
    pub fn denies(&self, address: &ProviderAddr, version: &Version) -> bool {
        self.0.pattern.matches(address) && self.0.versions.forbids(version)
    }
}

impl From<VersionRule> for DenyRule {
    fn from(written: VersionRule) -> Self {
        Self(written)
    }
}

impl std::fmt::Display for DenyRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Display for VersionRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pattern.fmt(f)?;
        if self.versions.is_any() { Ok(()) } else { write!(f, "@{}", self.versions) }
    }
}

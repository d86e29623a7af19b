//! The rule of a trust policy for a provider, and the default one.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tofu_oci_types::Pattern;

use super::module_pattern::ModulePlacePattern;
use super::{KeyMaterial, NamedKey};
use crate::{DemandedBuild, DistinctKeys, PROVENANCE_PREDICATE, SIGN_PREDICATE};

/// The rule for a provider.
#[derive(Clone, Debug)]
pub struct TrustRule {
    /// Where it was written.
    pub origin: RuleOrigin,
    /// The keys that count; if there are none, those that the pins remember.
    pub keys: Vec<NamedKey>,
    /// How many distinct keys must have signed.
    pub threshold: usize,
    /// What each of them must have said.
    pub predicate_types: Vec<String>,
    /// How it must have been built, by provenance.
    pub build: Option<DemandedBuild>,
    /// What happens to a release that is not signed so.
    pub unsigned: Unsigned,
    /// What happens to a signature that does not name the provider or the version.
    pub unnamed: Action,
    /// What happens when a version is another index than the one seen before.
    pub moved_tags: Action,
    /// What happens to a signature by an `OpenPGP` key that has expired since.
    pub expired_keys: ExpiredKeys,
    /// What the `ch:` lines of a lock file are worth.
    pub manifest_checksums: ManifestChecksums,
}

impl Default for TrustRule {
    fn default() -> Self {
        Self {
            origin: RuleOrigin::Default,
            keys: Vec::new(),
            threshold: 1,
            predicate_types: vec![SIGN_PREDICATE.to_owned()],
            build: None,
            unsigned: Unsigned::ByDefault(Action::Allow),
            unnamed: Action::Refuse,
            moved_tags: Action::Refuse,
            expired_keys: ExpiredKeys::Warn,
            manifest_checksums: ManifestChecksums::Optional,
        }
    }
}

impl TrustRule {
    /// Its keys, distinguished by their material.
    pub(crate) fn distinct_keys(&self) -> DistinctKeys {
        DistinctKeys::new(self.keys.iter().flat_map(|key| key.material.materials()))
    }

    /// Whether identities alone can satisfy it, and no key.
    pub fn has_identities_alone(&self) -> bool {
        !self.keys.is_empty() && self.keys.iter().all(|key| matches!(key.material, KeyMaterial::Identity(_)))
    }

    /// What the rule demands of a release, as the object of "demands".
    pub fn demand(&self) -> String {
        let names: Vec<&str> = self.keys.iter().map(|key| key.name.as_str()).collect();
        let signed = match names.as_slice() {
            [] => "a signature by a key that is pinned for the provider, as it names no keys".to_owned(),
            [one] => format!("a signature by {one}"),
            names if self.threshold == 1 => format!("a signature by one of {}", names.join(", ")),
            names => format!("signatures by {} of {}", self.threshold, names.join(", ")),
        };
        if self.predicate_types == [SIGN_PREDICATE] { signed } else { format!("{signed} that says {}", self.says()) }
    }

    /// What signatures must say, such as `https://slsa.dev/provenance/v1 with source github.com/acme/widget`.
    pub fn says(&self) -> String {
        let said = self.predicate_types.join(" and ");
        let is_identity = |key: &NamedKey| matches!(key.material, KeyMaterial::Identity(_));
        if self.predicate_types == [SIGN_PREDICATE] && self.keys.iter().any(is_identity) {
            return format!("{said} or, by an identity, {PROVENANCE_PREDICATE}");
        }
        let Some(DemandedBuild { builder, source }) = &self.build else { return said };
        let members = [("builder", builder), ("source", source)];
        let built = members.iter().filter_map(|(member, value)| Some(format!("{member} {}", value.as_ref()?)));
        format!("{said} with {}", built.collect::<Vec<_>>().join(" and "))
    }
}

/// Where a rule was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleOrigin {
    /// In no file: no rule matches.
    Default,
    /// In a policy file.
    File {
        /// The file: `trust.toml`, unless [`Policy::read_from`](crate::Policy::read_from) says otherwise.
        path: PathBuf,
        /// The line of its `[[rule]]`, from 1.
        line: usize,
        /// The patterns of the providers and of the modules that it is for, as written.
        providers: Vec<String>,
    },
    /// Keys were named on the command line.
    CommandLine,
}

impl RuleOrigin {
    /// `trust.toml:3, the rule for PATTERNS`; `None` if no file has it.
    pub fn in_words(&self) -> Option<String> {
        let Self::File { path, line, providers } = self else { return None };
        let path = path.strip_prefix(".").unwrap_or(path).display();
        Some(format!("{path}:{line}, the rule for {}", providers.join(", ")))
    }
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The release is refused.
    Refuse,
    /// It is accepted with a warning.
    Warn,
    /// It is accepted.
    Allow,
}

/// What happens to an unsigned release, and whether a rule says so: a rule that says it outranks the pins, a default does
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsigned {
    /// A rule says it.
    Said(Action),
    /// No rule says anything: refused if keys are named, allowed if not.
    ByDefault(Action),
}

impl Unsigned {
    /// What happens.
    pub fn action(self) -> Action {
        match self {
            Self::Said(action) | Self::ByDefault(action) => action,
        }
    }
}

/// What happens to a signature by an `OpenPGP` key that has expired, or was superseded or retired, since.
///
/// Spec: `OpenTofu` 1.12 accepts them, and refuses them with `OPENTOFU_ENFORCE_GPG_EXPIRATION`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpiredKeys {
    /// It does not count.
    Refuse,
    /// It counts, with a warning.
    Warn,
}

/// What the `ch:` lines of a lock file are worth if it has other lines, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ManifestChecksums {
    /// A package under another manifest is refused, and `lock --check` fails if lines are missing that a signature vouches
    /// for.
    Required,
    /// One matching line of any scheme is enough; another manifest is a warning. `lock --check` only reports missing lines:
    /// every released `init` drops them.
    Optional,
    /// They are neither written nor expected; those that are there do not count beside other lines.
    Off,
}

/// A rule with the providers and modules that it is for.
#[derive(Clone, Debug)]
pub(super) struct FileRule {
    pub(super) patterns: Vec<Pattern>,
    pub(super) modules: Vec<ModulePlacePattern>,
    pub(super) rule: TrustRule,
}

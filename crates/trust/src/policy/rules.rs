//! The rules of a trust policy, and which of them is for a provider or a module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tofu_oci_types::{Pattern, Place, Predecessors, ProviderAddr};

use super::key::{KeyMaterial, NamedKey};
use super::rule::{Action, FileRule, ManifestChecksums, RuleOrigin, TrustRule, Unsigned};
use crate::{DescribedRoot, DistinctKeys, KeyId, Material, OpenPgpKey, Pins, Subject};

/// Which keys may speak for which providers, and what happens if they do not.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub(super) rules: Vec<FileRule>,
    pub(super) otherwise: TrustRule,
    pub(super) predecessors: Predecessors,
}

impl Policy {
    /// The same policy, read from this file: what its rules refuse names it.
    #[must_use]
    pub fn read_from(mut self, file: &Path) -> Self {
        for rule in &mut self.rules {
            if let RuleOrigin::File { path, .. } = &mut rule.rule.origin {
                file.clone_into(path);
            }
        }
        self
    }

    /// The same policy, for which addresses of these hosts count as one.
    #[must_use]
    pub fn with_predecessors(self, predecessors: Predecessors) -> Self {
        Self { predecessors, ..self }
    }

    /// Which addresses count as one: a signature or a release that names the one is about the other, too.
    pub fn predecessors(&self) -> &Predecessors {
        &self.predecessors
    }

    /// Whether one rule holds for both providers, and signatures of both or of neither matter. If not, a release of the one
    /// must not be taken for one of the other.
    pub fn decides_alike(&self, pins: &Pins, one: &ProviderAddr, other: &ProviderAddr) -> bool {
        std::ptr::eq(self.rule(one), self.rule(other))
            && self.wants_evidence(pins, one) == self.wants_evidence(pins, other)
    }

    /// The rule for a provider: the first one with a pattern that matches, or the default.
    pub fn rule(&self, address: &ProviderAddr) -> &TrustRule {
        let matching = self.rules.iter().find(|rule| rule.patterns.iter().any(|pattern| pattern.matches(address)));
        matching.map_or(&self.otherwise, |found| &found.rule)
    }

    /// The rule for modules from a place: the first one with a pattern that matches; `None` if no rule is for them.
    pub fn module_rule(&self, place: &Place) -> Option<&TrustRule> {
        let rule = self.rules.iter().find(|rule| rule.modules.iter().any(|pattern| pattern.matches(place)))?;
        Some(&rule.rule)
    }

    /// The rule by which a version is judged. A module that no rule is for is judged by the default, which knows no keys but
    /// those of the command line.
    pub fn rule_of(&self, of: Subject<'_>, place: &Place) -> &TrustRule {
        match of {
            Subject::Provider { address, .. } => self.rule(address),
            Subject::Module { .. } => self.module_rule(place).unwrap_or(&self.otherwise),
        }
    }

    /// Whether signatures can change the verdict on a version. If not, they need not be fetched.
    pub fn wants_evidence_on(&self, pins: &Pins, of: Subject<'_>, place: &Place) -> bool {
        match of {
            Subject::Provider { address, .. } => self.wants_evidence(pins, address),
            Subject::Module { .. } => !self.rule_of(of, place).keys.is_empty(),
        }
    }

    /// Those of `keys` that may sign only for the host and the namespace of `address`: every rule that names the key, in
    /// whatever form, is for them. What such a key signs without naming them can then be about no other provider. Keys of
    /// the command line are for what they are asked about.
    pub(crate) fn dedicated(&self, keys: impl Iterator<Item = KeyId>, address: &ProviderAddr) -> BTreeSet<KeyId> {
        self.alone(keys, |pattern| {
            pattern.hostname() == Some(address.hostname()) && pattern.namespace() == Some(address.namespace())
        })
    }

    /// Those of `keys` that may sign only for `address`, the type of the provider too.
    pub(crate) fn exact(&self, keys: impl Iterator<Item = KeyId>, address: &ProviderAddr) -> BTreeSet<KeyId> {
        self.alone(keys, |pattern| {
            pattern.hostname() == Some(address.hostname())
                && pattern.namespace() == Some(address.namespace())
                && pattern.provider_type() == Some(address.provider_type())
        })
    }

    fn alone(&self, keys: impl Iterator<Item = KeyId>, alone: impl Fn(&Pattern) -> bool) -> BTreeSet<KeyId> {
        let shared = self.rules.iter().filter(|rule| !rule.patterns.iter().all(&alone));
        let shared: Vec<&KeyMaterial> = shared.flat_map(|rule| &rule.rule.keys).map(|key| &key.material).collect();
        let rules = self.rules.iter().map(|rule| &rule.rule).chain([&self.otherwise]);
        let all: Vec<&KeyMaterial> = rules.flat_map(|rule| &rule.keys).map(|key| &key.material).collect();
        let distinct = DistinctKeys::new(all.iter().flat_map(|material| material.materials()));
        let is_shared = |key: &KeyId| {
            let mut identities = all.iter().filter_map(|material| material.identity());
            let identity = identities.find(|identity| identity.id() == *key);
            shared.iter().any(|other| match (identity, other.identity()) {
                // One owner is one party to a threshold, and has many repositories.
                (Some(identity), Some(other)) => identity.overlaps(other),
                _ => other.ids().iter().any(|other| distinct.same(other, key)),
            })
        };
        keys.filter(|key| !is_shared(key)).collect()
    }

    /// The materials that a certificate in any of its rules says must not count any more, each with why.
    pub(crate) fn compromised(&self) -> BTreeMap<Material, String> {
        let rules = self.rules.iter().map(|rule| &rule.rule).chain([&self.otherwise]);
        let certificates = rules.flat_map(|rule| &rule.keys).flat_map(|key| match &key.material {
            KeyMaterial::OpenPgp(certificates) => certificates.as_slice(),
            KeyMaterial::Public(_) | KeyMaterial::Identity(_) => &[],
        });
        certificates.flat_map(OpenPgpKey::compromised).collect()
    }

    /// Whether signatures can change the verdict on a release of this provider. If not, they need not be fetched.
    pub fn wants_evidence(&self, pins: &Pins, address: &ProviderAddr) -> bool {
        !self.rule(address).keys.is_empty() || pins.signers(address).next().is_some()
    }

    /// Whether an identity may sign a release of this provider. Then a statement about the manifest of a platform counts, too.
    pub fn names_identities(&self, pins: &Pins, address: &ProviderAddr) -> bool {
        let keys = &self.rule(address).keys;
        let pinned = || pins.signers(address).any(|signer| signer.identity.is_some());
        keys.iter().any(|key| key.material.identity().is_some()) || (keys.is_empty() && pinned())
    }

    /// The roots that its identities name by files, each once.
    pub fn roots(&self) -> Vec<DescribedRoot> {
        let keys = self.rules.iter().flat_map(|rule| &rule.rule.keys).chain(&self.otherwise.keys);
        let mut roots: Vec<DescribedRoot> = Vec::new();
        for root in keys.filter_map(|key| key.material.root()) {
            if !roots.contains(root.described()) {
                roots.push(root.described().clone());
            }
        }
        roots
    }

    /// The same policy with `ch:` lines off in every rule.
    #[must_use]
    pub fn without_manifest_checksums(mut self) -> Self {
        for rule in self.rules.iter_mut().map(|rule| &mut rule.rule).chain([&mut self.otherwise]) {
            rule.manifest_checksums = ManifestChecksums::Off;
        }
        self
    }

    /// A policy of one rule for every provider: signed by one of `keys`, the defaults for all else.
    pub fn with_keys(keys: Vec<NamedKey>) -> Self {
        let rule = TrustRule {
            origin: RuleOrigin::CommandLine,
            unsigned: Unsigned::ByDefault(Action::Refuse),
            keys,
            ..TrustRule::default()
        };
        Self { otherwise: rule, ..Self::default() }
    }
}

//! Which versions are mirrored, held back or kept out, by the rules and what a place lists.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;
use tofu_oci_types::{Constraints, Moment, Platform, ProviderAddr, Version};

use crate::destination::sightings::Sightings;
use crate::rules::{MirrorRules, MirroredAddress, ProviderRule};

/// What the choice depends on.
pub struct Candidates<'a, A = ProviderAddr> {
    pub address: &'a A,
    /// What its place lists.
    pub offered: &'a [Version],
    /// What the destination has.
    pub present: &'a HashSet<&'a Version>,
    /// What earlier runs saw; `None` in the first run.
    pub sightings: Option<&'a Sightings>,
    /// The time of this run.
    pub now: Moment,
}

/// The choice for one provider or module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionSelection {
    /// The versions that the rules name, in ascending order.
    pub versions: Vec<SelectedVersion>,
    /// The constraints that no version meets.
    pub unmet: Vec<Constraints>,
}

/// A version that the rules name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedVersion {
    pub version: Version,
    /// For which platforms; empty for all that the release has.
    pub platforms: BTreeSet<Platform>,
    /// Whether it is mirrored.
    pub choice: MirrorChoice,
}

/// Whether a version is mirrored. What comes first counts if several rules name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "choice", rename_all = "kebab-case")]
pub enum MirrorChoice {
    /// It is.
    Wanted,
    /// It has not been seen for long enough.
    Held {
        /// From when on it is mirrored.
        until: Moment,
    },
    /// The lists of the rules keep it out.
    Denied {
        /// The entry of `deny`; `None` if `allow` has no entry for it.
        by: Option<String>,
    },
}

/// Chooses. Several rules for one provider add up.
pub fn select<A: MirroredAddress>(rules: &MirrorRules<A>, candidates: &Candidates<'_, A>) -> VersionSelection {
    let mut chosen: BTreeMap<usize, SelectedVersion> = BTreeMap::new();
    let mut unmet = Vec::new();
    let mut offered: Vec<&Version> = candidates.offered.iter().collect();
    offered.sort_by(|a, b| b.precedence(a));
    for rule in rules.providers.iter().filter(|rule| rule.is_for(candidates.address)) {
        let named = named_by(rules, rule, candidates, &offered);
        let is_there = || candidates.present.iter().any(|version| rule.versions.admits(version));
        if named.is_empty() && rule.latest != Some(0) && !is_there() {
            unmet.push(rule.versions.clone());
        }
        for (nth, choice) in named {
            let new = SelectedVersion { version: offered[nth].clone(), platforms: rule.platforms.clone(), choice };
            match chosen.get_mut(&nth) {
                None => drop(chosen.insert(nth, new)),
                Some(known) if known.choice == new.choice => known.add_platforms(&new.platforms),
                Some(known) if new.choice < known.choice => *known = new,
                Some(_) => {}
            }
        }
    }
    VersionSelection { versions: chosen.into_values().rev().collect(), unmet }
}

/// The versions that one rule names, by their places in the list from the newest. With `latest = N` the N newest that may
/// be mirrored now, and what is held back or denied among the newer ones.
fn named_by<A: MirroredAddress>(
    rules: &MirrorRules<A>,
    rule: &ProviderRule<A>,
    candidates: &Candidates<'_, A>,
    offered: &[&Version],
) -> Vec<(usize, MirrorChoice)> {
    let mut left = rule.latest.unwrap_or(usize::MAX);
    let mut named = Vec::new();
    for (nth, version) in offered.iter().enumerate().filter(|(_, version)| rule.versions.admits(version)) {
        if left == 0 {
            break;
        }
        let choice = choice(rules, rule.locked.as_ref(), candidates, version);
        if choice == MirrorChoice::Wanted {
            left -= 1;
        }
        named.push((nth, choice));
    }
    named
}

/// Whether a version may be mirrored. A `locked` one is not held back in the first run.
pub(crate) fn choice<A: MirroredAddress>(
    rules: &MirrorRules<A>,
    locked: Option<&Version>,
    candidates: &Candidates<'_, A>,
    version: &Version,
) -> MirrorChoice {
    let address = candidates.address;
    let names = address.names(&rules.predecessors);
    if let Some(entry) = rules.deny.iter().find(|entry| names.iter().any(|name| entry.denies(name, version))) {
        return MirrorChoice::Denied { by: Some(entry.to_string()) };
    }
    if !rules.allow.is_empty() && !rules.allow.iter().any(|entry| entry.allows(address, version)) {
        return MirrorChoice::Denied { by: None };
    }
    let is_in_use = candidates.sightings.is_none() && locked == Some(version);
    if is_in_use || candidates.present.contains(version) {
        return MirrorChoice::Wanted;
    }
    let seen = candidates.sightings.and_then(|sightings| sightings.seen(version)).unwrap_or(candidates.now);
    let until = seen.after(rules.min_age.0);
    if until <= candidates.now { MirrorChoice::Wanted } else { MirrorChoice::Held { until } }
}

impl SelectedVersion {
    fn add_platforms(&mut self, more: &BTreeSet<Platform>) {
        if more.is_empty() {
            self.platforms.clear();
        } else if !self.platforms.is_empty() {
            self.platforms.extend(more.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests;

//! How many distinct keys speak for what.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::PackageHash;

use super::examine::{Examination, Vote};
use super::{Covered, Covers, Outcome, Refusal, Signer};
use crate::{KeyId, Pin, PinnedSigner, Rule};

/// What the signatures that are there vouch for.
pub(super) fn covered(rule: &Rule, votes: &[Vote]) -> Covered {
    let mut all: Option<Covered> = None;
    for wanted in &rule.predicate_types {
        let said = votes.iter().filter(|vote| vote.predicate_type == *wanted);
        let of_type = reach(rule.threshold, said.map(|vote| (&vote.key, zips(&vote.covers))));
        all = Some(match all {
            Some(covered) => both(covered, &of_type),
            None => of_type,
        });
    }
    all.unwrap_or_default()
}

/// What the signatures that were there before vouch for. A key that a rule no longer names vouches for nothing.
pub(super) fn pinned<'a>(rule: &Rule, pins: impl Iterator<Item = &'a Pin>) -> Covered {
    let named: BTreeSet<KeyId> = rule.keys.iter().flat_map(|key| key.material.ids()).collect();
    let counts = |signer: &&PinnedSigner| rule.keys.is_empty() || named.contains(&signer.key);
    let signers: Vec<&PinnedSigner> = pins.flat_map(|pin| &pin.signers).filter(counts).collect();
    reach(rule.threshold, signers.iter().map(|signer| (&signer.key, signer.zips.as_ref())))
}

fn zips(covers: &Covers) -> Option<&BTreeSet<PackageHash>> {
    match covers {
        Covers::Index => None,
        Covers::Zips(zips) => Some(zips),
    }
}

/// What enough distinct keys have signed: the index, or single archives, for which those of the index count too.
fn reach<'a>(
    threshold: usize,
    signed: impl Iterator<Item = (&'a KeyId, Option<&'a BTreeSet<PackageHash>>)>,
) -> Covered {
    let mut index: BTreeSet<&KeyId> = BTreeSet::new();
    let mut archives: BTreeMap<&PackageHash, BTreeSet<&KeyId>> = BTreeMap::new();
    for (key, zips) in signed {
        match zips {
            None => {
                index.insert(key);
            }
            Some(zips) => zips.iter().for_each(|zip| {
                archives.entry(zip).or_default().insert(key);
            }),
        }
    }
    let enough = |keys: &BTreeSet<&KeyId>| keys.union(&index).count() >= threshold;
    let zips = archives.iter().filter(|(_, keys)| enough(keys)).map(|(zip, _)| (*zip).clone()).collect();
    Covered { index: index.len() >= threshold, zips }
}

/// What both cover: the whole index covers each of its archives.
fn both(one: Covered, other: &Covered) -> Covered {
    let zips = match (one.index, other.index) {
        (true, true) => one.zips.union(&other.zips).cloned().collect(),
        (true, false) => other.zips.clone(),
        (false, true) => one.zips,
        (false, false) => one.zips.intersection(&other.zips).cloned().collect(),
    };
    Covered { index: one.index && other.index, zips }
}

/// Each key once, with all that it has signed.
pub(super) fn signers(examination: &Examination<'_>) -> Vec<Signer> {
    let mut signers: BTreeMap<&KeyId, Signer> = BTreeMap::new();
    for vote in &examination.votes {
        let signer = signers.entry(&vote.key).or_insert_with(|| Signer {
            name: vote.name.clone(),
            key: vote.key.clone(),
            public_key: examination.authority.public_key(&vote.key).cloned(),
            forms: BTreeSet::new(),
            covers: vote.covers.clone(),
        });
        signer.forms.insert(vote.form);
        signer.covers = match (&signer.covers, &vote.covers) {
            (Covers::Zips(one), Covers::Zips(other)) => Covers::Zips(one.union(other).cloned().collect()),
            _ => Covers::Index,
        };
    }
    signers.into_values().collect()
}

/// Why signatures that count are not enough; nothing where there are none.
pub(super) fn shortfall(rule: &Rule, examination: &Examination<'_>) -> Option<Refusal> {
    let found: BTreeSet<String> = examination
        .examined
        .iter()
        .filter_map(|examined| match &examined.outcome {
            Outcome::PredicateType { found } => Some(found.clone()),
            _ => None,
        })
        .chain(examination.votes.iter().map(|vote| vote.predicate_type.clone()))
        .collect();
    if found.is_empty() {
        return None;
    }
    let voters = |wanted: &String| {
        let of_type = examination.votes.iter().filter(|vote| vote.predicate_type == *wanted);
        of_type.map(|vote| (&vote.key, &vote.name)).collect::<BTreeMap<_, _>>()
    };
    let (wanted, voters) =
        rule.predicate_types.iter().map(|wanted| (wanted, voters(wanted))).min_by_key(|(_, voters)| voters.len())?;
    if voters.is_empty() {
        return Some(Refusal::PredicateType { wanted: wanted.clone(), found: found.into_iter().collect() });
    }
    // Enough keys, and none of the archives that are offered: that is no question of how many.
    if voters.len() >= rule.threshold {
        return None;
    }
    Some(Refusal::Threshold { by: voters.into_values().cloned().collect(), wanted: rule.threshold })
}

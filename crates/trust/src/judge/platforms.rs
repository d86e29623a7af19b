//! What lists of archives say of each platform: an archive is right for the platform that it is listed for, and for no
//! other one.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{PackageHash, Platform};

use super::examine::Vote;
use super::{Covers, Refusal};
use crate::{KeyId, ReleaseFacts, Rule};

/// An archive that a trusted list names.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) platform: Platform,
    pub(super) zip: PackageHash,
    /// Why another archive must not be used for this platform.
    pub(super) otherwise: Refusal,
}

/// What is known of single archives.
#[derive(Clone, Debug, Default)]
pub(super) struct Platforms {
    listed: Vec<Listed>,
    signed: BTreeSet<(Platform, PackageHash)>,
    /// Archives that were signed when the index was pinned. Pins say nothing of platforms, so an archive that is offered
    /// for two of them is none of these.
    pinned: BTreeSet<PackageHash>,
}

impl Platforms {
    pub(super) fn new(rule: &Rule, votes: &[Vote], listed: Vec<Listed>) -> Self {
        let mut of_types = rule.predicate_types.iter().map(|wanted| {
            let said: Vec<&Vote> = votes.iter().filter(|vote| vote.predicate_type == *wanted).collect();
            of_type(rule.threshold, &said)
        });
        let all = votes.iter().flat_map(|vote| vote.listed.clone());
        let signed = match of_types.next() {
            None => BTreeSet::new(),
            Some(first) => {
                let of_types: Vec<_> = std::iter::once(first).chain(of_types).collect();
                all.filter(|pair| of_types.iter().all(|reached| reached.contains(pair))).collect()
            }
        };
        Self { listed, signed, pinned: BTreeSet::new() }
    }

    /// With what was signed before.
    pub(super) fn pinned(mut self, facts: &ReleaseFacts<'_>, zips: &BTreeSet<PackageHash>) -> Self {
        let once = |zip: &&PackageHash| facts.zips.values().filter(|offered| offered == zip).count() <= 1;
        self.pinned = zips.iter().filter(once).cloned().collect();
        self
    }

    /// Whether this archive is vouched for on this platform.
    pub(super) fn covers(&self, platform: &Platform, zip: &PackageHash) -> bool {
        let signed = self.signed.contains(&(platform.clone(), zip.clone())) || self.pinned.contains(zip);
        signed && self.refusal(platform, zip).is_none()
    }

    /// What a trusted list says against this archive.
    pub(super) fn refusal(&self, platform: &Platform, zip: &PackageHash) -> Option<&Refusal> {
        let mut said = self.listed.iter().filter(|listed| listed.platform == *platform);
        said.find(|listed| listed.zip != *zip).map(|listed| &listed.otherwise)
    }
}

/// The archives that enough distinct keys have listed; those that have signed the index count too.
struct Reached {
    index: BTreeSet<KeyId>,
    archives: BTreeMap<(Platform, PackageHash), BTreeSet<KeyId>>,
    threshold: usize,
}

impl Reached {
    fn contains(&self, pair: &(Platform, PackageHash)) -> bool {
        let keys = self.archives.get(pair).cloned().unwrap_or_default();
        keys.union(&self.index).count() >= self.threshold
    }
}

fn of_type(threshold: usize, votes: &[&Vote]) -> Reached {
    let mut reached = Reached { index: BTreeSet::new(), archives: BTreeMap::new(), threshold };
    for vote in votes {
        match vote.covers {
            Covers::Index => {
                reached.index.insert(vote.key.clone());
            }
            Covers::Zips(_) => {
                for pair in vote.listed.clone() {
                    reached.archives.entry(pair).or_default().insert(vote.key.clone());
                }
            }
        }
    }
    reached
}

//! What lists of archives say of each platform: an archive is right for the platform that it is listed for, and for no
//! other one.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{PackageHash, Platform};

use super::examine::Vote;
use super::{Covers, Refusal};
use crate::{Archives, DistinctKeys, KeyId, ReleaseFacts, Rule};

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

/// What vouches for an archive.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    /// The signatures that are there.
    Signatures,
    /// Those that were there when the index was pinned.
    Pins,
}

impl Platforms {
    pub(super) fn new(rule: &Rule, distinct: &DistinctKeys, votes: &[Vote], listed: Vec<Listed>) -> Self {
        let mut of_types = rule.predicate_types.iter().map(|wanted| {
            let said: Vec<&Vote> = votes.iter().filter(|vote| vote.predicate_type == *wanted).collect();
            of_type(rule.threshold, distinct, &said)
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
        let once = |zip: &&PackageHash| facts.archives.iter().filter(|(_, offered)| offered == zip).count() <= 1;
        self.pinned = zips.iter().filter(once).cloned().collect();
        self
    }

    /// Whether this archive is vouched for on this platform.
    pub(super) fn covers(&self, platform: &Platform, zip: &PackageHash) -> bool {
        self.covers_by(By::Signatures, platform, zip) || self.covers_by(By::Pins, platform, zip)
    }

    fn covers_by(&self, by: By, platform: &Platform, zip: &PackageHash) -> bool {
        let signed = match by {
            By::Signatures => self.signed.contains(&(platform.clone(), zip.clone())),
            By::Pins => self.pinned.contains(zip),
        };
        signed && self.refusal(platform, zip).is_none()
    }

    /// Whether an archive that the release offers is vouched for; also if it is not known what it offers.
    pub(super) fn covers_offered(&self, by: By, archives: &Archives) -> bool {
        match archives {
            Archives::Unknown | Archives::Annotated(_) => true,
            Archives::Read(zips) => zips.iter().any(|(platform, zip)| self.covers_by(by, platform, zip)),
        }
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

fn of_type(threshold: usize, distinct: &DistinctKeys, votes: &[&Vote]) -> Reached {
    let mut reached = Reached { index: BTreeSet::new(), archives: BTreeMap::new(), threshold };
    for vote in votes {
        let key = distinct.counted(&vote.key);
        match vote.covers {
            Covers::Index => {
                reached.index.insert(key.clone());
            }
            Covers::Zips(_) => {
                for pair in vote.listed.clone() {
                    reached.archives.entry(pair).or_default().insert(key.clone());
                }
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Form, Material, SIGN_PREDICATE};

    /// An archive of a platform, listed by keys of these materials, where two keys must have listed it.
    #[track_caller]
    fn check(materials: &[&str], want: bool) {
        let platform: Platform = "linux_amd64".parse().unwrap();
        let zip = PackageHash::zh(&tofu_oci_types::Digest::sha256(b"zip")).unwrap();
        let keys: Vec<_> = (1..).map(|number| KeyId::of_openpgp(&[number; 20])).take(materials.len()).collect();
        let vote = |key: &KeyId| Vote {
            key: key.clone(),
            name: "a".to_owned(),
            form: Form::Sums,
            predicate_type: SIGN_PREDICATE.to_owned(),
            missing: None,
            covers: Covers::Zips([zip.clone()].into()),
            listed: [(platform.clone(), zip.clone())].into(),
        };
        let votes: Vec<Vote> = keys.iter().map(vote).collect();
        let material = |name: &&str| BTreeSet::from([Material::of(name, &[])]);
        let distinct = DistinctKeys::new(keys.into_iter().zip(materials.iter().map(material)));
        let rule = Rule { threshold: 2, ..Rule::default() };
        let platforms = Platforms::new(&rule, &distinct, &votes, Vec::new());
        assert_eq!(platforms.covers(&platform, &zip), want, "{materials:?}");
    }

    #[test]
    fn two_certificates_of_one_key_do_not_cover_the_archive_of_a_platform_twice() {
        check(&["a", "b"], true);
        check(&["a", "a"], false);
        check(&["a"], false);
    }
}

//! What lists of archives say of each platform: an archive is right for the platform that it is listed for, and for no
//! other one.

use std::collections::BTreeSet;

use tofu_oci_types::{PackageHash, Platform};

use super::refusal::TrustRefusal;
use super::threshold::Reached;
use super::votes::{Covers, ListedArchive, Vote};
use crate::evidence::{Archives, ReleaseFacts};
use crate::material::DistinctKeys;
use crate::policy::TrustRule;

/// What is known of single archives.
#[derive(Clone, Debug, Default)]
pub(super) struct Platforms {
    listed: Vec<ListedArchive>,
    signed: BTreeSet<(Platform, PackageHash)>,
    /// Archives that were signed when the index was pinned. Pins say nothing of platforms, so an archive that is offered
    /// for two of them does not count here.
    pinned: BTreeSet<PackageHash>,
}

/// What vouches for an archive.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    Signatures,
    /// Those that were there when the index was pinned.
    Pins,
}

impl Platforms {
    pub(super) fn new(rule: &TrustRule, distinct: &DistinctKeys, votes: &[Vote], listed: Vec<ListedArchive>) -> Self {
        let of_type = |wanted: &String| {
            let votes = votes.iter().filter(|vote| vote.predicate_type == *wanted);
            let signed = votes.map(|vote| {
                let archives = match vote.covers {
                    Covers::Index => None,
                    Covers::Zips(_) => Some(vote.listed.iter()),
                };
                (distinct.counted(&vote.key), archives)
            });
            Reached::count(rule.threshold, signed)
        };
        let of_types: Vec<Reached<_>> = rule.predicate_types.iter().map(of_type).collect();
        let all = votes.iter().flat_map(|vote| &vote.listed);
        let signed = all.filter(|pair| !of_types.is_empty() && of_types.iter().all(|reached| reached.archive(pair)));
        let signed = signed.map(|(platform, zip)| (platform.clone(), zip.clone())).collect();
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
    pub(super) fn refusal(&self, platform: &Platform, zip: &PackageHash) -> Option<&TrustRefusal> {
        let mut said = self.listed.iter().filter(|listed| listed.platform == *platform);
        said.find(|listed| listed.zip != *zip).map(|listed| &listed.otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyId, Material, SIGN_PREDICATE, SignatureForm};

    /// An archive of a platform, listed by keys of these materials, where two keys must have listed it.
    #[track_caller]
    fn check(materials: &[&str], want: bool) {
        let platform: Platform = "linux_amd64".parse().unwrap();
        let zip = PackageHash::zh(&tofu_oci_types::Digest::sha256(b"zip")).unwrap();
        let keys: Vec<_> = (1..).map(|number| KeyId::of_openpgp(&[number; 20])).take(materials.len()).collect();
        let vote = |key: &KeyId| Vote {
            key: key.clone(),
            name: "a".to_owned(),
            form: SignatureForm::Sums,
            predicate_type: SIGN_PREDICATE.to_owned(),
            missing: None,
            covers: Covers::Zips([zip.clone()].into()),
            listed: [(platform.clone(), zip.clone())].into(),
        };
        let votes: Vec<Vote> = keys.iter().map(vote).collect();
        let material = |name: &&str| BTreeSet::from([Material::of(name, &[])]);
        let distinct = DistinctKeys::new(keys.into_iter().zip(materials.iter().map(material)));
        let rule = TrustRule { threshold: 2, ..TrustRule::default() };
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

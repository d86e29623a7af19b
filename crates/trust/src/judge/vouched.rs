//! What the signatures vouch for, those that are there and those that the pins remember.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::PackageHash;

use super::examine::Examination;
use super::threshold::Reached;
use super::votes::Vote;
use crate::slsa::is_provenance;
use crate::verdict::{ListedArchive, Platforms, add_statements};
use crate::{
    Action, Covered, Covers, DistinctKeys, ExpiredKeys, Flaw, HostNumbers, KeyId, Missing, Pin, PinnedSigner, Reason,
    SignedStatement, Signer, StillToSign, TrustRefusal, TrustRule,
};

/// A signature that is there, or that was.
struct SignedPart<'a> {
    key: &'a KeyId,
    predicate_type: &'a str,
    /// The archives that it is about; `None` if it is about the index.
    zips: Option<&'a BTreeSet<PackageHash>>,
}

/// What the signatures that are there vouch for.
pub(super) fn covered(examination: &Examination<'_>) -> Covered {
    let said = examination.votes.iter().map(|vote| {
        let zips = match &vote.covers {
            Covers::Index => None,
            Covers::Zips(zips) => Some(zips),
        };
        SignedPart { key: &vote.key, predicate_type: &vote.predicate_type, zips }
    });
    count(examination, &said.collect::<Vec<_>>())
}

/// What the lists among the signatures say of single archives, each type of statement by itself.
pub(super) fn platforms(
    rule: &TrustRule,
    distinct: &DistinctKeys,
    votes: &[Vote],
    listed: Vec<ListedArchive>,
) -> Platforms {
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
    Platforms { listed, signed, pinned: BTreeSet::new() }
}

/// What the signatures that were there before vouch for, counted by the rule as it is now. Only those by keys that would
/// count now: named by the rule, not revoked, and without evidence here that they no longer count.
pub(super) fn pinned<'a>(
    examination: &Examination<'_>,
    pins: impl Iterator<Item = &'a Pin>,
) -> (Covered, Vec<&'a PinnedSigner>) {
    let rule = examination.rule;
    let named: BTreeSet<KeyId> = rule.keys.iter().flat_map(|key| key.material.ids()).collect();
    let counts = |signer: &&PinnedSigner| {
        let known = rule.keys.is_empty() || named.contains(&signer.key);
        let compromised = examination.trusted.compromised(&signer.key, None).is_some();
        known && !compromised && !examination.discredited.contains(&signer.key) && !revoked(examination, &signer.key)
    };
    let signers: Vec<&PinnedSigner> = pins.flat_map(|pin| &pin.signers).filter(counts).collect();
    let said = signers.iter().flat_map(|signer| {
        // A rule with keys decides whether a list names the provider, as for a list that is there.
        let is_named = move |statement: &SignedStatement| match (&statement.zips, statement.missing) {
            (Some(_), None | Some(Missing::Address)) if !rule.keys.is_empty() => {
                examination.trusted.is_dedicated(&signer.key)
            }
            _ => statement.missing.is_none(),
        };
        let is_demanded = move |statement: &SignedStatement| match &rule.build {
            Some(demanded) if is_provenance(&statement.predicate_type) => {
                statement.build.as_ref().is_some_and(|build| demanded.differs(build).is_none())
            }
            _ => true,
        };
        let named = move |statement: &&SignedStatement| {
            is_demanded(statement) && (rule.unnamed != Action::Refuse || is_named(statement))
        };
        signer.statements.iter().filter(named).map(|statement| SignedPart {
            key: &signer.key,
            predicate_type: &statement.predicate_type,
            zips: statement.zips.as_ref(),
        })
    });
    (count(examination, &said.collect::<Vec<_>>()), signers)
}

/// Whether the certificate of the rule is revoked, or a subkey of it that can sign: a pin does not say which of them made
/// the lost signature. Nor is known when, so if keys that have retired do not count, one that has retired since does not
/// either.
fn revoked(examination: &Examination<'_>, key: &KeyId) -> bool {
    let grave = |reason: Reason| match reason {
        Reason::Unknown | Reason::Compromised => true,
        Reason::Superseded | Reason::Retired | Reason::UserIdInvalid => {
            examination.rule.expired_keys == ExpiredKeys::Refuse
        }
    };
    let mut certificates = examination.trusted.openpgp.iter().filter(|certificate| certificate.id() == *key);
    certificates.any(|certificate| certificate.revoked().any(grave))
}

/// Each type of statement must reach the threshold by itself.
fn count(examination: &Examination<'_>, said: &[SignedPart<'_>]) -> Covered {
    let (rule, distinct) = (examination.rule, &examination.trusted.distinct);
    let mut all: Option<Covered> = None;
    for wanted in &rule.predicate_types {
        let of_type = said.iter().filter(|said| said.predicate_type == wanted);
        let reached = Reached::count(rule.threshold, of_type.map(|said| (distinct.counted(said.key), said.zips)));
        let of_type = Covered { index: reached.index(), zips: reached.archives().map(|zip| (*zip).clone()).collect() };
        all = Some(match all {
            Some(covered) => both(covered, &of_type),
            None => of_type,
        });
    }
    all.unwrap_or_default()
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
            public_key: examination.trusted.public_key(&vote.key).cloned(),
            materials: examination.trusted.materials(&vote.key),
            identity: examination.trusted.identity(&vote.key).cloned(),
            numbers: HostNumbers::default(),
            forms: BTreeSet::new(),
            covers: vote.covers.clone(),
            statements: Vec::new(),
        });
        add_statements(&mut signer.statements, &[statement(vote)]);
        signer.forms.insert(vote.form);
        signer.numbers.learn(&vote.numbers);
        signer.covers = match (&signer.covers, &vote.covers) {
            (Covers::Zips(one), Covers::Zips(other)) => Covers::Zips(one.union(other).cloned().collect()),
            _ => Covers::Index,
        };
    }
    signers.into_values().collect()
}

fn statement(vote: &Vote) -> SignedStatement {
    let zips = match &vote.covers {
        Covers::Index => None,
        Covers::Zips(zips) => Some(zips.clone()),
    };
    SignedStatement {
        predicate_type: vote.predicate_type.clone(),
        build: vote.build.clone(),
        missing: vote.missing,
        zips,
    }
}

/// Why signatures that count are not enough; `None` if there are none.
pub(super) fn shortfall(rule: &TrustRule, examination: &Examination<'_>) -> Option<TrustRefusal> {
    let found: BTreeSet<String> = examination
        .examined
        .iter()
        .filter_map(|examined| match examined.outcome.flaw() {
            Some(Flaw::PredicateType { found }) => Some(found.clone()),
            _ => None,
        })
        .chain(examination.votes.iter().map(|vote| vote.predicate_type.clone()))
        .collect();
    if found.is_empty() {
        return None;
    }
    let (wanted, voters) = fewest(rule, examination)?;
    if voters.is_empty() {
        return Some(TrustRefusal::PredicateType { wanted: wanted.clone(), found: found.into_iter().collect() });
    }
    // Enough keys, and none of the offered archives: the threshold is not the reason.
    if voters.len() >= rule.threshold {
        return None;
    }
    Some(TrustRefusal::Threshold { by: voters.into_values().cloned().collect(), wanted: rule.threshold })
}

/// The type of statement that the fewest keys have signed, and those keys with their names.
fn fewest<'a>(
    rule: &'a TrustRule,
    examination: &'a Examination<'_>,
) -> Option<(&'a String, BTreeMap<&'a KeyId, &'a String>)> {
    let voters = |wanted: &String| {
        let of_type = examination.votes.iter().filter(|vote| vote.predicate_type == *wanted);
        let distinct = &examination.trusted.distinct;
        of_type.map(|vote| (distinct.counted(&vote.key), &vote.name)).collect::<BTreeMap<_, _>>()
    };
    rule.predicate_types.iter().map(|wanted| (wanted, voters(wanted))).min_by_key(|(_, voters)| voters.len())
}

/// Whose signatures would still let in a release that is refused; `None` if signatures would not.
pub(super) fn still_to_sign(
    rule: &TrustRule,
    examination: &Examination<'_>,
    refusal: Option<&TrustRefusal>,
) -> Option<StillToSign> {
    match refusal? {
        TrustRefusal::Withdrawn { .. } | TrustRefusal::MovedTag { .. } => return None,
        TrustRefusal::Signature { flaw, .. } if flaw.contradicts() => return None,
        _ => {}
    }
    let (_, voters) = fewest(rule, examination)?;
    let count = rule.threshold.checked_sub(voters.len()).filter(|count| *count > 0)?;
    let mut parties: Vec<(&KeyId, Vec<String>)> = Vec::new();
    let of_rule = rule.keys.iter().flat_map(|key| key.material.ids().into_iter().map(|id| (id, key.name.as_str())));
    let of_pins = || examination.trusted.names().map(|(id, name)| (id.clone(), name));
    let known: Vec<_> = if rule.keys.is_empty() { of_pins().collect() } else { of_rule.collect() };
    for (id, name) in known {
        let Some(party) = examination.trusted.distinct.known(&id).filter(|party| !voters.contains_key(party)) else {
            continue;
        };
        match parties.iter_mut().find(|(other, _)| *other == party) {
            Some((_, names)) if names.iter().any(|other| other == name) => {}
            Some((_, names)) => names.push(name.to_owned()),
            None => parties.push((party, vec![name.to_owned()])),
        }
    }
    Some(StillToSign { count, parties: parties.into_iter().map(|(_, names)| names).collect() })
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::Platform;

    use super::*;
    use crate::{Material, SIGN_PREDICATE, SignatureForm};

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
            build: None,
            missing: None,
            covers: Covers::Zips([zip.clone()].into()),
            numbers: HostNumbers::default(),
            listed: [(platform.clone(), zip.clone())].into(),
        };
        let votes: Vec<Vote> = keys.iter().map(vote).collect();
        let material = |name: &&str| BTreeSet::from([Material::of(name, &[])]);
        let distinct = DistinctKeys::new(keys.into_iter().zip(materials.iter().map(material)));
        let rule = TrustRule { threshold: 2, ..TrustRule::default() };
        let platforms = platforms(&rule, &distinct, &votes, Vec::new());
        assert_eq!(platforms.covers(&platform, &zip), want, "{materials:?}");
    }

    #[test]
    fn two_certificates_of_one_key_do_not_cover_the_archive_of_a_platform_twice() {
        check(&["a", "b"], true);
        check(&["a", "a"], false);
        check(&["a"], false);
    }
}

//! What a release rests on, and whether that is enough.

use std::collections::BTreeSet;

use super::examine::Examination;
use super::platforms::{By, Platforms};
use super::{ByHand, Covered, Examined, Outcome, Refusal, Remark, Standing, Verdict, threshold};
use crate::{Action, Admission, KeyId, Pins, ReleaseFacts, Rule, Unsigned};

/// The verdict on what was looked at.
pub(super) fn decide(rule: &Rule, pins: &Pins, facts: &ReleaseFacts<'_>, mut examination: Examination<'_>) -> Verdict {
    let (signed, (pinned, lost)) =
        (threshold::covered(&examination), threshold::pinned(&examination, pins.same_index(facts)));
    let listed = std::mem::take(&mut examination.listed);
    let platforms = Platforms::new(rule, &examination.authority.distinct, &examination.votes, listed);
    let platforms = platforms.pinned(facts, &pinned.zips);
    let offered = |by, covered: Covered| {
        let is_offered = covered.index || platforms.covers_offered(by, facts.archives);
        if is_offered { covered } else { Covered::default() }
    };
    let (signed, pinned) = (offered(By::Signatures, signed), offered(By::Pins, pinned));
    let standing = match (is_some(&signed), is_some(&pinned)) {
        (true, _) => Standing::Signed,
        (false, true) => Standing::Pinned,
        (false, false) => Standing::Unsigned,
    };
    let (otherwise, mut uncovered) = not_signed(rule, pins, facts, &mut examination, standing);
    if standing == Standing::Unsigned {
        examination.remarks.extend(uncovered.take());
    }
    let gone = lost.into_iter().filter(|signer| !examination.examined.iter().any(|found| is_by(found, &signer.key)));
    let gone = names(gone.map(|signer| signer.name.as_str()));
    if !within(&pinned, &signed) && !gone.is_empty() {
        let by = gone.join(", ");
        let text = format!("its signature is gone; this very index was signed by {by} when it was trusted before");
        examination.remarks.push(Remark::note("signature-gone", text));
    }
    let mut refusal = match standing {
        Standing::Signed | Standing::Pinned => None,
        Standing::Unsigned => otherwise.clone(),
    };
    if let Some(moved) = moved(rule, pins, facts, &mut examination, standing)
        && let Some(besides) = refusal.replace(moved)
    {
        examination.remarks.push(Remark::warning(besides.code(), besides.to_string()));
    }
    let mut zips = signed.zips;
    zips.extend(pinned.zips);
    Verdict {
        standing,
        refusal,
        by_hand: ByHand::DoesNot,
        signers: threshold::signers(&examination),
        covered: Covered { index: signed.index || pinned.index, zips },
        examined: examination.examined,
        remarks: examination.remarks,
        platforms,
        otherwise,
        uncovered,
        threshold: rule.threshold,
        predicate_types: rule.predicate_types.clone(),
    }
}

fn is_some(covered: &Covered) -> bool {
    covered.index || !covered.zips.is_empty()
}

fn within(inner: &Covered, outer: &Covered) -> bool {
    outer.index || (!inner.index && inner.zips.is_subset(&outer.zips))
}

/// Whether a signature that was found is by a key.
fn is_by(found: &Examined, key: &KeyId) -> bool {
    found.key.as_ref() == Some(key)
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeSet<&str> = names.collect();
    names.into_iter().map(str::to_owned).collect()
}

/// A version that is another index than the one seen before. A trusted signature does not make that right: whoever
/// rolls a tag back has a signed index, too.
fn moved(
    rule: &Rule,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    examination: &mut Examination<'_>,
    standing: Standing,
) -> Option<Refusal> {
    let pin = pins.at(facts.address, facts.version, facts.place).find(|pin| !facts.is_index(&pin.index))?;
    let moved = Refusal::MovedTag { pinned: pin.index.clone(), offered: facts.identity.digest()?.clone() };
    if rule.moved_tags == Action::Refuse {
        if standing == Standing::Signed {
            let by: Vec<&str> = examination.votes.iter().map(|vote| vote.name.as_str()).collect();
            let text = format!("what is offered now is signed by {}", by.join(", "));
            examination.remarks.push(Remark::note("moved-and-signed", text));
        }
        return Some(moved);
    }
    if rule.moved_tags == Action::Warn {
        examination.remarks.push(Remark::warning(moved.code(), moved.to_string()));
    }
    None
}

/// Why what the signatures do not cover must not be used; if it may be, what people should know.
fn not_signed(
    rule: &Rule,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    examination: &mut Examination<'_>,
    standing: Standing,
) -> (Option<Refusal>, Option<Remark>) {
    let contradiction = examination.examined.iter().find_map(|examined| contradicts(facts, examined));
    let told = standing == Standing::Unsigned;
    if let Some(refusal) = contradiction {
        if !told {
            examination.remarks.push(Remark::warning(refusal.code(), refusal.to_string()));
            return unsigned(rule, pins, facts, examination);
        }
        return (Some(refusal), None);
    }
    unsigned(rule, pins, facts, examination)
}

fn unsigned(
    rule: &Rule,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    examination: &Examination<'_>,
) -> (Option<Refusal>, Option<Remark>) {
    let reason = threshold::shortfall(rule, examination).or_else(|| best(&examination.examined));
    let signers = names(pins.signers(facts.address).map(|signer| signer.name.as_str()));
    let was_signed = (!signers.is_empty()).then_some(Refusal::WasSigned { by: signers });
    let refusal = reason.or(was_signed.clone()).unwrap_or(Refusal::Unsigned);
    let accepted = pins.agreed(facts).is_some_and(|pin| pin.admission == Admission::ByHand);
    let remembered = was_signed.is_some() && matches!(rule.unsigned, Unsigned::ByDefault(_));
    if accepted && rule.unsigned != Unsigned::Said(Action::Refuse) && rule.keys.is_empty() {
        let text = "it is not signed, and was accepted by hand as it is".to_owned();
        return (None, Some(Remark::note("accepted", text)));
    }
    match rule.unsigned.action() {
        Action::Refuse => (Some(refusal), None),
        _ if remembered => (Some(refusal), None),
        Action::Warn => (None, Some(Remark::warning(refusal.code(), refusal.to_string()))),
        Action::Allow => (None, None),
    }
}

/// What a trusted signature says against the release.
fn contradicts(facts: &ReleaseFacts<'_>, examined: &Examined) -> Option<Refusal> {
    let by = by(examined);
    match &examined.outcome {
        Outcome::OtherProvider { named } => {
            Some(Refusal::OtherProvider { by, named: named.clone(), wanted: facts.address.clone() })
        }
        Outcome::OtherVersion { named } => {
            Some(Refusal::OtherVersion { by, named: named.clone(), wanted: facts.version.clone() })
        }
        Outcome::OtherPackage { file_name } => Some(Refusal::OtherPackage { by, file_name: file_name.clone() }),
        _ => None,
    }
}

fn by(examined: &Examined) -> String {
    let key = || examined.key.as_ref().map(ToString::to_string);
    examined.key_name.clone().or_else(key).unwrap_or_else(|| "an unknown key".to_owned())
}

/// The most telling reason why signatures do not count; nothing where there are none.
fn best(examined: &[Examined]) -> Option<Refusal> {
    examined.iter().filter_map(reason).min_by_key(|(rank, _)| *rank).map(|(_, refusal)| refusal)
}

fn reason(examined: &Examined) -> Option<(u8, Refusal)> {
    let by = by(examined);
    Some(match &examined.outcome {
        Outcome::RevokedKey { what } => (0, Refusal::RevokedKey { what: what.clone() }),
        Outcome::ExpiredKey { what } => (1, Refusal::ExpiredKey { what: what.clone() }),
        Outcome::WeakDigest { what } => (2, Refusal::WeakDigest { what: what.clone() }),
        Outcome::Unnamed { missing } => (3, Refusal::UnnamedSignature { by, missing: *missing }),
        Outcome::OtherIndex { signed } => (4, Refusal::OtherIndex { by, signed: signed.clone() }),
        Outcome::BadSignature { problem } => (5, Refusal::BadSignature { problem: problem.clone() }),
        Outcome::TravellingKey { key } => (6, Refusal::UnknownKey { key: Some(key.to_string()) }),
        Outcome::UnknownKey => (7, Refusal::UnknownKey { key: examined.claimed_key.clone() }),
        Outcome::Keyless => (8, Refusal::UnknownKey { key: Some("a certificate".to_owned()) }),
        Outcome::Unreadable { problem } => {
            (9, Refusal::BadSignature { problem: format!("what may be its signature cannot be read: {problem}") })
        }
        _ => return None,
    })
}

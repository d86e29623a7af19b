//! When a release is refused: what vouches for it, and whether that is enough for its rule, or without a rule.

use std::collections::BTreeSet;

use super::examine::Examination;
use super::vouched;
use crate::verdict::{By, best};
use crate::{
    Action, Admission, Covered, Examined, Flaw, KeyId, ManualAcceptance, PinnedSigner, Pins, ReleaseFacts, Standing,
    Subject, TrustRefusal, TrustRemark, TrustRule, Unsigned, Verdict,
};

/// The verdict on what was looked at.
pub(super) fn decide(
    rule: &TrustRule,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    mut examination: Examination<'_>,
) -> Verdict {
    let (signed, (pinned, lost)) =
        (vouched::covered(&examination), vouched::pinned(&examination, pins.same_index(facts)));
    let listed = std::mem::take(&mut examination.listed);
    let platforms = vouched::platforms(rule, &examination.trusted.distinct, &examination.votes, listed);
    let platforms = platforms.pinned(facts, &pinned.zips);
    let offered = |by, covered: Covered| {
        let is_offered = covered.index || platforms.covers_offered(by, facts.archives);
        // The notice that withdraws it may be among those that were not read.
        if is_offered && !examination.lacks_notices { covered } else { Covered::default() }
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
    let remark = gone_remark(&examination, &gone.collect::<Vec<_>>()).filter(|_| !within(&pinned, &signed));
    examination.remarks.extend(remark);
    let mut refusal = match standing {
        Standing::Signed | Standing::Pinned => None,
        Standing::Unsigned => otherwise.clone(),
    };
    if let Some(moved) = moved(rule, pins, facts, &mut examination, standing)
        && let Some(besides) = refusal.replace(moved)
    {
        examination.remarks.push(TrustRemark::warning(besides.code(), besides.to_string()));
    }
    let mut zips = signed.zips;
    zips.extend(pinned.zips);
    let covered = Covered { index: signed.index || pinned.index, zips };
    let withdrawn = examination.heed_notices();
    let (standing, covered, otherwise, uncovered) = match &withdrawn {
        // What was signed before it was withdrawn is not vouched for any more.
        Some(_) => (Standing::Unsigned, Covered::default(), withdrawn.clone(), None),
        None => (standing, covered, otherwise, uncovered),
    };
    if let Some(withdrawn) = withdrawn
        && let Some(besides) = refusal.replace(withdrawn)
    {
        examination.remarks.push(TrustRemark::warning(besides.code(), besides.to_string()));
    }
    if refusal.is_none() && standing == Standing::Signed {
        refusal = other_version(facts, &examination);
    }
    Verdict {
        standing,
        still_to_sign: vouched::still_to_sign(rule, &examination, refusal.as_ref()),
        refusal,
        by_hand: ManualAcceptance::DoesNot,
        signers: vouched::signers(&examination),
        notices: examination.counting_notices().into_iter().map(|notice| notice.origin.clone()).collect(),
        covered,
        examined: examination.examined,
        remarks: examination.remarks,
        platforms,
        otherwise,
        uncovered,
        threshold: rule.threshold,
        predicate_types: rule.predicate_types.clone(),
        build: rule.build.clone(),
        sought: examination.trusted.sought(),
    }
}

fn is_some(covered: &Covered) -> bool {
    covered.index || !covered.zips.is_empty()
}

fn within(inner: &Covered, outer: &Covered) -> bool {
    outer.index || (!inner.index && inner.zips.is_subset(&outer.zips))
}

/// What people should know of signatures that are not there now, or that are there and not proven any more.
fn gone_remark(examination: &Examination<'_>, gone: &[&PinnedSigner]) -> Option<TrustRemark> {
    let by = names(gone.iter().map(|signer| signer.name.as_str())).join(", ");
    let before = format!("this very index was signed by {by} when it was trusted before");
    let mut identities = gone.iter().filter_map(|signer| signer.identity.as_ref());
    let (Some(identity), Some(flaw)) = (identities.next(), &examination.unproven) else {
        let gone = || TrustRemark::note("signature-gone", format!("its signature is gone; {before}"));
        return (!by.is_empty()).then(gone);
    };
    let is_named = |path: &String| examination.trusted.roots().iter().any(|root| root.name.to_string() == *path);
    let unnamed = identity.root.as_ref().filter(|path| !is_named(path));
    let why = unnamed.map(|path| format!("; the root {path} counts only if an [[identity]] of a rule names it"));
    let text = format!("its signature {flaw}{}; {before}", why.unwrap_or_default());
    Some(TrustRemark::note("not-proven", text))
}

/// Whether a key made one of the signatures that were found.
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
    rule: &TrustRule,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    examination: &mut Examination<'_>,
    standing: Standing,
) -> Option<TrustRefusal> {
    let (address, version) = facts.provider()?;
    let pin = pins.at(address, version, facts.place).find(|pin| !facts.is_index(&pin.index))?;
    let moved = TrustRefusal::MovedTag { pinned: pin.index.clone(), offered: facts.identity.digest()?.clone() };
    if rule.moved_tags == Action::Refuse {
        if standing == Standing::Signed {
            let by: Vec<&str> = examination.votes.iter().map(|vote| vote.name.as_str()).collect();
            let text = format!("what is offered now is signed by {}", by.join(", "));
            examination.remarks.push(TrustRemark::note("moved-and-signed", text));
        }
        return Some(moved);
    }
    if rule.moved_tags == Action::Warn {
        examination.remarks.push(TrustRemark::warning(moved.code(), moved.to_string()));
    }
    None
}

/// A signed manifest of a module that says it is another version than the one that was asked for: an old one under a new tag.
fn other_version(facts: &ReleaseFacts<'_>, examination: &Examination<'_>) -> Option<TrustRefusal> {
    let Subject::Module { wanted: Some(wanted), claimed: Some(claimed) } = facts.of else { return None };
    let by = || examination.votes.first().map(|vote| vote.name.clone()).unwrap_or_default();
    let flaw = || Flaw::OtherVersion { named: claimed.to_string(), wanted: Box::new(wanted.clone()) };
    (wanted != claimed).then(|| TrustRefusal::Signature { by: by(), flaw: flaw() })
}

/// The refusal of what the signatures do not cover; if it may be used, the remark about it.
fn not_signed(
    rule: &TrustRule,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    examination: &mut Examination<'_>,
    standing: Standing,
) -> (Option<TrustRefusal>, Option<TrustRemark>) {
    let contradiction = examination.examined.iter().find_map(|found| {
        let flaw = found.outcome.flaw().filter(|flaw| flaw.contradicts())?;
        Some(found.refusal(flaw))
    });
    if let Some(refusal) = contradiction {
        if standing == Standing::Unsigned {
            return (Some(refusal), None);
        }
        examination.remarks.push(TrustRemark::warning(refusal.code(), refusal.to_string()));
    }
    unsigned(rule, pins, facts, examination)
}

fn unsigned(
    rule: &TrustRule,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    examination: &Examination<'_>,
) -> (Option<TrustRefusal>, Option<TrustRemark>) {
    let reason =
        vouched::shortfall(rule, examination).or_else(|| best(&examination.examined, examination.trusted.sought()));
    let signers = facts.provider().into_iter().flat_map(|(address, _)| pins.signers(address));
    let signers = names(signers.map(|signer| signer.name.as_str()));
    let was_signed = (!signers.is_empty()).then_some(TrustRefusal::WasSigned { by: signers });
    let refusal = reason.or(was_signed.clone()).unwrap_or(TrustRefusal::Unsigned);
    let accepted = pins.agreed(facts).is_some_and(|pin| pin.admission == Admission::ByHand);
    let remembered = was_signed.is_some() && matches!(rule.unsigned, Unsigned::ByDefault(_));
    if accepted && rule.unsigned != Unsigned::Said(Action::Refuse) && rule.keys.is_empty() {
        let text = "it is not signed, and was accepted by hand as it is".to_owned();
        return (None, Some(TrustRemark::note("accepted", text)));
    }
    match rule.unsigned.action() {
        Action::Refuse => (Some(refusal), None),
        _ if remembered => (Some(refusal), None),
        Action::Warn => (None, Some(TrustRemark::warning(refusal.code(), refusal.to_string()))),
        Action::Allow => (None, None),
    }
}

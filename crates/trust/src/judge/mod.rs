//! Whose signature counts: evidence in, a verdict out.
//!
//! ```text
//! evidence --examine(keys of the rule, or of the pins)--> Examined { SignatureOutcome }, votes
//! votes, pins --vouched, threshold(keys, types)--> what is covered
//! Examined, what is covered --decide(pins, rule)--> Verdict { standing, TrustRefusal, … }
//!
//! Flaw   why one signature does not count: in its SignatureOutcome, and in the TrustRefusal that it leads to
//! ```
//!
//! Notices (what the publisher says of the release later) are examined with the signatures, and vouch for nothing. A release
//! that was withdrawn is refused before anything else is said of it.
//!
//! A signature names the index, the provider and the version. One by a trusted key that names another provider, another
//! version or other archives proves that the release is not what it is offered as: it is refused even if the policy allows
//! unsigned releases.

mod decide;
mod examine;
mod keyless;
mod notices;
mod sums;
#[cfg(test)]
mod tests;
mod threshold;
mod trusted_keys;
mod votes;
mod vouched;

use std::borrow::Cow;
use std::time::SystemTime;

use tofu_oci_types::ProviderAddr;

use crate::{
    EVIDENCE_LIMIT, Evidence, ManualAcceptance, PROVENANCE_PREDICATE, Pins, Policy, ReleaseFacts, TrustRemark,
    TrustRule, Verdict,
};
use examine::Examination;
use trusted_keys::TrustedKeys;

/// Whether a release may be used, and who vouches for what of it.
///
/// At most [`EVIDENCE_LIMIT`] pieces of evidence are looked at. `now` decides what has expired.
pub fn judge(
    policy: &Policy,
    pins: &Pins,
    facts: &ReleaseFacts<'_>,
    evidence: &[Evidence],
    now: SystemTime,
) -> Verdict {
    let mut verdict = look_at(policy, pins, facts, evidence, now);
    if verdict.refusal.is_some() || verdict.otherwise.is_some() {
        let mut accepted = pins.clone();
        if accepted.accept(facts, &verdict).is_ok() {
            let after = look_at(policy, &accepted, facts, evidence, now);
            let left = if verdict.refusal.is_some() { after.refusal } else { after.otherwise };
            verdict.by_hand = if left.is_none() { ManualAcceptance::Settles } else { ManualAcceptance::DoesNot };
        }
    }
    verdict
}

fn look_at(policy: &Policy, pins: &Pins, facts: &ReleaseFacts<'_>, evidence: &[Evidence], now: SystemTime) -> Verdict {
    let address = facts.provider().map(|(address, _)| address);
    let rule = &in_force(policy.rule_of(facts.of, facts.place), pins, address);
    let trusted = TrustedKeys::new(policy, rule, pins, address);
    let mut examination = Examination::new(rule, &trusted, facts, now);
    for piece in evidence.iter().take(EVIDENCE_LIMIT) {
        examination.look_at(piece);
    }
    if evidence.len() > EVIDENCE_LIMIT {
        let text = format!("only {EVIDENCE_LIMIT} of {} pieces of evidence were looked at", evidence.len());
        examination.remarks.push(TrustRemark::warning("too-much-evidence", text));
    }
    decide::decide(rule, pins, facts, examination)
}

/// The rule. If it names no keys, it demands what the remembered ones had to reach: deleting a rule lowers nothing.
fn in_force<'a>(rule: &'a TrustRule, pins: &Pins, address: Option<&ProviderAddr>) -> Cow<'a, TrustRule> {
    let signed = address.filter(|_| rule.keys.is_empty()).and_then(|address| pins.signed(address));
    let Some(signed) = signed else { return Cow::Borrowed(rule) };
    let mut rule = rule.clone();
    rule.threshold = rule.threshold.max(signed.threshold);
    if rule.predicate_types == TrustRule::default().predicate_types && !signed.predicate_types.is_empty() {
        rule.predicate_types = signed.predicate_types.iter().cloned().collect();
    }
    if rule.predicate_types.iter().any(|wanted| wanted == PROVENANCE_PREDICATE) {
        rule.build = rule.build.or_else(|| signed.build.clone());
    }
    Cow::Owned(rule)
}

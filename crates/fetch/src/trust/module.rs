//! Who vouches for the package of a module, what its signature must be about, and what its publisher says of it later:
//! asked once, before the download.

use tofu_oci_source::{ModulePackage, Search};
use tofu_oci_trust::{Archives, Evidence, ReleaseFacts, Standing, Subject, judge};
use tofu_oci_types::{Event, Level, ModuleAddr, Predecessors, Reporter, Version};

use super::{SignedBy, Trust};
use crate::ModuleFetchError;

/// What the policy says of a module's package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleStanding {
    /// No rule is for modules from there.
    NotJudged,
    /// No signature counts, and the rule accepts that.
    Unsigned,
    /// Enough keys have signed its manifest.
    Signed(Vec<SignedBy>),
}

/// The judgement on a module's package by the rules for modules. No pin remembers modules. A signature binds the manifest, and
/// so the version that the manifest says it is: one that says another version than the `wanted` one is refused. It does not bind
/// the repository.
///
/// Without a rule for it, every notice of its publisher counts: a withdrawn module is refused. If notices cannot be
/// read, a warning says so.
///
/// # Errors
/// [`ModuleFetchError::Untrusted`], and errors of the place that was asked for signatures.
pub async fn judge_module(
    package: &ModulePackage,
    wanted: Option<&Version>,
    trust: &Trust,
    reporter: &dyn Reporter,
) -> Result<ModuleStanding, ModuleFetchError> {
    let of = Subject::Module { wanted, claimed: package.claimed_version() };
    let facts = ReleaseFacts { of, place: package.place(), identity: package.identity(), archives: &Archives::Unknown };
    let judge = |evidence: &[Evidence]| judge(&trust.policy, &trust.pins, &facts, evidence, trust.now);
    let wants_evidence = trust.policy.wants_evidence_on(&trust.pins, facts.of, facts.place);
    let likely =
        if wants_evidence { package.evidence(Search::Likely).await? } else { notices(package, reporter).await };
    let mut verdict = judge(&likely);
    if verdict.standing != Standing::Signed && wants_evidence {
        verdict = judge(&package.evidence(Search::Everywhere).await?);
    }
    if let Some(refusal) = verdict.refusal {
        let (refusal, rule) = (Box::new(refusal), Box::new(trust.policy.rule_of(facts.of, facts.place).clone()));
        let (place, version) = (package.place().clone(), wanted.or(package.claimed_version()).cloned());
        return Err(ModuleFetchError::Untrusted { place, version, refusal, rule });
    }
    for remark in &verdict.remarks {
        let text = format!("the module from {}: {}", package.place(), remark.text);
        reporter.event(&match remark.level {
            Level::Note => Event::note(remark.code, text),
            Level::Warning => Event::warning(remark.code, text),
        });
    }
    if trust.policy.module_rule(package.place()).is_none() {
        return Ok(ModuleStanding::NotJudged);
    }
    if verdict.standing != Standing::Signed {
        return Ok(ModuleStanding::Unsigned);
    }
    let mut signers: Vec<SignedBy> =
        verdict.signers.into_iter().map(|signer| SignedBy { name: signer.name, key: signer.key }).collect();
    signers.sort();
    Ok(ModuleStanding::Signed(signers))
}

/// The module that a package names, and what to report of that, if it is another one than the one asked for.
pub fn module_says_another(
    package: &ModulePackage,
    (address, version): (&ModuleAddr, &Version),
    predecessors: &Predecessors,
) -> Option<(ModuleAddr, String)> {
    let said = package.other_address(address, predecessors)?;
    let text = format!("{} has {version} as {said}, not as {address}", package.place());
    Some((said, text))
}

/// What its publisher says of it later, if no key could have signed it.
async fn notices(package: &ModulePackage, reporter: &dyn Reporter) -> Vec<Evidence> {
    package.notices().await.unwrap_or_else(|error| {
        let text = format!("whether the module from {} was withdrawn is not known: {error}", package.place());
        reporter.event(&Event::warning("notices-unknown", text));
        Vec::new()
    })
}

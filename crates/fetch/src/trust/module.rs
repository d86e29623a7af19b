//! Who vouches for the package of a module: asked once, before its download.

use tofu_oci_source::{ModulePackage, Search};
use tofu_oci_trust::{Archives, Flaw, Pins, Policy, ReleaseFacts, Standing, TrustRefusal, TrustRule, Verdict, judge};
use tofu_oci_types::{Event, Identity, Level, ProviderAddr, Reporter, Version};

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
/// # Errors
/// [`ModuleFetchError::Untrusted`], and errors of the place that was asked for signatures.
pub async fn judge_module(
    package: &ModulePackage,
    wanted: Option<&Version>,
    trust: &Trust,
    reporter: &dyn Reporter,
) -> Result<ModuleStanding, ModuleFetchError> {
    let Some(policy) = trust.policy.for_module(package.place()) else { return Ok(ModuleStanding::NotJudged) };
    let judged = JudgedModule::new(package, &policy, trust);
    let mut verdict = judged.verdict(package, Search::Likely).await?;
    if verdict.standing != Standing::Signed && judged.wants_evidence() {
        verdict = judged.verdict(package, Search::Everywhere).await?;
    }
    if let Some(refusal) = verdict.refusal {
        let (refusal, rule) = (Box::new(refusal), Box::new(judged.rule().clone()));
        return Err(ModuleFetchError::Untrusted { place: package.place().clone(), refusal, rule });
    }
    if let (Standing::Signed, Some(refusal)) = (verdict.standing, other_version(package, wanted, &verdict)) {
        let (refusal, rule) = (Box::new(refusal), Box::new(judged.rule().clone()));
        return Err(ModuleFetchError::Untrusted { place: package.place().clone(), refusal, rule });
    }
    // A signature that names no provider is as it should be.
    for remark in verdict.remarks.iter().filter(|remark| remark.code != "unnamed-signature") {
        let text = format!("the module from {}: {}", package.place(), remark.text);
        reporter.event(&match remark.level {
            Level::Note => Event::note(remark.code, text),
            Level::Warning => Event::warning(remark.code, text),
        });
    }
    if verdict.standing != Standing::Signed {
        return Ok(ModuleStanding::Unsigned);
    }
    let mut signers: Vec<SignedBy> =
        verdict.signers.into_iter().map(|signer| SignedBy { name: signer.name, key: signer.key }).collect();
    signers.sort();
    Ok(ModuleStanding::Signed(signers))
}

/// The refusal of a signed manifest that says it is another version: an old one under a new tag.
fn other_version(package: &ModulePackage, wanted: Option<&Version>, verdict: &Verdict) -> Option<TrustRefusal> {
    let (wanted, claimed) = (wanted?, package.claimed_version()?);
    if claimed == wanted {
        return None;
    }
    let by = verdict.signers.first().map(|signer| signer.name.clone()).unwrap_or_default();
    let flaw = Flaw::OtherVersion { named: claimed.to_string(), wanted: Box::new(wanted.clone()) };
    Some(TrustRefusal::Signature { by, flaw })
}

/// A manifest as the release that it is judged as. The name stands for any: the policy's first rule is for all names.
struct JudgedModule<'a> {
    policy: &'a Policy,
    trust: &'a Trust,
    pins: Pins,
    address: ProviderAddr,
    version: Version,
    identity: Identity,
}

impl<'a> JudgedModule<'a> {
    fn new(package: &ModulePackage, policy: &'a Policy, trust: &'a Trust) -> Self {
        let identity = match package.manifest() {
            Some(digest) => Identity::Index { sha256: digest.clone(), sha512: None },
            None => Identity::Unidentified,
        };
        let address = "registry.opentofu.org/unknown/module".parse().expect("a well-formed address");
        let version = "0.0.0".parse().expect("a version");
        Self { policy, trust, pins: Pins::default(), address, version, identity }
    }

    fn rule(&self) -> &TrustRule {
        self.policy.rule(&self.address)
    }

    fn wants_evidence(&self) -> bool {
        self.policy.wants_evidence(&self.pins, &self.address)
    }

    async fn verdict(&self, package: &ModulePackage, search: Search) -> Result<Verdict, ModuleFetchError> {
        let evidence = if self.wants_evidence() { package.evidence(search).await? } else { Vec::new() };
        let facts = ReleaseFacts {
            address: &self.address,
            version: &self.version,
            place: package.place(),
            identity: &self.identity,
            archives: &Archives::Unknown,
        };
        Ok(judge(self.policy, &self.pins, &facts, &evidence, self.trust.now))
    }
}

//! Who vouches for the package of a module, what its signature must be about, and what its publisher says of it later:
//! asked once, before the download.

use tofu_oci_source::{ModulePackage, ReleaseId, Search};
use tofu_oci_trust::{
    Archives, Evidence, Flaw, Pins, Policy, ReleaseFacts, Standing, StatedNames, TrustRefusal, TrustRule, Verdict,
    judge,
};
use tofu_oci_types::{Event, Identity, Level, ModuleAddr, Predecessors, Reporter, Version};

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
    let has_rule = trust.policy.for_module(package.place()).is_some();
    let judged = JudgedModule::new(package, wanted, trust.policy.judging_module(package.place()));
    let mut verdict = judged.verdict(&judged.look(package, Search::Likely, reporter).await?, trust);
    if verdict.standing != Standing::Signed && judged.wants_evidence() {
        verdict = judged.verdict(&judged.look(package, Search::Everywhere, reporter).await?, trust);
    }
    if let Some(refusal) = verdict.refusal {
        let (refusal, rule) = (Box::new(refusal), Box::new(judged.rule().clone()));
        return Err(ModuleFetchError::Untrusted { place: package.place().clone(), refusal, rule });
    }
    for remark in &verdict.remarks {
        let text = format!("the module from {}: {}", package.place(), remark.text);
        reporter.event(&match remark.level {
            Level::Note => Event::note(remark.code, text),
            Level::Warning => Event::warning(remark.code, text),
        });
    }
    if !has_rule {
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

/// What to report of a package that names another module than the one asked for; `None` if it answers for that one.
pub fn module_says_another(
    package: &ModulePackage,
    (address, version): (&ModuleAddr, &Version),
    predecessors: &Predecessors,
) -> Option<String> {
    let said = package.other_address(address, predecessors)?;
    Some(format!("{} has {version} as {said}, not as {address}", package.place()))
}

/// The manifest of a module as the release that it is judged as. The name in it stands for any: the first rule of a policy for
/// modules is for all names, and a module's signatures name nothing.
pub struct JudgedModule {
    policy: Policy,
    pins: Pins,
    id: ReleaseId,
    wanted: Option<Version>,
    claimed: Option<Version>,
}

impl JudgedModule {
    /// The module, to be judged by a policy whose first rule is for it.
    pub fn new(package: &ModulePackage, wanted: Option<&Version>, policy: Policy) -> Self {
        let identity = match package.manifest() {
            Some(digest) => Identity::Index { sha256: digest.clone(), sha512: None },
            None => Identity::Unidentified,
        };
        let claimed = package.claimed_version().cloned();
        let unknown = || "0.0.0".parse().expect("a version");
        let id = ReleaseId {
            address: "registry.opentofu.org/unknown/module".parse().expect("a well-formed address"),
            version: wanted.or(claimed.as_ref()).cloned().unwrap_or_else(unknown),
            place: package.place().clone(),
            identity,
        };
        Self { policy, pins: Pins::default(), id, wanted: wanted.cloned(), claimed }
    }

    /// The rule that holds for it.
    pub fn rule(&self) -> &TrustRule {
        self.policy.rule(&self.id.address)
    }

    /// What it is judged as; its address stands for any.
    pub fn id(&self) -> &ReleaseId {
        &self.id
    }

    /// The version that was asked for, or that the manifest says it is; `None` if neither is known.
    pub fn version(&self) -> Option<&Version> {
        self.wanted.as_ref().or(self.claimed.as_ref())
    }

    /// What is judged.
    pub fn facts(&self) -> ReleaseFacts<'_> {
        let ReleaseId { address, version, place, identity } = &self.id;
        let archives = &Archives::Unknown;
        ReleaseFacts { address, version, place, identity, archives, names: StatedNames::Nothing }
    }

    /// The verdict by this evidence. A signed manifest that says it is another version than the wanted one is refused: it is an
    /// old one under a new tag.
    pub fn verdict(&self, evidence: &[Evidence], trust: &Trust) -> Verdict {
        let mut verdict = judge(&self.policy, &self.pins, &self.facts(), evidence, trust.now);
        if verdict.refusal.is_none() && verdict.standing == Standing::Signed {
            verdict.refusal = self.other_version(&verdict);
        }
        verdict
    }

    fn other_version(&self, verdict: &Verdict) -> Option<TrustRefusal> {
        let (wanted, claimed) = (self.wanted.as_ref()?, self.claimed.as_ref()?);
        if claimed == wanted {
            return None;
        }
        let by = verdict.signers.first().map(|signer| signer.name.clone()).unwrap_or_default();
        let flaw = Flaw::OtherVersion { named: claimed.to_string(), wanted: Box::new(wanted.clone()) };
        Some(TrustRefusal::Signature { by, flaw })
    }

    fn wants_evidence(&self) -> bool {
        self.policy.wants_evidence(&self.pins, &self.id.address)
    }

    /// Signatures and notices, or notices alone if no key could have signed it.
    async fn look(
        &self,
        package: &ModulePackage,
        search: Search,
        reporter: &dyn Reporter,
    ) -> Result<Vec<Evidence>, ModuleFetchError> {
        if self.wants_evidence() {
            return Ok(package.evidence(search).await?);
        }
        match package.notices().await {
            Ok(notices) => Ok(notices),
            Err(error) => {
                let text = format!("whether the module from {} was withdrawn is not known: {error}", package.place());
                reporter.event(&Event::warning("notices-unknown", text));
                Ok(Vec::new())
            }
        }
    }
}

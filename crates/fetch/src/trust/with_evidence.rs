//! A release or module with all that lies beside it, and what the policy and the pins make of it: what `verify` shows.

#[cfg(test)]
mod tests;

use std::fmt;

use tofu_oci_source::{ModuleError, ModulePackage, Release, ReleaseDescription, ReleaseId, Search, SourceError};
use tofu_oci_trust::{
    Archives, Evidence, ManualAcceptance, ReleaseFacts, Standing, Subject, TrustRefusal, TrustRule, Verdict, VersionOf,
    judge,
};
use tofu_oci_types::{Identity, Place, Platform, ProviderAddr, Tag, Version};

use super::check::{leaf_evidence, real_archives};
use super::{SignatureStanding, Trust};
use crate::pin_file;

/// A release or module, and what was found beside it.
pub struct ReleaseWithEvidence {
    /// What it is judged as.
    pub of: VersionOf,
    /// The version that was asked for; `None` for a module that was named otherwise.
    pub wanted: Option<Version>,
    /// The version that the manifest of a module says it is.
    pub claimed: Option<Version>,
    /// The provider that the rules must admit, too ([`Trust::judged_as_well`]).
    pub said: Option<ProviderAddr>,
    pub place: Place,
    pub identity: Identity,
    pub about: ReleaseDescription,
    pub archives: Archives,
    /// What the pins call the place.
    pub pinned_as: Place,
    pub evidence: Vec<Evidence>,
}

/// What a verdict comes to for all packages of a release.
pub enum Conclusion<'a> {
    /// Signatures that count cover every package.
    Trusted,
    /// `install` refuses it.
    Refused(&'a TrustRefusal),
    /// `install` refuses the package of this platform: signatures cover packages one by one.
    RefusedFor(&'a Platform, &'a TrustRefusal),
    /// No signature counts, and the policy accepts that.
    Unsigned,
    /// No signature that counts covers the package of this platform, and the policy accepts that.
    UnsignedFor(&'a Platform),
}

/// The judgement on a release by all evidence beside it, and its short form. A refusal is part of the answer.
///
/// # Errors
/// If the place could not be asked.
pub async fn judged(release: &dyn Release, trust: &Trust) -> Result<(Verdict, SignatureStanding), SourceError> {
    let evidence = all_evidence(release, trust).await?;
    let archives = if evidence.is_empty() { Archives::Unknown } else { real_archives(release).await? };
    let mut found = ReleaseWithEvidence::new(release, trust, ReleaseDescription::default(), archives, evidence);
    let verdict = found.judge(trust);
    let standing = found.standing(&verdict, trust);
    Ok((verdict, standing))
}

/// What lies beside the index and, if an identity may sign, beside the manifests of platforms.
async fn all_evidence(release: &dyn Release, trust: &Trust) -> Result<Vec<Evidence>, SourceError> {
    let mut found = release.evidence(Search::Everywhere).await?;
    found.extend(leaf_evidence(release, trust).await?);
    Ok(found)
}

impl ReleaseWithEvidence {
    /// Reads all evidence: also that which does not count.
    ///
    /// # Errors
    /// Those of the place.
    pub async fn read(release: &dyn Release, trust: &Trust) -> Result<Self, SourceError> {
        let about = release.describe().await?.clone();
        let evidence = all_evidence(release, trust).await?;
        Ok(Self::new(release, trust, about, real_archives(release).await?, evidence))
    }

    pub(super) fn new(
        release: &dyn Release,
        trust: &Trust,
        about: ReleaseDescription,
        archives: Archives,
        evidence: Vec<Evidence>,
    ) -> Self {
        let ReleaseId { address, version, place, identity } = release.id().clone();
        let (of, pinned_as) = (VersionOf::from(&address), pin_file::place(&trust.pins_path, &place));
        let (wanted, said) = (Some(version), trust.judged_as_well(release).cloned());
        Self { of, wanted, claimed: None, said, place, identity, about, archives, pinned_as, evidence }
    }

    /// The same of a module, by the rules for modules if the policy has them.
    ///
    /// # Errors
    /// Those of the place.
    pub async fn of_module(
        package: &ModulePackage,
        wanted: Option<&Version>,
        tag: Option<&Tag>,
    ) -> Result<Self, ModuleError> {
        Ok(Self {
            of: VersionOf::Module,
            wanted: wanted.cloned(),
            claimed: package.claimed_version().cloned(),
            said: None,
            place: package.place().clone(),
            identity: package.identity().clone(),
            about: ReleaseDescription { tag: tag.cloned(), ..ReleaseDescription::default() },
            archives: Archives::Unknown,
            pinned_as: package.place().clone(),
            evidence: package.evidence(Search::Everywhere).await?,
        })
    }

    /// Its version; `None` for a module that was named otherwise, and does not say it.
    pub fn version(&self) -> Option<&Version> {
        self.wanted.as_ref().or(self.claimed.as_ref())
    }

    /// The rule that it is judged by.
    pub fn rule<'a>(&'a self, trust: &'a Trust) -> &'a TrustRule {
        trust.policy.rule_of(self.subject(), &self.pinned_as)
    }

    fn facts(&self) -> ReleaseFacts<'_> {
        let Self { pinned_as: place, identity, archives, .. } = self;
        ReleaseFacts { of: self.subject(), place, identity, archives }
    }

    fn subject(&self) -> Subject<'_> {
        match (&self.of, &self.wanted) {
            (VersionOf::Provider { address }, Some(version)) => Subject::Provider { address, version },
            (VersionOf::Provider { .. }, wanted @ None) | (VersionOf::Module, wanted) => {
                Subject::Module { wanted: wanted.as_ref(), claimed: self.claimed.as_ref() }
            }
        }
    }

    fn judge_once(&self, trust: &Trust) -> Verdict {
        judge(&trust.policy, &trust.pins, &self.facts(), &self.evidence, trust.now)
    }

    /// Judges it as what was asked for and, if it is accepted, as the provider that it names. If that alone refuses it, the
    /// release is that one's from then on.
    pub fn judge(&mut self, trust: &Trust) -> Verdict {
        let verdict = self.judge_once(trust);
        let Some(said) = self.said.as_ref().filter(|_| verdict.refusal.is_none()) else { return verdict };
        let asked = std::mem::replace(&mut self.of, VersionOf::from(said));
        let as_well = self.judge_once(trust);
        if as_well.refusal.is_some() {
            return as_well;
        }
        self.of = asked;
        verdict
    }

    /// What its signatures come to, in short.
    pub fn standing(&self, verdict: &Verdict, trust: &Trust) -> SignatureStanding {
        if let Some(refusal) = &verdict.refusal {
            return SignatureStanding::Refused { code: refusal.code() };
        }
        let is_judged = || trust.policy.wants_evidence_on(&trust.pins, self.subject(), &self.pinned_as);
        match verdict.standing {
            Standing::Signed => {
                SignatureStanding::Signed { by: verdict.signers.iter().map(|signer| signer.name.clone()).collect() }
            }
            Standing::Pinned => SignatureStanding::SignedBefore,
            Standing::Unsigned if is_judged() => SignatureStanding::Unsigned,
            Standing::Unsigned => SignatureStanding::NotJudged { found: verdict.examined.len() },
        }
    }

    /// What a verdict comes to: the first package that decides it.
    pub fn conclusion<'a>(&'a self, verdict: &'a Verdict) -> Conclusion<'a> {
        if let Some(refusal) = &verdict.refusal {
            return Conclusion::Refused(refusal);
        }
        if let Some((platform, refusal)) = self.refused_platforms(verdict).next() {
            return Conclusion::RefusedFor(platform, refusal);
        }
        match verdict.standing {
            Standing::Unsigned => Conclusion::Unsigned,
            Standing::Signed | Standing::Pinned => {
                self.uncovered_platforms(verdict).next().map_or(Conclusion::Trusted, Conclusion::UnsignedFor)
            }
        }
    }

    /// The platforms whose packages `install` refuses, and why.
    pub fn refused_platforms<'a>(
        &'a self,
        verdict: &'a Verdict,
    ) -> impl Iterator<Item = (&'a Platform, &'a TrustRefusal)> {
        let refused = |platform| Some((platform, verdict.refusal_for(platform, self.archives.get(platform))?));
        self.about.platforms.iter().filter_map(refused)
    }

    /// The platforms whose packages no signature that counts covers.
    pub fn uncovered_platforms<'a>(&'a self, verdict: &'a Verdict) -> impl Iterator<Item = &'a Platform> {
        self.about.platforms.iter().filter(|platform| !verdict.covers(platform, self.archives.get(platform)))
    }

    /// Accepts it by hand: whether the policy then trusts all of it. If so, `trust` has the pin, which the caller writes, and
    /// `verdict` is the one with it. If not, the pins of `trust` stay as they were.
    pub fn accept(&mut self, verdict: &mut Verdict, trust: &mut Trust) -> bool {
        let before = trust.pins.clone();
        let is_settled = trust.pins.accept(&self.facts(), verdict).is_ok();
        let after = self.judge(trust);
        let is_refused = matches!(self.conclusion(&after), Conclusion::Refused(_) | Conclusion::RefusedFor(..));
        let accepts = is_settled && !is_refused;
        if !accepts {
            trust.pins = before;
        }
        // The rule for the address that the release says refuses it, and reports name that one.
        if accepts || self.said.as_ref().is_some_and(|said| self.of.address() == Some(said)) {
            *verdict = after;
        }
        accepts
    }

    /// Why the policy refuses it even after [`Self::accept`], and its rule; `None` if it accepts it then.
    pub fn refused_once_accepted(&self, mut trust: Trust) -> Option<(TrustRefusal, TrustRule, ManualAcceptance)> {
        let verdict = self.judge_once(&trust);
        let refusal = match trust.pins.accept(&self.facts(), &verdict) {
            Ok(()) => self.judge_once(&trust).refusal?,
            Err(refusal) => refusal,
        };
        let rule = self.rule(&trust).clone();
        Some((refusal, rule, verdict.by_hand))
    }
}

/// The provider or module, and the version.
impl fmt::Display for ReleaseWithEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(f)?;
        self.version().map_or(Ok(()), |version| write!(f, " {version}"))
    }
}

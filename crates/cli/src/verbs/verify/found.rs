//! A release as `verify` finds it, and what the policy says of it.

use std::path::Path;

use tofu_oci_fetch::{JudgedModule, Trust, pin_file};
use tofu_oci_source::{Release, ReleaseDescription, ReleaseId, Search};
use tofu_oci_trust::{
    Archives, ByHand, Evidence, ReleaseFacts, StatedNames, TrustRefusal, TrustRule, Verdict, VersionOf, judge,
};
use tofu_oci_types::{Place, Platform, ProviderAddr, Version};

use crate::diagnostic::Diagnostic;
use crate::verbs::context::tagged;
use crate::verbs::module::open::OpenedModule;

/// A release and what was found beside it.
pub(super) struct ReleaseWithEvidence {
    pub(super) id: ReleaseId,
    pub(super) about: ReleaseDescription,
    pub(super) archives: Archives,
    /// What the pins call the place.
    pub(super) pinned_as: Place,
    pub(super) evidence: Vec<Evidence>,
    pub(super) kind: VerifiedKind,
}

/// What is verified.
pub(super) enum VerifiedKind {
    /// A release of the provider that its id names.
    Provider,
    /// A module, with the rule for it. The address in its id stands for any.
    Module(Box<JudgedModule>),
}

impl ReleaseWithEvidence {
    /// Reads all evidence: `verify` also shows signatures that do not count.
    pub(super) async fn read(release: &dyn Release, pins: &Path) -> Result<Self, Diagnostic> {
        let about = release.describe().await?.clone();
        let evidence = release.evidence(Search::Everywhere).await?;
        let archives = Archives::Read(tofu_oci_fetch::real_zips(release).await?);
        let pinned_as = pin_file::place(pins, &release.id().place);
        Ok(Self { id: release.id().clone(), about, archives, pinned_as, evidence, kind: VerifiedKind::Provider })
    }

    /// The same of a module, by the rules for modules if the policy has them.
    pub(super) async fn of_module(
        OpenedModule { package, version, tag, .. }: &OpenedModule,
        trust: &Trust,
    ) -> Result<Self, Diagnostic> {
        let policy = trust.policy.judging_module(package.place());
        let judged = JudgedModule::new(package, version.as_ref(), policy);
        let evidence = package.evidence(Search::Everywhere).await?;
        let about = ReleaseDescription { tag: tag.clone(), ..ReleaseDescription::default() };
        let (id, pinned_as) = (judged.id().clone(), package.place().clone());
        let kind = VerifiedKind::Module(Box::new(judged));
        Ok(Self { id, about, archives: Archives::Unknown, pinned_as, evidence, kind })
    }

    /// What it is, with the address of a provider.
    pub(super) fn of(&self) -> VersionOf {
        match &self.kind {
            VerifiedKind::Provider => VersionOf::from(&self.id.address),
            VerifiedKind::Module(_) => VersionOf::Module,
        }
    }

    /// Its version; `None` for a module that was named otherwise, and does not say it.
    pub(super) fn version(&self) -> Option<&Version> {
        match &self.kind {
            VerifiedKind::Provider => Some(&self.id.version),
            VerifiedKind::Module(judged) => judged.version(),
        }
    }

    /// What it is called: the provider or module, and the version.
    pub(super) fn name(&self) -> String {
        match self.version() {
            Some(version) => format!("{} {version}", self.of()),
            None => self.of().to_string(),
        }
    }

    /// The rule that holds for it.
    pub(super) fn rule<'a>(&'a self, trust: &'a Trust) -> &'a TrustRule {
        match &self.kind {
            VerifiedKind::Provider => trust.policy.rule(&self.id.address),
            VerifiedKind::Module(judged) => judged.rule(),
        }
    }

    pub(super) fn facts(&self) -> ReleaseFacts<'_> {
        if let VerifiedKind::Module(judged) = &self.kind {
            return judged.facts();
        }
        let ReleaseId { address, version, identity, .. } = &self.id;
        let (place, archives, names) = (&self.pinned_as, &self.archives, StatedNames::OfRelease);
        ReleaseFacts { address, version, place, identity, archives, names }
    }

    pub(super) fn judge(&self, trust: &Trust) -> Verdict {
        match &self.kind {
            VerifiedKind::Provider => judge(&trust.policy, &trust.pins, &self.facts(), &self.evidence, trust.now),
            VerifiedKind::Module(judged) => judged.verdict(&self.evidence, trust),
        }
    }

    /// Judges the release under its own address and, if it is accepted, under `said`. If `said` alone refuses it, the release is
    /// named by `said` from then on.
    pub(super) fn judge_as_well(&mut self, said: Option<&ProviderAddr>, trust: &Trust) -> Verdict {
        let verdict = self.judge(trust);
        let Some(said) = said.filter(|_| verdict.refusal.is_none()) else { return verdict };
        let asked = std::mem::replace(&mut self.id.address, said.clone());
        let as_well = self.judge(trust);
        if as_well.refusal.is_some() {
            return as_well;
        }
        self.id.address = asked;
        verdict
    }

    /// The first platform whose package `install` refuses, if signatures cover packages one by one.
    pub(super) fn refused_package<'a>(&'a self, verdict: &'a Verdict) -> Option<(&'a Platform, &'a TrustRefusal)> {
        let refused =
            |platform: &'a Platform| Some((platform, verdict.refusal_for(platform, self.archives.get(platform))?));
        self.about.platforms.iter().find_map(refused)
    }

    /// The first platform whose package no signature covers.
    pub(super) fn uncovered_package(&self, verdict: &Verdict) -> Option<&Platform> {
        let is_covered = |platform: &&Platform| verdict.covers(platform, self.archives.get(platform));
        self.about.platforms.iter().find(|platform| !is_covered(platform))
    }

    /// Why the policy refuses the release even after `--accept`; `None` if it accepts it then.
    pub(super) fn refused_once_accepted(&self, mut trust: Trust) -> Option<Demanded> {
        let verdict = self.judge(&trust);
        let refusal = match trust.pins.accept(&self.facts(), &verdict) {
            Ok(()) => self.judge(&trust).refusal?,
            Err(refusal) => refusal,
        };
        let rule = trust.policy.rule(&self.id.address).clone();
        Some(Demanded { refusal, rule, by_hand: verdict.by_hand })
    }

    /// The place and the tag.
    pub(super) fn tagged(&self) -> String {
        let place = &self.id.place;
        self.about.tag.as_ref().map_or_else(|| place.to_string(), |tag| tagged(place, tag))
    }
}

/// What the policy file refuses although the user accepts it.
pub(super) struct Demanded {
    pub(super) refusal: TrustRefusal,
    pub(super) rule: TrustRule,
    pub(super) by_hand: ByHand,
}

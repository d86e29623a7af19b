//! A release as `verify` finds it, and what the policy says of it.

use std::path::Path;

use tofu_oci_fetch::{Trust, pin_file};
use tofu_oci_source::{Release, ReleaseDescription, ReleaseId, Search};
use tofu_oci_trust::{
    Archives, Evidence, ManualAcceptance, ReleaseFacts, Subject, TrustRefusal, TrustRule, Verdict, VersionOf, judge,
};
use tofu_oci_types::{Identity, Place, Platform, ProviderAddr, Version};

use crate::diagnostic::Diagnostic;
use crate::verbs::context::tagged;
use crate::verbs::module::open::OpenedModule;

/// A release and what was found beside it.
pub(super) struct ReleaseWithEvidence {
    pub(super) of: VersionOf,
    /// The version that was asked for; `None` for a module that was named otherwise.
    pub(super) wanted: Option<Version>,
    /// The version that the manifest of a module says it is.
    pub(super) claimed: Option<Version>,
    pub(super) place: Place,
    pub(super) identity: Identity,
    pub(super) about: ReleaseDescription,
    pub(super) archives: Archives,
    /// What the pins call the place.
    pub(super) pinned_as: Place,
    pub(super) evidence: Vec<Evidence>,
}

impl ReleaseWithEvidence {
    /// Reads all evidence: `verify` also shows signatures that do not count.
    pub(super) async fn read(release: &dyn Release, pins: &Path) -> Result<Self, Diagnostic> {
        let about = release.describe().await?.clone();
        let evidence = release.evidence(Search::Everywhere).await?;
        let archives = Archives::Read(tofu_oci_fetch::real_zips(release).await?);
        let ReleaseId { address, version, place, identity } = release.id().clone();
        let (of, pinned_as) = (VersionOf::from(&address), pin_file::place(pins, &place));
        Ok(Self { of, wanted: Some(version), claimed: None, place, identity, about, archives, pinned_as, evidence })
    }

    /// The same of a module, by the rules for modules if the policy has them.
    pub(super) async fn of_module(
        OpenedModule { package, version, tag, .. }: &OpenedModule,
    ) -> Result<Self, Diagnostic> {
        Ok(Self {
            of: VersionOf::Module,
            wanted: version.clone(),
            claimed: package.claimed_version().cloned(),
            place: package.place().clone(),
            identity: package.identity().clone(),
            about: ReleaseDescription { tag: tag.clone(), ..ReleaseDescription::default() },
            archives: Archives::Unknown,
            pinned_as: package.place().clone(),
            evidence: package.evidence(Search::Everywhere).await?,
        })
    }

    /// Its version; `None` for a module that was named otherwise, and does not say it.
    pub(super) fn version(&self) -> Option<&Version> {
        self.wanted.as_ref().or(self.claimed.as_ref())
    }

    /// What it is called: the provider or module, and the version.
    pub(super) fn name(&self) -> String {
        match self.version() {
            Some(version) => format!("{} {version}", self.of),
            None => self.of.to_string(),
        }
    }

    pub(super) fn rule<'a>(&'a self, trust: &'a Trust) -> &'a TrustRule {
        trust.policy.rule_of(self.subject(), &self.pinned_as)
    }

    pub(super) fn facts(&self) -> ReleaseFacts<'_> {
        let Self { pinned_as: place, identity, archives, .. } = self;
        ReleaseFacts { of: self.subject(), place, identity, archives }
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        match (&self.of, &self.wanted) {
            (VersionOf::Provider { address }, Some(version)) => Subject::Provider { address, version },
            (VersionOf::Provider { .. }, wanted @ None) | (VersionOf::Module, wanted) => {
                Subject::Module { wanted: wanted.as_ref(), claimed: self.claimed.as_ref() }
            }
        }
    }

    pub(super) fn judge(&self, trust: &Trust) -> Verdict {
        judge(&trust.policy, &trust.pins, &self.facts(), &self.evidence, trust.now)
    }

    /// Judges the release under its own address and, if it is accepted, under `said`. If `said` alone refuses it, the release is
    /// named by `said` from then on.
    pub(super) fn judge_as_well(&mut self, said: Option<&ProviderAddr>, trust: &Trust) -> Verdict {
        let verdict = self.judge(trust);
        let Some(said) = said.filter(|_| verdict.refusal.is_none()) else { return verdict };
        let asked = std::mem::replace(&mut self.of, VersionOf::from(said));
        let as_well = self.judge(trust);
        if as_well.refusal.is_some() {
            return as_well;
        }
        self.of = asked;
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

    /// Why the policy refuses the release even after `--accept`, and its rule; `None` if it accepts it then.
    pub(super) fn refused_once_accepted(
        &self,
        mut trust: Trust,
    ) -> Option<(TrustRefusal, TrustRule, ManualAcceptance)> {
        let verdict = self.judge(&trust);
        let refusal = match trust.pins.accept(&self.facts(), &verdict) {
            Ok(()) => self.judge(&trust).refusal?,
            Err(refusal) => refusal,
        };
        let rule = self.rule(&trust).clone();
        Some((refusal, rule, verdict.by_hand))
    }

    /// The place and the tag.
    pub(super) fn tagged(&self) -> String {
        let place = &self.place;
        self.about.tag.as_ref().map_or_else(|| place.to_string(), |tag| tagged(place, tag))
    }
}

#[cfg(test)]
impl ReleaseWithEvidence {
    /// `example.com/acme/widget 1.4.0` with an index for these platforms.
    pub(super) fn widget(platforms: Vec<Platform>, archives: Archives, evidence: Vec<Evidence>) -> Self {
        let tag = Some("1.4.0".parse().expect("a tag"));
        let place: Place = "ghcr.io/acme/widget".parse().expect("a place");
        Self {
            of: VersionOf::from(&"example.com/acme/widget".parse().expect("an address")),
            wanted: Some("1.4.0".parse().expect("a version")),
            claimed: None,
            pinned_as: place.clone(),
            place,
            identity: Identity::of_index(b"index"),
            about: ReleaseDescription { tag, platforms, ..ReleaseDescription::default() },
            archives,
            evidence,
        }
    }
}

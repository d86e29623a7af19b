//! A release as `verify` finds it, and what the policy says of it.

use std::path::Path;

use tofu_oci_fetch::{Trust, pin_file};
use tofu_oci_source::{ReleaseDescription, ReleaseId, Search, Source};
use tofu_oci_trust::{Archives, ByHand, Evidence, ReleaseFacts, TrustRefusal, TrustRule, Verdict, judge};
use tofu_oci_types::{Place, Platform, ProviderAddr, Version};

use crate::diagnostic::Diagnostic;
use crate::verbs::context::tagged;

/// A release and what was found beside it.
pub(super) struct ReleaseWithEvidence {
    pub(super) id: ReleaseId,
    pub(super) about: ReleaseDescription,
    pub(super) archives: Archives,
    /// What the pins call the place.
    pub(super) pinned_as: Place,
    pub(super) evidence: Vec<Evidence>,
}

impl ReleaseWithEvidence {
    /// Reads all evidence: `verify` also shows signatures that do not count.
    pub(super) async fn read(
        source: &dyn Source,
        address: &ProviderAddr,
        version: &Version,
        pins: &Path,
    ) -> Result<Self, Diagnostic> {
        let release = source.release(address, version).await?;
        let about = release.describe().await?.clone();
        let evidence = release.evidence(Search::Everywhere).await?;
        let archives = Archives::Read(tofu_oci_fetch::real_zips(&*release).await?);
        let pinned_as = pin_file::place(pins, &release.id().place);
        Ok(Self { id: release.id().clone(), about, archives, pinned_as, evidence })
    }

    pub(super) fn facts(&self) -> ReleaseFacts<'_> {
        let ReleaseId { address, version, identity, .. } = &self.id;
        ReleaseFacts { address, version, place: &self.pinned_as, identity, archives: &self.archives }
    }

    pub(super) fn judge(&self, trust: &Trust) -> Verdict {
        judge(&trust.policy, &trust.pins, &self.facts(), &self.evidence, trust.now)
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

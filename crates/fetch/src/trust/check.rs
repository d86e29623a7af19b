//! One release in trust_checker: what is known of it, what is asked, and what signatures cover.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_source::{LeafKind, Release, Search, Source};
use tofu_oci_trust::{Archives, Evidence, Standing, Verdict, judge};
use tofu_oci_types::{PackageHash, Platform, Scheme};

use super::Trust;
use super::trust_checker::ReleaseId;
use crate::FetchError;

/// What is known of a release besides its name.
pub(super) struct Knowledge {
    pub(super) release: Option<Release>,
    pub(super) archives: Archives,
}

impl Knowledge {
    pub(super) fn of(release: Release) -> Self {
        Self { archives: Archives::Annotated(release.zips.clone()), release: Some(release) }
    }
}

/// One release in trust_checker.
pub(super) struct Check<'a> {
    pub(super) trust: &'a Trust,
    pub(super) source: &'a dyn Source,
    pub(super) case: &'a ReleaseId,
    pub(super) knowledge: Knowledge,
}

impl Check<'_> {
    /// What usually suffices is asked first. Where it does not, everything is; a signed `SHA256SUMS` is then held
    /// against the archives that the leaves really name.
    pub(super) async fn verdict(&mut self) -> Result<Verdict, FetchError> {
        let Self { trust, source, .. } = *self;
        let wanted = trust.policy.wants_evidence(&trust.pins, &self.case.address);
        let Some(release) = self.knowledge.release.clone().filter(|_| wanted) else { return Ok(self.judge(&[])) };
        let likely = source.evidence(&release, Search::Likely).await?;
        let verdict = self.judge(&likely);
        if verdict.refusal.is_none() && verdict.covered.index && verdict.standing == Standing::Signed {
            return Ok(verdict);
        }
        let all = source.evidence(&release, Search::Everywhere).await?;
        let verdict = self.judge(&all);
        // A list that is here, or that a pin remembers.
        let sums = all.iter().any(|evidence| matches!(evidence, Evidence::Sums { .. }));
        if verdict.covered.index || (!sums && verdict.covered.zips.is_empty()) {
            return Ok(verdict);
        }
        self.knowledge.archives = Archives::Read(real_zips(source, &release).await?);
        Ok(self.judge(&all))
    }

    fn judge(&self, evidence: &[Evidence]) -> Verdict {
        let facts = self.case.facts(&self.knowledge.archives);
        judge(&self.trust.policy, &self.trust.pins, &facts, evidence, self.trust.now)
    }

    /// The rule for recording: what a trusted signature covers is recorded for all platforms. `zh:` is that of the zip
    /// that lies in the repository, so an image has none.
    ///
    /// Spec: `oci-reality.md` §4.7.
    pub(super) async fn covered(
        &self,
        verdict: &Verdict,
    ) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, FetchError> {
        if verdict.refusal.is_some() {
            return Ok(BTreeMap::new());
        }
        let zips = |(platform, zh): (&Platform, &PackageHash)| {
            verdict.covers(platform, Some(zh)).then(|| (platform.clone(), BTreeSet::from([zh.clone()])))
        };
        if !verdict.covered.index {
            return Ok(self.knowledge.archives.iter().filter_map(zips).collect());
        }
        let Some(release) = &self.knowledge.release else { return Ok(BTreeMap::new()) };
        let unknown = |(platform, kind): (&Platform, &LeafKind)| {
            *kind == LeafKind::Artifact && !release.zips.contains_key(platform)
        };
        let mut covered = if release.kinds.iter().any(unknown) {
            self.source.release_hashes(release).await?
        } else {
            release.claims.clone()
        };
        for (platform, hashes) in &mut covered {
            let is_zip = release.kinds.get(platform) == Some(&LeafKind::Artifact);
            hashes.retain(|hash| is_zip || hash.scheme() != Scheme::Zh);
        }
        Ok(covered)
    }
}

/// The archives that annotations name.
pub(super) fn zips(claims: &BTreeMap<Platform, BTreeSet<PackageHash>>) -> BTreeMap<Platform, PackageHash> {
    let zip = |hashes: &BTreeSet<PackageHash>| hashes.iter().find(|hash| hash.scheme() == Scheme::Zh).cloned();
    claims.iter().filter_map(|(platform, hashes)| Some((platform.clone(), zip(hashes)?))).collect()
}

/// The archives that the leaves name, whatever annotations say.
pub async fn real_zips(source: &dyn Source, release: &Release) -> Result<BTreeMap<Platform, PackageHash>, FetchError> {
    let mut hashes = source.release_hashes(release).await?;
    for (platform, hashes) in &mut hashes {
        let zips = hashes.iter().filter(|hash| hash.scheme() == Scheme::Zh).count();
        if let Some(claimed) = release.zips.get(platform).filter(|_| zips > 1) {
            hashes.remove(claimed);
        }
    }
    hashes.retain(|platform, _| release.kinds.get(platform) == Some(&LeafKind::Artifact));
    Ok(zips(&hashes))
}

//! The check of one release: what is known, what to ask for, and what signatures cover.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_source::{LeafKind, Release, ReleaseDescription, Search, SourceError};
use tofu_oci_trust::{Archives, Evidence, Examined, Flaw, ReadLeaf, Standing, Verdict, judge};
use tofu_oci_types::{PackageHash, Platform, Scheme};

use super::Trust;
use super::pinned_release::PinnedRelease;
use crate::FetchError;

/// What is known of a release besides its name.
#[derive(Clone)]
pub(super) struct Knowledge<'a> {
    /// Its description, if its signatures matter.
    pub(super) about: Option<&'a ReleaseDescription>,
    pub(super) archives: Archives,
}

impl<'a> Knowledge<'a> {
    pub(super) fn of(about: &'a ReleaseDescription) -> Self {
        Self { archives: Archives::Annotated(about.zips.clone()), about: Some(about) }
    }
}

/// The check of one release.
pub(super) struct ReleaseCheck<'a> {
    pub(super) trust: &'a Trust,
    pub(super) release: &'a dyn Release,
    pub(super) id: &'a PinnedRelease,
    pub(super) knowledge: Knowledge<'a>,
}

impl ReleaseCheck<'_> {
    /// Asks first for what usually suffices, then for everything. At last it compares a signed `SHA256SUMS` with the
    /// archives that the leaves really name.
    pub(super) async fn verdict(&mut self) -> Result<Verdict, FetchError> {
        let Self { trust, release, .. } = *self;
        let wanted = trust.policy.wants_evidence(&trust.pins, &self.id.id.address);
        if !wanted || self.knowledge.about.is_none() {
            return Ok(self.judge(&[]));
        }
        let likely = release.evidence(Search::Likely).await?;
        let verdict = self.judge(&likely);
        if verdict.refusal.is_none() && verdict.covered.index && verdict.standing == Standing::Signed {
            return Ok(verdict);
        }
        let mut all = release.evidence(Search::Everywhere).await?;
        let mut verdict = self.judge(&all);
        if verdict.covered.index {
            return Ok(verdict);
        }
        let leaves = leaf_evidence(release, trust).await?;
        let beside_leaves = !leaves.is_empty();
        let of_leaves =
            |found: &Examined| found.key.is_some() && matches!(found.outcome.flaw(), Some(Flaw::OtherIndex { .. }));
        all.extend(leaves);
        if beside_leaves {
            verdict = self.judge(&all);
        }
        // A `SHA256SUMS` that was found, or that a pin remembers; or a statement about what may be a part of it.
        let sums = all.iter().any(|evidence| matches!(evidence, Evidence::Sums { .. }));
        if !sums && verdict.covered.zips.is_empty() && !verdict.examined.iter().any(of_leaves) {
            return Ok(verdict);
        }
        self.knowledge.archives = real_archives(release).await?;
        Ok(self.judge(&all))
    }

    fn judge(&self, evidence: &[Evidence]) -> Verdict {
        let facts = self.id.facts(&self.knowledge.archives);
        judge(&self.trust.policy, &self.trust.pins, &facts, evidence, self.trust.now)
    }

    /// The rule for recording: what a trusted signature covers is recorded for all platforms. `zh:` is that of the zip
    /// in the repository, so an image has no `zh:`.
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
        let Some(about) = self.knowledge.about else { return Ok(BTreeMap::new()) };
        let unknown = |(platform, kind): (&Platform, &LeafKind)| {
            *kind == LeafKind::Artifact && !about.zips.contains_key(platform)
        };
        let mut covered =
            if about.kinds.iter().any(unknown) { self.release.hashes().await? } else { about.claims.clone() };
        for (platform, hashes) in &mut covered {
            let is_zip = about.kinds.get(platform) == Some(&LeafKind::Artifact);
            hashes.retain(|hash| is_zip || hash.scheme() != Scheme::Zh);
        }
        Ok(covered)
    }
}

/// What lies beside the manifests of platforms; empty unless an identity may sign.
pub(super) async fn leaf_evidence(release: &dyn Release, trust: &Trust) -> Result<Vec<Evidence>, SourceError> {
    if trust.policy.names_identities(&trust.pins, &release.id().address) {
        release.leaf_evidence().await
    } else {
        Ok(Vec::new())
    }
}

/// The archives that annotations name.
pub(super) fn zips(claims: &BTreeMap<Platform, BTreeSet<PackageHash>>) -> BTreeMap<Platform, PackageHash> {
    let zip = |hashes: &BTreeSet<PackageHash>| hashes.iter().find(|hash| hash.scheme() == Scheme::Zh).cloned();
    claims.iter().filter_map(|(platform, hashes)| Some((platform.clone(), zip(hashes)?))).collect()
}

/// The archives that the leaves name, and the leaf of every platform that has one alone.
pub(super) async fn real_archives(release: &dyn Release) -> Result<Archives, SourceError> {
    let (zips, about) = (real_zips(release).await?, release.describe().await?);
    let mut names = release.zip_names().await?;
    let digest = |hashes: &BTreeSet<PackageHash>| {
        let mut leaves = hashes.iter().filter(|hash| hash.scheme() == Scheme::Ch);
        let leaf = leaves.next()?.value().parse().ok()?;
        leaves.next().is_none().then_some(leaf)
    };
    let leaves = about.claims.iter().filter_map(|(platform, hashes)| {
        Some((platform.clone(), ReadLeaf { digest: digest(hashes)?, zip_name: names.remove(platform) }))
    });
    let leaves = leaves.collect();
    Ok(Archives::Read { zips, leaves })
}

/// The archives that the leaves name, whatever annotations say.
pub async fn real_zips(release: &dyn Release) -> Result<BTreeMap<Platform, PackageHash>, SourceError> {
    let (mut hashes, about) = (release.hashes().await?, release.describe().await?);
    for (platform, hashes) in &mut hashes {
        let zips = hashes.iter().filter(|hash| hash.scheme() == Scheme::Zh).count();
        if let Some(claimed) = about.zips.get(platform).filter(|_| zips > 1) {
            hashes.remove(claimed);
        }
    }
    hashes.retain(|platform, _| about.kinds.get(platform) != Some(&LeafKind::Image));
    Ok(zips(&hashes))
}

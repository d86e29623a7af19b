//! One provider, all its platforms.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryFutureExt as _, TryStreamExt as _};
use tofu_oci_fetch::{
    FetchError, Fetcher, Judgement, OTHER_MANIFEST, PUBLISHED_ANEW, TrustChecker, VouchedBy, known_before, real_zips,
    recorded, subject,
};
use tofu_oci_lockfile::{
    Guide, LockEntry, ManifestLines, PackageHashes, ReleaseHashes, check_addition, check_manifest, check_release,
    needs_more_facts, published_anew, restored, unclaimed,
};
use tofu_oci_source::{LeafKind, NotOffered, Offer, Release, ReleaseDescription, ReleaseId, SourceError};
use tofu_oci_trust::ManifestChecksums;
use tofu_oci_types::{Constraints, Counter, Event, PackageHash, Platform, Reporter, Scheme};

use super::report::{Basis, LockedPlatform, LockedProvider};
use super::unfetched::{FetchedHashes, kept, origin_suffices};
use crate::InstallError;
use crate::choose::{FOR_A_PACKAGE, VersionChoice, Warned};
use crate::lock_request::{LockRequest, PlatformChoice};
use crate::record::{ReleaseRecord, entry};

/// How many platforms of a provider are asked for at once; fewer are fetched.
pub(super) const PLATFORMS: usize = 8;

/// One provider at work.
pub(super) struct Locking<'a> {
    pub(super) request: &'a LockRequest,
    pub(super) before: Option<LockEntry>,
    /// What chooses the version.
    pub(super) guide: Option<Guide>,
    pub(super) fetcher: &'a Fetcher<'a>,
    pub(super) trust_checker: &'a TrustChecker<'a>,
    pub(super) scratch: &'a Path,
    pub(super) seen: &'a FetchedHashes,
    pub(super) warned: &'a Warned,
    pub(super) reporter: &'a dyn Reporter,
}

/// A release, and what it says of itself.
#[derive(Clone, Copy)]
pub(super) struct Described<'a> {
    pub(super) handle: &'a Arc<dyn Release>,
    pub(super) id: &'a ReleaseId,
    about: &'a ReleaseDescription,
}

/// What is known of one provider, at the end.
pub(super) struct LockedRelease {
    id: ReleaseId,
    packages: BTreeMap<Platform, LockedPackage>,
    record: ReleaseRecord,
    /// True checksums of the release.
    facts: ReleaseHashes,
    judged: Arc<Judgement>,
    seen_before: bool,
}

/// What is known of one platform's package.
struct LockedPackage {
    basis: Basis,
    hashes: PackageHashes,
    recorded: PackageHashes,
    /// What a key of the origin registry has signed.
    signed: BTreeSet<PackageHash>,
    bytes: u64,
    trust: VouchedBy,
}

impl Locking<'_> {
    pub(super) async fn run(self) -> Result<LockedRelease, InstallError> {
        let choice = VersionChoice {
            address: &self.request.address,
            constraints: &self.request.constraints,
            source: &*self.request.source,
            lock: self.guide.as_ref(),
            upgrade: self.request.upgrade,
            at_once: FOR_A_PACKAGE * self.likely_platforms(),
        };
        choice.warn_of_predecessor(self.warned, self.reporter);
        let version = choice.version(self.reporter).await?;
        let handle = choice.release(&version).await?;
        let release = Described { handle: &handle, id: handle.id(), about: handle.describe().await? };
        let before = self.before.as_ref().filter(|entry| entry.version == version);
        let platforms = self.platforms(release)?;
        let judged = self.trust_checker.of_release(&*handle).await?;
        let count = Counter::new(self.reporter, format!("platforms of {}", release.id.address), platforms.len());
        let package = |platform| self.package(release, platform, before, &judged).inspect_ok(|_| count.done());
        let work = futures_util::stream::iter(platforms.iter().map(package)).buffered(PLATFORMS).try_collect();
        let (packages, ()): (Result<Vec<LockedPackage>, InstallError>, ()) =
            futures_util::future::join(work, self.trust_checker.report_notice(&*handle)).await;
        let packages = packages?;
        let packages: BTreeMap<Platform, LockedPackage> = platforms.into_iter().zip(packages).collect();
        let mut record = ReleaseRecord::new(self.trust_checker.manifest_checksums(&self.request.address));
        record.cover(judged.covered());
        for (platform, package) in packages.iter().filter(|(_, package)| package.basis != Basis::Signed) {
            record.verify(platform, &package.recorded);
            record.sign(&package.signed);
        }
        let facts = self.facts(release, before, &record, &packages).await?;
        let facts = self.more_facts(release, before, facts, &packages, &judged).await?;
        self.check(release, before, &facts, packages.keys())?;
        self.report_unclaimed(release, before, &facts, record.signed());
        let seen_before = self.trust_checker.has_seen(release.id);
        Ok(LockedRelease { id: release.id.clone(), packages, record, facts, judged, seen_before })
    }

    fn platforms(&self, release: Described<'_>) -> Result<Vec<Platform>, InstallError> {
        let named = match &self.request.platforms {
            PlatformChoice::Offered => return Ok(release.about.platforms.clone()),
            PlatformChoice::Named(named) => named,
            // What is covered is recorded, whichever platforms are looked at.
            PlatformChoice::Covered => return Ok(Vec::new()),
        };
        match named.iter().find(|platform| !release.about.platforms.contains(platform)) {
            None => Ok(named.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect()),
            Some(missing) => {
                let (version, platform) = (release.id.version.clone(), missing.clone());
                let what = NotOffered::PlatformMissing { version, platform, offered: release.about.platforms.clone() };
                let (address, place) = (release.id.address.clone(), release.id.place.clone());
                Err(SourceError::NotOffered { address, place, what }.into())
            }
        }
    }

    /// What is known of a package: by a signature, by the lock file, or by a download.
    async fn package(
        &self,
        release: Described<'_>,
        platform: &Platform,
        before: Option<&LockEntry>,
        judged: &Judgement,
    ) -> Result<LockedPackage, InstallError> {
        if let Some(covered) = judged.covered().get(platform).filter(|covered| is_complete(release, platform, covered))
        {
            let of = |scheme| covered.iter().find(|hash| hash.scheme() == scheme).cloned();
            let hashes = PackageHashes { h1: of(Scheme::H1), zh: of(Scheme::Zh), ch: None };
            let trust = judged.vouched(platform, hashes.zh.as_ref());
            return Ok(LockedPackage::unfetched(Basis::Signed, hashes, BTreeSet::new(), trust));
        }
        let offer = self.offer(release, platform, before).await?;
        let of_offer = self.trust_checker.of_offer(&offer).await?;
        let judged = of_offer.as_deref().unwrap_or(judged);
        let trust = judged.vouched(platform, offer.zh().as_ref());
        if let (Some(before), Some(ch)) = (before, offer.ch())
            && let Some(refusal) = check_manifest(before, &ch, &release.about.claims, self.lines())
        {
            return Err(not_the_locked(release, platform, refusal));
        }
        let admitted =
            |hashes: &PackageHashes| hashes.h1.as_ref().is_some_and(|h1| judged.admits_unfetched(&offer, h1));
        if self.seen.get(&offer).is_none()
            && let Some(hashes) = before.and_then(|before| kept(before, &offer)).filter(admitted)
        {
            return Ok(LockedPackage::unfetched(Basis::Kept, hashes, offer.signed, trust));
        }
        if self.seen.get(&offer).is_none() && origin_suffices(&offer, before) {
            return Ok(LockedPackage::unfetched(Basis::SignedAtOrigin, known_before(&offer), offer.signed, trust));
        }
        let hashes = self.look_at(&offer).await?;
        if let Some(h1) = &hashes.h1 {
            judged.fetched(&offer, h1);
        }
        let (recorded, bytes) = (recorded(&offer, &hashes), offer.bytes().unwrap_or(0));
        Ok(LockedPackage { basis: Basis::Downloaded, hashes, recorded, signed: offer.signed, bytes, trust })
    }

    /// Fetches and verifies the package as an installation would, once a run, and throws it away.
    async fn look_at(&self, offer: &Offer) -> Result<PackageHashes, InstallError> {
        if let Some(hashes) = self.seen.get(offer) {
            return Ok(hashes);
        }
        let hashes = self.fetcher.look_at(offer, self.scratch).await?;
        self.seen.put(offer, &hashes);
        let subject = subject(offer.address(), offer.version(), &offer.platform);
        self.reporter.event(&Event::Finished { subject, outcome: "verified".to_owned() });
        Ok(hashes)
    }

    /// True checksums of all platforms, as far as the lock file's lines need them.
    async fn facts(
        &self,
        release: Described<'_>,
        before: Option<&LockEntry>,
        record: &ReleaseRecord,
        packages: &BTreeMap<Platform, LockedPackage>,
    ) -> Result<ReleaseHashes, InstallError> {
        let mut facts = record.hashes();
        let Some(before) = before else { return Ok(facts) };
        for (platform, package) in packages {
            facts.entry(platform.clone()).or_default().extend(package.hashes.iter().cloned());
        }
        for (platform, claims) in &release.about.claims {
            let leaves = claims.iter().filter(|hash| hash.scheme() == Scheme::Ch).cloned();
            facts.entry(platform.clone()).or_default().extend(leaves);
        }
        let matched = |hashes: &BTreeSet<PackageHash>| hashes.iter().any(|hash| before.hashes.contains(hash));
        let unknown = |(platform, kind): (&Platform, &LeafKind)| {
            let zip = facts.get(platform).is_some_and(|hashes| hashes.iter().any(|hash| hash.scheme() == Scheme::Zh));
            *kind == LeafKind::Artifact && !zip
        };
        if release.about.kinds.iter().any(unknown) && !facts.values().all(matched) {
            for (platform, zip) in real_zips(&**release.handle).await? {
                facts.entry(platform).or_default().insert(zip);
            }
        }
        Ok(facts)
    }

    /// The same, with the packages of the release's other platforms if a line may belong to one of them or to a
    /// replaced package. They are not recorded.
    async fn more_facts(
        &self,
        release: Described<'_>,
        before: Option<&LockEntry>,
        mut facts: ReleaseHashes,
        packages: &BTreeMap<Platform, LockedPackage>,
        judged: &Judgement,
    ) -> Result<ReleaseHashes, InstallError> {
        let Some(entry) = before else { return Ok(facts) };
        let has_h1 = |facts: &ReleaseHashes, platform: &Platform| {
            facts.get(platform).is_some_and(|hashes| hashes.iter().any(|hash| hash.scheme() == Scheme::H1))
        };
        for other in release.about.platforms.iter().filter(|platform| !packages.contains_key(platform)) {
            if !packages.keys().any(|platform| needs_more_facts(entry, platform, &facts)) {
                break;
            }
            if !has_h1(&facts, other) {
                let package = self.package(release, other, before, judged).await?;
                facts.entry(other.clone()).or_default().extend(package.hashes.iter().cloned());
            }
        }
        Ok(facts)
    }

    /// Existing lines win: one of them must belong to the release, and each platform's lines to this package.
    fn check<'a>(
        &self,
        release: Described<'_>,
        before: Option<&LockEntry>,
        facts: &ReleaseHashes,
        platforms: impl Iterator<Item = &'a Platform>,
    ) -> Result<(), InstallError> {
        let Some(before) = before else { return Ok(()) };
        for platform in platforms {
            let leaves = facts.get(platform).into_iter().flatten().filter(|hash| hash.scheme() == Scheme::Ch);
            let refusals: Vec<_> = leaves.map(|ch| check_manifest(before, ch, facts, self.lines())).collect();
            // An image and an artifact may serve one platform: it suffices that one of them matches.
            if !refusals.is_empty()
                && let Some(refusals) = refusals.into_iter().collect::<Option<Vec<_>>>()
                && let Some(refusal) = refusals.into_iter().next()
            {
                return Err(not_the_locked(release, platform, refusal));
            }
            if let Some(refusal) = check_addition(before, platform, facts, self.lines()) {
                return Err(not_the_locked(release, platform, refusal));
            }
        }
        let proven = facts.values().flatten().cloned().collect();
        if let Some(refusal) = check_release(before, &proven) {
            let (address, version) = (release.id.address.clone(), release.id.version.clone());
            let place = release.id.place.clone();
            return Err(InstallError::NotTheLockedRelease { address, version, place, refusal });
        }
        self.warn_of_manifests(release, before, facts);
        Ok(())
    }

    /// How `ch:` lines count.
    fn lines(&self) -> ManifestLines {
        self.trust_checker.manifest_lines(&self.request.address)
    }

    fn warn_of_manifests(&self, release: Described<'_>, before: &LockEntry, facts: &ReleaseHashes) {
        let anew: Vec<String> = published_anew(before, facts).iter().map(ToString::to_string).collect();
        if anew.is_empty() {
            return;
        }
        let ReleaseId { address, version, place, .. } = release.id;
        let text = format!(
            "{place} has {address} {version} under other manifests than the lock file names, for {}",
            anew.join(", ")
        );
        self.reporter.event(&Event::warning(OTHER_MANIFEST, text).with_hint(PUBLISHED_ANEW));
    }

    fn report_unclaimed(
        &self,
        release: Described<'_>,
        before: Option<&LockEntry>,
        facts: &ReleaseHashes,
        signed: &BTreeSet<PackageHash>,
    ) {
        let mut lines = before.map(|before| unclaimed(before, facts)).unwrap_or_default();
        lines.retain(|line| !signed.contains(line));
        let Some(first) = lines.first() else { return };
        let more = if lines.len() > 1 { format!(" and {} more", lines.len() - 1) } else { String::new() };
        let ReleaseId { address, version, place, .. } = release.id;
        let text =
            format!("the lock file has checksums of {address} {version} that no package in {place} has: {first}{more}");
        let hint = "they are kept: they may be of platforms, or of archives, that another place has";
        self.reporter.event(&Event::note("lock-lines-unexplained", text).with_hint(hint));
    }
}

/// Whether the covered checksums suffice for OpenTofu to install the package.
fn is_complete(release: Described<'_>, platform: &Platform, covered: &BTreeSet<PackageHash>) -> bool {
    let has = |scheme| covered.iter().any(|hash| hash.scheme() == scheme);
    has(Scheme::H1) && (has(Scheme::Zh) || release.about.kinds.get(platform) == Some(&LeafKind::Image))
}

fn not_the_locked(
    release: Described<'_>,
    platform: &Platform,
    refusal: tofu_oci_lockfile::LockRefusal,
) -> InstallError {
    FetchError::NotTheLockedPackage {
        address: release.id.address.clone(),
        version: release.id.version.clone(),
        platform: platform.clone(),
        place: release.id.place.clone(),
        refusal,
        // `lock` itself adds platforms, so lines of other platforms do not explain the mismatch.
        locked_for: Vec::new(),
    }
    .into()
}

impl LockedPackage {
    /// A package whose checksums are known without a download.
    fn unfetched(basis: Basis, hashes: PackageHashes, signed: BTreeSet<PackageHash>, trust: VouchedBy) -> Self {
        Self { basis, recorded: hashes.clone(), hashes, signed, bytes: 0, trust }
    }
}

impl LockedRelease {
    /// The entry, merged with what was recorded before; `None` if no checksum is known. The constraints are the
    /// configuration's if it has the provider.
    pub(super) fn entry(
        &self,
        before: Option<&LockEntry>,
        constraints: &Constraints,
        configured: Option<&Constraints>,
    ) -> Option<LockEntry> {
        if self.record.hashes().is_empty() && self.record.signed().is_empty() {
            return None;
        }
        let mut entry = entry(before, &self.id.version, constraints, &self.record);
        if let Some(configured) = configured {
            entry.constraints = configured.clone();
        }
        Some(entry)
    }

    pub(super) fn report(
        self,
        before: Option<&LockEntry>,
        after: &LockEntry,
        manifest_checksums: ManifestChecksums,
    ) -> LockedProvider {
        let restored = restored(before, after, &self.facts).into_iter().collect();
        let before = before.filter(|before| before.version == after.version);
        let anew = before.is_some_and(|before| !published_anew(before, &self.facts).is_empty());
        let added = |hash: &&PackageHash| before.is_none_or(|before| !before.hashes.contains(*hash));
        let platform = |(platform, hashes): (Platform, BTreeSet<PackageHash>)| {
            let package = self.packages.get(&platform);
            let zip = || hashes.iter().find(|hash| hash.scheme() == Scheme::Zh);
            LockedPlatform {
                basis: package.map_or(Basis::Signed, |package| package.basis),
                bytes: package.map_or(0, |package| package.bytes),
                trust: package.map_or_else(|| self.judged.vouched(&platform, zip()), |package| package.trust.clone()),
                added: hashes.iter().filter(added).cloned().collect(),
                hashes: hashes.into_iter().collect(),
                platform,
            }
        };
        LockedProvider {
            platforms: self.record.hashes().into_iter().map(platform).collect(),
            address: self.id.address,
            version: self.id.version,
            published_as: self.judged.published_as().cloned(),
            place: self.id.place,
            identity: self.id.identity,
            restored,
            seen_before: self.seen_before && !anew,
            manifest_checksums,
        }
    }
}

//! One provider, all its platforms.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_fetch::{
    FetchError, Fetcher, Judgement, OTHER_MANIFEST, PUBLISHED_ANEW, TrustChecker, Vouched, known_before, real_zips,
    subject,
};
use tofu_oci_lockfile::{
    Guide, LockEntry, ManifestLines, PackageHashes, ReleaseHashes, check_addition, check_manifest, check_release,
    needs_more_facts, nobodys, published_anew, restored,
};
use tofu_oci_source::{LeafKind, NotOffered, Offer, Release, SourceError};
use tofu_oci_trust::ManifestChecksums;
use tofu_oci_types::{Constraints, Digest, Event, PackageHash, Platform, Reporter, Scheme};

use super::{Basis, LockRequest, LockedPlatform, LockedProvider, Wanted};
use crate::InstallError;
use crate::choose::{Choice, Warned};
use crate::record::{Record, entry};

/// So many platforms of a provider are asked for at once; fewer are fetched.
const PLATFORMS: usize = 8;

/// One provider at work.
pub(super) struct Locking<'a> {
    pub(super) job: &'a LockRequest,
    pub(super) before: Option<LockEntry>,
    /// What chooses the version.
    pub(super) guide: Option<Guide>,
    pub(super) fetcher: &'a Fetcher<'a>,
    pub(super) trust_checker: &'a TrustChecker<'a>,
    pub(super) scratch: &'a Path,
    pub(super) seen: &'a Seen,
    pub(super) warned: &'a Warned,
    pub(super) reporter: &'a dyn Reporter,
}

/// The checksums of packages that were fetched in this run, by their parts.
#[derive(Default)]
pub(super) struct Seen(Mutex<HashMap<Vec<Digest>, PackageHashes>>);

impl Seen {
    fn get(&self, offer: &Offer) -> Option<PackageHashes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&Self::key(offer)).cloned()
    }

    fn put(&self, offer: &Offer, hashes: &PackageHashes) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(Self::key(offer), hashes.clone());
    }

    /// The leaf too: its digest is one of the checksums.
    fn key(offer: &Offer) -> Vec<Digest> {
        std::iter::once(&offer.leaf).chain(&offer.parts).map(|part| part.digest.clone()).collect()
    }
}

/// What is known of one provider, at the end.
pub(super) struct Locked {
    release: Release,
    packages: BTreeMap<Platform, Package>,
    record: Record,
    /// True checksums of the release.
    facts: ReleaseHashes,
    judged: Arc<Judgement>,
    seen_before: bool,
}

/// What is known of one platform's package.
struct Package {
    basis: Basis,
    hashes: PackageHashes,
    bytes: u64,
    trust: Vouched,
}

impl Locking<'_> {
    pub(super) async fn run(self) -> Result<Locked, InstallError> {
        let source = &*self.job.source;
        let choice = Choice {
            address: &self.job.address,
            constraints: &self.job.constraints,
            source,
            lock: self.guide.as_ref(),
            upgrade: self.job.upgrade,
        };
        choice.warn_of_predecessor(self.warned, self.reporter);
        let version = choice.version(self.reporter).await?;
        let release = choice.release(&version).await?;
        let before = self.before.as_ref().filter(|entry| entry.version == version);
        let platforms = self.platforms(&release)?;
        let judged = self.trust_checker.of_release(source, &release).await?;
        let work = platforms.iter().map(|platform| self.package(&release, platform, before, &judged));
        let packages: Vec<Package> = futures_util::stream::iter(work).buffered(PLATFORMS).try_collect().await?;
        let packages: BTreeMap<Platform, Package> = platforms.into_iter().zip(packages).collect();
        let mut record = Record::default();
        record.cover(judged.covered());
        for (platform, package) in packages.iter().filter(|(_, package)| package.basis != Basis::Signed) {
            record.verify(platform, &package.hashes);
        }
        let facts = self.facts(&release, before, &record).await?;
        let facts = self.more_facts(&release, before, facts, &packages, &judged).await?;
        self.check(&release, before, &facts, packages.keys())?;
        let seen_before = self.trust_checker.has_seen(&release);
        Ok(Locked { release, packages, record, facts, judged, seen_before })
    }

    fn platforms(&self, release: &Release) -> Result<Vec<Platform>, InstallError> {
        let named = match &self.job.platforms {
            Wanted::Offered => return Ok(release.platforms.clone()),
            Wanted::Named(named) => named,
        };
        match named.iter().find(|platform| !release.platforms.contains(platform)) {
            None => Ok(named.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect()),
            Some(missing) => {
                let (version, platform) = (release.version.clone(), missing.clone());
                let what = NotOffered::PlatformMissing { version, platform, offered: release.platforms.clone() };
                let (address, place) = (release.address.clone(), release.place.clone());
                Err(SourceError::NotOffered { address, place, what }.into())
            }
        }
    }

    /// What is known of a package: by a signature, by the lock file, or by looking at it.
    async fn package(
        &self,
        release: &Release,
        platform: &Platform,
        before: Option<&LockEntry>,
        judged: &Judgement,
    ) -> Result<Package, InstallError> {
        if let Some(covered) = judged.covered().get(platform).filter(|covered| is_complete(release, platform, covered))
        {
            let of = |scheme| covered.iter().find(|hash| hash.scheme() == scheme).cloned();
            let hashes = PackageHashes { h1: of(Scheme::H1), zh: of(Scheme::Zh), ch: None };
            let trust = judged.vouched(platform, hashes.zh.as_ref());
            return Ok(Package { basis: Basis::Signed, hashes, bytes: 0, trust });
        }
        let source = &*self.job.source;
        let offer = source.offer(&release.address, &release.version, platform).await?;
        let of_offer = self.trust_checker.of_offer(source, &offer).await?;
        let judged = of_offer.as_deref().unwrap_or(judged);
        let trust = judged.vouched(platform, offer.zh().as_ref());
        if let (Some(before), Some(ch)) = (before, offer.ch())
            && let Some(refusal) = check_manifest(before, &ch, &release.claims, self.lines())
        {
            return Err(not_the_locked(release, platform, refusal));
        }
        if let Some(hashes) = self.seen.get(&offer) {
            fetched(judged, &offer, &hashes);
            return Ok(Package { basis: Basis::Downloaded, hashes, bytes: offer.bytes(), trust });
        }
        let admitted =
            |hashes: &PackageHashes| hashes.h1.as_ref().is_some_and(|h1| judged.admits_unfetched(&offer, h1));
        if let Some(hashes) = before.and_then(|before| kept(before, &offer)).filter(admitted) {
            return Ok(Package { basis: Basis::Kept, hashes, bytes: 0, trust });
        }
        let hashes = self.look_at(&offer).await?;
        self.seen.put(&offer, &hashes);
        fetched(judged, &offer, &hashes);
        Ok(Package { basis: Basis::Downloaded, hashes, bytes: offer.bytes(), trust })
    }

    /// Fetches and verifies the package as an installation would, and throws it away.
    async fn look_at(&self, offer: &Offer) -> Result<PackageHashes, InstallError> {
        let hashes = self.fetcher.look_at(&*self.job.source, offer, self.scratch).await?;
        let subject = subject(&offer.address, &offer.version, &offer.platform);
        self.reporter.event(&Event::Finished { subject, outcome: "verified".to_owned() });
        Ok(hashes)
    }

    /// True checksums of all platforms, as far as the lock file's lines have to be held against them.
    async fn facts(
        &self,
        release: &Release,
        before: Option<&LockEntry>,
        record: &Record,
    ) -> Result<ReleaseHashes, InstallError> {
        let mut facts = record.hashes();
        let Some(before) = before else { return Ok(facts) };
        for (platform, claims) in &release.claims {
            let leaves = claims.iter().filter(|hash| hash.scheme() == Scheme::Ch).cloned();
            facts.entry(platform.clone()).or_default().extend(leaves);
        }
        let matched = |hashes: &BTreeSet<PackageHash>| hashes.iter().any(|hash| before.hashes.contains(hash));
        let unknown = |(platform, kind): (&Platform, &LeafKind)| {
            let zip = facts.get(platform).is_some_and(|hashes| hashes.iter().any(|hash| hash.scheme() == Scheme::Zh));
            *kind == LeafKind::Artifact && !zip
        };
        if release.kinds.iter().any(unknown) && !facts.values().all(matched) {
            for (platform, zip) in real_zips(&*self.job.source, release).await? {
                facts.entry(platform).or_default().insert(zip);
            }
        }
        Ok(facts)
    }

    /// The same, with the packages of the release's other platforms, where a line may be one of theirs or that of a
    /// package that was replaced. They are looked at and not recorded.
    async fn more_facts(
        &self,
        release: &Release,
        before: Option<&LockEntry>,
        mut facts: ReleaseHashes,
        packages: &BTreeMap<Platform, Package>,
        judged: &Judgement,
    ) -> Result<ReleaseHashes, InstallError> {
        let Some(entry) = before else { return Ok(facts) };
        let has_h1 = |facts: &ReleaseHashes, platform: &Platform| {
            facts.get(platform).is_some_and(|hashes| hashes.iter().any(|hash| hash.scheme() == Scheme::H1))
        };
        for other in release.platforms.iter().filter(|platform| !packages.contains_key(platform)) {
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

    /// Existing lines win: one of them must be the release's, and none may be for another package of these platforms.
    fn check<'a>(
        &self,
        release: &Release,
        before: Option<&LockEntry>,
        facts: &ReleaseHashes,
        platforms: impl Iterator<Item = &'a Platform>,
    ) -> Result<(), InstallError> {
        let Some(before) = before else { return Ok(()) };
        for platform in platforms {
            let leaves = facts.get(platform).into_iter().flatten().filter(|hash| hash.scheme() == Scheme::Ch);
            let refusals: Vec<_> = leaves.map(|ch| check_manifest(before, ch, facts, self.lines())).collect();
            // One of an image and an artifact for the same platform suffices.
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
            let (address, version) = (release.address.clone(), release.version.clone());
            let place = release.place.clone();
            return Err(InstallError::NotTheLockedRelease { address, version, place, refusal });
        }
        self.tell_of_nobodys(release, before, facts);
        self.warn_of_manifests(release, before, facts);
        Ok(())
    }

    /// How `ch:` lines count.
    fn lines(&self) -> ManifestLines {
        self.trust_checker.manifest_lines(&self.job.address)
    }

    fn warn_of_manifests(&self, release: &Release, before: &LockEntry, facts: &ReleaseHashes) {
        let anew: Vec<String> = published_anew(before, facts).iter().map(ToString::to_string).collect();
        if anew.is_empty() {
            return;
        }
        let Release { address, version, place, .. } = release;
        let text = format!(
            "{place} has {address} {version} under other manifests than the lock file names, for {}",
            anew.join(", ")
        );
        self.reporter.event(&Event::warning(OTHER_MANIFEST, text).with_hint(PUBLISHED_ANEW));
    }

    fn tell_of_nobodys(&self, release: &Release, before: &LockEntry, facts: &ReleaseHashes) {
        let lines = nobodys(before, facts);
        let Some(first) = lines.first() else { return };
        let more = if lines.len() > 1 { format!(" and {} more", lines.len() - 1) } else { String::new() };
        let Release { address, version, place, .. } = release;
        let text =
            format!("the lock file has checksums of {address} {version} that no package in {place} has: {first}{more}");
        let hint = "they are kept: they may be of platforms, or of archives, that another place has";
        self.reporter.event(&Event::note("lock-lines-unexplained", text).with_hint(hint));
    }
}

/// Whether all is covered that makes OpenTofu install the package.
fn is_complete(release: &Release, platform: &Platform, covered: &BTreeSet<PackageHash>) -> bool {
    let has = |scheme| covered.iter().any(|hash| hash.scheme() == scheme);
    has(Scheme::H1) && (has(Scheme::Zh) || release.kinds.get(platform) == Some(&LeafKind::Image))
}

/// The package's checksums, when the lock file has them: its `zh:`, or for an image the leaf's `ch:`, names the contents,
/// and the `h1:` that the release claims for them is locked too. Whether the claim may be believed is not asked here.
fn kept(before: &LockEntry, offer: &Offer) -> Option<PackageHashes> {
    let known = known_before(offer);
    let contents = known.zh.as_ref().or(known.ch.as_ref())?;
    let claims = offer.claims.get(&offer.platform)?;
    let h1 = claims.iter().find(|hash| hash.scheme() == Scheme::H1)?;
    let locked = before.hashes.contains(contents) && before.hashes.contains(h1);
    locked.then(|| PackageHashes { h1: Some(h1.clone()), ..known })
}

fn fetched(judged: &Judgement, offer: &Offer, hashes: &PackageHashes) {
    if let Some(h1) = &hashes.h1 {
        judged.fetched(offer, h1);
    }
}

fn not_the_locked(release: &Release, platform: &Platform, refusal: tofu_oci_lockfile::Refusal) -> InstallError {
    FetchError::NotTheLockedPackage {
        address: release.address.clone(),
        version: release.version.clone(),
        platform: platform.clone(),
        place: release.place.clone(),
        refusal,
        // Unlike an installation, this is what adds platforms: what is locked for others is no excuse.
        locked_for: Vec::new(),
    }
    .into()
}

impl Locked {
    /// The entry, beside what was recorded before. The constraints are the configuration's, if it has the provider.
    pub(super) fn entry(
        &self,
        before: Option<&LockEntry>,
        constraints: &Constraints,
        configured: Option<&Constraints>,
    ) -> LockEntry {
        let mut entry = entry(before, &self.release.version, constraints, &self.record);
        if let Some(configured) = configured {
            entry.constraints = configured.clone();
        }
        entry
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
            address: self.release.address,
            version: self.release.version,
            place: self.release.place,
            index: self.release.index.digest,
            restored,
            seen_before: self.seen_before && !anew,
            manifest_checksums,
        }
    }
}

//! Jobs to packages in their places.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_archive::Limits;
use tofu_oci_lockfile::{LockEntry, LockFile, PackageHashes, merge};
use tofu_oci_source::Offer;
use tofu_oci_types::{Event, PackageHash, Platform, ProviderAddr, Reporter, Version};
use tokio::sync::Semaphore;

use crate::choose::{choose, offer};
use crate::guard::Guard;
use crate::place::{Existing, Place};
use crate::stage::stage;
use crate::verify::{
    Verified, check_before, check_lines, known_before, report_unexplained, report_wrong, verify, zh_is_suspicious,
};
use crate::{InstallError, Installed, Job, LockPolicy, LockResult, Options, Outcome, Target};

/// So many jobs ask and wait at once; fewer fetch ([`Options::parallel`]).
const JOBS: usize = 16;
/// Packages up to this size are fetched without waiting for a turn.
const SMALL: u64 = 4 << 20;

/// How a package is named in events: `HOST/NS/TYPE VERSION OS_ARCH`.
pub(crate) fn subject(address: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("{address} {version} {platform}")
}

/// Installs every job's package and then writes the lock file.
///
/// The results are in the order of the jobs. A job whose `lock` is empty is held to the entry of the lock file that
/// will be written. Events have the subject `HOST/NS/TYPE VERSION OS_ARCH`.
///
/// # Errors
/// The first job's that fails; the others are stopped then. What they had installed stays, what was half done goes, and
/// the lock file is as it was.
pub async fn install(
    mut jobs: Vec<Job>,
    options: &Options,
    reporter: &dyn Reporter,
) -> Result<(Vec<Installed>, LockResult), InstallError> {
    let before = match &options.lock {
        LockPolicy::Update(path) => tofu_oci_lockfile::read(path)?.unwrap_or_default(),
        LockPolicy::Leave => LockFile::default(),
    };
    for job in &mut jobs {
        job.lock = job.lock.take().or_else(|| before.get(&job.address).cloned());
    }
    let turns = Semaphore::new(options.parallel.max(1));
    let told = Mutex::new(BTreeSet::new());
    let runs = jobs.iter().map(|job| Run { job, turns: &turns, told: &told, limits: &options.limits, reporter }.run());
    let done: Vec<Done> = futures_util::stream::iter(runs).buffered(JOBS).try_collect().await?;
    let lock = match &options.lock {
        LockPolicy::Update(path) => Some(record(path, &jobs, &done)?),
        LockPolicy::Leave => None,
    };
    Ok((done.into_iter().map(|done| done.installed).collect(), lock))
}

/// Writes what has been verified into the lock file as it is now.
fn record(path: &std::path::Path, jobs: &[Job], done: &[Done]) -> Result<tofu_oci_lockfile::Written, InstallError> {
    let mut file = tofu_oci_lockfile::read(path)?.unwrap_or_default();
    let mut written: BTreeMap<&ProviderAddr, &Version> = BTreeMap::new();
    for (job, Done { installed, hashes }) in jobs.iter().zip(done) {
        let version = &installed.version;
        if let Some(first) = written.insert(&job.address, version).filter(|first| *first != version) {
            return Err(InstallError::VersionsDiffer {
                address: job.address.clone(),
                first: first.clone(),
                second: version.clone(),
            });
        }
        let entry = merge(file.get(&job.address), version.clone(), job.constraints.clone(), hashes);
        file.insert(job.address.clone(), entry);
    }
    Ok(tofu_oci_lockfile::write(path, &file)?)
}

/// A job that has succeeded.
pub(crate) struct Done {
    pub(crate) installed: Installed,
    pub(crate) hashes: PackageHashes,
}

/// One job at work.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a Job,
    turns: &'a Semaphore,
    /// The providers that were published under another address, once each.
    told: &'a Mutex<BTreeSet<ProviderAddr>>,
    limits: &'a Limits,
    pub(crate) reporter: &'a dyn Reporter,
}

impl Run<'_> {
    async fn run(self) -> Result<Done, InstallError> {
        let version = choose(self.job, self.reporter).await?;
        let entry = self.job.lock.as_ref().filter(|entry| entry.version == version);
        let place = Place::of(&self.job.target, &self.job.address, &version, &self.job.platform);
        if let Some(done) = self.locked_in_the_cache(&version, entry, &place).await? {
            return Ok(done);
        }
        // Only what the lock file vouches for can be known to be right without fetching the package.
        let vouched = match entry {
            Some(entry) => match self.inspect(&place).await? {
                Existing::Package(package) if entry.hashes.contains(&package.h1()) => {
                    Some((package.h1(), package.bytes()))
                }
                _ => None,
            },
            None => None,
        };
        let offer = match offer(self.job, &version).await {
            Ok(offer) => offer,
            Err(error) => return self.without_the_place(error, version, &place, vouched),
        };
        check_before(&offer, entry)?;
        if let (Some((h1, bytes)), Some(entry)) = (vouched, entry) {
            let hashes = PackageHashes { h1: Some(h1), ..known_before(&offer) };
            let report = check_lines(&offer, Some(entry), &hashes)?;
            if is_vouched(entry, &offer) {
                report_wrong(&offer, &report, self.reporter);
                return Ok(self.done(&offer, &place, Outcome::AlreadyInstalled, bytes, hashes));
            }
        }
        let Some(cached) = self.cached(&version) else {
            let verified = self.fetch(&offer, &place, entry).await?;
            self.report(&offer, entry, &verified).await;
            return self.commit(verified, &offer, &place).await;
        };
        if let Some(done) = self.unlocked_in_the_cache(&offer, entry, &cached, &place).await? {
            return Ok(done);
        }
        let verified = self.fetch(&offer, &cached, entry).await?;
        self.report(&offer, entry, &verified).await;
        let done = self.commit(verified, &offer, &cached).await?;
        self.link_fetched(done, &cached, &place).await
    }

    /// A package that is installed and locked stays usable when the place cannot be reached.
    fn without_the_place(
        &self,
        error: InstallError,
        version: Version,
        place: &Place,
        vouched: Option<(PackageHash, u64)>,
    ) -> Result<Done, InstallError> {
        let Some((h1, bytes)) = vouched.filter(|_| error.is_transient()) else { return Err(error) };
        let subject = subject(&self.job.address, &version, &self.job.platform);
        let text = format!("{subject} is installed and locked, but {} was not asked: {error}", self.job.source.place());
        self.reporter.event(&Event::warning("place-unreachable", text));
        let hashes = PackageHashes { h1: Some(h1), zh: None, ch: None };
        let installed = self.installed(version, place, Outcome::AlreadyInstalled, bytes, &hashes, None);
        Ok(Done { installed, hashes })
    }

    pub(crate) async fn inspect(&self, place: &Place) -> Result<Existing, InstallError> {
        let (place, limits) = (place.clone(), self.limits.clone());
        blocking(move || place.inspect(&limits)).await
    }

    async fn fetch(&self, offer: &Offer, place: &Place, entry: Option<&LockEntry>) -> Result<Verified, InstallError> {
        let _turn = match offer.bytes() {
            0..=SMALL => None,
            _ => Some(self.turns.acquire().await.expect("nobody closes the semaphore")),
        };
        self.report_address(offer);
        let subject = subject(&offer.address, &offer.version, &offer.platform);
        self.reporter.event(&Event::Started { subject, bytes: Some(offer.bytes()) });
        let staged = stage(&*self.job.source, offer, place, self.limits, self.reporter).await?;
        verify(staged, offer, entry, self.reporter)
    }

    /// Tells, once for all platforms, of a release that was published under another address than the one asked for.
    fn report_address(&self, offer: &Offer) {
        let Offer { address, version, place, .. } = offer;
        let Some(published) = offer.published_as.as_ref().filter(|published| *published != address) else { return };
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone()) {
            let text = format!("{place} has {version} as {published}, not as {address}");
            let hint = "right for a mirror; otherwise check the address and the place";
            self.reporter.event(&Event::note("other-address", text).with_hint(hint));
        }
    }

    /// Tells of lines of the lock file that are not the package's. The release's other manifests are asked only when
    /// there is something suspicious, and without an answer the lines stay unexplained.
    async fn report(&self, offer: &Offer, entry: Option<&LockEntry>, verified: &Verified) {
        let mut report = verified.report.clone();
        if zh_is_suspicious(&report)
            && let Ok(claims) = self.job.source.hashes(offer).await
            && let Ok(better) = check_lines(&Offer { claims, ..offer.clone() }, entry, &verified.hashes)
        {
            report = better;
        }
        report_wrong(offer, &report, self.reporter);
        report_unexplained(offer, &report, self.reporter);
    }

    /// Makes the package visible, unless the same one lies there already.
    async fn commit(&self, verified: Verified, offer: &Offer, place: &Place) -> Result<Done, InstallError> {
        let _guard = match &self.job.target {
            Target::WorkingDir { .. } => Some(Guard::take(&place.path, self.reporter).await?),
            Target::MirrorUnpacked(_) | Target::MirrorPacked(_) => None,
        };
        let (bytes, hashes) = (verified.staged.contents.bytes(), verified.hashes.clone());
        let (address, version) = (offer.address.clone(), offer.version.clone());
        let (target, limits) = (place.clone(), self.limits.clone());
        let outcome = blocking(move || put(verified, &target, &limits, address, version)).await?;
        let subject = subject(&offer.address, &offer.version, &offer.platform);
        let finished = match outcome {
            Outcome::Installed | Outcome::Linked => "installed",
            Outcome::AlreadyInstalled => "already installed",
        };
        self.reporter.event(&Event::Finished { subject, outcome: finished.to_owned() });
        Ok(self.done(offer, place, outcome, bytes, hashes))
    }

    fn done(&self, offer: &Offer, place: &Place, outcome: Outcome, bytes: u64, hashes: PackageHashes) -> Done {
        let installed = self.installed(offer.version.clone(), place, outcome, bytes, &hashes, Some(offer));
        Done { installed, hashes }
    }

    pub(crate) fn installed(
        &self,
        version: Version,
        place: &Place,
        outcome: Outcome,
        bytes: u64,
        hashes: &PackageHashes,
        offer: Option<&Offer>,
    ) -> Installed {
        Installed {
            address: self.job.address.clone(),
            version,
            platform: self.job.platform.clone(),
            place: offer.map_or_else(|| self.job.source.place(), |offer| offer.place.clone()),
            path: place.path.clone(),
            outcome,
            layout: offer.map(|offer| offer.kind),
            bytes,
            hashes: hashes.iter().cloned().collect(),
        }
    }
}

/// Whether the lock file names this very release's package, so that its `zh:` and `ch:` need no download to be believed.
/// A zip must be locked by its `zh:`: an entry with `h1:` alone is completed by a download.
fn is_vouched(entry: &LockEntry, offer: &Offer) -> bool {
    offer.zh().or_else(|| offer.ch()).is_some_and(|hash| entry.hashes.contains(&hash))
}

/// Renames the package into its place.
fn put(
    mut verified: Verified,
    place: &Place,
    limits: &Limits,
    address: ProviderAddr,
    version: Version,
) -> Result<Outcome, InstallError> {
    let staged = &mut verified.staged;
    let mut existing = place.inspect(limits)?;
    if matches!(existing, Existing::Nothing | Existing::DanglingLink) {
        match place.put(&staged.package, &existing) {
            Ok(()) => {
                staged.staging.keep_parents();
                return Ok(Outcome::Installed);
            }
            // Another job or program was faster; what it has put there decides.
            Err(error) => {
                existing = place.inspect(limits)?;
                if matches!(existing, Existing::Nothing | Existing::DanglingLink) {
                    return Err(error);
                }
            }
        }
    }
    match existing {
        Existing::Package(package) if Some(&package.h1()) == verified.hashes.h1.as_ref() => {
            Ok(Outcome::AlreadyInstalled)
        }
        _ => Err(InstallError::LocallyModified { address, version, path: place.path.clone() }),
    }
}

pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

//! Jobs to packages in their places.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_archive::Limits;
use tofu_oci_disk::Waiter;
use tofu_oci_fetch::{
    Expect, Fetcher, Judgement, PackagePath, PathContents, Placed, TrustChecker, Turn, Verified, check_before,
    check_lines, known_before, report_unexplained, report_wrong, subject, zh_is_suspicious,
};
use tofu_oci_lockfile::{LockEntry, PackageHashes, Written};
use tofu_oci_source::Offer;
use tofu_oci_types::{Event, Identity, PackageHash, Reporter, Version};

use crate::choose::Warned;
use crate::record::merged;
use crate::{InstallError, InstallRequest, Installed, Options, Outcome};

/// So many jobs ask and wait at once; fewer fetch ([`Options::parallel`]).
const JOBS: usize = 16;

/// So often what other programs have recorded meanwhile is looked at anew.
pub(crate) const ROUNDS: usize = 64;

/// Installs every job's package and then writes the pins and the lock file.
///
/// The results are in the order of the jobs. A job whose `lock` is empty is held to the entry of the lock file that
/// will be written; if another program has changed that entry since `lock` was read, also to the new one. Events have the subject
/// `HOST/NS/TYPE VERSION OS_ARCH`.
///
/// # Errors
/// The first job's that fails; the others are stopped then. What they had installed stays, what was half done goes, and
/// the lock file is as it was.
pub async fn install(
    mut jobs: Vec<InstallRequest>,
    options: &Options,
    reporter: &dyn Reporter,
) -> Result<(Vec<Installed>, Written), InstallError> {
    let file = tofu_oci_lockfile::read(&options.lock)?.unwrap_or_default();
    for job in &mut jobs {
        job.lock = job.lock.take().or_else(|| file.guide(&job.address));
    }
    let warned = Warned::default();
    for job in &jobs {
        job.choice().warn_of_predecessor(&warned, reporter);
    }
    let fetcher = Fetcher::new(options.parallel, &options.limits, reporter);
    let trust_checker = TrustChecker::new(&options.trust, reporter);
    let crew = Crew {
        fetcher: &fetcher,
        trust_checker: &trust_checker,
        limits: &options.limits,
        waiter: &options.waiter,
        warned: &warned,
        reporter,
    };
    let mut done = crew.run(jobs.iter()).await?;
    let written = crew.record(options, &mut jobs, &mut done).await?;
    Ok((done.into_iter().map(|done| done.installed).collect(), written))
}

/// What the jobs of one call share.
struct Crew<'a> {
    fetcher: &'a Fetcher<'a>,
    trust_checker: &'a TrustChecker<'a>,
    limits: &'a Limits,
    waiter: &'a Waiter,
    warned: &'a Warned,
    reporter: &'a dyn Reporter,
}

impl Crew<'_> {
    async fn run(&self, jobs: impl Iterator<Item = &InstallRequest>) -> Result<Vec<Done>, InstallError> {
        let Self { fetcher, trust_checker, limits, waiter, reporter, .. } = *self;
        let runs = jobs.map(|job| Run { job, fetcher, trust_checker, limits, waiter, reporter }.run());
        futures_util::stream::iter(runs).buffered(JOBS).try_collect().await
    }

    /// Writes the pins and the lock file, in this program's turn. A job that was held to another entry than the file has
    /// now is held to that one first, out of turn: that may take a download.
    async fn record(
        &self,
        options: &Options,
        jobs: &mut [InstallRequest],
        done: &mut [Done],
    ) -> Result<Written, InstallError> {
        let path = &options.lock;
        for _ in 0..ROUNDS {
            let turn = Turn::take(path, self.waiter, self.reporter).await?;
            let now = tofu_oci_lockfile::read(path)?.unwrap_or_default();
            let is_changed = |job: &InstallRequest| now.guide(&job.address) != job.lock;
            let changed: Vec<usize> = (0..jobs.len()).filter(|&nth| is_changed(&jobs[nth])).collect();
            if changed.is_empty() {
                let file = merged(now, jobs, done, &options.forget)?;
                self.trust_checker.write_pins(tofu_oci_lockfile::would_write(path, &file)?, &turn)?;
                return Ok(tofu_oci_lockfile::write(path, &file)?);
            }
            drop(turn);
            for &nth in &changed {
                jobs[nth].lock = now.guide(&jobs[nth].address);
                jobs[nth].choice().warn_of_predecessor(self.warned, self.reporter);
            }
            let again = self.run(changed.iter().map(|&nth| &jobs[nth])).await?;
            for (nth, again) in changed.into_iter().zip(again) {
                done[nth].replace(again);
            }
        }
        let address = jobs.first().map(|job| job.address.clone()).expect("an entry of one of the jobs was changed");
        Err(InstallError::LockFileChanged { address, path: path.to_owned() })
    }
}

/// A job that has succeeded.
pub(crate) struct Done {
    pub(crate) installed: Installed,
    pub(crate) hashes: PackageHashes,
    pub(crate) judged: Option<Arc<Judgement>>,
}

impl Done {
    /// The same job, held to another entry of the lock file. What was done the first time is reported.
    fn replace(&mut self, again: Self) {
        if self.installed.version == again.installed.version {
            self.judged = again.judged.or_else(|| self.judged.take());
        } else {
            *self = again;
        }
    }
}

/// What a place offers, and the judgement on the release that it belongs to.
pub(crate) struct Offered {
    pub(crate) offer: Offer,
    pub(crate) judged: Option<Arc<Judgement>>,
}

impl Offered {
    /// Whether a package with these checksums may be used although it was not fetched: see [`Judgement::admits_unfetched`].
    pub(crate) fn admits_unfetched(&self, hashes: &PackageHashes) -> bool {
        let h1 = hashes.h1.as_ref();
        self.judged.as_ref().is_none_or(|judged| h1.is_some_and(|h1| judged.admits_unfetched(&self.offer, h1)))
    }
}

/// One job at work.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a InstallRequest,
    fetcher: &'a Fetcher<'a>,
    trust_checker: &'a TrustChecker<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) waiter: &'a Waiter,
    pub(crate) reporter: &'a dyn Reporter,
}

impl Run<'_> {
    async fn run(self) -> Result<Done, InstallError> {
        let done = self.install().await?;
        self.warn_of_other_platform(&done).await;
        Ok(done)
    }

    /// Warns of a program that does not start on the platform of its package, also if it was installed before. Nothing
    /// is refused: the bytes are those of the release, and `OpenTofu` installs them.
    async fn warn_of_other_platform(&self, done: &Done) {
        let Installed { address, version, platform, .. } = &done.installed;
        // What cannot be read has been installed all the same, and says nothing.
        let place = self.job.target.path(address, version, platform);
        if let Some(program) = place.program(address.provider_type()).await
            && program.contradicts(platform)
        {
            let text = format!("{} holds {program}", subject(address, version, platform));
            let hint = "it will not start there: tell the publisher, and take another version meanwhile";
            self.reporter.event(&Event::warning("other-platform", text).with_hint(hint));
        }
    }

    async fn install(&self) -> Result<Done, InstallError> {
        let version = self.job.choice().version(self.reporter).await?;
        let entry = self.job.lock.as_ref().map(|guide| &guide.entry).filter(|entry| entry.version == version);
        let locked =
            entry.map(|entry| Expect { entry, manifests: self.trust_checker.manifest_lines(&self.job.address) });
        let place = self.job.target.path(&self.job.address, &version, &self.job.platform);
        let unasked = self.trust_checker.unasked(&self.job.address, &version, &self.job.platform);
        if let Some(done) = self.locked_in_the_cache(&version, entry, &place, &unasked).await? {
            return Ok(done);
        }
        // Only what the lock file vouches for can be known to be right without fetching the package.
        let vouched = match entry {
            Some(entry) => match place.look(self.limits).await? {
                PathContents::Package(package) if entry.hashes.contains(&package.h1()) => {
                    Some((package.h1(), package.bytes()))
                }
                _ => None,
            },
            None => None,
        };
        let offered = match self.offer(&version).await {
            Ok(offered) => offered,
            Err(error) => {
                let vouched = vouched.filter(|(h1, _)| unasked.admits(h1));
                return self.without_the_place(error, version, &place, vouched);
            }
        };
        let offer = &offered.offer;
        check_before(offer, locked)?;
        if let (Some((h1, bytes)), Some(entry)) = (vouched, entry) {
            let hashes = PackageHashes { h1: Some(h1), ..known_before(offer) };
            let report = check_lines(offer, locked, &hashes)?;
            let is_same = is_vouched(entry, offer) && offered.admits_unfetched(&hashes);
            if is_same && place.is_archive(offer.zh()).await? {
                report_wrong(offer, &report, self.reporter);
                return Ok(self.done(&offered, &place, Outcome::AlreadyInstalled, bytes, hashes));
            }
        }
        let Some(cached) = self.cached(&version) else {
            return self.fetch(&offered, locked, &place).await;
        };
        if let Some(done) = self.judged_in_the_cache(&offered, locked, &cached, &place).await? {
            return Ok(done);
        }
        if let Some(done) = self.unlocked_in_the_cache(&offered, entry, &cached, &place).await? {
            return Ok(done);
        }
        let done = self.fetch(&offered, locked, &cached).await?;
        self.link_fetched(done, &cached, &place).await
    }

    /// What the place offers, when somebody stands for it or nobody needs to.
    async fn offer(&self, version: &Version) -> Result<Offered, InstallError> {
        let offer = self.job.choice().offer(version, &self.job.platform).await?;
        let judged = self.trust_checker.of_offer(&offer).await?;
        Ok(Offered { offer, judged })
    }

    /// A package that is installed and locked stays usable when the place cannot be reached, where it may be used
    /// unasked: `vouched` is nothing otherwise.
    fn without_the_place(
        &self,
        error: InstallError,
        version: Version,
        place: &PackagePath,
        vouched: Option<(PackageHash, u64)>,
    ) -> Result<Done, InstallError> {
        let Some((h1, bytes)) = vouched.filter(|_| error.is_transient()) else { return Err(error) };
        let subject = subject(&self.job.address, &version, &self.job.platform);
        let (from, reason) = (self.job.source.place(), error.with_causes());
        let text =
            format!("{subject} is installed and locked, and stays as it is; {from} could not be asked: {reason}");
        self.reporter.event(&Event::warning("place-unreachable", text));
        let hashes = PackageHashes { h1: Some(h1), zh: None, ch: None };
        let installed = self.installed(version, place, Outcome::AlreadyInstalled, bytes, &hashes, None);
        Ok(Done { installed, hashes, judged: None })
    }

    /// Fetches the package and puts it in its place, when it is the right one.
    async fn fetch(
        &self,
        offered: &Offered,
        locked: Option<Expect<'_>>,
        place: &PackagePath,
    ) -> Result<Done, InstallError> {
        let Offered { offer, judged } = offered;
        let verified = self.fetcher.fetch(offer, place, locked).await?;
        self.report(offer, locked, &verified).await;
        if let (Some(judged), Some(h1)) = (judged, &verified.hashes().h1) {
            judged.fetched(offer, h1);
        }
        self.commit(verified, offered, place).await
    }

    /// Tells of lines of the lock file that are not the package's. The release's other manifests are asked only when
    /// there is something suspicious, and without an answer the lines stay unexplained.
    async fn report(&self, offer: &Offer, locked: Option<Expect<'_>>, verified: &Verified) {
        let mut report = verified.report().clone();
        if zh_is_suspicious(&report)
            && let Ok(claims) = offer.release.hashes().await
            && let Ok(better) = check_lines(&Offer { claims, ..offer.clone() }, locked, verified.hashes())
        {
            report = better;
        }
        report_wrong(offer, &report, self.reporter);
        report_unexplained(offer, &report, self.reporter);
    }

    /// Makes the package visible, unless the same one lies there already.
    async fn commit(&self, verified: Verified, offered: &Offered, place: &PackagePath) -> Result<Done, InstallError> {
        let offer = &offered.offer;
        let (bytes, hashes) = (verified.bytes(), verified.hashes().clone());
        let placed = verified.place(offer, self.limits, self.waiter, self.reporter).await?;
        let (outcome, finished) = match placed {
            Placed::Now => (Outcome::Installed, "installed"),
            Placed::Before => (Outcome::AlreadyInstalled, "already installed"),
        };
        let subject = subject(offer.address(), offer.version(), &offer.platform);
        self.reporter.event(&Event::Finished { subject, outcome: finished.to_owned() });
        Ok(self.done(offered, place, outcome, bytes, hashes))
    }

    pub(crate) fn done(
        &self,
        offered: &Offered,
        place: &PackagePath,
        outcome: Outcome,
        bytes: u64,
        hashes: PackageHashes,
    ) -> Done {
        let version = offered.offer.version().clone();
        let installed = self.installed(version, place, outcome, bytes, &hashes, Some(offered));
        Done { installed, hashes, judged: offered.judged.clone() }
    }

    pub(crate) fn installed(
        &self,
        version: Version,
        place: &PackagePath,
        outcome: Outcome,
        bytes: u64,
        hashes: &PackageHashes,
        offered: Option<&Offered>,
    ) -> Installed {
        let offer = offered.map(|offered| &offered.offer);
        let judged = offered.and_then(|offered| offered.judged.as_ref());
        Installed {
            address: self.job.address.clone(),
            version,
            platform: self.job.platform.clone(),
            place: offer.map_or_else(|| self.job.source.place(), Offer::place).clone(),
            path: place.path().to_owned(),
            outcome,
            layout: offer.and_then(Offer::kind),
            bytes,
            hashes: hashes.iter().cloned().collect(),
            identity: judged.and(offer).map_or(Identity::Unidentified, |offer| offer.identity().clone()),
            trust: judged.map(|judged| judged.vouched(&self.job.platform, hashes.zh.as_ref())),
        }
    }
}

/// Whether the lock file names this very release's package, so that its `zh:` and `ch:` need no download to be believed.
/// A zip must be locked by its `zh:`: an entry with `h1:` alone is completed by a download.
pub(crate) fn is_vouched(entry: &LockEntry, offer: &Offer) -> bool {
    offer.zh().or_else(|| offer.ch()).is_some_and(|hash| entry.hashes.contains(&hash))
}

//! The requests of one call, side by side, and then the lock file; when a lock file that must not change (`--locked`)
//! is refused.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_fetch::{Fetcher, FolderLock, TrustChecker};
use tofu_oci_lockfile::{Guide, LockFile, WriteOutcome};
use tofu_oci_types::{ProviderAddr, Reporter};

use crate::choose::{FOR_A_PACKAGE, VersionChoice, Warned, admitted};
use crate::package::{InstallContext, PackageInstall};
use crate::record::{InstallRecord, Merged, guide, merged};
use crate::{InstallError, InstallRequest, Installed, LockWrite, NarrowEntry, Options};

/// How many requests ask and wait at once; fewer fetch ([`Options::parallel`]).
const REQUESTS: usize = 32;

/// How often this program looks at what other programs have recorded meanwhile.
pub(crate) const ROUNDS: usize = 64;

/// The result of an installation.
#[derive(Debug)]
pub struct InstallReport {
    /// One for each request, in their order.
    pub installed: Vec<Installed>,
    /// What is locked now.
    pub lock: LockFile,
    /// What was done to the lock file.
    pub written: WriteOutcome,
    /// What was done to the pin file.
    pub pins: WriteOutcome,
    /// New entries of the lock file that lack platforms, by address.
    pub narrow: Vec<NarrowEntry>,
}

/// Installs every request's package and then writes the pins and the lock file.
///
/// The entry in [`Options::lock`] binds its request, and so does the new entry if another program has changed it since.
/// Events have the subject `HOST/NS/TYPE VERSION OS_ARCH`.
///
/// # Errors
/// That of the first request that fails; it stops the others. Installed packages stay, half-done ones are removed, and
/// the lock file stays as it was.
pub async fn install(
    requests: &[InstallRequest],
    options: &Options,
    reporter: &dyn Reporter,
) -> Result<InstallReport, InstallError> {
    let context = InstallContext::new(options, LockWrite::Write, reporter);
    let mut judged_by = options.lock.clone();
    let mut completed = context.run(requests.iter(), judged_by.file()).await?;
    for _ in 0..ROUNDS {
        let folder_lock = FolderLock::take(judged_by.path(), &options.waiter, reporter).await?;
        let now = judged_by.read_again()?;
        let changed = changed(requests.iter().map(|request| &request.address), judged_by.file(), now.file());
        if changed.is_empty() {
            let pairs = requests.iter().zip(&completed);
            let Merged { file: lock, narrow } = merged(now.file(), pairs, &options.forget, &options.trust.policy)?;
            let pins = context.trust_checker.write_pins(now.would_write(&lock), &folder_lock)?;
            let written = now.write(&lock)?;
            let installed = completed.into_iter().map(|completed| completed.installed).collect();
            return Ok(InstallReport { installed, lock, written, pins, narrow });
        }
        // The new entries may need downloads, which must not take a turn.
        drop(folder_lock);
        let rerun = context.run(changed.iter().map(|&nth| &requests[nth]), now.file()).await?;
        for (nth, newer) in changed.into_iter().zip(rerun) {
            completed[nth].replace(newer);
        }
        judged_by = now;
    }
    Err(InstallError::LockFileChanged {
        address: requests.first().map(|request| request.address.clone()).expect("the entry of a request was changed"),
        path: judged_by.path().to_owned(),
    })
}

/// The positions of the providers whose entry another program has changed.
pub(crate) fn changed<'a>(
    providers: impl Iterator<Item = &'a ProviderAddr>,
    before: &LockFile,
    now: &LockFile,
) -> Vec<usize> {
    let is_changed = |(_, address): &(usize, &ProviderAddr)| before.guide(address) != now.guide(address);
    providers.enumerate().filter(is_changed).map(|(nth, _)| nth).collect()
}

/// Installs as [`install`] does, and writes neither the lock file nor the pins. A package that is in its place and locked
/// is kept without a request.
///
/// The lock file may lack checksums and constraints, as for `init -lockfile=readonly`; [`InstallReport::lock`] has them.
///
/// # Errors
/// As [`install`], and [`InstallError::LockFileOutdated`] before anything is asked or installed.
///
/// Spec: `OpenTofu` 1.12 and Terraform 1.11, `init -lockfile=readonly`: `testdata/vectors/lockfile_readonly.json` (measured).
pub async fn install_locked(
    requests: &[InstallRequest],
    options: &Options,
    reporter: &dyn Reporter,
) -> Result<InstallReport, InstallError> {
    let file = options.lock.file();
    check_locked(requests, options)?;
    let context = InstallContext::new(options, LockWrite::Compare, reporter);
    let completed = context.run(requests.iter(), file).await?;
    let pairs = requests.iter().zip(&completed);
    let Merged { file: lock, narrow } = merged(file, pairs, &options.forget, &options.trust.policy)?;
    let installed = completed.into_iter().map(|completed| completed.installed).collect();
    let written = WriteOutcome::Unchanged;
    Ok(InstallReport { installed, lock, written, pins: written, narrow })
}

/// Whether the lock file has an entry with an admitted version for each request, and none to forget.
///
/// # Errors
/// [`InstallError::LockFileOutdated`] and [`InstallError::LockedVersionNotAdmitted`].
pub fn check_locked(requests: &[InstallRequest], options: &Options) -> Result<(), InstallError> {
    let file = options.lock.file();
    let missing = requests.iter().map(|request| &request.address).filter(|address| file.get(address).is_none());
    let missing: BTreeSet<ProviderAddr> = missing.cloned().collect();
    if !missing.is_empty() || !options.forget.is_empty() {
        let (path, unneeded) = (options.lock.path().to_owned(), options.forget.clone());
        return Err(InstallError::LockFileOutdated { path, missing, unneeded });
    }
    for InstallRequest { address, constraints, .. } in requests {
        if let Some(guide) = file.guide(address) {
            admitted(address, constraints, &guide)?;
        }
    }
    Ok(())
}

/// A request, and what chooses its version.
pub(crate) type GuidedRequest<'r> = (&'r InstallRequest, Option<Guide>);

impl<'a> InstallContext<'a> {
    pub(crate) fn new(options: &'a Options, write: LockWrite, reporter: &'a dyn Reporter) -> Self {
        Self {
            fetcher: Fetcher::new(options.parallel, &options.limits, reporter)
                .with_cache(options.package_cache.clone(), options.waiter.clone()),
            trust_checker: TrustChecker::new(&options.trust, reporter),
            options,
            write,
            warned: Warned::default(),
            reporter,
        }
    }

    /// The requests, each with what chooses its version.
    pub(crate) fn guided<'r>(
        &self,
        requests: impl Iterator<Item = &'r InstallRequest>,
        lock: &LockFile,
    ) -> Vec<GuidedRequest<'r>> {
        requests.map(|request| (request, guide(lock, &request.address, &self.options.trust.policy))).collect()
    }

    /// Installs these packages; each must match its entry of the lock file.
    async fn run(
        &self,
        requests: impl Iterator<Item = &InstallRequest>,
        lock: &LockFile,
    ) -> Result<Vec<InstallRecord>, InstallError> {
        self.each(&self.guided(requests, lock), PackageInstall::run).await
    }

    /// Works on each request.
    pub(crate) async fn each<'w, T, F: Future<Output = Result<T, InstallError>>>(
        &'w self,
        guided: &'w [GuidedRequest<'w>],
        work: impl Fn(PackageInstall<'w>) -> F,
    ) -> Result<Vec<T>, InstallError> {
        let runs = guided.iter().map(|(request, guide)| {
            let InstallRequest { address, constraints, source, upgrade, .. } = request;
            let (lock, upgrade) = (guide.as_ref(), *upgrade);
            let at_once = FOR_A_PACKAGE;
            let choice = VersionChoice { address, constraints, source: &**source, lock, upgrade, at_once };
            choice.warn_of_predecessor(&self.warned, self.reporter);
            work(PackageInstall { request, choice, context: self })
        });
        futures_util::stream::iter(runs).buffered(REQUESTS).try_collect().await
    }
}

//! The requests of one call, side by side, and then the lock file.

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_archive::Limits;
use tofu_oci_disk::Waiter;
use tofu_oci_fetch::{Fetcher, TrustChecker, Turn};
use tofu_oci_lockfile::{LockFile, WriteOutcome};
use tofu_oci_types::{ProviderAddr, Reporter};

use crate::choose::{VersionChoice, Warned};
use crate::package::PackageInstall;
use crate::record::{Completed, merged};
use crate::{InstallError, InstallRequest, Installed, Options};

/// How many requests ask and wait at once; fewer fetch ([`Options::parallel`]).
const REQUESTS: usize = 16;

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
    let fetcher = Fetcher::new(options.parallel, &options.limits, reporter);
    let trust_checker = TrustChecker::new(&options.trust, reporter);
    let (limits, waiter, warned) = (&options.limits, &options.waiter, Warned::default());
    let context = InstallContext { fetcher, trust_checker, limits, waiter, warned, reporter };
    let mut judged_by = options.lock.clone();
    let mut completed = context.run(requests.iter(), judged_by.file()).await?;
    for _ in 0..ROUNDS {
        let turn = Turn::take(judged_by.path(), &options.waiter, reporter).await?;
        let now = judged_by.read_again()?;
        let changed = changed(requests.iter().map(|request| &request.address), judged_by.file(), now.file());
        if changed.is_empty() {
            let lock = merged(now.file().clone(), requests, &completed, &options.forget)?;
            context.trust_checker.write_pins(now.would_write(&lock), &turn)?;
            let written = now.write(&lock)?;
            let installed = completed.into_iter().map(|completed| completed.installed).collect();
            return Ok(InstallReport { installed, lock, written });
        }
        // The new entries may need downloads, which must not take a turn.
        drop(turn);
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

/// What the requests of one call share.
struct InstallContext<'a> {
    fetcher: Fetcher<'a>,
    trust_checker: TrustChecker<'a>,
    limits: &'a Limits,
    waiter: &'a Waiter,
    warned: Warned,
    reporter: &'a dyn Reporter,
}

impl InstallContext<'_> {
    /// Installs these packages; each must match its entry of the lock file.
    async fn run(
        &self,
        requests: impl Iterator<Item = &InstallRequest>,
        lock: &LockFile,
    ) -> Result<Vec<Completed>, InstallError> {
        let guided: Vec<_> = requests.map(|request| (request, lock.guide(&request.address))).collect();
        let runs = guided.iter().map(|(request, guide)| {
            let InstallRequest { address, constraints, source, upgrade, .. } = request;
            let (lock, upgrade) = (guide.as_ref(), *upgrade);
            let choice = VersionChoice { address, constraints, source: &**source, lock, upgrade };
            choice.warn_of_predecessor(&self.warned, self.reporter);
            let Self { fetcher, trust_checker, limits, waiter, reporter, .. } = self;
            PackageInstall { request, choice, fetcher, trust_checker, limits, waiter, reporter: *reporter }.run()
        });
        futures_util::stream::iter(runs).buffered(REQUESTS).try_collect().await
    }
}

//! A lock file for all platforms at once.
//!
//! ```text
//! LockRequest  --choose--> version --> Release --TrustChecker--> Judgement
//!   a signature covers h1, and zh or image   -> recorded without a request
//!   the lock file has zh (image: ch) and h1  -> kept; if the package is signed, only with a known h1
//!   a key of the origin registry signed zh   -> recorded; an h1 only for this machine's platform, if the lock file lacks it
//!   otherwise                                -> offered, fetched, verified in a scratch folder, recorded, thrown away
//! all of it is compared with the lines of the lock file; then pins and lock file are written
//! ```
//!
//! Spec: `OpenTofu` 1.12, `providers lock`: other providers' entries stay, the constraints are the configuration's.
//! `oci-reality.md` §4.7 for what is recorded.

mod ahead;
mod provider;
mod report;
mod unfetched;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_fetch::{Fetcher, FolderLock, TrustChecker};
use tofu_oci_lockfile::{Guide, LockEntry, LockFile, StoredLockFile, WriteOutcome};
use tofu_oci_trust::Policy;
use tofu_oci_types::Reporter;

use crate::InstallError;
use crate::choose::Warned;
use crate::install::{ROUNDS, changed};
use crate::record::{binding, guide};
use provider::{LockedRelease, Locking};
use unfetched::FetchedHashes;

pub use crate::lock_request::{LockOptions, LockRequest, LockWrite, PlatformChoice};
pub use report::{Basis, LockDifference, LockReport, LockedPlatform, LockedProvider};

/// How many providers are asked for at once; fewer are fetched ([`LockOptions::parallel`]).
const PROVIDERS: usize = 32;

/// Brings the lock file up to date for all providers and platforms, and writes it in its canonical form.
///
/// Entries that another program records meanwhile count as if they had been there from the start; that causes no second
/// download. Events of fetched packages have the subject `HOST/NS/TYPE VERSION OS_ARCH`.
///
/// # Errors
/// That of the first provider that fails; nothing is written then.
pub async fn lock(
    requests: Vec<LockRequest>,
    options: &LockOptions,
    reporter: &dyn Reporter,
) -> Result<LockReport, InstallError> {
    let mut judged = tofu_oci_lockfile::read(&options.path)?;
    let fetcher = Fetcher::new(options.parallel, &options.limits, reporter);
    let trust_checker = TrustChecker::new(&options.trust, reporter);
    let (fetcher, trust_checker, scratch, seen) =
        (&fetcher, &trust_checker, options.scratch.as_path(), &FetchedHashes::default());
    let warned = &Warned::default();
    let work = |request, before, guide| {
        Locking { request, before, guide, fetcher, trust_checker, scratch, seen, warned, reporter }.run()
    };
    let policy = &options.trust.policy;
    let mut locked = run(requests.iter(), judged.file(), policy, &work).await?;
    if options.write == LockWrite::Compare {
        return Ok(report(&requests, locked, judged, options));
    }
    for _ in 0..ROUNDS {
        let folder_lock = FolderLock::take(&options.path, &options.waiter, reporter).await?;
        let now = judged.read_again()?;
        let changed = changed(requests.iter().map(|request| &request.address), judged.file(), now.file());
        if changed.is_empty() {
            let report = report(&requests, locked, now, options);
            trust_checker.write_pins(report.before.would_rewrite(&report.after), &folder_lock)?;
            let written = report.before.rewrite(&report.after)?;
            return Ok(LockReport { written, ..report });
        }
        drop(folder_lock);
        let rerun = run(changed.iter().map(|&nth| &requests[nth]), now.file(), policy, &work).await?;
        for (nth, newer) in changed.into_iter().zip(rerun) {
            locked[nth] = newer;
        }
        judged = now;
    }
    let address = requests.first().map(|request| request.address.clone()).expect("the entry of a request was changed");
    Err(InstallError::LockFileChanged { address, path: options.path.clone() })
}

/// Works on the providers, each with its entry and its guide in the lock file.
async fn run<'a, F: Future<Output = Result<LockedRelease, InstallError>>>(
    requests: impl Iterator<Item = &'a LockRequest>,
    file: &LockFile,
    policy: &Policy,
    work: &impl Fn(&'a LockRequest, Option<LockEntry>, Option<Guide>) -> F,
) -> Result<Vec<LockedRelease>, InstallError> {
    let runs = requests.map(|request| {
        let address = &request.address;
        let manifests = policy.rule(address).manifest_checksums;
        let before = file.get(address).map(|entry| binding(entry.clone(), manifests));
        work(request, before, guide(file, address, policy))
    });
    futures_util::stream::iter(runs).buffered(PROVIDERS).try_collect().await
}

/// The lock file with what was found, before it is written.
fn report(
    requests: &[LockRequest],
    locked: Vec<LockedRelease>,
    before: StoredLockFile,
    options: &LockOptions,
) -> LockReport {
    let mut after = before.file().clone();
    let mut providers = Vec::new();
    // The file with the `ch:` lines that it has already, if no rule demands others.
    let mut lenient = after.clone();
    for (request, locked) in requests.iter().zip(locked) {
        let rule = options.trust.policy.rule(&request.address);
        let old = before.file().get(&request.address);
        let entry = locked.entry(old, &request.constraints, options.configured.get(&request.address));
        let Some(entry) = entry else { continue };
        let provider = locked.report(old, &entry, rule.manifest_checksums);
        lenient.insert(request.address.clone(), provider.with_manifests_of(old, &entry));
        after.insert(request.address.clone(), entry);
        providers.push(provider);
    }
    let difference = match before.text() {
        Some(text) if text == after.to_text() => LockDifference::None,
        Some(text) if text == lenient.to_text() => LockDifference::OptionalManifests,
        _ => LockDifference::Entries,
    };
    LockReport { providers, before, after, difference, written: WriteOutcome::Unchanged }
}

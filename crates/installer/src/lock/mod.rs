//! A lock file for all platforms at once.
//!
//! ```text
//! LockRequest  --choose--> version --> Release --TrustChecker--> Judgement
//!   a signature covers h1, and zh or image   -> recorded, nothing is asked
//!   the lock file has zh (image: ch) and h1  -> kept; where signatures stand for the package, only an h1 that is known
//!   otherwise                                -> offered, fetched, verified in a scratch folder, recorded, thrown away
//! the lock file's lines are held against all of it;  pins, lock file
//! ```
//!
//! Spec: `OpenTofu` 1.12, `providers lock`: other providers' entries stay, the constraints are the configuration's.
//! `oci-reality.md` §4.7 for what is recorded.

mod provider;
mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_archive::Limits;
use tofu_oci_disk::Waiter;
use tofu_oci_fetch::{Fetcher, Trust, TrustChecker, Turn};
use tofu_oci_lockfile::{Guide, LockEntry, LockFile, StoredLockFile, Written};
use tofu_oci_source::Source;
use tofu_oci_types::{Constraints, Platform, ProviderAddr, Reporter};

use crate::choose::Warned;
use crate::install::{ROUNDS, changed};
use crate::request::pipelines;
use crate::{InstallError, Upgrade};
use provider::{Locked, Locking, Seen};

pub use report::{Basis, Difference, LockReport, LockedPlatform, LockedProvider};

/// So many providers are worked on at once.
const PROVIDERS: usize = 8;

/// One provider to lock.
#[derive(Clone)]
pub struct LockRequest {
    /// The provider.
    pub address: ProviderAddr,
    /// What its version must meet. They are recorded, unless [`LockOptions::configured`] has others.
    pub constraints: Constraints,
    /// Where it comes from.
    pub source: Arc<dyn Source>,
    /// The platforms that the lock file must be complete for.
    pub platforms: Wanted,
    /// Whether a newer version than the locked one may be chosen.
    pub upgrade: Upgrade,
}

/// Which platforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Every one that the release has.
    Offered,
    /// These.
    Named(Vec<Platform>),
}

/// How to lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LockOptions {
    /// The lock file.
    pub path: PathBuf,
    /// Whether it is written.
    pub write: LockWrite,
    /// Where packages that have to be looked at are put for that long; an existing folder.
    pub scratch: PathBuf,
    /// What an archive may expand to.
    pub limits: Limits,
    /// How many packages are fetched and unpacked at once; small ones (up to 4 MiB) do not count. So many lie on the disk.
    pub parallel: usize,
    /// What is trusted. The pins are written when the lock file is.
    pub trust: Trust,
    /// Who waits for other programs, and how long.
    pub waiter: Waiter,
    /// The constraints of the configuration, which are recorded whatever was asked for besides. Those of a provider that is
    /// not in here are what its job says; a job that says none keeps what is recorded.
    pub configured: BTreeMap<ProviderAddr, Constraints>,
}

impl LockOptions {
    /// Usual limits, and a pipeline for every two processors.
    pub fn new(path: PathBuf, write: LockWrite, scratch: PathBuf, trust: Trust) -> Self {
        let (limits, waiter) = (Limits::default(), Waiter::default());
        let configured = BTreeMap::new();
        Self { path, write, scratch, limits, parallel: pipelines(), trust, waiter, configured }
    }
}

/// What happens to the lock file and to the pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWrite {
    /// They are written, when all is known.
    Write,
    /// Nothing is written.
    Compare,
}

/// Brings the lock file up to date for all providers and platforms, and writes it in its canonical form.
///
/// What another program records of a provider meanwhile counts as if it had been there from the start. Nothing is
/// downloaded twice for that. Events of packages that have to be fetched have the subject `HOST/NS/TYPE VERSION OS_ARCH`.
///
/// # Errors
/// The first provider's that fails; nothing is written then.
pub async fn lock(
    jobs: Vec<LockRequest>,
    options: &LockOptions,
    reporter: &dyn Reporter,
) -> Result<LockReport, InstallError> {
    let mut judged = tofu_oci_lockfile::read(&options.path)?;
    let fetcher = Fetcher::new(options.parallel, &options.limits, reporter);
    let trust_checker = TrustChecker::new(&options.trust, reporter);
    let (fetcher, trust_checker, scratch, seen) =
        (&fetcher, &trust_checker, options.scratch.as_path(), &Seen::default());
    let warned = &Warned::default();
    let work = |job, before, guide| {
        Locking { job, before, guide, fetcher, trust_checker, scratch, seen, warned, reporter }.run()
    };
    let mut locked = run(jobs.iter(), judged.file(), &work).await?;
    if options.write == LockWrite::Compare {
        return Ok(report(&jobs, locked, judged, options));
    }
    for _ in 0..ROUNDS {
        let turn = Turn::take(&options.path, &options.waiter, reporter).await?;
        let now = judged.read_again()?;
        let changed = changed(jobs.iter().map(|job| &job.address), judged.file(), now.file());
        if changed.is_empty() {
            let report = report(&jobs, locked, now, options);
            trust_checker.write_pins(report.before.would_rewrite(&report.after), &turn)?;
            let written = report.before.rewrite(&report.after)?;
            return Ok(LockReport { written, ..report });
        }
        drop(turn);
        let again = run(changed.iter().map(|&nth| &jobs[nth]), now.file(), &work).await?;
        for (nth, again) in changed.into_iter().zip(again) {
            locked[nth] = again;
        }
        judged = now;
    }
    let address = jobs.first().map(|job| job.address.clone()).expect("an entry of one of the jobs was changed");
    Err(InstallError::LockFileChanged { address, path: options.path.clone() })
}

/// Works on so many providers at once, each with what the lock file has of it.
async fn run<'a, F: Future<Output = Result<Locked, InstallError>>>(
    jobs: impl Iterator<Item = &'a LockRequest>,
    file: &LockFile,
    work: &impl Fn(&'a LockRequest, Option<LockEntry>, Option<Guide>) -> F,
) -> Result<Vec<Locked>, InstallError> {
    let runs = jobs.map(|job| work(job, file.get(&job.address).cloned(), file.guide(&job.address)));
    futures_util::stream::iter(runs).buffered(PROVIDERS).try_collect().await
}

/// The lock file with what was found; it is not written yet.
fn report(jobs: &[LockRequest], locked: Vec<Locked>, before: StoredLockFile, options: &LockOptions) -> LockReport {
    let mut after = before.file().clone();
    let mut providers = Vec::new();
    // The file without those `ch:` lines that nobody demands.
    let mut lenient = after.clone();
    for (job, locked) in jobs.iter().zip(locked) {
        let rule = options.trust.policy.rule(&job.address);
        let old = before.file().get(&job.address);
        let entry = locked.entry(old, &job.constraints, options.configured.get(&job.address));
        let provider = locked.report(old, &entry, rule.manifest_checksums);
        lenient.insert(job.address.clone(), provider.without_optional(&entry));
        after.insert(job.address.clone(), entry);
        providers.push(provider);
    }
    let difference = match before.text() {
        Some(text) if text == after.to_text() => Difference::None,
        Some(text) if text == lenient.to_text() => Difference::OptionalManifests,
        _ => Difference::Entries,
    };
    LockReport { providers, before, after, difference, written: Written::Unchanged }
}

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
use tofu_oci_lockfile::{Guide, LockEntry, LockFile, Written, read_text, rewrite};
use tofu_oci_source::Source;
use tofu_oci_types::{Constraints, Platform, ProviderAddr, Reporter};

use crate::choose::Warned;
use crate::job::pipelines;
use crate::pipeline::ROUNDS;
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
    let mut text = read_text(&options.path)?;
    let mut judged = options.parse(text.as_deref())?;
    let fetcher = Fetcher::new(options.parallel, &options.limits, reporter);
    let trust_checker = TrustChecker::new(&options.trust, reporter);
    let (fetcher, trust_checker, scratch, seen) =
        (&fetcher, &trust_checker, options.scratch.as_path(), &Seen::default());
    let warned = &Warned::default();
    let work = |job, before, guide| {
        Locking { job, before, guide, fetcher, trust_checker, scratch, seen, warned, reporter }.run()
    };
    let mut locked = run(jobs.iter(), &judged, &work).await?;
    if options.write == LockWrite::Compare {
        let file = judged;
        return Ok(merged(&jobs, locked, text, file, options).into_report(Written::Unchanged));
    }
    for _ in 0..ROUNDS {
        let turn = Turn::take(&options.path, &options.waiter, reporter).await?;
        text = read_text(&options.path)?;
        let now = options.parse(text.as_deref())?;
        let is_changed = |job: &LockRequest| now.guide(&job.address) != judged.guide(&job.address);
        let changed: Vec<usize> = (0..jobs.len()).filter(|&nth| is_changed(&jobs[nth])).collect();
        if changed.is_empty() {
            let merged = merged(&jobs, locked, text, now, options);
            let same = merged.before.as_deref() == Some(merged.after.as_str());
            trust_checker.write_pins(if same { Written::Unchanged } else { Written::Updated }, &turn)?;
            let written = rewrite(&options.path, &merged.file)?;
            return Ok(merged.into_report(written));
        }
        drop(turn);
        let again = run(changed.iter().map(|&nth| &jobs[nth]), &now, &work).await?;
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

impl LockOptions {
    /// What the lock file says, whose text this is.
    fn parse(&self, text: Option<&str>) -> Result<LockFile, InstallError> {
        Ok(text.map(|text| tofu_oci_lockfile::parse(text, &self.path)).transpose()?.unwrap_or_default())
    }
}

/// The lock file with what was found.
struct Merged {
    file: LockFile,
    providers: Vec<LockedProvider>,
    before: Option<String>,
    after: String,
    difference: Difference,
}

impl Merged {
    fn into_report(self, written: Written) -> LockReport {
        let Self { providers, before, after, difference, .. } = self;
        LockReport { providers, before, after, difference, written }
    }
}

/// Puts what was found into the lock file, whose text is `before`.
fn merged(
    jobs: &[LockRequest],
    locked: Vec<Locked>,
    before: Option<String>,
    mut file: LockFile,
    options: &LockOptions,
) -> Merged {
    let mut providers = Vec::new();
    // The file without those `ch:` lines that nobody demands.
    let mut lenient = file.clone();
    for (job, locked) in jobs.iter().zip(locked) {
        let rule = options.trust.policy.rule(&job.address);
        let old = file.get(&job.address).cloned();
        let entry = locked.entry(old.as_ref(), &job.constraints, options.configured.get(&job.address));
        let provider = locked.report(old.as_ref(), &entry, rule.manifest_checksums);
        lenient.insert(job.address.clone(), provider.without_optional(&entry));
        file.insert(job.address.clone(), entry);
        providers.push(provider);
    }
    let after = file.to_text();
    let difference = difference(before.as_deref(), &after, &lenient);
    Merged { file, providers, before, after, difference }
}

fn difference(before: Option<&str>, after: &str, lenient: &LockFile) -> Difference {
    match before {
        Some(before) if before == after => Difference::None,
        Some(before) if before == lenient.to_text() => Difference::OptionalManifests,
        _ => Difference::Entries,
    }
}

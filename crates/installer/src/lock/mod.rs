//! A lock file for all platforms at once.
//!
//! ```text
//! LockJob  --choose--> version --> Release --Court--> Judged
//!   a signature covers h1, and zh or image   -> recorded, nothing is asked
//!   the lock file has zh (image: ch) and h1  -> kept
//!   otherwise                                -> offered, fetched, verified in a scratch folder, recorded, thrown away
//! the lock file's lines are held against all of it;  pins, lock file
//! ```
//!
//! Spec: `OpenTofu` 1.12, `providers lock`: other providers' entries stay, the constraints are the configuration's.
//! `oci-reality.md` §4.7 for what is recorded.

mod provider;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_archive::Limits;
use tofu_oci_lockfile::{LockFile, Written, read_text, rewrite};
use tofu_oci_source::Source;
use tofu_oci_types::{Constraints, Platform, ProviderAddr, Reporter};

use crate::fetch::Fetcher;
use crate::job::pipelines;
use crate::trust::Court;
use crate::{InstallError, Trust, Upgrade};
use provider::{Locked, Locking};

pub use report::{Basis, Difference, LockReport, LockedPlatform, LockedProvider};

/// So many providers are worked on at once.
const PROVIDERS: usize = 8;

/// One provider to lock.
#[derive(Clone)]
pub struct LockJob {
    /// The provider.
    pub address: ProviderAddr,
    /// What its version must meet; recorded.
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
}

impl LockOptions {
    /// Usual limits, and a pipeline for every two processors.
    pub fn new(path: PathBuf, write: LockWrite, scratch: PathBuf, trust: Trust) -> Self {
        Self { path, write, scratch, limits: Limits::default(), parallel: pipelines(), trust }
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
/// Events of packages that have to be fetched have the subject `HOST/NS/TYPE VERSION OS_ARCH`.
///
/// # Errors
/// The first provider's that fails; nothing is written then.
pub async fn lock(
    jobs: Vec<LockJob>,
    options: &LockOptions,
    reporter: &dyn Reporter,
) -> Result<LockReport, InstallError> {
    let file = tofu_oci_lockfile::read(&options.path)?.unwrap_or_default();
    let fetcher = Fetcher::new(options.parallel, &options.limits, reporter);
    let court = Court::new(&options.trust, reporter);
    let (fetcher, court, scratch) = (&fetcher, &court, options.scratch.as_path());
    let runs = jobs.iter().map(|job| {
        let (before, guide) = (file.get(&job.address), file.guide(&job.address));
        Locking { job, before, guide, fetcher, court, scratch, reporter }.run()
    });
    let locked: Vec<Locked> = futures_util::stream::iter(runs).buffered(PROVIDERS).try_collect().await?;
    finish(&jobs, locked, &file, options, court)
}

/// Puts what was found into the lock file as it is now.
fn finish(
    jobs: &[LockJob],
    locked: Vec<Locked>,
    judged: &LockFile,
    options: &LockOptions,
    court: &Court<'_>,
) -> Result<LockReport, InstallError> {
    let before = read_text(&options.path)?;
    let mut file = tofu_oci_lockfile::read(&options.path)?.unwrap_or_default();
    let mut providers = Vec::new();
    // The file without those `ch:` lines that nobody demands.
    let mut lenient = file.clone();
    for (job, locked) in jobs.iter().zip(locked) {
        let rule = options.trust.policy.rule(&job.address);
        let old = file.get(&job.address).cloned();
        // What was held against the release is what is merged with it.
        if old.as_ref() != judged.get(&job.address) {
            return Err(InstallError::LockFileChanged { address: job.address.clone(), path: options.path.clone() });
        }
        let entry = locked.entry(old.as_ref(), &job.constraints);
        let provider = locked.report(old.as_ref(), &entry, rule.manifest_checksums);
        lenient.insert(job.address.clone(), provider.without_optional(&entry));
        file.insert(job.address.clone(), entry);
        providers.push(provider);
    }
    let after = file.to_text();
    let difference = difference(before.as_deref(), &after, &lenient);
    let written = match (options.write, difference) {
        (LockWrite::Write, _) => {
            let fate = if before.as_deref() == Some(after.as_str()) { Written::Unchanged } else { Written::Updated };
            court.write_pins(fate)?;
            rewrite(&options.path, &file)?
        }
        (LockWrite::Compare, _) => Written::Unchanged,
    };
    Ok(LockReport { providers, before, after, difference, written })
}

fn difference(before: Option<&str>, after: &str, lenient: &LockFile) -> Difference {
    match before {
        Some(before) if before == after => Difference::None,
        Some(before) if before == lenient.to_text() => Difference::OptionalManifests,
        _ => Difference::Entries,
    }
}

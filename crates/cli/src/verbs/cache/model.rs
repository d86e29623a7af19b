//! The JSON lines of `cache`.

use std::path::Path;

use serde::Serialize;
use tofu_oci_fetch::{CacheHealth, CacheInfo, KeptPackage, PruneAct, Pruned};
use tofu_oci_types::{Moment, PackageHash, PathText};

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum CacheLine<'a> {
    /// A package, and what became of it.
    CachedPackage {
        outcome: CacheOutcome,
        name: &'a str,
        h1: &'a PackageHash,
        bytes: u64,
        last_used: String,
        path: PathText<'a>,
        /// The file that has changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<PathText<'a>>,
    },
    /// The whole cache, the last line of `cache info`.
    Cache { path: PathText<'a>, lower: Option<PathText<'a>>, packages: usize, bytes: u64 },
    /// The last line of `cache prune` and `cache verify`.
    CacheSummary { outcome: CacheOutcome, packages: usize, bytes: u64, left: usize, left_bytes: u64 },
}

/// What became of a package.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CacheOutcome {
    /// It is in the cache.
    Present,
    /// It is not in the cache any more.
    Removed,
    /// It would not be.
    WouldRemove,
    /// It was changed, and is not in the cache any more.
    Damaged,
    /// It is as it came.
    Intact,
}

fn line<'a>(package: &'a KeptPackage, outcome: CacheOutcome, file: Option<&'a Path>) -> CacheLine<'a> {
    CacheLine::CachedPackage {
        outcome,
        name: &package.name,
        h1: &package.h1,
        bytes: package.bytes,
        last_used: Moment::from(package.last_used).to_string(),
        path: PathText(&package.path),
        file: file.map(PathText),
    }
}

pub(super) fn bytes<'a>(packages: impl IntoIterator<Item = &'a KeptPackage>) -> u64 {
    packages.into_iter().map(|package| package.bytes).sum()
}

pub(super) fn info(info: &CacheInfo) -> Vec<CacheLine<'_>> {
    let mut lines: Vec<_> = info.packages.iter().map(|package| line(package, CacheOutcome::Present, None)).collect();
    lines.push(CacheLine::Cache {
        path: PathText(&info.dir),
        lower: info.lower.as_deref().map(PathText),
        packages: info.packages.len(),
        bytes: bytes(&info.packages),
    });
    lines
}

pub(super) fn pruned(pruned: &Pruned, act: PruneAct) -> Vec<CacheLine<'_>> {
    let outcome = match act {
        PruneAct::Remove => CacheOutcome::Removed,
        PruneAct::Report => CacheOutcome::WouldRemove,
    };
    let mut lines: Vec<_> = pruned.removed.iter().map(|package| line(package, outcome, None)).collect();
    lines.push(summary(outcome, pruned.removed.iter(), &pruned.kept));
    lines
}

/// The lines of `cache verify`.
pub(super) fn health(health: &CacheHealth) -> Vec<CacheLine<'_>> {
    let damaged = health.damaged.iter();
    let damaged = damaged.map(|damaged| line(&damaged.package, CacheOutcome::Damaged, Some(&damaged.file)));
    let mut lines: Vec<_> = damaged.collect();
    let gone = health.damaged.iter().map(|damaged| &damaged.package);
    let outcome = if health.damaged.is_empty() { CacheOutcome::Intact } else { CacheOutcome::Damaged };
    lines.push(summary(outcome, gone, &health.sound));
    lines
}

fn summary<'a>(
    outcome: CacheOutcome,
    gone: impl Iterator<Item = &'a KeptPackage> + Clone,
    left: &[KeptPackage],
) -> CacheLine<'a> {
    let (packages, left_bytes) = (gone.clone().count(), bytes(left));
    CacheLine::CacheSummary { outcome, packages, bytes: bytes(gone), left: left.len(), left_bytes }
}

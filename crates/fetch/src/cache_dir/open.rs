//! The caches of one run.

use std::fmt;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tofu_oci_archive::KnownFiles;
use tofu_oci_disk::{FolderFault, Held, Lock, Lockable, Waiter};
use tofu_oci_types::{Event, PackageHash, Reporter};

use super::clone::Cloner;
use super::folder::CacheFolder;
use super::memo::FileMemo;

/// Which folders a run uses as caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageCacheSettings {
    /// The user's own cache; `None` goes without one.
    pub dir: Option<PathBuf>,
    /// Who has chosen it.
    pub origin: CacheDirOrigin,
    /// A cache that is only read, such as one of an image of a CI system.
    pub lower: Option<PathBuf>,
}

/// Who has chosen the folder of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheDirOrigin {
    /// The user. A package goes into the cache even if all of it has to be copied.
    Named,
    /// This program. A package goes into the cache if it shares its bytes with the installed one.
    Usual,
}

/// Unpacked packages that projects share, and what is known of large files. Clones are one cache.
#[derive(Clone, Debug, Default)]
pub struct PackageCache(pub(crate) Option<Arc<OpenCaches>>);

/// What a run has open.
#[derive(Debug)]
pub(crate) struct OpenCaches {
    pub(crate) own: Option<CacheFolder>,
    pub(crate) lower: Option<CacheFolder>,
    pub(crate) memo: Option<FileMemo>,
    pub(crate) origin: CacheDirOrigin,
    pub(crate) cloner: Cloner,
    /// Whether the user knows that nothing can be written.
    warned: AtomicBool,
}

impl PackageCache {
    /// A cache that holds nothing and keeps nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Opens the caches, and makes the user's own if it is missing. An unusable cache is reported and left out.
    ///
    /// It looks at the disk, and blocks.
    pub fn open(settings: &PackageCacheSettings, reporter: &dyn Reporter) -> Self {
        Self::opened(settings, CacheFolder::own, reporter)
    }

    /// The same to look into: it makes nothing, and records nothing of files that are read. A cache that is missing is left out.
    pub fn open_to_look(settings: &PackageCacheSettings, reporter: &dyn Reporter) -> Self {
        let settings = PackageCacheSettings {
            dir: settings.dir.clone().filter(|root| CacheFolder::is_in(root)),
            ..settings.clone()
        };
        let Self(Some(caches)) = Self::opened(&settings, CacheFolder::lower, reporter) else { return Self::off() };
        Self(Arc::into_inner(caches).map(|caches| Arc::new(OpenCaches { memo: None, ..caches })))
    }

    fn opened(
        settings: &PackageCacheSettings,
        own: fn(&Path) -> Result<CacheFolder, FolderFault>,
        reporter: &dyn Reporter,
    ) -> Self {
        let usable = |root: &Path, found: Result<CacheFolder, FolderFault>, variable| {
            let report = |fault: &FolderFault| {
                let text = format!("the package cache in {} is not used: {fault}", root.display());
                // Some users have no home folder; a user who names a cache wants one.
                let event = match settings.origin {
                    CacheDirOrigin::Named => Event::warning("cache-not-used", text),
                    CacheDirOrigin::Usual => Event::note("cache-not-used", text),
                };
                let otherwise = format!("set {variable} to another folder; an empty {variable} turns the cache off");
                reporter.event(&event.with_hint(fault.hint(&otherwise)));
            };
            found.inspect_err(report).ok()
        };
        let own = settings.dir.as_deref().and_then(|root| usable(root, own(root), "TOFU_OCI_CACHE_DIR"));
        let lower =
            settings.lower.as_deref().and_then(|root| usable(root, CacheFolder::lower(root), "TOFU_OCI_CACHE_LOWER"));
        if own.is_none() && lower.is_none() {
            return Self::off();
        }
        let memo = own.as_ref().map(FileMemo::of);
        let (origin, cloner, warned) = (settings.origin, Cloner::default(), AtomicBool::new(false));
        Self(Some(Arc::new(OpenCaches { own, lower, memo, origin, cloner, warned })))
    }

    /// Waits until no other run works with what `hash` names; `None` if that cannot be locked, or takes too long. Then the
    /// package is fetched as if there were no cache.
    pub(crate) async fn lock(&self, hash: &PackageHash, waiter: &Waiter, reporter: &dyn Reporter) -> Option<Lock> {
        let own = self.0.as_ref()?.own.as_ref()?;
        let report = |held: &Held| reporter.event(&Event::note("waiting-for-lock", waiter.words(held)));
        tofu_oci_disk::lock(&Lockable::File(own.lock(hash)), waiter, &report).await.ok()
    }
}

impl OpenCaches {
    /// Records what a file holds that was just made.
    pub(crate) fn remember(&self, file: &Path, sha256: [u8; 32]) {
        if let Some(memo) = &self.memo {
            memo.record_at(file, sha256);
        }
    }

    /// Forgets what a file holds, so that no place of it is believed without reading it.
    pub(crate) fn forget(&self, file: &Path) {
        if let (Some(memo), Ok(metadata)) = (&self.memo, fs::metadata(file)) {
            memo.forget(&metadata);
        }
    }

    /// Reports once that packages do not get into the cache.
    pub(crate) fn not_written(&self, reason: &dyn fmt::Display, reporter: &dyn Reporter) {
        let Some(own) = &self.own else { return };
        if !self.warned.swap(true, Ordering::Relaxed) {
            let text = format!("the package cache in {} cannot be written: {reason}", own.path().display());
            let hint = "packages are installed all the same; name another folder (TOFU_OCI_CACHE_DIR), or go without: --no-cache";
            reporter.event(&Event::warning("cache-not-written", text).with_hint(hint));
        }
    }
}

impl KnownFiles for PackageCache {
    fn sha256(&self, file: &Metadata) -> Option<[u8; 32]> {
        self.0.as_ref()?.memo.as_ref()?.sha256(file)
    }

    fn was_read(&self, before: &Metadata, after: &Metadata, sha256: &[u8; 32]) {
        if let Some(memo) = self.0.as_ref().and_then(|caches| caches.memo.as_ref()) {
            memo.was_read(before, after, sha256);
        }
    }
}

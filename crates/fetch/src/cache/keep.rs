//! Which package gets into the cache: one that was fetched and verified.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_archive::{PackageContents, PackageFile};
use tofu_oci_disk::{Lock, Scratch, Waiter, device};
use tofu_oci_types::{PackageHash, Reporter};

use super::take::{CacheRequest, make_folders, read_only};
use crate::blocking::blocking;
use crate::cache_dir::clone::{CloneWay, set_mode};
use crate::cache_dir::folder::{CacheFolder, CacheOrigin};
use crate::cache_dir::open::{CacheDirOrigin, OpenCaches, PackageCache};
use crate::cache_dir::record::{FILES, PackageRecord, UnpackedTo};
use crate::stage::PackageOrigin;
use crate::verify::Verified;

/// What the names of providers' programs begin with.
const PROGRAM: &str = "terraform-provider-";

/// Whether a package that is fetched now will be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheWrite {
    /// Others that want it should wait for it.
    Sure,
    /// If the file systems can share its blocks, which is not known yet.
    IfShared,
}

/// What became of a package that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepOutcome {
    /// It is in the cache now, or cannot be.
    Done,
    /// The cache had it before: the files that were fetched are a second copy.
    AlreadyKept,
}

/// One package on its way into the cache.
struct ArrivingPackage {
    /// The folder with its files, which no other program knows yet.
    from: PathBuf,
    contents: PackageContents,
    h1: PackageHash,
    /// What it was unpacked from; `None` if that is not known.
    from_archive: Option<CacheOrigin>,
    name: String,
    ways: Vec<CloneWay>,
}

impl PackageCache {
    /// Whether what this request fetches will be in the cache.
    pub(crate) fn cache_write(&self, request: &CacheRequest) -> CacheWrite {
        let Some((caches, own)) = self.0.as_ref().and_then(|caches| Some((caches, caches.own.as_ref()?))) else {
            return CacheWrite::IfShared;
        };
        if can_link(request, own) || caches.origin == CacheDirOrigin::Named {
            CacheWrite::Sure
        } else {
            CacheWrite::IfShared
        }
    }

    /// Records what the files of a package hold, so that they need not be read again once they are in their place.
    pub(crate) async fn remember(&self, verified: &Verified) {
        let Some(caches) = self.0.clone().filter(|caches| caches.memo.is_some()) else { return };
        let Some((from, contents)) = verified.folder() else { return };
        let (from, contents) = (from.to_owned(), contents.clone());
        let work = move || {
            for file in contents.files() {
                caches.remember(&from.join(&file.name), file.sha256);
            }
        };
        blocking(work).await;
    }

    /// Puts a package into the user's own cache, if that costs no second copy of its bytes or the user has asked for a cache.
    /// `from` says what a package of the other cache was unpacked from.
    pub(crate) async fn keep(
        &self,
        request: &CacheRequest,
        verified: &Verified,
        from: Option<CacheOrigin>,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> KeepOutcome {
        let Some(caches) = &self.0 else { return KeepOutcome::Done };
        let Some(own) = caches.own.clone() else { return KeepOutcome::Done };
        let hashes = verified.hashes();
        let Some(h1) = hashes.h1.clone() else { return KeepOutcome::Done };
        let from_archive = match verified.origin() {
            PackageOrigin::SmallLayer => request.small.clone().map(CacheOrigin::SmallLayer),
            PackageOrigin::Cache => from,
            PackageOrigin::Place => match hashes.zh.clone().or_else(|| hashes.ch.clone()) {
                None => return KeepOutcome::Done,
                Some(hash) => Some(CacheOrigin::Package(hash)),
            },
        };
        let Some((from, contents)) = verified.folder() else { return KeepOutcome::Done };
        // An `h1:` says nothing of modes, and another archive with the same files may have the right ones.
        let can_start = |file: &PackageFile| !file.name.starts_with(PROGRAM) || file.mode & 0o111 != 0;
        if !contents.files().iter().all(can_start) {
            return KeepOutcome::Done;
        }
        let arrival = ArrivingPackage {
            from: from.to_owned(),
            contents: contents.clone(),
            from_archive,
            name: request.name.clone(),
            ways: ways(request, caches.origin, &own),
            h1,
        };
        let lock = self.lock(&arrival.h1, waiter, reporter).await;
        let at_work = caches.clone();
        let work = move || at_work.keep(&own, &arrival, lock.as_ref());
        blocking(work).await.unwrap_or_else(|error| {
            caches.not_written(&error, reporter);
            KeepOutcome::Done
        })
    }
}

/// Whether the package may be hard links to this cache, and lies on its file system.
fn can_link(request: &CacheRequest, own: &CacheFolder) -> bool {
    request.hard_links && device_above(request.place.path()) == Some(own.device)
}

/// How the files of a package may get into the cache.
fn ways(request: &CacheRequest, origin: CacheDirOrigin, own: &CacheFolder) -> Vec<CloneWay> {
    let hard = can_link(request, own).then_some(CloneWay::HardLink);
    let copy = (origin == CacheDirOrigin::Named).then_some(CloneWay::Copy);
    [Some(CloneWay::Reflink), hard, copy].into_iter().flatten().collect()
}

impl OpenCaches {
    fn keep(&self, own: &CacheFolder, arrival: &ArrivingPackage, lock: Option<&Lock>) -> io::Result<KeepOutcome> {
        let (content, to) = (own.content(&arrival.h1), UnpackedTo::of(&arrival.contents));
        let there = PackageRecord::read(&content).ok().and_then(|record| record.contents(&arrival.h1));
        let is_there = there.as_ref().is_some_and(|there| UnpackedTo::of(there) == to);
        // The same files with other modes give way, if no run takes them out now: what comes is what somebody uses.
        if !is_there && there.is_some() && lock.is_none() {
            return Ok(KeepOutcome::Done);
        }
        if !is_there && !self.make(own, arrival, &content)? {
            return Ok(KeepOutcome::Done);
        }
        if let Some(from) = &arrival.from_archive {
            to.write(&own.source(from), &own.scratch())?;
        }
        let would_link = arrival.ways.contains(&CloneWay::HardLink);
        Ok(if is_there && would_link { KeepOutcome::AlreadyKept } else { KeepOutcome::Done })
    }

    /// Makes the package in a temporary folder, and renames it. False if its files cannot be cloned.
    fn make(&self, own: &CacheFolder, arrival: &ArrivingPackage, content: &Path) -> io::Result<bool> {
        let scratch = Scratch::beside(&own.scratch())?;
        let package = scratch.path().join("package");
        let files = package.join(FILES);
        fs::create_dir_all(&files)?;
        for file in arrival.contents.files() {
            make_folders(&files, &file.name)?;
            let (from, to) = (arrival.from.join(&file.name), files.join(&file.name));
            let Some(way) = self.cloner.make(&from, &to, &arrival.ways)? else { return Ok(false) };
            // A hard link has one mode in all its places.
            set_mode(&to, read_only(file.mode))?;
            self.remember(&to, file.sha256);
            if way != CloneWay::HardLink {
                self.remember(&from, file.sha256);
            }
        }
        PackageRecord::of(&arrival.name, &arrival.contents).write(&package)?;
        // What lies there has no valid record, or other modes.
        own.remove(content)?;
        match fs::rename(&package, content) {
            // A run without locks was faster.
            Err(_) if PackageRecord::read(content).is_ok() => Ok(true),
            Err(error) => Err(error),
            Ok(()) => Ok(true),
        }
    }
}

/// The file system of a path, or of the folder that it will be made in.
fn device_above(path: &Path) -> Option<u64> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|folder| fs::metadata(folder).ok()).as_ref().map(device)
}

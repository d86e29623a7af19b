//! A package out of the cache, as if it had been fetched: in which order caches are asked, and when the modes of its
//! files must be known.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tofu_oci_archive::{KnownFiles as _, NoKnownFiles, PackageContents, PackageFile, file_sha256};
use tofu_oci_disk::{FileIdentity, Lock, Waiter};
use tofu_oci_source::{Offer, Package};
use tofu_oci_types::{Digest, Event, PackageHash, Reporter, Scheme};

use crate::blocking::blocking;
use crate::cache_dir::clone::{CloneWay, set_mode};
use crate::cache_dir::folder::{CacheFolder, CacheOrigin};
use crate::cache_dir::open::{OpenCaches, PackageCache};
use crate::cache_dir::record::{FILES, PackageRecord, RECORD, UnpackedTo};
use crate::place::{CacheUse, PackagePath};
use crate::small::ProvedContents;
use crate::stage::{ArchiveOrigin, PackageOrigin, Staged};
use crate::staging::StagingFolder;
use crate::subject;

/// An offered package that a cache may have.
#[derive(Clone, Debug)]
pub(crate) struct CacheRequest {
    /// Checksums of the zip or leaf manifest, each of which is enough to know the package. There is one or more.
    known_by: Vec<PackageHash>,
    /// The digest of its small layer, if that would be fetched in place of the zip.
    pub(super) small: Option<Digest>,
    /// Checksums of files, each of which is known to be the package's.
    proved: ProvedContents,
    pub(super) place: PackagePath,
    pub(super) hard_links: bool,
    pub(super) name: String,
}

/// Whose cache it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FolderOf {
    User,
    /// One that is only read.
    Others,
}

/// What a cache may know the package by.
struct CachedContents {
    h1: PackageHash,
    known: KnownModes,
}

/// Whether it is known which modes the files must have.
#[derive(Clone, PartialEq, Eq)]
enum KnownModes {
    /// Those that this archive gave them.
    Of(CacheOrigin, UnpackedTo),
    /// Any modes will do: the contents are proved, and nothing says more.
    Any,
}

/// Whether a package in this place may be hard links to a cache; `None` if it never comes from one.
fn takes_hard_links(place: &PackagePath) -> Option<bool> {
    match place.cache_use() {
        CacheUse::LinksAndCopies => Some(true),
        CacheUse::Copies => Some(false),
        CacheUse::Never => None,
    }
}

/// A file of a cache that was the recorded one when it was compared.
pub(super) struct ComparedFile<'a> {
    pub(super) from: &'a Path,
    /// As it was then.
    pub(super) before: Metadata,
    pub(super) file: &'a PackageFile,
    /// Whether the comparison went by its identity, and its bytes were not read.
    pub(super) memo_knows: bool,
}

/// What came of one look into a cache.
enum CacheLookup {
    Staged(Box<Staged>),
    Unknown,
    /// A file of the package has changed since it came.
    Damaged(PathBuf),
}

impl CacheRequest {
    /// That for a zip; `None` if a package in this place never comes from a cache.
    pub(super) fn of_zip(zip: &PackageHash, place: &PackagePath, proved: &ProvedContents) -> Option<Self> {
        let hard_links = takes_hard_links(place)?;
        let (known_by, proved, place) = (vec![zip.clone()], proved.clone(), place.clone());
        zip.is_well_formed().then(|| Self { known_by, small: None, proved, place, hard_links, name: zip.to_string() })
    }

    /// The contents that the package may have by a cache.
    fn contents(&self, folder: &CacheFolder) -> Vec<CachedContents> {
        let of = |from: CacheOrigin| {
            let to = UnpackedTo::read(&folder.source(&from))?;
            Some(CachedContents { h1: to.h1.clone(), known: KnownModes::Of(from, to) })
        };
        let by_source = self.known_by.iter().filter_map(|hash| of(CacheOrigin::Package(hash.clone())));
        let by_small = self.small.iter().filter_map(|digest| of(CacheOrigin::SmallLayer(digest.clone())));
        let by_small = by_small.filter(|contents| self.proved.contain(&contents.h1));
        let proved = self.proved.with_any_modes().filter(|h1| h1.is_well_formed());
        let proved = proved.map(|h1| CachedContents { h1: h1.clone(), known: KnownModes::Any });
        by_source.chain(by_small).chain(proved).collect()
    }

    /// What is locked while it is fetched.
    pub(crate) fn lock_name(&self) -> &PackageHash {
        &self.known_by[0]
    }
}

impl OpenCaches {
    /// Whether a cache has the package.
    pub(super) fn hold(&self, request: &CacheRequest) -> bool {
        let holds = |folder: &CacheFolder| {
            let mut found = request.contents(folder).into_iter();
            found.any(|known| known.recorded(folder).is_some())
        };
        [&self.own, &self.lower].into_iter().flatten().any(holds)
    }
}

impl PackageCache {
    /// What the cache is asked for; `None` if no cache can have this package in the form in which it is wanted.
    pub(crate) fn wanted(&self, offer: &Offer, place: &PackagePath, proved: &ProvedContents) -> Option<CacheRequest> {
        self.0.as_ref()?;
        let hard_links = takes_hard_links(place)?;
        let mut known_by: Vec<_> = match offer.package {
            Package::Zip(_) | Package::Layers(_) => offer.zh().or_else(|| offer.ch()).into_iter().collect(),
            Package::Folder(_) => return None,
        };
        if known_by.is_empty() {
            // A place that names no digest admits every zip that it lists.
            known_by.extend(offer.allowed.iter().filter(|hash| hash.scheme() == Scheme::Zh).cloned());
        }
        known_by.retain(PackageHash::is_well_formed);
        let name = subject(offer.address(), offer.version(), &offer.platform);
        let small = proved.small_layer(offer, place).and_then(|layer| layer.digest.clone());
        let (proved, place) = (proved.clone(), place.clone());
        (!known_by.is_empty()).then(|| CacheRequest { known_by, small, proved, place, hard_links, name })
    }

    /// Whether a cache has the package, so that [`Fetcher::fetch`](crate::Fetcher::fetch) will not download it unless it is damaged.
    pub async fn holds(&self, offer: &Offer, place: &PackagePath, proved: &ProvedContents) -> bool {
        let (Some(request), Some(caches)) = (self.wanted(offer, place, proved), self.0.clone()) else { return false };
        blocking(move || caches.hold(&request)).await
    }

    /// The package in a temporary folder beside its place, every file of it the recorded one; `None` if the user's own cache does
    /// not have it. A package that was changed there is removed, with a warning.
    pub(crate) async fn take_own(
        &self,
        request: &CacheRequest,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> Option<Staged> {
        let own = self.0.as_ref()?.own.as_ref()?;
        self.take_from(own, FolderOf::User, request, waiter, reporter).await.map(|(staged, _)| staged)
    }

    /// The same from the cache that is only read, and what the package was unpacked from, if that is known.
    pub(crate) async fn take_lower(
        &self,
        request: &CacheRequest,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> Option<(Staged, Option<CacheOrigin>)> {
        let lower = self.0.as_ref()?.lower.as_ref()?;
        self.take_from(lower, FolderOf::Others, request, waiter, reporter).await
    }

    async fn take_from(
        &self,
        folder: &CacheFolder,
        of: FolderOf,
        request: &CacheRequest,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> Option<(Staged, Option<CacheOrigin>)> {
        let caches = self.0.as_ref()?;
        let mut damaged: Vec<PackageHash> = Vec::new();
        for known in request.contents(folder) {
            let h1 = known.h1.clone();
            if damaged.contains(&h1) {
                continue;
            }
            let lock = match of {
                FolderOf::User => self.lock(&h1, waiter, reporter).await,
                FolderOf::Others => None,
            };
            let from = match &known.known {
                KnownModes::Of(from, _) => Some(from.clone()),
                KnownModes::Any => None,
            };
            let content = folder.content(&h1);
            let (caches, folder, request) = (caches.clone(), folder.clone(), request.clone());
            let work = move || {
                let _lock: Option<Lock> = lock;
                let taken = caches.take(&folder, of, &known, &request);
                match (&taken, of) {
                    // A package that cannot be removed is found damaged again.
                    (CacheLookup::Damaged(file), FolderOf::User) => {
                        caches.forget(file);
                        drop(folder.remove(&content));
                    }
                    (CacheLookup::Staged(_), FolderOf::User) => note_use(&content),
                    _ => {}
                }
                taken
            };
            match blocking(work).await {
                CacheLookup::Staged(staged) => {
                    let zh = match &from {
                        Some(CacheOrigin::Package(hash)) if hash.scheme() == Scheme::Zh => Some(hash.clone()),
                        _ => None,
                    };
                    return Some((Staged { zh, ..*staged }, from));
                }
                CacheLookup::Damaged(file) => {
                    report_damage(&file, of, reporter);
                    damaged.push(h1);
                }
                CacheLookup::Unknown => {}
            }
        }
        None
    }
}

fn report_damage(file: &Path, of: FolderOf, reporter: &dyn Reporter) {
    let done = match of {
        FolderOf::User => "the package is removed from the cache and fetched anew",
        FolderOf::Others => "it is not used",
    };
    let text = format!("{} has changed since it came into the package cache: {done}", file.display());
    let hint = "a program has written to it, perhaps in a project that shares the file by a hard link";
    reporter.event(&Event::warning("cache-damaged", text).with_hint(hint));
}

impl CachedContents {
    /// What the cache has recorded of them.
    fn recorded(&self, folder: &CacheFolder) -> Option<PackageContents> {
        let contents = PackageRecord::read(&folder.content(&self.h1)).ok()?.contents(&self.h1)?;
        match &self.known {
            KnownModes::Of(_, to) if *to != UnpackedTo::of(&contents) => None,
            KnownModes::Of(..) | KnownModes::Any => Some(contents),
        }
    }
}

impl OpenCaches {
    /// Makes a staged package of one in this cache.
    fn take(&self, folder: &CacheFolder, of: FolderOf, known: &CachedContents, request: &CacheRequest) -> CacheLookup {
        let Some(contents) = known.recorded(folder) else { return CacheLookup::Unknown };
        let content = folder.content(&known.h1);
        let Ok(staging) = StagingFolder::beside(&request.place) else { return CacheLookup::Unknown };
        let Ok(package) = staging.folder("package") else { return CacheLookup::Unknown };
        for file in contents.files() {
            match self.take_file(&content.join(FILES).join(&file.name), of, file, &package, request) {
                Ok(true) => {}
                Ok(false) => return CacheLookup::Damaged(content.join(FILES).join(&file.name)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return CacheLookup::Damaged(content.join(FILES).join(&file.name));
                }
                Err(_) => return CacheLookup::Unknown,
            }
        }
        let (archive, origin) = (ArchiveOrigin::Original, PackageOrigin::Cache);
        CacheLookup::Staged(Box::new(Staged { staging, package, contents, archive, origin, zh: None }))
    }

    /// Makes one file visible below `package`; false if it is not the recorded one.
    fn take_file(
        &self,
        from: &Path,
        of: FolderOf,
        file: &PackageFile,
        package: &Path,
        request: &CacheRequest,
    ) -> io::Result<bool> {
        let mut before = fs::symlink_metadata(from)?;
        if !before.is_file() || before.len() != file.size {
            return Ok(false);
        }
        let known = self.memo.as_ref().and_then(|memo| match of {
            FolderOf::User => memo.sha256(&before),
            // No project shares its files: nothing but a change of theirs moves their status.
            FolderOf::Others => FileIdentity::of(&before).and_then(|identity| memo.find(&identity)),
        });
        let mut memo_knows = known.is_some();
        // A project may have changed the mode of a file that it shares.
        if of == FolderOf::User && has_other_mode(&before, read_only(file.mode)) {
            set_mode(from, read_only(file.mode))?;
            (before, memo_knows) = (fs::symlink_metadata(from)?, false);
        }
        let sha256 = if let Some(sha256) = known {
            sha256
        } else {
            let read = read_quietly(from)?;
            before = read.0;
            read.1
        };
        if sha256 != file.sha256 {
            return Ok(false);
        }
        let compared = ComparedFile { from, before, file, memo_knows };
        make_folders(package, &file.name)?;
        // What is only read is not linked to: that would change its number of links, and give its owner a file of the project.
        let ways: &[CloneWay] = if request.hard_links && of == FolderOf::User {
            &[CloneWay::Reflink, CloneWay::HardLink, CloneWay::Copy]
        } else {
            &[CloneWay::Reflink, CloneWay::Copy]
        };
        self.clone_compared(&compared, &package.join(&file.name), ways)
    }

    /// Makes a compared file visible at `to`; false if it was changed since it was compared, as far as that shows.
    pub(super) fn clone_compared(&self, compared: &ComparedFile, to: &Path, ways: &[CloneWay]) -> io::Result<bool> {
        let ComparedFile { from, before, file, memo_knows } = compared;
        let way = self.cloner.make(from, to, ways)?;
        if way != Some(CloneWay::HardLink) {
            set_mode(to, file.mode)?;
        }
        let after = fs::symlink_metadata(from)?;
        let (Some(before), Some(after)) = (FileIdentity::of(before), FileIdentity::of(&after)) else { return Ok(true) };
        // A new link changes the status itself, so that there the times of the bytes are all that can be compared.
        if !after.has_bytes_of(&before) {
            return Ok(false);
        }
        if way != Some(CloneWay::HardLink) {
            // Putting those times back changes the status, and so does deleting a project: only the copy can tell.
            if after != before && file_sha256(to, &NoKnownFiles).map_err(io::Error::other)? != file.sha256 {
                return Ok(false);
            }
            self.remember(to, file.sha256);
            if after != before {
                return Ok(true);
            }
        }
        if let Some(memo) = self.memo.as_ref().filter(|_| !memo_knows || before != after) {
            memo.record(&after, file.sha256);
        }
        Ok(true)
    }
}

/// How often a file is read again if it changes meanwhile.
const READS: usize = 3;

/// The SHA-256 of a file, and its metadata, which are those of this reading: they were the same before and after it.
///
/// A program that has mapped the file can write to it without any trace, until the system writes its pages to the disk. So
/// that is done first: the next write changes the times.
fn read_quietly(path: &Path) -> io::Result<(Metadata, [u8; 32])> {
    for _ in 0..READS {
        // Some file systems cannot; then only the times are compared.
        let _ = File::open(path)?.sync_data();
        let before = fs::symlink_metadata(path)?;
        let sha256 = file_sha256(path, &NoKnownFiles).map_err(io::Error::other)?;
        let after = fs::symlink_metadata(path)?;
        if FileIdentity::of(&before) == FileIdentity::of(&after) {
            return Ok((after, sha256));
        }
    }
    Err(io::Error::other("it changes all the time"))
}

/// The mode of a file in the cache.
pub(super) fn read_only(mode: u32) -> u32 {
    mode & 0o555
}

#[cfg(unix)]
fn has_other_mode(file: &Metadata, mode: u32) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o7777 != mode
}

#[cfg(not(unix))]
fn has_other_mode(_file: &Metadata, _mode: u32) -> bool {
    false
}

/// Makes the folders above a file of a package, for everybody to read.
pub(super) fn make_folders(package: &Path, name: &str) -> io::Result<()> {
    for (slash, _) in name.match_indices('/') {
        let folder = package.join(&name[..slash]);
        match fs::create_dir(&folder) {
            Ok(()) => set_mode(&folder, 0o755)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Remembers that a package was used now, for `cache prune`.
fn note_use(content: &Path) {
    // The cache may be read-only.
    let _ =
        File::options().append(true).open(content.join(RECORD)).and_then(|file| file.set_modified(SystemTime::now()));
}

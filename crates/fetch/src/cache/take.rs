//! A package out of the cache, as if it had been fetched.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tofu_oci_archive::{KnownFiles as _, NoKnownFiles, PackageFile, file_sha256};
use tofu_oci_disk::{Lock, Waiter};
use tofu_oci_source::{Offer, Package};
use tofu_oci_types::{Event, PackageHash, Reporter, Scheme};

use super::clone::{CloneWay, set_mode};
use super::folder::CacheFolder;
use super::identity::FileIdentity;
use super::open::{OpenCaches, PackageCache};
use super::record::{FILES, PackageRecord, RECORD, read_source};
use crate::blocking::blocking;
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
    /// Checksums of files, each of which is known to be the package's.
    proved: ProvedContents,
    pub(super) place: PackagePath,
    pub(super) hard_links: bool,
    pub(super) name: String,
}

/// Whose cache it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FolderOf {
    /// The user's own.
    User,
    /// One that is only read.
    Others,
}

/// What came of one look into a cache.
enum Taken {
    Staged(Box<Staged>),
    Unknown,
    /// A file of the package has changed since it came.
    Damaged(PathBuf),
}

impl CacheRequest {
    /// That for a zip; `None` if a package in this place never comes from a cache.
    pub(super) fn of_zip(zip: &PackageHash, place: &PackagePath, proved: &ProvedContents) -> Option<Self> {
        let hard_links = match place.cache_use() {
            CacheUse::LinksAndCopies => true,
            CacheUse::Copies => false,
            CacheUse::Never => return None,
        };
        let (known_by, proved, place) = (vec![zip.clone()], proved.clone(), place.clone());
        zip.is_well_formed().then(|| Self { known_by, proved, place, hard_links, name: zip.to_string() })
    }

    /// The contents that the package may have by a cache, and the zip or manifest that the cache knows them by.
    fn contents(&self, folder: &CacheFolder) -> Vec<(Option<&PackageHash>, PackageHash)> {
        let by_source = self.known_by.iter().filter_map(|hash| Some((Some(hash), read_source(&folder.source(hash))?)));
        let proved = self.proved.iter().filter(|h1| h1.is_well_formed()).map(|h1| (None, h1.clone()));
        by_source.chain(proved).collect()
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
            found.any(|(_, h1)| {
                PackageRecord::read(&folder.content(&h1)).is_ok_and(|record| record.contents(&h1).is_some())
            })
        };
        [&self.own, &self.lower].into_iter().flatten().any(holds)
    }
}

impl PackageCache {
    /// What the cache is asked for; `None` if no cache can have this package in the form in which it is wanted.
    pub(crate) fn wanted(&self, offer: &Offer, place: &PackagePath, proved: &ProvedContents) -> Option<CacheRequest> {
        self.0.as_ref()?;
        let hard_links = match place.cache_use() {
            CacheUse::LinksAndCopies => true,
            CacheUse::Copies => false,
            CacheUse::Never => return None,
        };
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
        let (proved, place) = (proved.clone(), place.clone());
        (!known_by.is_empty()).then(|| CacheRequest { known_by, proved, place, hard_links, name })
    }

    /// Whether a cache has the package, so that [`Fetcher::fetch`](crate::Fetcher::fetch) will not download it unless it is damaged.
    pub async fn holds(&self, offer: &Offer, place: &PackagePath, proved: &ProvedContents) -> bool {
        let (Some(request), Some(caches)) = (self.wanted(offer, place, proved), self.0.clone()) else { return false };
        blocking(move || caches.hold(&request)).await
    }

    /// The package in a temporary folder beside its place, every file of it the recorded one; `None` if no cache has it.
    /// A package that was changed in the user's own cache is removed, with a warning.
    pub(crate) async fn take(
        &self,
        request: &CacheRequest,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> Option<Staged> {
        let own = self.take_own(request, waiter, reporter).await;
        let lower = self.0.as_ref().and_then(|caches| caches.lower.as_ref());
        match (own, lower) {
            (None, Some(lower)) => self.take_from(lower, FolderOf::Others, request, waiter, reporter).await,
            (own, _) => own,
        }
    }

    /// The same from the user's own cache alone: another run may have put it there meanwhile.
    pub(crate) async fn take_own(
        &self,
        request: &CacheRequest,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> Option<Staged> {
        let own = self.0.as_ref()?.own.as_ref()?;
        self.take_from(own, FolderOf::User, request, waiter, reporter).await
    }

    async fn take_from(
        &self,
        folder: &CacheFolder,
        of: FolderOf,
        request: &CacheRequest,
        waiter: &Waiter,
        reporter: &dyn Reporter,
    ) -> Option<Staged> {
        let caches = self.0.as_ref()?;
        for (known_by, h1) in request.contents(folder) {
            let lock = match of {
                FolderOf::User => self.lock(&h1, waiter, reporter).await,
                FolderOf::Others => None,
            };
            let (caches, folder, request) = (caches.clone(), folder.clone(), request.clone());
            let work = move || {
                let _lock: Option<Lock> = lock;
                let taken = caches.take(&folder, &h1, &request);
                match (&taken, of) {
                    // A package that cannot be removed is found damaged again.
                    (Taken::Damaged(_), FolderOf::User) => drop(folder.remove(&folder.content(&h1))),
                    (Taken::Staged(_), FolderOf::User) => note_use(&folder.content(&h1)),
                    _ => {}
                }
                taken
            };
            match blocking(work).await {
                Taken::Staged(staged) => {
                    let zh = known_by.filter(|hash| hash.scheme() == Scheme::Zh);
                    return Some(Staged { zh: zh.cloned(), ..*staged });
                }
                Taken::Damaged(file) => report_damage(&file, of, reporter),
                Taken::Unknown => {}
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

impl OpenCaches {
    /// Makes a staged package of one in this cache.
    fn take(&self, folder: &CacheFolder, h1: &PackageHash, request: &CacheRequest) -> Taken {
        let content = folder.content(h1);
        let Some(contents) = PackageRecord::read(&content).ok().and_then(|record| record.contents(h1)) else {
            return Taken::Unknown;
        };
        let Ok(staging) = StagingFolder::beside(&request.place) else { return Taken::Unknown };
        let Ok(package) = staging.folder("package") else { return Taken::Unknown };
        for file in contents.files() {
            match self.take_file(&content.join(FILES).join(&file.name), file, &package, request) {
                Ok(true) => {}
                Ok(false) => return Taken::Damaged(content.join(FILES).join(&file.name)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Taken::Damaged(content.join(FILES).join(&file.name));
                }
                Err(_) => return Taken::Unknown,
            }
        }
        let (archive, origin) = (ArchiveOrigin::Original, PackageOrigin::Cache);
        Taken::Staged(Box::new(Staged { staging, package, contents, archive, origin, zh: None }))
    }

    /// Makes one file visible below `package`; false if it is not the recorded one.
    fn take_file(&self, from: &Path, file: &PackageFile, package: &Path, request: &CacheRequest) -> io::Result<bool> {
        let before = fs::symlink_metadata(from)?;
        if !before.is_file() || before.len() != file.size {
            return Ok(false);
        }
        let known = self.memo.as_ref().and_then(|memo| memo.sha256(&before));
        let sha256 = match known {
            Some(sha256) => sha256,
            None => file_sha256(from, &NoKnownFiles).map_err(io::Error::other)?,
        };
        if sha256 != file.sha256 {
            return Ok(false);
        }
        let to = package.join(&file.name);
        make_folders(package, &file.name)?;
        let ways: &[CloneWay] = if request.hard_links {
            &[CloneWay::Reflink, CloneWay::HardLink, CloneWay::Copy]
        } else {
            &[CloneWay::Reflink, CloneWay::Copy]
        };
        let way = self.cloner.make(from, &to, ways)?;
        if way != Some(CloneWay::HardLink) {
            set_mode(&to, file.mode)?;
        }
        // Only its number of links may have changed meanwhile.
        let after = fs::symlink_metadata(from)?;
        if let (Some(before), Some(after)) = (FileIdentity::of(&before), FileIdentity::of(&after)) {
            if !after.has_bytes_of(&before) {
                return Ok(false);
            }
            if way != Some(CloneWay::HardLink) {
                self.remember(&to, sha256);
            }
            if let Some(memo) = self.memo.as_ref().filter(|_| known.is_none() || before != after) {
                memo.record(&after, sha256);
            }
        }
        Ok(true)
    }
}

impl OpenCaches {
    /// Records what a file holds that was just made.
    pub(super) fn remember(&self, file: &Path, sha256: [u8; 32]) {
        if let Some(memo) = &self.memo {
            memo.record_at(file, sha256);
        }
    }
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

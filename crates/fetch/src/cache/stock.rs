//! What is in the user's own cache: listed, thinned out, verified.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tofu_oci_archive::{NoKnownFiles, PackageContents, file_sha256};
use tofu_oci_disk::{FileError, LockError, Lockable, Waiter};
use tofu_oci_types::PackageHash;

use crate::FetchError;
use crate::blocking::blocking;
use crate::cache_dir::folder::CacheFolder;
use crate::cache_dir::memo::FileMemo;
use crate::cache_dir::open::PackageCache;
use crate::cache_dir::record::{FILES, PackageRecord, RECORD, UnpackedTo};

/// A package in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPackage {
    /// What it was installed as when it came: `HOST/NS/TYPE VERSION OS_ARCH`.
    pub name: String,
    /// The checksum of its files.
    pub h1: PackageHash,
    /// Bytes of its files.
    pub bytes: u64,
    /// When a project last got it.
    pub last_used: SystemTime,
    pub path: PathBuf,
}

/// What a cache holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheInfo {
    /// The folder of the cache.
    pub dir: PathBuf,
    /// The cache below it, which is only read.
    pub lower: Option<PathBuf>,
    /// Its packages, by name and checksum.
    pub packages: Vec<KeptPackage>,
}

/// What `prune` removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneRules {
    /// Packages that no project got for this time, and whose files no project shares by hard links.
    pub unused_for: Duration,
    /// The least recently used ones, until the others have at most so many bytes.
    pub max_bytes: u64,
    /// Whether it is done, or only reported.
    pub act: PruneAct,
}

/// Whether something is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneAct {
    Remove,
    Report,
}

/// What was removed, or would be.
#[derive(Debug, Default)]
pub struct Pruned {
    /// By name and checksum.
    pub removed: Vec<KeptPackage>,
    pub kept: Vec<KeptPackage>,
    /// Why one of these could not be removed.
    pub failed: Option<FetchError>,
}

/// What a look at every byte has found.
#[derive(Debug, Default)]
pub struct CacheHealth {
    /// The packages that are as they came.
    pub sound: Vec<KeptPackage>,
    /// Those that were changed. They were removed.
    pub damaged: Vec<DamagedPackage>,
    /// Why a changed one could not be removed.
    pub failed: Option<FetchError>,
}

/// A package with a file that has changed since it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPackage {
    pub package: KeptPackage,
    /// The first file that is missing or has other bytes.
    pub file: PathBuf,
}

impl PackageCache {
    /// What is in the user's own cache; `None` without one.
    ///
    /// # Errors
    /// [`FetchError::Io`] if it cannot be listed.
    pub async fn info(&self) -> Result<Option<CacheInfo>, FetchError> {
        let Some((own, caches)) = self.own().zip(self.0.as_ref()) else { return Ok(None) };
        let lower = caches.lower.as_ref().map(|lower| lower.path().to_owned());
        let dir = own.path().to_owned();
        let packages = blocking(move || list(&own)).await?;
        Ok(Some(CacheInfo { dir, lower, packages: packages.into_iter().map(|(package, _)| package).collect() }))
    }

    /// Removes packages from the user's own cache, and what is left of others. Installed ones stay where they are. If
    /// another run is taking a package out, this run waits; if that takes longer than the waiter allows, the package
    /// stays.
    ///
    /// # Errors
    /// [`FetchError::Io`] if the cache cannot be listed.
    pub async fn prune(&self, rules: PruneRules, waiter: &Waiter) -> Result<Pruned, FetchError> {
        let Some(own) = self.own() else { return Ok(Pruned::default()) };
        let at_work = own.clone();
        let look = move || {
            let with_sharing =
                |(package, contents): (KeptPackage, PackageContents)| (is_shared(&package, &contents), package);
            list(&at_work).map(|found| found.into_iter().map(with_sharing).collect::<Vec<_>>())
        };
        let mut packages = blocking(look).await?;
        packages.sort_by_key(|(_, package)| std::cmp::Reverse(package.last_used));
        let (mut pruned, mut left) = (Pruned::default(), rules.max_bytes);
        for (is_shared, package) in packages {
            let is_old = !is_shared && package.last_used.elapsed().is_ok_and(|unused| unused >= rules.unused_for);
            let fits = left.checked_sub(package.bytes).filter(|_| !is_old);
            let goes = match (fits, rules.act) {
                (Some(_), _) => false,
                (None, PruneAct::Report) => true,
                (None, PruneAct::Remove) => match remove(&own, &package, waiter).await {
                    Ok(()) => true,
                    Err(FetchError::Lock(LockError::Held { .. })) => false,
                    Err(error) => {
                        pruned.failed.get_or_insert(error);
                        false
                    }
                },
            };
            left = fits.unwrap_or(left);
            if goes { pruned.removed.push(package) } else { pruned.kept.push(package) }
        }
        pruned.removed.sort_by(order);
        pruned.kept.sort_by(order);
        if rules.act == PruneAct::Remove {
            sweep_leftovers(&own, waiter).await;
        }
        Ok(pruned)
    }

    /// Reads every file of the user's own cache. Damaged packages are removed, so that the next installation fetches them.
    ///
    /// # Errors
    /// [`FetchError::Io`] if the cache cannot be listed.
    pub async fn verify(&self, waiter: &Waiter) -> Result<CacheHealth, FetchError> {
        let Some((own, caches)) = self.own().zip(self.0.clone()) else { return Ok(CacheHealth::default()) };
        let at_work = own.clone();
        let mut health = CacheHealth::default();
        for (package, contents) in blocking(move || list(&at_work)).await? {
            let (folder, caches) = (package.path.join(FILES), caches.clone());
            let look = move || {
                contents.files().iter().map(|file| (folder.join(&file.name), file.sha256)).find(|(path, sha256)| {
                    let is_sound =
                        path.is_file() && file_sha256(path, &NoKnownFiles).is_ok_and(|found| found == *sha256);
                    if is_sound {
                        caches.remember(path, *sha256);
                    } else {
                        caches.forget(path);
                    }
                    !is_sound
                })
            };
            match blocking(look).await {
                None => health.sound.push(package),
                // It may have gone meanwhile.
                Some(_) if !package.path.exists() => {}
                Some((file, _)) => match remove(&own, &package, waiter).await {
                    Ok(()) => health.damaged.push(DamagedPackage { package, file }),
                    Err(error) => drop(health.failed.get_or_insert(error)),
                },
            }
        }
        Ok(health)
    }

    fn own(&self) -> Option<CacheFolder> {
        self.0.as_ref()?.own.clone()
    }
}

fn order(one: &KeptPackage, other: &KeptPackage) -> std::cmp::Ordering {
    (&one.name, one.h1.as_str()).cmp(&(&other.name, other.h1.as_str()))
}

/// The packages with a valid record, by name and checksum.
fn list(own: &CacheFolder) -> Result<Vec<(KeptPackage, PackageContents)>, FetchError> {
    let mut found = Vec::new();
    for path in entries(&own.contents())? {
        let Ok(record) = PackageRecord::read(&path) else { continue };
        let h1 = record.h1.clone();
        let Some(contents) = record.contents(&h1).filter(|_| own.content(&h1) == path) else { continue };
        let last_used =
            fs::metadata(path.join(RECORD)).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        found.push((KeptPackage { name: record.name, h1, bytes: contents.bytes(), last_used, path }, contents));
    }
    found.sort_by(|(one, _), (other, _)| order(one, other));
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, FetchError> {
    let failed = |source| FetchError::from(FileError::new("read", folder, source));
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

/// Whether a project has a file of the package by a hard link, so that its bytes stay if the package goes.
#[cfg(unix)]
fn is_shared(package: &KeptPackage, contents: &PackageContents) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let folder = package.path.join(FILES);
    contents.files().iter().any(|file| fs::metadata(folder.join(&file.name)).is_ok_and(|file| file.nlink() > 1))
}

#[cfg(not(unix))]
fn is_shared(_package: &KeptPackage, _contents: &PackageContents) -> bool {
    false
}

/// Removes a package that no run is taking out.
async fn remove(own: &CacheFolder, package: &KeptPackage, waiter: &Waiter) -> Result<(), FetchError> {
    let lock = tofu_oci_disk::lock(&Lockable::File(own.lock(&package.h1)), waiter, &|_| ()).await?;
    let (own, path) = (own.clone(), package.path.clone());
    let work = move || {
        let _lock = lock;
        own.remove(&path).map_err(|source| FetchError::from(FileError::new("remove", path, source)))
    };
    blocking(work).await
}

/// Removes what leads to no package: sources, locks, folders without a record, and what is known of files of earlier times.
async fn sweep_leftovers(own: &CacheFolder, waiter: &Waiter) {
    let own = own.clone();
    let at_once = Waiter { limit: Duration::ZERO, ..waiter.clone() };
    let folder = own.clone();
    let broken = blocking(move || {
        let is_broken = |path: &PathBuf| PackageRecord::read(path).is_err();
        entries(&folder.contents()).unwrap_or_default().into_iter().filter(is_broken).collect::<Vec<_>>()
    });
    for path in broken.await {
        let name = path.file_name().map(|name| own.locks().join(name)).unwrap_or_default();
        if let Ok(_lock) = tofu_oci_disk::lock(&Lockable::File(name), &at_once, &|_| ()).await {
            let _ = own.remove(&path);
        }
    }
    let folder = own.clone();
    blocking(move || {
        for source in entries(&folder.sources()).unwrap_or_default() {
            if UnpackedTo::read(&source).is_none_or(|to| !folder.content(&to.h1).exists()) {
                let _ = fs::remove_file(source);
            }
        }
        FileMemo::of(&folder).sweep();
    })
    .await;
    for lock in entries(&own.locks()).unwrap_or_default() {
        let Some(name) = lock.file_name() else { continue };
        let is_needed = own.contents().join(name).exists() || own.sources().join(name).exists();
        if !is_needed && let Ok(_held) = tofu_oci_disk::lock(&Lockable::File(lock.clone()), &at_once, &|_| ()).await {
            let _ = fs::remove_file(&lock);
        }
    }
}

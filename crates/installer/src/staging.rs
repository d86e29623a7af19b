//! The temporary folder that a package is unpacked into, beside the place where it will be.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::InstallError;

/// How every staging folder's name begins. No platform's folder is named so (it has no underscore), and `OpenTofu`
/// and Terraform pass over it when they look for packages.
const PREFIX: &str = ".tofu-oci-";

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A folder of our own, removed when dropped, together with the parent folders that had to be made for it (as far as
/// they are empty).
///
/// It is locked while it is in use. When a process is killed its lock goes with it, and the next [`Staging`] in the
/// same parent removes the folder.
#[derive(Debug)]
pub(crate) struct Staging {
    path: PathBuf,
    lock: Option<File>,
    /// Parents that did not exist before, the outermost first.
    made: Vec<PathBuf>,
}

impl Staging {
    /// A new folder in `parent`, which is made when it is not there. What dead processes have left there goes.
    pub(crate) fn new(parent: &Path) -> Result<Self, InstallError> {
        Self::after(parent, sweep)
    }

    /// A new folder in a scratch folder, where nobody else has left anything.
    pub(crate) fn scratch(scratch: &Scratch) -> Result<Self, InstallError> {
        Self::after(scratch.path(), |_| ())
    }

    fn after(parent: &Path, clean: fn(&Path)) -> Result<Self, InstallError> {
        // A neighbour that fails may take an empty parent away between the two steps.
        let mut attempts = 0;
        loop {
            let made = match make_parents(parent) {
                Ok(made) => made,
                Err(InstallError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && attempts < 8 => {
                    attempts += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            clean(parent);
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            let staging = match fs::create_dir(&path) {
                Ok(()) => match lock(&path) {
                    Locked::ByUs(file) => Self { path, lock: Some(file), made },
                    // Whoever sweeps at this very moment takes it for a leftover, and is about to remove it.
                    Locked::BySomebodyElse if attempts < 8 => {
                        attempts += 1;
                        remove_empty(&made);
                        continue;
                    }
                    Locked::BySomebodyElse | Locked::Impossible => Self { path, lock: None, made },
                },
                Err(source) => {
                    remove_empty(&made);
                    let raced = matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists);
                    if raced && attempts < 8 {
                        attempts += 1;
                        continue;
                    }
                    return Err(InstallError::Io { action: "create", path, source });
                }
            };
            if staging.path.is_dir() || attempts >= 8 {
                return Ok(staging);
            }
            attempts += 1;
        }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A new empty folder inside.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, InstallError> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(|source| InstallError::Io { action: "create", path: path.clone(), source })?;
        Ok(path)
    }

    /// Keeps the parents: something has been put there.
    pub(crate) fn keep_parents(&mut self) {
        self.made.clear();
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Nobody can be told; what stays is removed by the next run.
        let _ = fs::remove_dir_all(&self.path);
        self.lock = None;
        remove_empty(&self.made);
    }
}

/// A folder of our own among temporary ones, which only we may enter. The last one who holds it removes it: where a job
/// is interrupted that is the thread that still unpacks.
#[derive(Debug)]
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    /// A new folder in `parent`.
    pub(crate) fn new(parent: &Path) -> Result<Self, InstallError> {
        let folder = tempfile::Builder::new().prefix("tofu-oci-lock-").tempdir_in(parent);
        let failed = |source| InstallError::Io { action: "create a folder in", path: parent.to_owned(), source };
        folder.map(Self).map_err(failed)
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl PartialEq for Scratch {
    fn eq(&self, other: &Self) -> bool {
        self.path() == other.path()
    }
}

impl Eq for Scratch {}

/// Whose lock is on a folder.
#[derive(Debug)]
enum Locked {
    ByUs(File),
    BySomebodyElse,
    /// It is gone already, or cannot be locked here.
    Impossible,
}

fn lock(folder: &Path) -> Locked {
    let Ok(file) = File::open(folder) else { return Locked::Impossible };
    match file.try_lock() {
        Ok(()) => Locked::ByUs(file),
        Err(TryLockError::WouldBlock) => Locked::BySomebodyElse,
        Err(TryLockError::Error(_)) => Locked::Impossible,
    }
}

fn make_parents(parent: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let mut made: Vec<PathBuf> = parent.ancestors().take_while(missing).map(Path::to_owned).collect();
    made.reverse();
    fs::create_dir_all(parent).map_err(|source| {
        remove_empty(&made);
        InstallError::Io { action: "create", path: parent.to_owned(), source }
    })?;
    Ok(made)
}

fn remove_empty(made: &[PathBuf]) {
    for path in made.iter().rev() {
        let _ = fs::remove_dir(path);
    }
}

/// Removes what dead processes have left in this folder and in its neighbours: other versions of the same provider.
fn sweep(parent: &Path) {
    remove_stale(parent);
    let Some(Ok(neighbours)) = parent.parent().map(fs::read_dir) else { return };
    for neighbour in neighbours.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if neighbour.path() != parent {
            remove_stale(&neighbour.path());
        }
    }
}

/// Removes folders of processes that are gone: those whose lock can be had. Where folders cannot be locked (Windows,
/// some network file systems) they stay.
fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let ours = |name: OsString| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !ours(entry.file_name()) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if let Locked::ByUs(_lock) = lock(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
            // Only when nothing else is in it.
            let _ = fs::remove_dir(parent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("a/b/c");
        let staging = Staging::new(&parent).unwrap();
        fs::write(staging.folder("package").unwrap().join("file"), "x").unwrap();
        drop(staging);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn parents_with_something_in_them_stay() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("a/b");
        let staging = Staging::new(&parent).unwrap();
        fs::write(root.path().join("a/other"), "x").unwrap();
        drop(staging);
        assert!(root.path().join("a/other").exists());
        assert!(!parent.exists());
    }

    #[cfg(unix)]
    #[test]
    fn folders_of_dead_processes_are_removed_and_living_ones_left() {
        let root = tempfile::tempdir().unwrap();
        let version = root.path().join("1.0.0");
        let dead = version.join(".tofu-oci-1-0");
        fs::create_dir_all(dead.join("package")).unwrap();
        fs::create_dir_all(root.path().join("0.9.0/.tofu-oci-1-7")).unwrap();
        let living = Staging::new(&version).unwrap();
        let other = Staging::new(&version).unwrap();
        assert!(!dead.exists());
        assert!(!root.path().join("0.9.0").exists());
        assert!(living.path().exists() && other.path().exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_new_folder_that_another_process_sweeps_is_not_taken() {
        let root = tempfile::tempdir().unwrap();
        let sweeper = File::open(root.path()).unwrap();
        sweeper.lock().unwrap();
        assert!(matches!(lock(root.path()), Locked::BySomebodyElse));
        drop(sweeper);
        assert!(matches!(lock(root.path()), Locked::ByUs(_)));
        assert!(matches!(lock(&root.path().join("gone")), Locked::Impossible));
    }
}

//! The temporary folder that a package is unpacked into, beside its place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_disk::{FileError, FolderOwner, Purpose, Scratch, sweep};

use crate::FetchError;
use crate::place::PackagePath;

/// How often a folder is made again after another task has removed its parent.
const ATTEMPTS: u32 = 8;

/// A folder of this process. Dropping it removes it, and the empty parent folders that were made for it.
///
/// `OpenTofu` and Terraform ignore its name when they look for packages. It is locked while it is in use. A killed
/// process loses its lock, and the next [`StagingFolder`] in the same parent removes the folder.
#[derive(Debug)]
pub(crate) struct StagingFolder {
    /// `None` only during the drop.
    folder: Option<Scratch>,
    /// Parents that did not exist before, the outermost first.
    made: Vec<PathBuf>,
}

impl StagingFolder {
    /// A new folder beside a place; missing parents are made, and folders of dead processes are removed.
    ///
    /// # Errors
    /// [`FetchError::LinkOutOfTree`] if that folder is not in the place's tree.
    pub(crate) fn beside(place: &PackagePath) -> Result<Self, FetchError> {
        place.check_folders()?;
        Self::new(place.parent())
    }

    fn new(parent: &Path) -> Result<Self, FetchError> {
        Self::after(parent, clean)
    }

    /// A new folder in a folder that a person works in. The leftovers of dead processes there are removed.
    pub(crate) fn in_users_folder(parent: &Path) -> Result<Self, FetchError> {
        Self::after(parent, |parent| {
            sweep(parent, FolderOwner::Users);
        })
    }

    /// A new folder in a scratch folder, which no other process uses.
    pub(crate) fn scratch(scratch: &Scratch) -> Result<Self, FetchError> {
        Self::after(scratch.path(), |_| ())
    }

    fn after(parent: &Path, clean: fn(&Path)) -> Result<Self, FetchError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let raced = |error: &io::Error| error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS;
            let made = match make_parents(parent) {
                Ok(made) => made,
                Err(FetchError::Io(error)) if raced(&error.source) => continue,
                Err(error) => return Err(error),
            };
            clean(parent);
            match Scratch::beside(parent) {
                Ok(folder) => return Ok(Self { folder: Some(folder), made }),
                Err(source) => {
                    remove_empty(&made);
                    if !raced(&source) {
                        return Err(FetchError::from(FileError::new("create a folder in", parent, source)));
                    }
                }
            }
        }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.as_ref().expect("it is there until it is dropped").path()
    }

    /// A new empty folder inside.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, FetchError> {
        let path = self.path().join(name);
        fs::create_dir(&path).map_err(FileError::at("create", path.clone()))?;
        Ok(path)
    }

    /// Takes over the parents that another one has made.
    pub(crate) fn take_parents(&mut self, other: &mut Self) {
        let own = std::mem::take(&mut self.made);
        self.made = std::mem::take(&mut other.made);
        self.made.extend(own);
    }

    /// Keeps the parents: they are not empty any more.
    pub(crate) fn keep_parents(&mut self) {
        self.made.clear();
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        self.folder = None;
        remove_empty(&self.made);
    }
}

/// A temporary folder for a package that will be thrown away. Its last holder removes it; after an interruption that is
/// the thread that still unpacks.
pub(crate) fn scratch(parent: &Path) -> Result<Scratch, FetchError> {
    let failed = |source| FetchError::from(FileError::new("create a folder in", parent, source));
    Scratch::temporary(parent, Purpose::Lock).map_err(failed)
}

fn make_parents(parent: &Path) -> Result<Vec<PathBuf>, FetchError> {
    let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let mut made: Vec<PathBuf> = parent.ancestors().take_while(missing).map(Path::to_owned).collect();
    made.reverse();
    fs::create_dir_all(parent).map_err(|source| {
        remove_empty(&made);
        FetchError::from(FileError::new("create", parent, source))
    })?;
    Ok(made)
}

fn remove_empty(made: &[PathBuf]) {
    for path in made.iter().rev() {
        let _ = fs::remove_dir(path);
    }
}

/// Removes folders of dead processes from this folder and from its neighbours, other versions of the same provider.
fn clean(parent: &Path) {
    sweep(parent, FolderOwner::Ours);
    let Some(Ok(neighbours)) = parent.parent().map(fs::read_dir) else { return };
    for neighbour in neighbours.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if neighbour.path() != parent && sweep(&neighbour.path(), FolderOwner::Ours) > 0 {
            // Only if it is empty.
            let _ = fs::remove_dir(neighbour.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_folder_leaves_no_trace() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("a/b/c");
        let staging = StagingFolder::new(&parent).unwrap();
        fs::write(staging.folder("package").unwrap().join("file"), "x").unwrap();
        drop(staging);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn parents_with_something_in_them_stay() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("a/b");
        let staging = StagingFolder::new(&parent).unwrap();
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
        let living = StagingFolder::new(&version).unwrap();
        let other = StagingFolder::new(&version).unwrap();
        assert!(!dead.exists());
        assert!(!root.path().join("0.9.0").exists());
        assert!(living.path().exists() && other.path().exists());
    }
}

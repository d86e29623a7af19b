//! Temporary folders and files, locked while they are in use, so that the next run recognises leftovers.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::lock::exclusive;
use crate::names::{OWN_PREFIX, Purpose, labelled};
use crate::sweep::sweep_temporary;

/// How often a new name is tried after the sweep of another run has removed it before it was locked.
const ATTEMPTS: u32 = 16;

/// A folder of our own; dropping it removes it with everything in it.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// `None` if folders cannot be locked here.
    lock: Option<File>,
}

impl Scratch {
    /// A new folder among temporary ones. It also removes the leftovers of killed runs there.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn temporary(parent: &Path, purpose: Purpose) -> io::Result<Self> {
        let scratch = Self::named(parent, purpose.prefix())?;
        sweep_temporary(parent, scratch.path());
        Ok(scratch)
    }

    /// A new folder `.tofu-oci-…` in a folder of the user. It removes no leftovers: see [`crate::sweep()`].
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn beside(parent: &Path) -> io::Result<Self> {
        Self::named(parent, OWN_PREFIX)
    }

    fn named(parent: &Path, prefix: &str) -> io::Result<Self> {
        let prefix = labelled(prefix);
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let mut attempts = 0;
        loop {
            attempts += 1;
            // With `tempdir_in` an error would name the new folder, which the user does not know.
            let made = tempfile::Builder::new().prefix(&prefix).make_in(parent, |path| builder.create(path))?;
            let path = made.into_temp_path().keep().map_err(|error| error.error)?;
            // With the parent as the caller wrote it, because errors name it.
            let path = path.file_name().map_or_else(|| path.clone(), |name| parent.join(name));
            let lock = File::open(&path).and_then(|folder| Ok(exclusive(&folder)?.then_some(folder)));
            // A sweep at this very moment takes it for a leftover and removes it.
            let swept = matches!(lock, Ok(None)) || !path.is_dir();
            if !swept || attempts == ATTEMPTS {
                return Ok(Self { path, lock: lock.ok().flatten() });
            }
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // `drop` cannot report an error; the next run removes what stays.
        let _ = fs::remove_dir_all(&self.path);
        self.lock = None;
    }
}

impl PartialEq for Scratch {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Scratch {}

/// A temporary file that is renamed into its place; dropping it removes it.
#[derive(Debug)]
pub struct ScratchFile(NamedTempFile);

impl ScratchFile {
    /// A new file `.tofu-oci-…` in the folder. The process's mask decides who may read it, as with any new file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn beside(folder: &Path) -> io::Result<Self> {
        Self::with_mode(folder, 0o666)
    }

    /// The same, for secrets: its owner alone may read it, from its first moment on.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn private_beside(folder: &Path) -> io::Result<Self> {
        Self::with_mode(folder, 0o600)
    }

    #[cfg_attr(not(unix), expect(unused_variables, reason = "there are no modes"))]
    fn with_mode(folder: &Path, mode: u32) -> io::Result<Self> {
        let prefix = labelled(OWN_PREFIX);
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        let mut attempts = 0;
        loop {
            attempts += 1;
            // With `tempfile_in` an error would name the new file, which the user does not know.
            let file = tempfile::Builder::new().prefix(&prefix).make_in(folder, |path| options.open(path))?;
            let swept = matches!(exclusive(file.as_file()), Ok(false)) || !file.path().exists();
            if !swept || attempts == ATTEMPTS {
                return Ok(Self(file));
            }
        }
    }

    pub fn as_file(&self) -> &File {
        self.0.as_file()
    }

    /// Its present path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Renames it into its place, replacing the file there.
    ///
    /// # Errors
    /// If it cannot be renamed; then it is removed.
    pub fn put(self, place: &Path) -> io::Result<()> {
        self.0.persist(place).map(drop).map_err(|error| error.error)
    }

    /// Renames it into its place, unless a file is there. True if it was renamed.
    ///
    /// # Errors
    /// If it cannot be renamed; then it is removed.
    pub fn put_new(self, place: &Path) -> io::Result<bool> {
        match self.0.persist_noclobber(place) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems cannot do that in one step.
            Err(_) if place.exists() => Ok(false),
            Err(error) => Self(error.file).put(place).map(|()| true),
        }
    }
}

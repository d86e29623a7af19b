//! The folder that a module is put into.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_archive::{Limits, PackageContents, read_directory};

use super::error::ModuleFetchError;
use super::fetch::FetchedModule;
use crate::blocking::blocking;

/// Whether other files in the place give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// They stay, and the module is refused.
    Never,
    /// They are removed.
    Everything,
}

/// The result of putting a module in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModulePlaced {
    /// It is there now.
    Now,
    /// It is there now, and other files are gone.
    Replaced,
    /// The same files were there before.
    Before,
}

/// The folder that a module is put into, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleTarget {
    /// As its user wrote it.
    shown: PathBuf,
    path: PathBuf,
}

/// What lies in the folder.
enum TargetContents {
    /// Nothing, or an empty folder.
    Nothing,
    /// The same files.
    Same,
    Other,
}

impl ModuleTarget {
    /// The folder, looked at before anything is fetched.
    ///
    /// # Errors
    /// [`ModuleFetchError::NotReplaced`] for anything but a folder, also a link to one, for the root of a git repository and
    /// for a folder that this process or its caller works in. [`ModuleFetchError::NotEmpty`] cannot be known yet.
    pub fn new(shown: &Path, working_dir: &Path) -> Result<Self, ModuleFetchError> {
        let failed = |source| ModuleFetchError::Io { action: "read", path: shown.to_owned(), source };
        let refused = |what| Err(ModuleFetchError::NotReplaced { path: shown.to_owned(), what });
        let absolute = std::path::absolute(working_dir.join(shown)).map_err(failed)?;
        let metadata = match fs::symlink_metadata(&absolute) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match absolute.file_name() {
                    Some(_) => Ok(Self { shown: shown.to_owned(), path: absolute }),
                    None => refused("not the name of a new folder"),
                };
            }
            Err(error) => return Err(failed(error)),
        };
        if metadata.is_symlink() {
            return refused("a symbolic link; name the folder that it leads to");
        }
        if !metadata.is_dir() {
            return refused("a file, and a module is a folder");
        }
        let path = absolute.canonicalize().map_err(failed)?;
        let working_dir = working_dir.canonicalize().map_err(failed)?;
        if working_dir.starts_with(&path) {
            return refused("the current folder, or one above it; name a folder in it");
        }
        if path.join(".git").exists() {
            return refused("the root of a git repository, which is never replaced; name a folder in it");
        }
        Ok(Self { shown: shown.to_owned(), path })
    }

    /// As its user wrote it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The folder that it is in.
    pub(super) fn parent(&self) -> &Path {
        self.path.parent().expect("it has a name, so that it is in a folder")
    }

    /// What lies here now, compared with the module.
    fn inspect(&self, module: &PackageContents, limits: &Limits) -> Result<TargetContents, ModuleFetchError> {
        let failed = |source| ModuleFetchError::Io { action: "read", path: self.shown.clone(), source };
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(TargetContents::Nothing),
            Err(error) => return Err(failed(error)),
            Ok(metadata) if !metadata.is_dir() => return Ok(TargetContents::Other),
            Ok(_) => {}
        }
        if fs::read_dir(&self.path).map_err(failed)?.next().is_none() {
            return Ok(TargetContents::Nothing);
        }
        // What cannot be a module's folder, such as one with links, has other contents.
        let is_same = read_directory(&self.path, limits).is_ok_and(|found| found.h1() == module.h1());
        Ok(if is_same { TargetContents::Same } else { TargetContents::Other })
    }
}

impl FetchedModule {
    /// Renames the module into its place, unless the same files are there already.
    ///
    /// # Errors
    /// [`ModuleFetchError::NotEmpty`] if other files are there and stay.
    pub async fn place(self, replace: Replace, limits: &Limits) -> Result<ModulePlaced, ModuleFetchError> {
        let limits = limits.clone();
        blocking(move || self.put(replace, &limits)).await
    }

    fn put(mut self, replace: Replace, limits: &Limits) -> Result<ModulePlaced, ModuleFetchError> {
        let mut existing = self.target.inspect(&self.contents, limits)?;
        if matches!(existing, TargetContents::Nothing) {
            match self.move_in() {
                Ok(()) => return Ok(ModulePlaced::Now),
                // Another program was faster; what it has put there decides.
                Err(error) => {
                    existing = self.target.inspect(&self.contents, limits)?;
                    if matches!(existing, TargetContents::Nothing) {
                        return Err(error);
                    }
                }
            }
        }
        match (existing, replace) {
            (TargetContents::Same, _) => Ok(ModulePlaced::Before),
            (_, Replace::Never) => Err(ModuleFetchError::NotEmpty { path: self.target.shown.clone() }),
            (_, Replace::Everything) => self.replace().map(|()| ModulePlaced::Replaced),
        }
    }

    /// Moves what is there into the temporary folder, which is removed with it; back if the module cannot take its place.
    fn replace(&mut self) -> Result<(), ModuleFetchError> {
        let (path, old) = (self.target.path.clone(), self.staging.path().join("replaced"));
        fs::rename(&path, &old).map_err(|source| self.failed("replace", source))?;
        self.move_in().inspect_err(|_| {
            // The error of the move is the one to report.
            let _ = fs::rename(&old, &path);
        })
    }

    fn move_in(&mut self) -> Result<(), ModuleFetchError> {
        let path = &self.target.path;
        // A folder cannot be renamed over another one there, even an empty one.
        if cfg!(windows) && path.is_dir() {
            fs::remove_dir(path).map_err(|source| self.failed("replace", source))?;
        }
        fs::rename(&self.folder, path).map_err(|source| self.failed("create", source))?;
        self.staging.keep_parents();
        Ok(())
    }

    fn failed(&self, action: &'static str, source: io::Error) -> ModuleFetchError {
        ModuleFetchError::Io { action, path: self.target.shown.clone(), source }
    }
}

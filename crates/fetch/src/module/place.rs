//! How a module comes into its folder, and what it replaces there.

use std::fs;
use std::io;
use std::path::Path;

use tofu_oci_archive::Limits;
use tofu_oci_disk::FileError;

use super::error::ModuleFetchError;
use super::fetch::FetchedModule;
use super::target::TargetContents;
use crate::blocking::blocking;

/// Whether other files in the place give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// They stay, and the module is refused.
    Never,
    Everything,
}

/// The result of putting a module in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModulePlaced {
    Now,
    /// It is there now, and other files are gone.
    Replaced,
    /// The same files were there before.
    Before,
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
        let path = self.target.path.clone();
        if exchange(&self.folder, &path).is_ok() {
            self.staging.keep_parents();
            return Ok(());
        }
        let old = self.staging.path().join("replaced");
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
        ModuleFetchError::from(FileError::new(action, self.target.shown.clone(), source))
    }
}

/// Puts each folder in the place of the other, so that neither place is empty for a moment.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// This system cannot.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

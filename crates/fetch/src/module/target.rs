//! The folder of `module pull`: what may lie there, and what does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_archive::{Limits, PackageContents, makes_bare_repository, read_directory};
use tofu_oci_disk::FileError;

use super::error::ModuleFetchError;

/// The folder that a module is put into, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleDir {
    /// As its user wrote it.
    pub(super) shown: PathBuf,
    pub(super) path: PathBuf,
}

/// What lies in the folder.
pub(super) enum TargetContents {
    /// Nothing, or an empty folder.
    Nothing,
    Same,
    Other,
}

impl ModuleDir {
    /// The folder, looked at before anything is fetched.
    ///
    /// # Errors
    /// [`ModuleFetchError::NotReplaced`] for anything but a folder, also a link to one, for the root of a git repository, for
    /// a part that completes a bare one, and for a folder that this process or its caller works in. [`ModuleFetchError::NotEmpty`] cannot be known yet.
    pub fn new(shown: &Path, working_dir: &Path) -> Result<Self, ModuleFetchError> {
        let failed = |source| ModuleFetchError::from(FileError::new("read", shown, source));
        let refused = |what| Err(ModuleFetchError::NotReplaced { path: shown.to_owned(), what });
        let absolute = std::path::absolute(working_dir.join(shown)).map_err(failed)?;
        if makes_bare_repository(&absolute).map_err(failed)? {
            return refused(
                "a part that makes a folder above it a repository of git, whose settings can run commands; name another folder",
            );
        }
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
    pub(super) fn inspect(
        &self,
        module: &PackageContents,
        limits: &Limits,
    ) -> Result<TargetContents, ModuleFetchError> {
        let failed = |source| ModuleFetchError::from(FileError::new("read", self.shown.clone(), source));
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(TargetContents::Nothing),
            Err(error) => return Err(failed(error)),
            Ok(metadata) if !metadata.is_dir() => return Ok(TargetContents::Other),
            Ok(_) => {}
        }
        if fs::read_dir(&self.path).map_err(failed)?.next().is_none() {
            return Ok(TargetContents::Nothing);
        }
        // What cannot be a module's folder, such as a folder with links, counts as other contents.
        let is_same = read_directory(&self.path, limits).is_ok_and(|found| found.h1() == module.h1());
        Ok(if is_same { TargetContents::Same } else { TargetContents::Other })
    }
}

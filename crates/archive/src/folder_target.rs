//! A fresh folder that takes in the files of a package.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::sink::{KnownEntry, UnpackTarget};
use crate::{ArchiveError, PackageContents};

/// Creates files and directories below a folder that is empty at first. What is there already is never opened and
/// never followed, so the names, checked before, are all that decides where something goes.
pub(crate) struct FolderTarget<'a> {
    root: &'a Path,
    directories: HashSet<String>,
    current: Option<(File, PathBuf)>,
}

impl<'a> FolderTarget<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, directories: HashSet::new(), current: None }
    }

    /// Gives the files the modes of `contents`, and the directories `0o755`, whatever the umask.
    pub(crate) fn set_modes(&self, contents: &PackageContents) -> Result<(), ArchiveError> {
        for directory in &self.directories {
            set_mode(&self.root.join(directory), 0o755)?;
        }
        contents.files().iter().try_for_each(|file| set_mode(&self.root.join(&file.name), file.mode))
    }

    /// Makes the directory `name` and those above it.
    pub(crate) fn make_directory(&mut self, name: &str) -> Result<(), ArchiveError> {
        if name.is_empty() {
            return Ok(());
        }
        let above = name.match_indices('/').map(|(slash, _)| &name[..slash]);
        for directory in above.chain([name]) {
            if !self.directories.contains(directory) {
                let path = self.root.join(directory);
                std::fs::create_dir(&path).map_err(ArchiveError::io("create", &path))?;
                self.directories.insert(directory.to_owned());
            }
        }
        Ok(())
    }

    /// The path of the file `name`, whose parent exists now.
    pub(crate) fn place_for(&mut self, name: &str) -> Result<PathBuf, ArchiveError> {
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.make_directory(parent)?;
        }
        Ok(self.root.join(name))
    }
}

impl UnpackTarget for FolderTarget<'_> {
    fn start(&mut self, name: &str, _known: Option<KnownEntry>) -> Result<(), ArchiveError> {
        let path = self.place_for(name)?;
        let file =
            OpenOptions::new().write(true).create_new(true).open(&path).map_err(ArchiveError::io("create", &path))?;
        self.current = Some((file, path));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        let Some((file, path)) = &mut self.current else { return Ok(()) };
        file.write_all(bytes).map_err(ArchiveError::io("write", path))
    }

    fn finish(&mut self) -> Result<(), ArchiveError> {
        self.current = None;
        Ok(())
    }

    fn directory(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.make_directory(name)
    }
}

#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), ArchiveError> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(ArchiveError::io("set the mode of", path))
}

#[cfg(not(unix))]
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> Result<(), ArchiveError> {
    Ok(())
}

//! The folders of a cache on disk: their names, their owner, and whether they can be written.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_disk::{Scratch, Whose, make_private_folder, sweep};
use tofu_oci_types::PackageHash;

use super::identity::device;

/// The folder in the root of a cache that holds this form of records.
const FORM: &str = "packages-v1";

/// A cache that is there, and belongs to the user or the system.
#[derive(Clone, Debug)]
pub(super) struct CacheFolder {
    path: PathBuf,
    /// The file system that it is on.
    pub(super) device: u64,
}

/// Why a folder is not used as a cache.
#[derive(Debug, thiserror::Error)]
pub(super) enum CacheFolderFault {
    /// It cannot be made or looked at.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Somebody else could put files there.
    #[error("it belongs to another user, or others may write to it")]
    Shared,
}

impl CacheFolder {
    /// The user's own cache in `root`, which is made if it is missing. Leftovers of killed runs are removed.
    pub(super) fn own(root: &Path) -> Result<Self, CacheFolderFault> {
        let path = root.join(FORM);
        make_private_folder(&path)?;
        let found = Self::there(path)?;
        for name in ["content", "sources", "files", "locks", "scratch"] {
            // A read-only cache is used as it is; a run that has to write reports the error.
            let _ = make_private_folder(&found.path.join(name));
        }
        sweep(&found.scratch(), Whose::Ours);
        Ok(found)
    }

    /// Whether there is a cache in `root`.
    pub(super) fn is_in(root: &Path) -> bool {
        root.join(FORM).exists()
    }

    /// A cache in `root` that is only read.
    pub(super) fn lower(root: &Path) -> Result<Self, CacheFolderFault> {
        Self::there(root.join(FORM))
    }

    fn there(path: PathBuf) -> Result<Self, CacheFolderFault> {
        let metadata = fs::metadata(&path)?;
        if !metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory).into());
        }
        if !is_ours(&metadata) {
            return Err(CacheFolderFault::Shared);
        }
        Ok(Self { device: device(&metadata), path })
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folders of all packages.
    pub(super) fn contents(&self) -> PathBuf {
        self.path.join("content")
    }

    /// The folder of a package.
    pub(super) fn content(&self, h1: &PackageHash) -> PathBuf {
        self.contents().join(file_name(h1))
    }

    /// The folder of what packages were unpacked from.
    pub(super) fn sources(&self) -> PathBuf {
        self.path.join("sources")
    }

    /// The file that says which package a zip or leaf was unpacked to.
    pub(super) fn source(&self, hash: &PackageHash) -> PathBuf {
        self.sources().join(file_name(hash))
    }

    /// The folder of the memo.
    pub(super) fn files(&self) -> PathBuf {
        self.path.join("files")
    }

    /// The folder of locks.
    pub(super) fn locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    /// The file that is locked while a zip is fetched, or a package is taken out.
    pub(super) fn lock(&self, hash: &PackageHash) -> PathBuf {
        self.locks().join(file_name(hash))
    }

    /// The folder of what is being made.
    pub(super) fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Removes a package by one rename, so that no one sees half of it.
    pub(super) fn remove(&self, content: &Path) -> io::Result<()> {
        let scratch = Scratch::beside(&self.scratch())?;
        match fs::rename(content, scratch.path().join("removed")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

/// The checksum as the name of a file on every system.
pub(super) fn file_name(hash: &PackageHash) -> String {
    let character = |one: char| match one {
        ':' | '+' => '-',
        '/' => '_',
        other => other,
    };
    hash.as_str().trim_end_matches('=').chars().map(character).collect()
}

#[cfg(unix)]
fn is_ours(folder: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let owner = folder.uid();
    let ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
    ours && folder.permissions().mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_ours(_folder: &Metadata) -> bool {
    true
}

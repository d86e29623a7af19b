//! Which folder is a package cache: names, owner, and whether others could write to it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_disk::{FolderFault, FolderOwner, Scratch, device, make_private_folder, require_ours, require_way, sweep};
use tofu_oci_types::{Digest, PackageHash};

/// The folder in the root of a cache that holds this form of records.
const FORM: &str = "packages-v1";

/// A cache that is there, and belongs to the user or the system.
#[derive(Clone, Debug)]
pub(crate) struct CacheFolder {
    path: PathBuf,
    /// The file system that it is on.
    pub(crate) device: u64,
}

/// The folders in a cache.
const PARTS: [&str; 5] = ["content", "sources", "files", "locks", "scratch"];

impl CacheFolder {
    /// The user's own cache in `root`. Makes it if it is missing, and removes the leftovers of killed runs.
    pub(crate) fn own(root: &Path) -> Result<Self, FolderFault> {
        // Before anything is made where a link of another user leads.
        require_way(root)?;
        let path = root.join(FORM);
        make_private_folder(&path).map_err(FolderFault::io(&path))?;
        let found = Self::there(root, path)?;
        for name in PARTS {
            // A read-only cache is used as it is; a run that has to write reports the error.
            let _ = make_private_folder(&found.path.join(name));
        }
        found.require_parts()?;
        sweep(&found.scratch(), FolderOwner::Ours);
        Ok(found)
    }

    /// Whether there is a cache in `root`.
    pub(crate) fn is_in(root: &Path) -> bool {
        root.join(FORM).exists()
    }

    /// A cache in `root` that is only read.
    pub(crate) fn lower(root: &Path) -> Result<Self, FolderFault> {
        let found = Self::there(root, root.join(FORM))?;
        found.require_parts()?;
        Ok(found)
    }

    fn there(root: &Path, path: PathBuf) -> Result<Self, FolderFault> {
        let metadata = require_ours(&path)?;
        require_way(root)?;
        Ok(Self { device: device(&metadata), path })
    }

    /// Also refuses folders in it that are not the user's own.
    fn require_parts(&self) -> Result<(), FolderFault> {
        for part in PARTS.map(|name| self.path.join(name)) {
            match require_ours(&part) {
                Err(FolderFault::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
                Err(fault) => return Err(fault),
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folders of all packages.
    pub(crate) fn contents(&self) -> PathBuf {
        self.path.join("content")
    }

    /// The folder of a package.
    pub(crate) fn content(&self, h1: &PackageHash) -> PathBuf {
        self.contents().join(file_name(h1))
    }

    /// The folder of what packages were unpacked from.
    pub(crate) fn sources(&self) -> PathBuf {
        self.path.join("sources")
    }

    /// The file that says which package this was unpacked to.
    pub(crate) fn source(&self, from: &CacheOrigin) -> PathBuf {
        self.sources().join(from.file_name())
    }

    /// The folder of the memo.
    pub(crate) fn files(&self) -> PathBuf {
        self.path.join("files")
    }

    /// The folder of locks.
    pub(crate) fn locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    /// The file that is locked while a zip is fetched, or a package is taken out.
    pub(crate) fn lock(&self, hash: &PackageHash) -> PathBuf {
        self.locks().join(file_name(hash))
    }

    /// The folder of what is being made.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Removes a package by one rename, so that no one sees half of it.
    pub(crate) fn remove(&self, content: &Path) -> io::Result<()> {
        let scratch = Scratch::beside(&self.scratch())?;
        match fs::rename(content, scratch.path().join("removed")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

/// What a package was unpacked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CacheOrigin {
    /// The zip with this checksum, or the layers of the leaf manifest with it.
    Package(PackageHash),
    SmallLayer(Digest),
}

impl CacheOrigin {
    /// The name of the file that says what became of it.
    pub(crate) fn file_name(&self) -> String {
        match self {
            Self::Package(hash) => file_name(hash),
            Self::SmallLayer(digest) => format!("small-{}", digest.encoded()),
        }
    }
}

/// The checksum as the name of a file on every system.
pub(crate) fn file_name(hash: &PackageHash) -> String {
    let character = |one: char| match one {
        ':' | '+' => '-',
        '/' => '_',
        other => other,
    };
    hash.as_str().trim_end_matches('=').chars().map(character).collect()
}

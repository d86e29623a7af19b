//! The folders of a cache on disk: their names, their owner, and whether they can be written.

#[cfg(unix)]
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
#[cfg(unix)]
use std::path::Component;
use std::path::{Path, PathBuf};

use tofu_oci_disk::{Scratch, Whose, make_private_folder, sweep};
use tofu_oci_types::{Digest, PackageHash};

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
    #[error("{}: {error}", folder.display())]
    Io {
        /// The folder of the cache, or one in it.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Somebody else could put files there.
    #[error("{} belongs to another user, or others may write to it", folder.display())]
    Shared {
        /// The folder of the cache, one in it or one above it.
        folder: PathBuf,
    },
    /// Others can put another folder in the place of the cache while a run uses it.
    #[error("others may write to {}, which it is in", folder.display())]
    OpenAbove {
        /// The folder above the cache.
        folder: PathBuf,
    },
    /// Its owner can put another one in its place while a run uses the cache.
    #[error("{}, on the way to it, belongs to another user", path.display())]
    AnotherUsers {
        /// The folder above the cache, or the link to one.
        path: PathBuf,
    },
    /// Files would go where the link leads.
    #[error("{} is a symbolic link", link.display())]
    Link {
        /// The folder that should be there.
        link: PathBuf,
    },
}

/// The folders in a cache.
const PARTS: [&str; 5] = ["content", "sources", "files", "locks", "scratch"];

impl CacheFolder {
    /// The user's own cache in `root`, which is made if it is missing. Leftovers of killed runs are removed.
    pub(super) fn own(root: &Path) -> Result<Self, CacheFolderFault> {
        // Before anything is made where a link of another user leads.
        require_way(root)?;
        let path = root.join(FORM);
        make_private_folder(&path).map_err(CacheFolderFault::io(&path))?;
        let found = Self::there(root, path)?;
        for name in PARTS {
            // A read-only cache is used as it is; a run that has to write reports the error.
            let _ = make_private_folder(&found.path.join(name));
        }
        found.require_parts()?;
        sweep(&found.scratch(), Whose::Ours);
        Ok(found)
    }

    /// Whether there is a cache in `root`.
    pub(super) fn is_in(root: &Path) -> bool {
        root.join(FORM).exists()
    }

    /// A cache in `root` that is only read.
    pub(super) fn lower(root: &Path) -> Result<Self, CacheFolderFault> {
        let found = Self::there(root, root.join(FORM))?;
        found.require_parts()?;
        Ok(found)
    }

    fn there(root: &Path, path: PathBuf) -> Result<Self, CacheFolderFault> {
        let metadata = require_ours(&path)?;
        require_way(root)?;
        Ok(Self { device: device(&metadata), path })
    }

    /// Refuses folders in it that are not the user's own, too.
    fn require_parts(&self) -> Result<(), CacheFolderFault> {
        for part in PARTS.map(|name| self.path.join(name)) {
            match require_ours(&part) {
                Err(CacheFolderFault::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
                Err(fault) => return Err(fault),
                Ok(_) => {}
            }
        }
        Ok(())
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

    /// The file that says which package this was unpacked to.
    pub(super) fn source(&self, from: &KeptFrom) -> PathBuf {
        self.sources().join(from.file_name())
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

/// What a package was unpacked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeptFrom {
    /// The zip with this checksum, or the layers of the leaf manifest with it.
    Package(PackageHash),
    /// The small layer with this digest.
    SmallLayer(Digest),
}

impl KeptFrom {
    /// The name of the file that says what became of it.
    pub(super) fn file_name(&self) -> String {
        match self {
            Self::Package(hash) => file_name(hash),
            Self::SmallLayer(digest) => format!("small-{}", digest.encoded()),
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

/// The folder, if it is one of the user or of the system that no one else may write to.
fn require_ours(folder: &Path) -> Result<Metadata, CacheFolderFault> {
    let metadata = fs::symlink_metadata(folder).map_err(CacheFolderFault::io(folder))?;
    if metadata.is_symlink() {
        return Err(CacheFolderFault::Link { link: folder.to_owned() });
    }
    if !metadata.is_dir() {
        return Err(CacheFolderFault::io(folder)(io::ErrorKind::NotADirectory.into()));
    }
    if !is_ours(&metadata) {
        return Err(CacheFolderFault::Shared { folder: folder.to_owned() });
    }
    Ok(metadata)
}

#[cfg(unix)]
fn is_ours(folder: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    has_our_owner(folder) && folder.permissions().mode() & 0o022 == 0
}

/// Whether the user or the system owns it.
#[cfg(unix)]
fn has_our_owner(metadata: &Metadata) -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}

/// Refuses a folder if others can put another one in its place: they own a link or a folder on the way to it, or may write to
/// such a folder. What is not there yet is made by this run.
#[cfg(unix)]
fn require_way(to: &Path) -> Result<(), CacheFolderFault> {
    let mut ahead = parts(&std::path::absolute(to).map_err(CacheFolderFault::io(to))?);
    let (mut here, mut links) = (PathBuf::new(), 0);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            // Links are taken apart, so this is the folder above.
            here.pop();
            continue;
        }
        let path = here.join(part);
        let metadata = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found.map_err(CacheFolderFault::io(&path))?,
        };
        if !has_our_owner(&metadata) {
            return Err(CacheFolderFault::AnotherUsers { path });
        }
        if metadata.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(CacheFolderFault::io(to)(io::Error::other("too many symbolic links")));
            }
            ahead.extend(parts(&fs::read_link(&path).map_err(CacheFolderFault::io(&path))?));
        } else if is_open_to_others(&metadata) {
            return Err(CacheFolderFault::OpenAbove { folder: path });
        } else {
            here = path;
        }
    }
    Ok(())
}

/// The most links on the way to a folder, as in Linux.
#[cfg(unix)]
const MAX_LINKS: usize = 40;

/// The parts of a path, the first one last; an absolute one begins with the root.
#[cfg(unix)]
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.rev().map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(not(unix))]
fn require_way(_to: &Path) -> Result<(), CacheFolderFault> {
    Ok(())
}

#[cfg(not(unix))]
fn is_ours(_folder: &Metadata) -> bool {
    true
}

/// Whether others may rename what lies in the folder. The user's own group is the user; with the sticky bit, each may rename
/// what is their own.
#[cfg(unix)]
fn is_open_to_others(folder: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let mode = folder.permissions().mode();
    let by_group = mode & 0o020 != 0 && folder.gid() != 0 && folder.gid() != rustix::process::getegid().as_raw();
    (by_group || mode & 0o002 != 0) && mode & 0o1000 == 0
}

impl CacheFolderFault {
    fn io(folder: &Path) -> impl FnOnce(io::Error) -> Self {
        let folder = folder.to_owned();
        move |error| Self::Io { folder, error }
    }

    /// What helps, for the folder that this variable names.
    pub(super) fn hint(&self, variable: &str) -> String {
        let otherwise = format!("set {variable} to another folder; an empty {variable} turns the cache off");
        match self {
            Self::Shared { .. } => format!("make that folder yours alone (chmod go-w), or {otherwise}"),
            Self::OpenAbove { .. } => {
                format!(
                    "take the right to write from the others (chmod o-w, or chmod +t for a folder of everybody), or {otherwise}"
                )
            }
            Self::AnotherUsers { .. } => format!("make it yours (chown), or {otherwise}"),
            Self::Link { .. } => format!("remove the link, or {otherwise}"),
            Self::Io { .. } => otherwise,
        }
    }
}

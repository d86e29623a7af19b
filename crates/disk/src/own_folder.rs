//! Folders whose files are believed: whose they are, and who may write to them and above them.

#[cfg(unix)]
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
#[cfg(unix)]
use std::path::Component;
use std::path::{Path, PathBuf};

/// Why the files of a folder are not believed.
#[derive(Debug, thiserror::Error)]
pub enum FolderFault {
    /// It cannot be made or looked at.
    #[error("{}: {error}", folder.display())]
    Io { folder: PathBuf, error: io::Error },
    #[error("{} belongs to another user, or others may write to it", folder.display())]
    Shared { folder: PathBuf },
    #[error("others may write to {}, which it is in", folder.display())]
    OpenAbove { folder: PathBuf },
    #[error("{}, on the way to it, belongs to another user", path.display())]
    AnotherUsers {
        /// The folder above it, or the link to one.
        path: PathBuf,
    },
    /// Files would go where the link leads.
    #[error("{} is a symbolic link", link.display())]
    Link { link: PathBuf },
}

/// Refuses a folder if others can put files in it, or another one in its place. Links of the user are followed, and the user's own
/// group may write. A folder that is missing is right if no one else can make it.
///
/// # Errors
///
/// What is wrong with the folder, with one above it or with a link on the way.
pub fn require_own_folder(folder: &Path) -> Result<(), FolderFault> {
    match fs::canonicalize(folder) {
        Ok(real) => {
            let metadata = fs::metadata(&real).map_err(FolderFault::io(&real))?;
            if !metadata.is_dir() {
                return Err(FolderFault::io(&real)(io::ErrorKind::NotADirectory.into()));
            }
            if !has_our_owner(&metadata) || others_may_write(&metadata) {
                return Err(FolderFault::Shared { folder: real });
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(FolderFault::io(folder)(error)),
    }
    require_way(folder)
}

/// The folder, if it is one of the user or of the system that no one else may write to. It is not a link.
///
/// # Errors
///
/// What is wrong with it.
pub fn require_ours(folder: &Path) -> Result<Metadata, FolderFault> {
    let metadata = fs::symlink_metadata(folder).map_err(FolderFault::io(folder))?;
    if metadata.is_symlink() {
        return Err(FolderFault::Link { link: folder.to_owned() });
    }
    if !metadata.is_dir() {
        return Err(FolderFault::io(folder)(io::ErrorKind::NotADirectory.into()));
    }
    if !is_ours(&metadata) {
        return Err(FolderFault::Shared { folder: folder.to_owned() });
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
///
/// # Errors
///
/// What is wrong with one of them.
#[cfg(unix)]
pub fn require_way(to: &Path) -> Result<(), FolderFault> {
    let mut ahead = parts(&std::path::absolute(to).map_err(FolderFault::io(to))?);
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
            found => found.map_err(FolderFault::io(&path))?,
        };
        if !has_our_owner(&metadata) {
            return Err(FolderFault::AnotherUsers { path });
        }
        if metadata.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(FolderFault::io(to)(io::Error::other("too many symbolic links")));
            }
            ahead.extend(parts(&fs::read_link(&path).map_err(FolderFault::io(&path))?));
        } else if is_open_to_others(&metadata) {
            return Err(FolderFault::OpenAbove { folder: path });
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

/// Refuses nothing: this system does not say who owns a folder.
///
/// # Errors
///
/// Never.
#[cfg(not(unix))]
pub fn require_way(_to: &Path) -> Result<(), FolderFault> {
    Ok(())
}

#[cfg(not(unix))]
fn is_ours(_folder: &Metadata) -> bool {
    true
}

/// Whether others may rename what lies in the folder. With the sticky bit, each may rename what is their own.
#[cfg(unix)]
fn is_open_to_others(folder: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    others_may_write(folder) && folder.permissions().mode() & 0o1000 == 0
}

/// Whether others may write to the folder. The user's own group is the user.
#[cfg(unix)]
fn others_may_write(folder: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let mode = folder.permissions().mode();
    let by_group = mode & 0o020 != 0 && folder.gid() != 0 && folder.gid() != rustix::process::getegid().as_raw();
    by_group || mode & 0o002 != 0
}

#[cfg(not(unix))]
fn others_may_write(_folder: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn has_our_owner(_metadata: &Metadata) -> bool {
    true
}

impl FolderFault {
    /// What the system says of a folder.
    pub fn io(folder: &Path) -> impl FnOnce(io::Error) -> Self {
        let folder = folder.to_owned();
        move |error| Self::Io { folder, error }
    }

    /// What helps; `otherwise` names another folder.
    pub fn hint(&self, otherwise: &str) -> String {
        match self {
            Self::Shared { .. } => format!("make that folder yours alone (chmod go-w), or {otherwise}"),
            Self::OpenAbove { .. } => {
                format!(
                    "take the right to write from the others (chmod o-w, or chmod +t for a folder of everybody), or {otherwise}"
                )
            }
            Self::AnotherUsers { .. } => format!("make it yours (chown), or {otherwise}"),
            Self::Link { .. } => format!("remove the link, or {otherwise}"),
            Self::Io { .. } => otherwise.to_owned(),
        }
    }
}

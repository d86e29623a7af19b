//! What the file system answered, and what to do about it.

use std::io::{Error, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tofu_oci_types::{Fault, FaultEnd};

use crate::names::is_temporary;

/// A file or folder of this machine could not be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot {}", done_to(action, path))]
pub struct FileError {
    /// A verb, such as `read` or `create a folder in`.
    pub action: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: Arc<Error>,
}

impl FileError {
    /// The error of an action on a path.
    pub fn new(action: &'static str, path: impl Into<PathBuf>, source: impl Into<Arc<Error>>) -> Self {
        Self { action, path: path.into(), source: source.into() }
    }

    /// The same for `map_err`.
    pub fn at(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(Error) -> Self {
        let path = path.into();
        move |source| Self { action, path, source: source.into() }
    }

    /// The advice that fits what the file system said when this was done to the path.
    pub fn hint(action: &str, path: &Path, error: &Error) -> Option<String> {
        let reading = ["read", "open", "list"].iter().any(|word| action.starts_with(word));
        let hint = match error.kind() {
            ErrorKind::StorageFull if has_no_inode(path) => {
                "the file system there has space and cannot take one file more: delete unneeded files (`df -i` counts them), \
                 or choose another place; nothing half-done was kept"
            }
            ErrorKind::FileTooLarge if reading => "it is larger than such a file is: shorten it, or name another one",
            ErrorKind::InvalidFilename => "the path is longer than this system takes",
            ErrorKind::StorageFull | ErrorKind::FileTooLarge => {
                "free some space and run the same command again; nothing half-done was kept"
            }
            ErrorKind::QuotaExceeded => {
                "your quota there is used up: delete unneeded files, or choose another place; nothing half-done was kept"
            }
            ErrorKind::PermissionDenied if reading => {
                "change its permissions or those of its folders, or run the command as a user who may read it"
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "choose a place that you may write to, or change the permissions of this one"
            }
            ErrorKind::IsADirectory if reading && path.join("oci-layout").exists() => {
                return Some(format!(
                    "it is a directory, and a file is read here; one with an image layout is written oci:{}",
                    path.display()
                ));
            }
            ErrorKind::IsADirectory if reading => "it is a directory, and a file is read here",
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists | ErrorKind::IsADirectory => {
                "a file lies where a folder is needed, or a folder where a file is; choose another place"
            }
            ErrorKind::NotFound => "check the path; its parent folders must be there",
            ErrorKind::InvalidInput => {
                "a pipe, a socket or a device lies there: name a file, or delete what lies there"
            }
            _ if is_link(error) => "a symbolic link lies there, and it is not followed: delete it",
            _ if is_hardware(error) => {
                "the disk or the network of this file system is faulty; the system's log says more"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl Fault for FileError {
    fn code(&self) -> &'static str {
        "io"
    }

    /// Whether the user can do something about it.
    fn end(&self) -> FaultEnd {
        match self.source.kind() {
            ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::AlreadyExists
            | ErrorKind::StorageFull
            | ErrorKind::FileTooLarge
            | ErrorKind::InvalidFilename
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::QuotaExceeded => FaultEnd::Fixable,
            _ => FaultEnd::Unexpected,
        }
    }

    fn hints(&self) -> Vec<String> {
        Self::hint(self.action, &self.path, &self.source).into_iter().collect()
    }
}

/// The action and the path; of a temporary one the folder above it: users know no such name.
fn done_to(action: &str, path: &Path) -> String {
    let is_temporary = |part: &Component<'_>| part.as_os_str().to_str().is_some_and(is_temporary);
    let known: PathBuf = path.components().take_while(|part| !is_temporary(part)).collect();
    if known.as_os_str() == path.components().as_path() {
        return format!("{action} {}", path.display());
    }
    let folder = match known.display().to_string() {
        none if none.is_empty() => "the working directory".to_owned(),
        folder => folder,
    };
    match action {
        "write" => format!("write into {folder}"),
        _ if [" in", " into", " from"].iter().any(|end| action.ends_with(end)) => format!("{action} {folder}"),
        // Of files and of folders.
        _ => format!("{action} temporary files in {folder}"),
    }
}

/// Whether the file system of the path, or of its next folder that is there, ran out of files and not of space.
#[cfg(unix)]
fn has_no_inode(path: &Path) -> bool {
    let mut places = path.ancestors().map(|place| if place.as_os_str().is_empty() { Path::new(".") } else { place });
    let found = places.find_map(|place| rustix::fs::statvfs(place).ok());
    found.is_some_and(|found| are_files_scarcer((found.f_favail, found.f_files), (found.f_bavail, found.f_blocks)))
}

/// Fewer than a run may have removed again that filled the file system with them.
#[cfg(unix)]
const FEW_FILES: u64 = 65_536;

/// Whether few files are free, and a smaller part of them than of the space. Both are (free, all).
///
/// Neither has to be 0: what was half-done is removed before anybody looks. A file system that counts no files has 0.
#[cfg(unix)]
fn are_files_scarcer(files: (u64, u64), space: (u64, u64)) -> bool {
    files.1 > 0
        && files.0 < FEW_FILES
        && u128::from(files.0) * u128::from(space.1) < u128::from(space.0) * u128::from(files.1)
}

#[cfg(not(unix))]
fn has_no_inode(_path: &Path) -> bool {
    false
}

/// Whether a link was refused because of what it is.
#[cfg(unix)]
fn is_link(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link(_error: &Error) -> bool {
    false
}

#[cfg(unix)]
fn is_hardware(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

#[cfg(not(unix))]
fn is_hardware(_error: &Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(action: &str, kind: ErrorKind, want: &str) {
        let hint = FileError::hint(action, Path::new("no/such/file"), &kind.into());
        assert!(hint.as_ref().is_some_and(|hint| hint.contains(want)), "{action}, {kind}: {hint:?}");
    }

    #[test]
    fn an_unreadable_file_is_no_place_to_write_to() {
        check("read", ErrorKind::PermissionDenied, "who may read it");
        check("read from", ErrorKind::PermissionDenied, "who may read it");
        check("write", ErrorKind::PermissionDenied, "write to");
        check("create a folder in", ErrorKind::ReadOnlyFilesystem, "write to");
        check("write", ErrorKind::StorageFull, "free some space");
        check("write", ErrorKind::QuotaExceeded, "quota");
        check("read", ErrorKind::InvalidInput, "a pipe, a socket or a device");
    }

    #[test]
    fn an_ignore_file_that_is_too_large_was_a_full_disk() {
        check("read", ErrorKind::FileTooLarge, "larger than such a file is");
        check("write", ErrorKind::FileTooLarge, "free some space");
    }

    #[test]
    fn a_path_that_is_too_long_was_a_bug_of_ours() {
        check("read", ErrorKind::InvalidFilename, "longer than this system takes");
        let error = FileError::new("read", "x", Error::from(ErrorKind::InvalidFilename));
        assert_eq!(error.end(), FaultEnd::Fixable);
    }

    #[cfg(unix)]
    #[test]
    fn files_have_run_out_also_after_the_half_done_ones_are_removed() {
        assert!(are_files_scarcer((0, 6), (100, 100)));
        assert!(are_files_scarcer((4, 6), (100, 100)), "removed files are free again");
        assert!(!are_files_scarcer((900, 1000), (1, 2)), "the space has run out");
        assert!(!are_files_scarcer((900, 1000), (0, 2)));
        assert!(!are_files_scarcer((0, 0), (50, 100)), "btrfs counts no files");
        assert!(!are_files_scarcer((400_000, 400_003), (75, 75)), "the space had run out, and is free again");
    }

    #[test]
    fn an_error_named_a_temporary_folder_that_was_gone_when_it_was_read() {
        let check = |action, path: &str, want: &str| {
            let error = FileError::new(action, path, Error::from(ErrorKind::StorageFull));
            assert_eq!(error.to_string(), format!("cannot {want}"));
        };
        let inside = "./mirror/.tofu-oci-b0fb33a3-abhudk/package/a.bin";
        check("write", inside, "write into ./mirror");
        check("write into", inside, "write into ./mirror");
        check("create a folder in", inside, "create a folder in ./mirror");
        check("create", inside, "create temporary files in ./mirror");
        check("remove", "/tmp/tofu-oci-push-b0fb33a3-YZ42ZN/.git", "remove temporary files in /tmp");
        check("read", "/tmp/tofu-oci-push-b0fb33a3-YZ42ZN/linux_amd64.tar.gz", "read temporary files in /tmp");
        check("read from", inside, "read from ./mirror");
        check("write", ".tofu-oci-b0fb33a3-abhudk", "write into the working directory");
        check("read", ".tofu-oci-b0fb33a3-abhudk", "read temporary files in the working directory");
        check("write", "./.tofu-oci-lock", "write ./.tofu-oci-lock");
        check("read", "dist//a.zip", "read dist//a.zip");
    }
}

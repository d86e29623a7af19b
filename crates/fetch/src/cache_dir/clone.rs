//! One file made visible in a second place: by shared blocks, a hard link, or a copy.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tofu_oci_disk::device;

/// How a file gets a second place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CloneWay {
    /// A file of its own that shares the blocks of the first until one of them is changed.
    Reflink,
    /// The same file under a second name.
    HardLink,
    /// A file of its own.
    Copy,
}

/// Makes clones, and remembers for a run what two file systems cannot do together.
#[derive(Debug, Default)]
pub(crate) struct Cloner {
    impossible: Mutex<BTreeSet<(u64, u64, CloneWay)>>,
}

impl Cloner {
    /// Makes `to`, which must be missing, by the first of these ways that works; `None` if none works.
    ///
    /// # Errors
    /// Those of a full or broken disk, and of a missing file.
    pub(crate) fn make(&self, from: &Path, to: &Path, ways: &[CloneWay]) -> io::Result<Option<CloneWay>> {
        let there = to.parent().map_or_else(|| fs::metadata("."), fs::metadata)?;
        let pair = (device(&fs::metadata(from)?), device(&there));
        for way in ways {
            let key = (pair.0, pair.1, *way);
            if self.impossible.lock().unwrap_or_else(PoisonError::into_inner).contains(&key) {
                continue;
            }
            match way.make(from, to) {
                Ok(()) => return Ok(Some(*way)),
                Err(error) if *way == CloneWay::Copy || is_of_the_disk(&error) => return Err(error),
                // A file can have too many links while others have few.
                Err(error) if error.kind() == io::ErrorKind::TooManyLinks => {}
                Err(_) => {
                    self.impossible.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
                }
            }
        }
        Ok(None)
    }
}

impl CloneWay {
    fn make(self, from: &Path, to: &Path) -> io::Result<()> {
        match self {
            Self::Reflink => reflink(from, to),
            Self::HardLink => fs::hard_link(from, to),
            Self::Copy => fs::copy(from, to).map(drop),
        }
    }
}

/// Whether another way would fail, too.
fn is_of_the_disk(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, NotFound, QuotaExceeded, StorageFull};
    matches!(error.kind(), NotFound | AlreadyExists | StorageFull | QuotaExceeded)
}

#[cfg(target_os = "linux")]
fn reflink(from: &Path, to: &Path) -> io::Result<()> {
    let from = File::open(from)?;
    let new = File::create_new(to)?;
    rustix::fs::ioctl_ficlone(&new, &from).map_err(|error| {
        // The empty file must not be taken for a clone.
        let _ = fs::remove_file(to);
        error.into()
    })
}

#[cfg(not(target_os = "linux"))]
fn reflink(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a file this mode.
#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// This system has no modes.
#[cfg(not(unix))]
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clones a file within one folder, or into another one.
    #[track_caller]
    fn check(to: &Path, ways: &[CloneWay], want: Option<&[CloneWay]>) {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), to.join("to"));
        fs::write(&from, "bytes").unwrap();
        let made = Cloner::default().make(&from, &to, ways).unwrap();
        match (made, want) {
            (Some(made), Some(want)) => assert!(want.contains(&made), "{made:?}"),
            (made, want) => assert_eq!(made.is_some(), want.is_some()),
        }
        let bytes = fs::read(&to).ok();
        assert_eq!(bytes.as_deref(), made.map(|_| b"bytes".as_slice()), "a way that fails leaves nothing");
    }

    #[test]
    fn the_first_way_that_works_is_taken() {
        use CloneWay::{Copy, HardLink, Reflink};
        let folder = || tempfile::tempdir().unwrap();
        check(folder().path(), &[HardLink, Copy], Some(&[HardLink]));
        check(folder().path(), &[Copy], Some(&[Copy]));
        check(folder().path(), &[Reflink, HardLink], Some(&[Reflink, HardLink]));
        check(folder().path(), &[], None);
    }

    /// Which folder is on another file system depends on the machine.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_of_another_file_system_is_copied() {
        use CloneWay::{Copy, HardLink, Reflink};
        let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
        let here = tempfile::tempdir().unwrap();
        let of = |path: &Path| device(&fs::metadata(path).unwrap());
        if of(elsewhere.path()) != of(here.path()) {
            check(elsewhere.path(), &[Reflink, HardLink], None);
            check(elsewhere.path(), &[Reflink, HardLink, Copy], Some(&[Copy]));
        }
    }

    #[test]
    fn a_missing_file_is_an_error_and_no_reason_for_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("missing"), folder.path().join("to"));
        assert!(Cloner::default().make(&from, &to, &[CloneWay::HardLink, CloneWay::Copy]).is_err());
        assert!(!to.exists());
    }
}

//! What outlasts a power cut: files and folders that are flushed once a run.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Makes all that was written into a folder outlast a power cut, whatever wrote it. It takes as long as the disk needs for
/// what waits to be written, so it is done once a run, not once a file.
///
/// # Errors
/// If something could not be written.
pub fn sync_tree(folder: &Path) -> io::Result<()> {
    match flush(folder) {
        // Some file systems cannot be asked.
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => Ok(()),
        done => done,
    }
}

/// Makes the names in a folder outlast a power cut.
///
/// # Errors
/// As [`sync_tree`].
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        // Folders cannot be opened there.
        return Ok(());
    }
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => Ok(()),
        done => done,
    }
}

#[cfg(target_os = "linux")]
fn flush(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

#[cfg(not(target_os = "linux"))]
fn flush(folder: &Path) -> io::Result<()> {
    flush_each(folder)
}

/// Flushes one file after the other. What is gone, or belongs to another user, was not written by this run.
#[cfg(any(test, not(target_os = "linux")))]
fn flush_each(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let flushed = entry.file_type().and_then(|kind| match kind {
            kind if kind.is_dir() => flush_each(&entry.path()),
            // Windows flushes no file that is only read.
            kind if kind.is_file() => {
                File::options().read(cfg!(unix)).append(cfg!(not(unix))).open(entry.path())?.sync_all()
            }
            _ => Ok(()),
        });
        match flushed {
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                return Err(error);
            }
            _ => {}
        }
    }
    sync_folder(folder)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::{Purpose, Scratch};

    #[test]
    fn one_file_that_may_not_be_opened_made_a_whole_run_fail() {
        let folder = Scratch::temporary(&std::env::temp_dir(), Purpose::Push).expect("a temporary folder");
        let path = folder.path().join("own");
        std::fs::create_dir_all(path.join("below")).expect("a folder");
        for (name, mode) in [("read", 0o444), ("closed", 0o000), ("below/read", 0o444), ("below", 0o500)] {
            if name != "below" {
                std::fs::write(path.join(name), name).expect("written");
            }
            std::fs::set_permissions(path.join(name), Permissions::from_mode(mode)).expect("its mode");
        }
        symlink("nowhere", path.join("link")).expect("a link");
        flush_each(&path).expect("what can be flushed is flushed");
        std::fs::set_permissions(path.join("below"), Permissions::from_mode(0o700)).expect("its mode");
        assert!(flush_each(&path.join("none")).is_err());
    }
}

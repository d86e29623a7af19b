//! What outlasts a power cut.

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
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => flush(&entry.path())?,
            // A file that is only read cannot be flushed everywhere.
            kind if kind.is_file() => File::options().append(true).open(entry.path())?.sync_all()?,
            _ => {}
        }
    }
    sync_folder(folder)
}

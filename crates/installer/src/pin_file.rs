//! The pin file on disk. What is in it is the business of `trust`.
//!
//! It lies beside the lock file and is as careful: a link that leaves its folder is refused, and readers see the old or
//! the new file. Two programs at once lose nothing: each reads the file again before it writes, and they do so one after
//! the other.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_lockfile::{LockFileError, Written};
use tofu_oci_trust::{PIN_FILE_NAME, PinConflict, Pins, PinsError};

/// Why the pins could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinFileError {
    /// The text is no pin file. It is never passed over: what it holds may be what protects the user.
    #[error("{}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: PinsError,
    },
    /// The file cannot be read or written, or is a link that leaves its folder.
    #[error(transparent)]
    File(#[from] LockFileError),
    /// Somebody else has pinned another index for the same version meanwhile.
    #[error(transparent)]
    Conflict(#[from] PinConflict),
}

/// The pin file that belongs to a lock file: beside it.
pub fn beside(lock_file: &Path) -> PathBuf {
    lock_file.with_file_name(PIN_FILE_NAME)
}

/// The pins in the file at `path`; none when there is no file.
pub fn read(path: &Path) -> Result<Pins, PinFileError> {
    let place = tofu_oci_lockfile::follow(path)?;
    let failed = |source| LockFileError::Io { action: "read", path: path.to_owned(), source };
    let bytes = match std::fs::read(&place) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pins::default()),
        Err(error) => return Err(failed(error).into()),
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
    Pins::parse(&text).map_err(|problem| PinFileError::Invalid { path: path.to_owned(), problem })
}

/// Writes what `pins` has changed on top of what the file holds by now. Without a change nothing is touched.
pub fn write(path: &Path, pins: &Pins) -> Result<Written, PinFileError> {
    if !pins.is_changed() {
        return Ok(Written::Unchanged);
    }
    let place = tofu_oci_lockfile::follow(path)?;
    let _turn = Turn::wait(&place);
    let before = read(path)?;
    let after = pins.onto(&before)?;
    if after == before {
        return Ok(Written::Unchanged);
    }
    tofu_oci_lockfile::replace(&place, &after.to_text())?;
    Ok(if before.is_empty() { Written::Created } else { Written::Updated })
}

/// Writers of one folder take turns. The file itself cannot be what they wait for: it is replaced.
struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Waits until no other program writes. Where the file system has no locks, nobody waits: the file is still never
    /// half-written.
    fn wait(place: &Path) -> Self {
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        #[cfg(unix)]
        let opened = File::open(folder);
        #[cfg(not(unix))]
        let opened = File::options().create(true).append(true).open(folder.join(".tofu-oci.pins.lock"));
        Self { _lock: opened.ok().filter(|file| file.lock().is_ok()) }
    }
}

#[cfg(test)]
mod tests;

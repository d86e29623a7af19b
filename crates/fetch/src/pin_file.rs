//! The pin file on disk. `trust` reads its text.
//!
//! It lies beside the lock file and follows the same rules: a link must not leave its folder, and readers see the old
//! or the new file. Two programs at once lose nothing: each reads the file again before it writes, in its [`FolderLock`].

mod place;

use std::path::{Path, PathBuf};

use tofu_oci_fault::Fault;
use tofu_oci_lockfile::{LockFileError, WriteOutcome};
use tofu_oci_trust::{PIN_FILE_NAME, PinConflict, Pins, PinsError};
use tofu_oci_types::{Place, TextPosition};

use crate::FolderLock;

pub use place::place;

/// Why the pins could not be read or written.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum PinFileError {
    /// the pin file cannot be read
    #[error("{}: {problem}", path.display())]
    #[fault("pins-invalid", end = Usage, todo = "restore `.tofu-oci.pins.json` from version control")]
    #[hint("take the file back from version control")]
    #[hint("without it, what was trusted before would be forgotten, so it is never passed over")]
    Invalid { path: PathBuf, problem: PinsError },
    /// the pin file cannot be read from disk or written
    #[error(transparent)]
    #[fault("pin-file", of = _0, todo = "the error says what the system said")]
    File(#[from] LockFileError),
    /// another run pinned the release differently at the same time
    #[error(transparent)]
    #[fault("pin-conflict", todo = "run the command again; compare the two releases")]
    Conflict(#[from] PinConflict),
}

/// The pin file that belongs to a lock file: beside it.
pub fn beside(lock_file: &Path) -> PathBuf {
    lock_file.with_file_name(PIN_FILE_NAME)
}

/// The pins in the file at `path`, which need not exist.
pub fn read(path: &Path) -> Result<Pins, PinFileError> {
    let Some(bytes) = tofu_oci_lockfile::read_bytes(path)? else { return Ok(Pins::default()) };
    let written = |written: &Place| place::written(path, written);
    let pins = match std::str::from_utf8(&bytes) {
        Ok(text) => Pins::parse_with(text, written),
        Err(error) => {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let TextPosition { line, column } = TextPosition::of(&before, before.len());
            Err(PinsError::Syntax { line, column, message: "the text is not UTF-8".to_owned() })
        }
    };
    pins.map_err(|problem| PinFileError::Invalid { path: path.to_owned(), problem })
}

/// Merges the changes of `pins` into the file as it is now, and writes it only if it changes.
pub fn write(path: &Path, pins: &Pins, _folder_lock: &FolderLock) -> Result<WriteOutcome, PinFileError> {
    if !pins.is_changed() {
        return Ok(WriteOutcome::Unchanged);
    }
    let before = read(path)?;
    let after = pins.onto(&before)?;
    if after == before {
        return Ok(WriteOutcome::Unchanged);
    }
    tofu_oci_lockfile::replace(path, &after.to_text())?;
    Ok(if before.is_empty() { WriteOutcome::Created } else { WriteOutcome::Updated })
}

#[cfg(test)]
mod tests;

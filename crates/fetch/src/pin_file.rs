//! The pin file on disk. `trust` reads its text.
//!
//! It lies beside the lock file and follows the same rules: a link must not leave its folder, and readers see the old
//! or the new file. Two programs at once lose nothing: each reads the file again before it writes, in its [`Turn`].

mod place;

use std::path::{Path, PathBuf};

use tofu_oci_lockfile::{LockFileError, WriteOutcome};
use tofu_oci_trust::{PIN_FILE_NAME, PinConflict, Pins, PinsError};
use tofu_oci_types::Place;

use crate::Turn;

pub use place::place;

/// Why the pins could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinFileError {
    /// The text is not a valid pin file. It is never ignored, because the pins may protect the user.
    #[error("{}: {problem}", path.display())]
    Invalid { path: PathBuf, problem: PinsError },
    /// The file cannot be read or written, or is a link that leaves its folder.
    #[error(transparent)]
    File(#[from] LockFileError),
    /// Another program has pinned another index for the same version meanwhile.
    #[error(transparent)]
    Conflict(#[from] PinConflict),
}

impl PinFileError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "pins-invalid",
            Self::Conflict(_) => "pin-conflict",
            Self::File(_) => "pin-file",
        }
    }
}

/// The pin file that belongs to a lock file: beside it.
pub fn beside(lock_file: &Path) -> PathBuf {
    lock_file.with_file_name(PIN_FILE_NAME)
}

/// The pins in the file at `path`, which need not exist.
pub fn read(path: &Path) -> Result<Pins, PinFileError> {
    let Some(text) = tofu_oci_lockfile::read_text(path)? else { return Ok(Pins::default()) };
    let written = |written: &Place| place::written(path, written);
    Pins::parse_with(&text, written).map_err(|problem| PinFileError::Invalid { path: path.to_owned(), problem })
}

/// Merges the changes of `pins` into the file as it is now, and writes it only if it changes.
pub fn write(path: &Path, pins: &Pins, _turn: &Turn) -> Result<WriteOutcome, PinFileError> {
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

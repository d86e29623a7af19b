//! A zip archive put into a file as it comes.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use super::input::Input;
use super::walk::check_beginning;
use crate::{ArchiveError, ByteSource, Limits};

/// Writes what `source` delivers into the new file `path`. [`super::read_zip`] says afterwards what it holds.
///
/// # Errors
/// [`ArchiveError::NotAZip`] or [`ArchiveError::Empty`] after the first bytes, before the file is there, if no archive with
/// entries begins so; [`ArchiveError::Oversized`] as soon as more than [`Limits::packed_bytes`] have come.
pub fn save_zip(source: &mut dyn ByteSource, path: &Path, limits: &Limits) -> Result<(), ArchiveError> {
    let mut input = Input::new(source, limits);
    check_beginning(&mut input)?;
    let mut file = File::create_new(path).map_err(ArchiveError::io("write", path))?;
    loop {
        let chunk = input.fill()?;
        if chunk.is_empty() {
            return Ok(());
        }
        file.write_all(chunk).map_err(ArchiveError::io("write", path))?;
        let count = chunk.len();
        input.consume(count);
    }
}

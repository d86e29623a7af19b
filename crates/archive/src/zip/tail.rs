//! The central directory of a zip file on disk, found from its end.
//!
//! What comes from here says how to read entries that do not say it themselves. It is believed only because the
//! walk along the archive compares every entry with the directory again (see `directory`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use tofu_oci_disk::FileError;

use super::format::{
    CENTRAL, CentralEntry, END, END64, LOCATOR64, LOCATOR64_BYTES, check_one_end, u16_at, u32_at, u64_at,
};
use crate::{ArchiveError, Limits};

/// The entries by the offset of their local header.
pub(crate) type Hints = HashMap<u64, CentralEntry>;

/// The length of the end record without its comment.
const END_BYTES: usize = 22;

/// The central directory's entries in their order. `file` holds the archive from the offset `base` to its end.
pub(crate) fn read_entries(file: &File, base: u64, limits: &Limits) -> Result<Vec<CentralEntry>, ArchiveError> {
    let mut file = file;
    let io = |source: io::Error| ArchiveError::from(FileError::new("read", Path::new("the archive"), source));
    let length = file.seek(SeekFrom::End(0)).map_err(io)?;
    let tail_start = length.saturating_sub((END_BYTES + LOCATOR64_BYTES + usize::from(u16::MAX)) as u64);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(tail_start)).map_err(io)?;
    file.take(length - tail_start).read_to_end(&mut tail).map_err(io)?;
    let end = find_end(&tail).ok_or(ArchiveError::Truncated)?;

    let record = &tail[end..];
    check_one_end(&record[END.len()..])?;
    let (mut count, mut offset) = (u64::from(u16_at(record, 10)), u64::from(u32_at(record, 16)));
    if let Some(locator) = end.checked_sub(LOCATOR64_BYTES).map(|at| &tail[at..end])
        && locator[..4] == LOCATOR64
    {
        let mut wide = [0; 56];
        let at = u64_at(locator, 8).checked_sub(base).filter(|at| *at <= length);
        let at = at.ok_or(ArchiveError::Malformed { reason: OUTSIDE })?;
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        file.read_exact(&mut wide).map_err(|_| ArchiveError::Truncated)?;
        if wide[..4] != END64 {
            return Err(ArchiveError::Malformed { reason: OUTSIDE });
        }
        (count, offset) = (u64_at(&wide, 32), u64_at(&wide, 48));
    }
    limits.check_entries(usize::try_from(count).unwrap_or(usize::MAX))?;
    let at = offset.checked_sub(base).filter(|at| *at <= length).ok_or(ArchiveError::Malformed { reason: OUTSIDE })?;
    file.seek(SeekFrom::Start(at)).map_err(io)?;
    let mut reader = BufReader::new(file);
    let mut read = |buffer: &mut [u8]| {
        reader.read_exact(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ArchiveError::Truncated,
            _ => io(error),
        })
    };
    let mut entries = Vec::new();
    for _ in 0..count {
        let mut signature = [0; 4];
        read(&mut signature)?;
        if signature != CENTRAL {
            return Err(ArchiveError::Malformed { reason: "its directory lists fewer entries than it says" });
        }
        entries.push(CentralEntry::read(&mut read)?);
    }
    Ok(entries)
}

const OUTSIDE: &str = "its directory is not where it says";

/// Where the end record begins: the last one whose comment reaches exactly to the end.
fn find_end(tail: &[u8]) -> Option<usize> {
    (0..=tail.len().checked_sub(END_BYTES)?)
        .rev()
        .find(|&at| tail[at..at + 4] == END && at + END_BYTES + usize::from(u16_at(tail, at + 20)) == tail.len())
}

/// The entries by their positions.
pub(crate) fn hints(entries: Vec<CentralEntry>) -> Hints {
    entries.into_iter().map(|entry| (entry.offset, entry)).collect()
}

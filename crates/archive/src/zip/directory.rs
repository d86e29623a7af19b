//! The end of a zip archive, compared with what has been unpacked.

use super::format::{
    CENTRAL, CentralEntry, END, END64, LOCATOR64, LOCATOR64_BYTES, check_one_end, u16_at, u32_at, u64_at,
};
use super::input::Input;
use super::walk::WalkedZip;
use crate::ArchiveError;

/// Reads the central directory, which begins at the input's position, to the very end of the archive. It must list
/// exactly `walked`, in that order. Returns its entries.
pub(crate) fn check_directory(input: &mut Input<'_>, walked: &[WalkedZip]) -> Result<Vec<CentralEntry>, ArchiveError> {
    let start = input.position();
    let mut entries = Vec::new();
    for entry in walked {
        if input.signature()? != CENTRAL {
            return Err(ArchiveError::Malformed { reason: "its directory lists fewer entries than there are" });
        }
        let central = CentralEntry::read(&mut |buffer| input.read_exact(buffer))?;
        compare(entry, &central)?;
        entries.push(central);
    }
    let facts = EntryFacts { count: walked.len() as u64, start, size: input.position() - start };
    check_end(input, &facts)?;
    Ok(entries)
}

fn compare(entry: &WalkedZip, central: &CentralEntry) -> Result<(), ArchiveError> {
    let (local, directory) = (&entry.header, &central.header);
    let what = if local.name != directory.name || local.kind != directory.kind {
        "name"
    } else if entry.offset != central.offset {
        "offset"
    } else if local.method != directory.method {
        "compression method"
    } else if local.has_descriptor() != directory.has_descriptor() {
        "flags"
    } else if local.crc != directory.crc {
        "checksum"
    } else if local.size != directory.size {
        "size"
    } else if local.compressed != directory.compressed {
        "compressed size"
    } else {
        return Ok(());
    };
    Err(ArchiveError::Mismatch { name: local.name.clone(), what })
}

/// What the end records must say.
struct EntryFacts {
    count: u64,
    start: u64,
    size: u64,
}

fn check_end(input: &mut Input<'_>, facts: &EntryFacts) -> Result<(), ArchiveError> {
    let end64_at = input.position();
    let mut signature = input.signature()?;
    let wide = signature == END64;
    if wide {
        check_end64(input, facts, end64_at)?;
        signature = input.signature()?;
    }
    match signature {
        END => {}
        CENTRAL => return Err(ArchiveError::Malformed { reason: "its directory lists more entries than there are" }),
        _ => return Err(ArchiveError::Malformed { reason: "something lies after its directory" }),
    }
    let mut record = [0; 18];
    input.read_exact(&mut record)?;
    let narrow = |value: u64, found: u64, max: u64| found == value || wide && found == max;
    let u16_is = |at, value| narrow(value, u64::from(u16_at(&record, at)), u64::from(u16::MAX));
    let u32_is = |at, value| narrow(value, u64::from(u32_at(&record, at)), u64::from(u32::MAX));
    if !(u16_is(0, 0) && u16_is(2, 0)) {
        return Err(ArchiveError::Malformed { reason: "it consists of several volumes" });
    }
    if !(u16_is(4, facts.count) && u16_is(6, facts.count) && u32_is(8, facts.size) && u32_is(12, facts.start)) {
        return Err(ArchiveError::Malformed { reason: DISAGREES });
    }
    let mut comment = vec![0; usize::from(u16_at(&record, 16))];
    input.read_exact(&mut comment)?;
    check_one_end(&[record.as_slice(), &comment].concat())?;
    if input.fill()?.is_empty() {
        return Ok(());
    }
    Err(ArchiveError::Malformed { reason: "something lies after its end" })
}

const DISAGREES: &str = "its end record disagrees with its directory";

fn check_end64(input: &mut Input<'_>, facts: &EntryFacts, end64_at: u64) -> Result<(), ArchiveError> {
    let mut record = [0; 52];
    input.read_exact(&mut record)?;
    // 44 is the record without its own signature and length, and without extensions.
    let agrees = u64_at(&record, 0) == 44
        && u32_at(&record, 12) == 0
        && u32_at(&record, 16) == 0
        && u64_at(&record, 20) == facts.count
        && u64_at(&record, 28) == facts.count
        && u64_at(&record, 36) == facts.size
        && u64_at(&record, 44) == facts.start;
    let mut locator = [0; LOCATOR64_BYTES];
    input.read_exact(&mut locator)?;
    if agrees && locator[..4] == LOCATOR64 && u64_at(&locator, 8) == end64_at {
        return Ok(());
    }
    Err(ArchiveError::Malformed { reason: DISAGREES })
}

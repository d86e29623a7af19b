//! The directory of an archive.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Most entries of a directory that are read.
const MOST: usize = 100_000;

const HEADER: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const END_LENGTH: usize = 22;

/// Why an archive cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZipFault {
    /// The directory is missing, damaged or truncated.
    NotAZip,
    /// It has more than 100000 entries, so it was not read.
    TooMany,
}

/// One header of the directory.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectoryHeader {
    creator: u16,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    attributes: u32,
    /// The position of its local header in the file.
    pub(super) offset: i64,
    pub(super) name: Vec<u8>,
}

impl DirectoryHeader {
    /// The mode's type and permission bits, for archives made on Unix or macOS.
    fn unix_mode(&self) -> Option<u32> {
        matches!(self.creator >> 8, 3 | 19).then_some(self.attributes >> 16)
    }

    /// Whether the archive was made on a Microsoft system, whose attributes count.
    fn is_dos(&self) -> bool {
        matches!(self.creator >> 8, 0 | 11 | 14)
    }

    pub(super) fn is_directory(&self) -> bool {
        let by_mode = self.unix_mode().is_some_and(|mode| mode & 0o170_000 == 0o040_000);
        self.name.ends_with(b"/") || by_mode || (self.is_dos() && self.attributes & 0x10 != 0)
    }

    pub(super) fn is_link(&self) -> bool {
        self.unix_mode().is_some_and(|mode| mode & 0o170_000 == 0o120_000)
    }

    pub(super) fn permissions(&self) -> u32 {
        match self.unix_mode() {
            Some(mode) => mode & 0o777,
            None if self.is_dos() && self.attributes & 1 != 0 => 0o444,
            None if self.is_dos() => 0o666,
            None => 0,
        }
    }
}

/// The end of the directory.
struct ZipEnd {
    /// The position of its record, or of the zip64 record if that one counts.
    at: u64,
    records: u64,
    size: u64,
    offset: u64,
}

/// Every header, as many as the end record says modulo 65536.
pub(super) fn headers(file: &mut (impl Read + Seek), size: u64) -> io::Result<Result<Vec<DirectoryHeader>, ZipFault>> {
    let Some(end) = find_end(file, size)? else { return Ok(Err(ZipFault::NotAZip)) };
    let (Ok(at), Ok(length), Ok(offset), Ok(whole)) =
        (i64::try_from(end.at), i64::try_from(end.size), i64::try_from(end.offset), i64::try_from(size))
    else {
        return Ok(Err(ZipFault::NotAZip));
    };
    let mut base = at.wrapping_sub(length).wrapping_sub(offset);
    let start = base.wrapping_add(offset);
    if start < 0 || start >= whole {
        return Ok(Err(ZipFault::NotAZip));
    }
    // An archive after other data, whose offsets are still right.
    if base > 0 {
        file.seek(SeekFrom::Start(end.offset))?;
        if header(&mut BufReader::new(&mut *file))?.is_some() {
            base = 0;
        }
    }
    file.seek(SeekFrom::Start(base.wrapping_add(offset).unsigned_abs()))?;
    let mut reader = BufReader::new(&mut *file);
    let mut headers = Vec::new();
    while let Some(mut header) = header(&mut reader)? {
        header.offset = header.offset.wrapping_add(base);
        if headers.len() == MOST {
            return Ok(Err(ZipFault::TooMany));
        }
        headers.push(header);
    }
    let is_whole = headers.len() as u64 & 0xffff == end.records & 0xffff;
    Ok(if is_whole { Ok(headers) } else { Err(ZipFault::NotAZip) })
}

/// The end record: in the last 1024 bytes, else in the last 65 KiB.
fn find_end(file: &mut (impl Read + Seek), size: u64) -> io::Result<Option<ZipEnd>> {
    for length in [1024, 65 * 1024] {
        let length = size.min(length);
        let mut block = Vec::new();
        file.seek(SeekFrom::Start(size - length))?;
        file.by_ref().take(length).read_to_end(&mut block)?;
        if let Some(position) = find_signature(&block) {
            let record = &block[position..];
            let at = size - length + position as u64;
            let mut end = ZipEnd {
                at,
                records: u16_at(record, 10).into(),
                size: u32_at(record, 12).into(),
                offset: u32_at(record, 16).into(),
            };
            let full = end.records == 0xffff || end.size == 0xffff || end.offset == 0xffff_ffff;
            let is_good = !full || read_end_64(file, size, &mut end)?;
            return Ok(is_good.then_some(end));
        }
        if length == size {
            break;
        }
    }
    Ok(None)
}

fn find_signature(block: &[u8]) -> Option<usize> {
    let last = block.len().checked_sub(END_LENGTH)?;
    let position = (0..=last).rev().find(|position| block[*position..].starts_with(&END))?;
    let comment = usize::from(u16_at(&block[position..], 20));
    (position + END_LENGTH + comment <= block.len()).then_some(position)
}

/// Reads the end record of zip64, if its locator is right before the other one; false if it is damaged.
fn read_end_64(file: &mut (impl Read + Seek), size: u64, end: &mut ZipEnd) -> io::Result<bool> {
    let Some(locator_at) = end.at.checked_sub(20) else { return Ok(true) };
    let mut locator = [0; 20];
    file.seek(SeekFrom::Start(locator_at))?;
    file.read_exact(&mut locator)?;
    if !locator.starts_with(&LOCATOR_64) || u32_at(&locator, 4) != 0 || u32_at(&locator, 16) != 1 {
        return Ok(true);
    }
    let at = u64_at(&locator, 8);
    if at.checked_add(56).is_none_or(|behind| behind > size) {
        return Ok(false);
    }
    let mut record = [0; 56];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut record)?;
    *end = ZipEnd { at, records: u64_at(&record, 32), size: u64_at(&record, 40), offset: u64_at(&record, 48) };
    Ok(record.starts_with(&END_64))
}

/// The next header; `None` where the directory ends.
fn header(reader: &mut impl Read) -> io::Result<Option<DirectoryHeader>> {
    let mut fixed = Vec::with_capacity(46);
    reader.by_ref().take(46).read_to_end(&mut fixed)?;
    if fixed.len() < 46 || !fixed.starts_with(&HEADER) {
        return Ok(None);
    }
    let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(&fixed, at)));
    let mut texts = Vec::new();
    reader.by_ref().take((name + extra + comment) as u64).read_to_end(&mut texts)?;
    if texts.len() < name + extra + comment {
        return Ok(None);
    }
    let header = DirectoryHeader {
        creator: u16_at(&fixed, 4),
        flags: u16_at(&fixed, 8),
        method: u16_at(&fixed, 10),
        crc: u32_at(&fixed, 16),
        compressed: u32_at(&fixed, 20).into(),
        size: u32_at(&fixed, 24).into(),
        attributes: u32_at(&fixed, 38),
        offset: u32_at(&fixed, 42).into(),
        name: texts[..name].to_vec(),
    };
    Ok(with_zip64(header, &texts[name..name + extra]))
}

/// The header with the sizes of its zip64 extra, or `None` if Go refuses it.
fn with_zip64(mut header: DirectoryHeader, mut extra: &[u8]) -> Option<DirectoryHeader> {
    const FULL: u64 = 0xffff_ffff;
    let (mut need_size, mut need_compressed) = (header.size == FULL, header.compressed == FULL);
    let mut need_offset = header.offset == 0xffff_ffff;
    while extra.len() >= 4 {
        let (tag, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let Some(mut field) = extra.get(4..4 + length) else { break };
        extra = &extra[4 + length..];
        if tag != 1 {
            continue;
        }
        let mut next = || {
            let (value, rest) = field.split_at_checked(8)?;
            field = rest;
            Some(u64_at(value, 0))
        };
        if std::mem::take(&mut need_size) {
            header.size = next()?;
        }
        if std::mem::take(&mut need_compressed) {
            header.compressed = next()?;
        }
        if std::mem::take(&mut need_offset) {
            header.offset = next()?.cast_signed();
        }
    }
    (!need_compressed && !need_offset).then_some(header)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

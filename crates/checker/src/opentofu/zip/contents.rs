//! The contents of an entry.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

use super::ZipFault;
use super::directory::{DirectoryHeader, u32_at};

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The position of an entry's data: after its local header, of which Go reads nothing else.
pub(super) fn open(file: &mut (impl Read + Seek), header: &DirectoryHeader) -> io::Result<Result<u64, ZipFault>> {
    let Ok(offset) = u64::try_from(header.offset) else { return Ok(Err(ZipFault::End)) };
    let mut local = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.by_ref().take(30).read_to_end(&mut local)?;
    if local.len() < 30 {
        return Ok(Err(ZipFault::End));
    }
    if !local.starts_with(b"PK\x03\x04") {
        return Ok(Err(ZipFault::Format));
    }
    let lengths = u32_at(&local, 26);
    if !matches!(header.method, STORED | DEFLATED) {
        return Ok(Err(ZipFault::Algorithm));
    }
    Ok(Ok(offset + 30 + u64::from(lengths & 0xffff) + u64::from(lengths >> 16)))
}

/// Reads an entry to its end, as Go's checking reader does.
pub(super) fn read(
    file: &mut (impl Read + Seek),
    header: &DirectoryHeader,
    start: u64,
) -> io::Result<Result<(), ZipFault>> {
    file.seek(SeekFrom::Start(start))?;
    let data = io::BufReader::new(file.by_ref().take(header.compressed));
    let outcome =
        if header.method == STORED { digest(data, header) } else { digest(DeflateDecoder::new(data), header) };
    let crc = match outcome {
        Ok(crc) => crc,
        Err(fault) => return Ok(Err(fault)),
    };
    if header.flags & 8 != 0 {
        return described(file, header, start.saturating_add(header.compressed), crc);
    }
    // Without a descriptor, a checksum of zero means that there is none.
    let wrong = header.crc != 0 && header.crc != crc;
    Ok(if wrong { Err(ZipFault::Checksum) } else { Ok(()) })
}

/// The contents of an entry that can be read, if they have at most `limit` bytes.
pub(super) fn bytes(
    file: &mut (impl Read + Seek),
    header: &DirectoryHeader,
    start: u64,
    limit: u64,
) -> io::Result<Option<Vec<u8>>> {
    if header.size > limit {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(start))?;
    let data = io::BufReader::new(file.by_ref().take(header.compressed));
    let mut bytes = Vec::new();
    if header.method == STORED {
        data.take(limit).read_to_end(&mut bytes)?;
    } else {
        DeflateDecoder::new(data).take(limit).read_to_end(&mut bytes)?;
    }
    Ok(Some(bytes))
}

/// The checksum of the data, if their size is that of the directory.
fn digest(mut data: impl Read, header: &DirectoryHeader) -> Result<u32, ZipFault> {
    let mut hasher = crc32fast::Hasher::new();
    // One byte more than expected, to notice longer data.
    let mut buffer =
        vec![0; usize::try_from(header.size.saturating_add(1)).map_or(64 * 1024, |size| size.min(64 * 1024))];
    let mut seen = 0;
    loop {
        let count = match data.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(ZipFault::End),
            Err(_) => return Err(ZipFault::Corrupt),
        };
        hasher.update(&buffer[..count]);
        seen += count as u64;
        if seen > header.size {
            return Err(ZipFault::Format);
        }
        if count == 0 {
            return if seen == header.size { Ok(hasher.finalize()) } else { Err(ZipFault::End) };
        }
    }
}

/// The descriptor after the data, with or without a signature, of which only the checksum counts.
fn described(
    file: &mut (impl Read + Seek),
    header: &DirectoryHeader,
    at: u64,
    crc: u32,
) -> io::Result<Result<(), ZipFault>> {
    let mut record = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.by_ref().take(16).read_to_end(&mut record)?;
    let skipped = if record.starts_with(b"PK\x07\x08") { 4 } else { 0 };
    if record.len() < skipped + 12 {
        return Ok(Err(ZipFault::End));
    }
    let wrong = u32_at(&record, skipped) != header.crc || header.crc != crc;
    Ok(if wrong { Err(ZipFault::Checksum) } else { Ok(()) })
}

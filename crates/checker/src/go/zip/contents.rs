//! The contents of an entry.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

use super::directory::{DirectoryHeader, u32_at};

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The position of an entry's data: after its local header, of which Go reads nothing else. `None` if Go cannot open it.
pub(super) fn open(file: &mut (impl Read + Seek), header: &DirectoryHeader) -> io::Result<Option<u64>> {
    let Ok(offset) = u64::try_from(header.offset) else { return Ok(None) };
    let mut local = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.by_ref().take(30).read_to_end(&mut local)?;
    if local.len() < 30 || !local.starts_with(b"PK\x03\x04") || !matches!(header.method, STORED | DEFLATED) {
        return Ok(None);
    }
    let lengths = u32_at(&local, 26);
    Ok(Some(offset + 30 + u64::from(lengths & 0xffff) + u64::from(lengths >> 16)))
}

/// Reads an entry to its end, as Go's checking reader does.
pub(super) fn is_sound(file: &mut (impl Read + Seek), header: &DirectoryHeader, start: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(start))?;
    let data = io::BufReader::new(file.by_ref().take(header.compressed));
    let outcome =
        if header.method == STORED { digest(data, header) } else { digest(DeflateDecoder::new(data), header) };
    let Some(crc) = outcome else { return Ok(false) };
    if header.flags & 8 != 0 {
        return described(file, header, start.saturating_add(header.compressed), crc);
    }
    // Without a descriptor, a checksum of zero means that there is none.
    Ok(header.crc == 0 || header.crc == crc)
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
fn digest(mut data: impl Read, header: &DirectoryHeader) -> Option<u32> {
    let mut hasher = crc32fast::Hasher::new();
    // One byte more than expected, to notice longer data.
    let mut buffer =
        vec![0; usize::try_from(header.size.saturating_add(1)).map_or(64 * 1024, |size| size.min(64 * 1024))];
    let mut seen = 0;
    loop {
        let count = data.read(&mut buffer).ok()?;
        hasher.update(&buffer[..count]);
        seen += count as u64;
        if seen > header.size {
            return None;
        }
        if count == 0 {
            return (seen == header.size).then(|| hasher.finalize());
        }
    }
}

/// The descriptor after the data, with or without a signature, of which only the checksum counts.
fn described(file: &mut (impl Read + Seek), header: &DirectoryHeader, at: u64, crc: u32) -> io::Result<bool> {
    let mut record = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.by_ref().take(16).read_to_end(&mut record)?;
    let skipped = if record.starts_with(b"PK\x07\x08") { 4 } else { 0 };
    Ok(record.len() >= skipped + 12 && u32_at(&record, skipped) == header.crc && header.crc == crc)
}

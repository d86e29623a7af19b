//! Writing a provider's zip archive.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use tofu_oci_types::{Digest, DigestHasher};

use super::{BUFFER_BYTES, Blocks, Hashing, LEVEL, create, in_order, read_file};
use crate::{ArchiveError, InputFile, PackageContents, PackageFile};

/// A zip archive that has been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenZip {
    pub digest: Digest,
    /// Bytes of the archive.
    pub size: u64,
    /// What is in it, with its `h1:`.
    pub contents: PackageContents,
}

/// The version that deflate needs, 2.0.
const VERSION: u16 = 20;
const UNIX: u16 = 3;
const DEFLATED: u16 = 8;
/// The name is UTF-8.
const FLAG_UTF8: u16 = 1 << 11;
/// 1980-01-01, the first day of the zip format.
const DATE: u16 = 1 << 5 | 1;
/// The position of the checksum and the sizes in a local header.
const SIZES_AT: u64 = 14;

struct WrittenEntry {
    file: PackageFile,
    crc: u32,
    compressed: u32,
    size: u32,
    offset: u32,
}

/// Packs the files into a zip archive at `out`, which is created or replaced. After an error what lies there is
/// worthless and the caller removes it.
///
/// Every reader can stream the result: sizes and checksums come before the data. No zip64: archive and files are
/// below 4 GiB each.
pub fn write_zip(files: &[InputFile], out: &Path) -> Result<WrittenZip, ArchiveError> {
    let files = in_order(files)?;
    if files.len() >= usize::from(u16::MAX) {
        return Err(ArchiveError::TooManyEntries { limit: usize::from(u16::MAX) - 1 });
    }
    let mut archive = create(out)?;
    let write = || ArchiveError::io("write", out);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut entries = Vec::new();
    for file in files {
        let offset = below_4_gib(archive.stream_position().map_err(write())?)?;
        archive.write_all(&local_header(&file.name)).map_err(write())?;
        let entry = write_data(file, &mut archive, &mut buffer, offset, out)?;
        let mut sizes = Vec::new();
        put_sizes(&mut sizes, &entry);
        archive.seek(SeekFrom::Start(u64::from(offset) + SIZES_AT)).map_err(write())?;
        archive.write_all(&sizes).map_err(write())?;
        archive.seek(SeekFrom::End(0)).map_err(write())?;
        entries.push(entry);
    }
    let start = below_4_gib(archive.stream_position().map_err(write())?)?;
    archive.write_all(&central_directory(&entries, start)?).map_err(write())?;
    let (digest, size) = digest_of(&mut archive, &mut buffer).map_err(ArchiveError::io("read", out))?;
    let contents = PackageContents::new(entries.into_iter().map(|entry| entry.file).collect());
    Ok(WrittenZip { digest, size, contents })
}

fn below_4_gib(value: u64) -> Result<u32, ArchiveError> {
    // All ones would mean that the value is elsewhere.
    let limit = u64::from(u32::MAX) - 1;
    u32::try_from(value).ok().filter(|value| *value < u32::MAX).ok_or(ArchiveError::TooLarge { limit })
}

fn write_data(
    file: &InputFile,
    archive: &mut File,
    buffer: &mut [u8],
    offset: u32,
    out: &Path,
) -> Result<WrittenEntry, ArchiveError> {
    let mut crc = crc32fast::Hasher::new();
    let compressed = Hashing::new(io::BufWriter::with_capacity(BUFFER_BYTES, archive));
    let mut encoder = Blocks::new(DeflateEncoder::new(compressed, Compression::new(LEVEL)));
    let described = read_file(file, buffer, &mut |bytes| {
        crc.update(bytes);
        encoder.write_all(bytes).map_err(ArchiveError::io("write", out))
    })?;
    let mut counted = encoder.finish().and_then(DeflateEncoder::finish).map_err(ArchiveError::io("write", out))?;
    counted.flush().map_err(ArchiveError::io("write", out))?;
    let (compressed, size) = (below_4_gib(counted.size)?, below_4_gib(described.size)?);
    Ok(WrittenEntry { file: described, crc: crc.finalize(), compressed, size, offset })
}

fn put(out: &mut Vec<u8>, values: &[u16]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn put_sizes(out: &mut Vec<u8>, entry: &WrittenEntry) {
    out.extend([entry.crc, entry.compressed, entry.size].iter().flat_map(|value| value.to_le_bytes()));
}

/// Flags, method, time, date.
fn common(name: &str) -> [u16; 4] {
    [if name.is_ascii() { 0 } else { FLAG_UTF8 }, DEFLATED, 0, DATE]
}

fn name_length(name: &str) -> u16 {
    u16::try_from(name.len()).expect("a checked name has at most 1024 bytes")
}

fn local_header(name: &str) -> Vec<u8> {
    let mut out = b"PK\x03\x04".to_vec();
    put(&mut out, &[VERSION]);
    put(&mut out, &common(name));
    out.extend([0; 12]);
    put(&mut out, &[name_length(name), 0]);
    out.extend(name.as_bytes());
    out
}

fn central_directory(entries: &[WrittenEntry], start: u32) -> Result<Vec<u8>, ArchiveError> {
    let mut out = Vec::new();
    for entry in entries {
        let name = &entry.file.name;
        out.extend(b"PK\x01\x02");
        put(&mut out, &[UNIX << 8 | VERSION, VERSION]);
        put(&mut out, &common(name));
        put_sizes(&mut out, entry);
        put(&mut out, &[name_length(name), 0, 0, 0, 0]);
        out.extend(((0o100_000 | entry.file.mode) << 16).to_le_bytes());
        out.extend(entry.offset.to_le_bytes());
        out.extend(name.as_bytes());
    }
    let size = below_4_gib(out.len() as u64)?;
    below_4_gib(u64::from(start) + u64::from(size))?;
    let count = u16::try_from(entries.len()).expect("the number of entries was checked");
    out.extend(b"PK\x05\x06");
    put(&mut out, &[0, 0, count, count]);
    out.extend(size.to_le_bytes());
    out.extend(start.to_le_bytes());
    put(&mut out, &[0]);
    Ok(out)
}

/// Of the finished file: its headers were filled in after their data, so it is hashed last.
fn digest_of(archive: &mut File, buffer: &mut [u8]) -> io::Result<(Digest, u64)> {
    let mut hasher = DigestHasher::sha256();
    let mut size = 0;
    archive.rewind()?;
    loop {
        match archive.read(buffer) {
            Ok(0) => return Ok((hasher.finish(), size)),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

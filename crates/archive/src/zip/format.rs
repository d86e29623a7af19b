//! The records of the zip format, as values.
//!
//! Spec: PKWARE APPNOTE 6.3.10, section 4.3.

use crate::ArchiveError;
use crate::names::{EntryKind, check_name, clean_name, unsafe_name, utf8_name};

pub(crate) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(crate) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
pub(crate) const END: [u8; 4] = *b"PK\x05\x06";
pub(crate) const END64: [u8; 4] = *b"PK\x06\x06";
pub(crate) const LOCATOR64: [u8; 4] = *b"PK\x06\x07";
/// The length of the record that begins with it.
pub(crate) const LOCATOR64_BYTES: usize = 20;
pub(crate) const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";

pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

/// The sizes follow the data.
const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// Encrypted, patched data, strong encryption, masked headers.
const FLAG_ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const FLAG_PATCH: u16 = 1 << 5;

/// Bytes come from here, exactly as many as asked for, or [`ArchiveError::Truncated`].
pub(crate) type ReadBytes<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), ArchiveError>;

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

fn read_vec(read: ReadBytes<'_>, length: u16) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = vec![0; usize::from(length)];
    read(&mut bytes)?;
    Ok(bytes)
}

/// What local and central header say alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ZipHeader {
    /// Checked; without empty and `.` parts. That of the root is empty.
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) compressed: u64,
    pub(crate) size: u64,
    /// A size is in a zip64 field which is not there.
    pub(crate) sizes_missing: bool,
}

impl ZipHeader {
    /// The sizes and the checksum follow the data.
    pub(crate) fn has_descriptor(&self) -> bool {
        self.flags & FLAG_DESCRIPTOR != 0
    }

    /// `fixed` begins at the flags: flags, method, time, date, CRC, compressed size, size.
    fn parse(fixed: &[u8], name: &[u8], extra: &[u8], offset: Option<&mut u64>) -> Result<Self, ArchiveError> {
        let text = utf8_name(name)?;
        if unicode_name(extra).is_some_and(|other| other != name) {
            return Err(unsafe_name(text, "another name is recorded beside it"));
        }
        let kind = if text.ends_with('/') { EntryKind::Directory } else { EntryKind::File };
        let name = clean_name(text);
        if !(name.is_empty() && kind == EntryKind::Directory) {
            check_name(&name)?;
        }
        let (flags, method, crc) = (u16_at(fixed, 0), u16_at(fixed, 2), u32_at(fixed, 8));
        if flags & FLAG_ENCRYPTED != 0 {
            return Err(ArchiveError::Encrypted { name });
        }
        if flags & FLAG_PATCH != 0 || !matches!(method, STORED | DEFLATED) {
            return Err(ArchiveError::UnsupportedMethod { name, method });
        }
        let (mut compressed, mut size) = (u64::from(u32_at(fixed, 12)), u64::from(u32_at(fixed, 16)));
        let mut fields = vec![&mut size, &mut compressed];
        fields.extend(offset);
        let complete = widen(extra, &mut fields);
        let sizes_missing = !complete && (size == u64::from(u32::MAX) || compressed == u64::from(u32::MAX));
        if kind == EntryKind::Directory && size != 0 && !sizes_missing {
            return Err(unsafe_name(&name, "it is a directory with contents"));
        }
        Ok(Self { name, kind, flags, method, crc, compressed, size, sizes_missing })
    }

    /// Reads a local header whose signature has been read.
    pub(crate) fn read_local(read: ReadBytes<'_>) -> Result<Self, ArchiveError> {
        let mut fixed = [0; 26];
        read(&mut fixed)?;
        let name = read_vec(read, u16_at(&fixed, 22))?;
        let extra = read_vec(read, u16_at(&fixed, 24))?;
        Self::parse(&fixed[2..], &name, &extra, None)
    }
}

/// An entry of the central directory.
#[derive(Clone, Debug)]
pub(crate) struct CentralEntry {
    pub(crate) header: ZipHeader,
    /// Where the local header begins.
    pub(crate) offset: u64,
    /// `0o755` or `0o644`.
    pub(crate) mode: u32,
    /// A symbolic link: its contents are the path that it leads to.
    pub(crate) is_link: bool,
}

impl CentralEntry {
    /// Reads an entry whose signature has been read.
    pub(crate) fn read(read: ReadBytes<'_>) -> Result<Self, ArchiveError> {
        let mut fixed = [0; 42];
        read(&mut fixed)?;
        let name = read_vec(read, u16_at(&fixed, 24))?;
        let extra = read_vec(read, u16_at(&fixed, 26))?;
        let comment = read_vec(read, u16_at(&fixed, 28))?;
        // The bytes before the end record are where programs look for another directory.
        let from_end = fixed.iter().chain(&name).chain(&extra).chain(&comment).rev();
        if from_end.skip(LOCATOR64_BYTES - LOCATOR64.len()).take(LOCATOR64.len()).eq(LOCATOR64.iter().rev()) {
            return Err(ArchiveError::Malformed { reason: "an entry of its directory names another directory" });
        }
        if u16_at(&fixed, 30) != 0 {
            return Err(ArchiveError::Malformed { reason: "it consists of several volumes" });
        }
        let mut offset = u64::from(u32_at(&fixed, 38));
        let header = ZipHeader::parse(&fixed[4..], &name, &extra, Some(&mut offset))?;
        let unix = unix_mode(fixed[1], u32_at(&fixed, 34));
        let mode = mode_class(&header, unix)?;
        Ok(Self { header, offset, mode, is_link: unix & TYPE == LINK })
    }
}

/// Refuses an end record, without its signature and with its comment, in which a reader could find another end: programs look
/// for it from the end of the file, and take the directory of an archive in the comment for that of the whole.
pub(crate) fn check_one_end(record: &[u8]) -> Result<(), ArchiveError> {
    if record.windows(END.len()).any(|bytes| bytes == END) {
        return Err(ArchiveError::Malformed { reason: "its comment has the end of another archive" });
    }
    Ok(())
}

/// The type of a file in its mode, and that of a folder and of a symbolic link.
const TYPE: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// The Unix mode, if the archive was made on Unix or macOS. One from FAT, NTFS or VFAT says what is a folder, and others nothing,
/// as Go reads them.
fn unix_mode(creator: u8, external: u32) -> u32 {
    match creator {
        3 | 19 => external >> 16,
        0 | 11 | 14 if external & 0x10 != 0 => FOLDER,
        _ => 0,
    }
}

/// `0o755` or `0o644`: any execute bit makes `0o755`. In an archive without modes the files that are named like a provider's
/// executable, `terraform-provider-*` in the root, get `0o755`, so that they run.
fn mode_class(header: &ZipHeader, mode: u32) -> Result<u32, ArchiveError> {
    let name = || header.name.clone();
    match (mode & TYPE, header.kind) {
        (LINK, EntryKind::File) => return Ok(0o644),
        (0, _) | (0o100_000, EntryKind::File) | (FOLDER, EntryKind::Directory) => {}
        (FOLDER, EntryKind::File) | (0o100_000 | LINK, EntryKind::Directory) => {
            return Err(ArchiveError::Mismatch { name: name(), what: "type" });
        }
        _ => return Err(ArchiveError::UnsupportedEntry { name: name(), kind: "a device, a pipe or a socket" }),
    }
    let is_named_so = || !header.name.contains('/') && header.name.starts_with("terraform-provider-");
    let executable = if mode == 0 { is_named_so() } else { mode & 0o111 != 0 };
    Ok(if executable { 0o755 } else { 0o644 })
}

/// The contents of the extra field `id`; `None` if a damaged field comes before it.
fn extra_field(mut extra: &[u8], id: u16) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let (found, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let data = extra.get(4..4 + length)?;
        if found == id {
            return Some(data);
        }
        extra = &extra[4 + length..];
    }
    None
}

/// The name in Info-ZIP's Unicode path field, which some readers prefer.
fn unicode_name(extra: &[u8]) -> Option<&[u8]> {
    extra_field(extra, 0x7075)?.get(5..)
}

/// Replaces each field that is all ones by the next one of the zip64 field; false when one is not there.
fn widen(extra: &[u8], fields: &mut [&mut u64]) -> bool {
    let mut wide = extra_field(extra, 1).unwrap_or_default();
    for field in fields.iter_mut().filter(|field| ***field == u64::from(u32::MAX)) {
        if wide.len() < 8 {
            return false;
        }
        **field = u64_at(wide, 0);
        wide = &wide[8..];
    }
    true
}

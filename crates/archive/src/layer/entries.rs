//! The entries of a layer's tar, one after the other: contents into the spool, names and kinds into a list.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType, Header};

use super::decode::AFTER_THE_END;
use super::tree::{Changes, SpooledFile};
use crate::names::{NameBytes, check_name, unsafe_name, utf8_name};
use crate::{ArchiveError, Limits};

/// Most bytes of one extended header.
const EXTENDED_BYTES: u64 = 64 << 10;
const BUFFER_BYTES: usize = 256 << 10;

/// What the layers so far have taken of the limits.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerUsage {
    pub(super) entries: usize,
    /// Of the layers as they were delivered.
    pub(super) packed: u64,
    /// Of the layers unpacked, and of the copies that hard links become.
    pub(super) bytes: u64,
    pub(super) files: u64,
    pub(super) names: NameBytes,
}

/// What reading a layer needs.
pub(super) struct LayerReading<'a> {
    pub(super) spool: &'a Path,
    pub(super) limits: &'a Limits,
    pub(super) used: &'a mut LayerUsage,
}

/// What extended headers say about the entry that follows them.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
}

impl LayerReading<'_> {
    /// Reads `stream` to its end and gives it back.
    pub(super) fn read<R: Read>(mut self, stream: R) -> Result<(Changes, R), ArchiveError> {
        let mut archive = Archive::new(stream);
        let mut changes = Changes::default();
        let mut extended = Extended::default();
        let (mut pending, mut is_begun) = (false, false);
        let mut buffer = vec![0; BUFFER_BYTES];
        for entry in archive.entries().map_err(damaged)?.raw(true) {
            let mut entry = entry.map_err(|error| if is_begun { damaged(error) } else { not_a_tar(error) })?;
            is_begun = true;
            self.used.entries += 1;
            self.limits.check_entries(self.used.entries)?;
            let header = entry.header().clone();
            pending = true;
            match header.entry_type() {
                EntryType::XHeader => parse_pax(&read_extended(&mut entry)?, &mut extended)?,
                EntryType::XGlobalHeader => {
                    let mut global = Extended::default();
                    parse_pax(&read_extended(&mut entry)?, &mut global)?;
                    if global.path.is_some() || global.link.is_some() || global.size.is_some() {
                        return Err(ArchiveError::Malformed { reason: "a global header renames its entries" });
                    }
                    pending = false;
                }
                EntryType::GNULongName => extended.path = Some(long_name(read_extended(&mut entry)?)),
                EntryType::GNULongLink => extended.link = Some(long_name(read_extended(&mut entry)?)),
                _ => {
                    let extended = std::mem::take(&mut extended);
                    self.entry(&header, extended, &mut entry, &mut changes, &mut buffer)?;
                    pending = false;
                }
            }
        }
        if pending {
            return Err(ArchiveError::Truncated);
        }
        let mut stream = archive.into_inner();
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok((changes, stream)),
                Ok(count) if buffer[..count].iter().all(|byte| *byte == 0) => {}
                Ok(_) => return Err(AFTER_THE_END),
                Err(error) => return Err(damaged(error)),
            }
        }
    }

    fn entry(
        &mut self,
        header: &Header,
        extended: Extended,
        contents: &mut dyn Read,
        changes: &mut Changes,
        buffer: &mut [u8],
    ) -> Result<(), ArchiveError> {
        let size = header.entry_size().map_err(damaged)?;
        if extended.size.is_some_and(|wide| wide != size) {
            return Err(ArchiveError::Malformed { reason: "two headers disagree about a size" });
        }
        let path = extended.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let Some((name, slash)) = normalise(&path)? else {
            // The root itself.
            return if size == 0 { Ok(()) } else { Err(unsafe_name("", "it is empty")) };
        };
        self.used.names.add(&name)?;
        let kind = header.entry_type();
        let (parent, last) = name.rsplit_once('/').unwrap_or(("", &name));
        if last == ".wh..wh..opq" {
            changes.opaque.push(parent.to_owned());
            return Ok(());
        }
        // Other names of this form are notes of the file system that made the layer.
        if last.starts_with(".wh..wh.") {
            return Ok(());
        }
        if let Some(hidden) = last.strip_prefix(".wh.") {
            let hidden = if parent.is_empty() { hidden.to_owned() } else { format!("{parent}/{hidden}") };
            check_name(&hidden)?;
            changes.whiteouts.push(hidden);
            return Ok(());
        }
        match kind {
            EntryType::Directory => changes.directory(name),
            EntryType::Regular | EntryType::Continuous if slash && size == 0 => changes.directory(name),
            EntryType::Regular | EntryType::Continuous if slash => {
                return Err(unsafe_name(&name, "it is a directory with contents"));
            }
            EntryType::Regular | EntryType::Continuous => {
                let mode = if header.mode().map_err(damaged)? & 0o111 == 0 { 0o644 } else { 0o755 };
                let file = self.spool(contents, size, mode, buffer)?;
                changes.file(name, file);
            }
            EntryType::Link if size == 0 => {
                let target = extended.link.or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
                let target = normalise(&target.unwrap_or_default())?.map(|(target, _)| target).unwrap_or_default();
                changes.link(name, target);
            }
            EntryType::Symlink => return Err(ArchiveError::Symlink { name }),
            kind => return Err(ArchiveError::UnsupportedEntry { name, kind: describe(kind) }),
        }
        Ok(())
    }

    /// Puts the contents of a file into the spool.
    fn spool(
        &mut self,
        contents: &mut dyn Read,
        size: u64,
        mode: u32,
        buffer: &mut [u8],
    ) -> Result<SpooledFile, ArchiveError> {
        let spooled = self.used.files;
        self.used.files += 1;
        let path = self.spool.join(spooled.to_string());
        let mut file = File::create_new(&path).map_err(ArchiveError::io("create", &path))?;
        let mut sha256 = Sha256::new();
        let mut left = size;
        loop {
            let count = contents.read(buffer).map_err(damaged)?;
            if count == 0 {
                break;
            }
            sha256.update(&buffer[..count]);
            io::Write::write_all(&mut file, &buffer[..count]).map_err(ArchiveError::io("write", &path))?;
            left = left.saturating_sub(count as u64);
        }
        if left > 0 {
            return Err(ArchiveError::Truncated);
        }
        Ok(SpooledFile { spooled, size, mode, sha256: sha256.finalize().into() })
    }
}

fn describe(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a pipe",
        EntryType::GNUSparse => "a sparse file",
        EntryType::Link => "a hard link with contents",
        _ => "an entry of an unknown kind",
    }
}

fn damaged(source: io::Error) -> ArchiveError {
    if source.kind() == io::ErrorKind::UnexpectedEof {
        return ArchiveError::Truncated;
    }
    ArchiveError::Damaged { what: "tar archive", source }
}

/// What is wrong with the very first header.
fn not_a_tar(source: io::Error) -> ArchiveError {
    match damaged(source) {
        ArchiveError::Damaged { what: format, .. } => ArchiveError::NotALayer { format },
        other => other,
    }
}

fn read_extended(entry: &mut dyn Read) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = Vec::new();
    entry.take(EXTENDED_BYTES + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() as u64 > EXTENDED_BYTES {
        return Err(ArchiveError::Malformed { reason: "an extended header is longer than 64 KiB" });
    }
    Ok(bytes)
}

/// A GNU long name, which ends in a NUL.
fn long_name(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

/// Takes in the records `LENGTH KEY=VALUE\n`.
fn parse_pax(mut bytes: &[u8], into: &mut Extended) -> Result<(), ArchiveError> {
    while !bytes.is_empty() {
        let (record, rest) = pax_record(bytes).ok_or(MALFORMED_PAX)?;
        bytes = rest;
        let at = record.iter().position(|byte| *byte == b'=').ok_or(MALFORMED_PAX)?;
        let (key, value) = (&record[..at], &record[at + 1..]);
        match key {
            b"path" => into.path = Some(value.to_vec()),
            b"linkpath" => into.link = Some(value.to_vec()),
            b"size" => into.size = Some(number(value).ok_or(MALFORMED_PAX)?),
            _ if key.starts_with(b"GNU.sparse.") => {
                return Err(ArchiveError::Malformed { reason: "it has a sparse file" });
            }
            _ => {}
        }
    }
    Ok(())
}

const MALFORMED_PAX: ArchiveError = ArchiveError::Malformed { reason: "an extended header cannot be read" };

/// The first record, without its length and its line break, and what follows it.
fn pax_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = bytes.iter().take(8).position(|byte| *byte == b' ')?;
    let length = usize::try_from(number(&bytes[..space])?).ok()?;
    let record = bytes.get(space + 1..length)?.strip_suffix(b"\n")?;
    Some((record, &bytes[length..]))
}

fn number(digits: &[u8]) -> Option<u64> {
    let text = str::from_utf8(digits).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The name relative to the root, checked, and whether it ended in a slash; nothing for the root itself.
fn normalise(path: &[u8]) -> Result<Option<(String, bool)>, ArchiveError> {
    let text = utf8_name(path)?;
    let mut name = text;
    while let Some(rest) = name.strip_prefix("./").or_else(|| name.strip_prefix('/')) {
        name = rest;
    }
    let clean = name.trim_end_matches('/');
    if clean.is_empty() || clean == "." {
        return if text.is_empty() { Err(unsafe_name(text, "it is empty")) } else { Ok(None) };
    }
    check_name(clean)?;
    Ok(Some((clean.to_owned(), clean.len() < name.len())))
}

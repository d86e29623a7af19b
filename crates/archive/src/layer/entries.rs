//! The entries of a layer's tar, one after the other, to whoever makes something of them.

use std::io::{self, Read};

use tar::{Archive, EntryType, Header};

use super::decode::AFTER_THE_END;
use crate::names::{NameBytes, check_name, clean_name, unsafe_name, utf8_name};
use crate::sink::Feed;
use crate::{ArchiveError, Limits};

/// Most bytes of one extended header.
const EXTENDED_BYTES: u64 = 64 << 10;

/// What is made of the entries of a layer. Names are relative and checked; that of the root is empty.
pub(super) trait LayerTarget {
    fn directory(&mut self, name: String) -> Result<(), ArchiveError>;
    /// A file. What is not read of its contents is passed over.
    fn file(&mut self, name: String, mode: u32, contents: &mut EntryContents<'_>) -> Result<(), ArchiveError>;
    /// A hard link to a name.
    fn link(&mut self, name: String, target: String) -> Result<(), ArchiveError>;
    /// A symbolic link, and the path that it leads to, which is not checked.
    fn symlink(&mut self, name: String, _target: Vec<u8>) -> Result<(), ArchiveError> {
        Err(ArchiveError::Symlink { name })
    }
    /// A name of lower layers that is hidden.
    fn whiteout(&mut self, name: String) -> Result<(), ArchiveError>;
    /// A directory whose contents of lower layers are hidden.
    fn opaque(&mut self, directory: &str) -> Result<(), ArchiveError>;
}

/// What a file of a layer holds.
pub(super) struct EntryContents<'a> {
    inner: &'a mut dyn Read,
    size: u64,
    left: u64,
}

impl EntryContents<'_> {
    /// Bytes of the whole file.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Hands the whole file to the sink, under this name.
    pub(super) fn pass_on(&mut self, name: &str, feed: &mut Feed) -> Result<(), ArchiveError> {
        feed.start(name, None)?;
        loop {
            let mut buffer = feed.buffer()?;
            let used = self.fill(&mut buffer)?;
            let is_full = used == buffer.len();
            feed.data(buffer, used)?;
            if !is_full {
                return feed.finish_unchecked();
            }
        }
    }

    /// Fills the buffer, as far as there are bytes; returns how many came, 0 at the end.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ArchiveError> {
        let mut used = 0;
        while used < buffer.len() {
            let count = self.inner.read(&mut buffer[used..]).map_err(damaged)?;
            if count == 0 {
                break;
            }
            used += count;
        }
        self.left = self.left.saturating_sub(used as u64);
        if used < buffer.len() && self.left > 0 {
            return Err(ArchiveError::Truncated);
        }
        Ok(used)
    }
}

const BUFFER_BYTES: usize = 64 << 10;

/// What the layers so far have taken of the limits.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerUsage {
    pub(super) entries: usize,
    /// Of the layers as they were delivered.
    pub(super) packed: u64,
    /// Of the layers unpacked, and of the copies that hard links become.
    pub(super) bytes: u64,
    pub(super) names: NameBytes,
}

/// What reading a layer needs.
pub(super) struct LayerReading<'a> {
    pub(super) limits: &'a Limits,
    pub(super) used: &'a mut LayerUsage,
    pub(super) target: &'a mut dyn LayerTarget,
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
    pub(super) fn read<R: Read>(mut self, stream: R) -> Result<R, ArchiveError> {
        let mut archive = Archive::new(stream);
        let mut extended = Extended::default();
        let (mut pending, mut is_begun) = (false, false);
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
                    self.entry(&header, extended, &mut entry)?;
                    pending = false;
                }
            }
        }
        if pending {
            return Err(ArchiveError::Truncated);
        }
        let mut stream = archive.into_inner();
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(stream),
                Ok(count) if buffer[..count].iter().all(|byte| *byte == 0) => {}
                Ok(_) => return Err(AFTER_THE_END),
                Err(error) => return Err(damaged(error)),
            }
        }
    }

    fn entry(&mut self, header: &Header, extended: Extended, contents: &mut dyn Read) -> Result<(), ArchiveError> {
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
            return self.target.opaque(parent);
        }
        // Other names of this form are notes of the file system that made the layer.
        if last.starts_with(".wh..wh.") {
            return Ok(());
        }
        if let Some(hidden) = last.strip_prefix(".wh.") {
            let hidden = if parent.is_empty() { hidden.to_owned() } else { format!("{parent}/{hidden}") };
            check_name(&hidden)?;
            return self.target.whiteout(hidden);
        }
        match kind {
            EntryType::Directory => self.target.directory(name)?,
            EntryType::Regular | EntryType::Continuous if slash && size == 0 => self.target.directory(name)?,
            EntryType::Regular | EntryType::Continuous if slash => {
                return Err(unsafe_name(&name, "it is a directory with contents"));
            }
            EntryType::Regular | EntryType::Continuous => {
                let mode = if header.mode().map_err(damaged)? & 0o111 == 0 { 0o644 } else { 0o755 };
                self.target.file(name, mode, &mut EntryContents { inner: contents, size, left: size })?;
            }
            EntryType::Link if size == 0 => {
                let target = extended.link.or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
                let target = normalise(&target.unwrap_or_default())?.map(|(target, _)| target).unwrap_or_default();
                self.target.link(name, target)?;
            }
            EntryType::Symlink => {
                let target = extended.link.or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
                self.target.symlink(name, target.unwrap_or_default())?;
            }
            kind => return Err(ArchiveError::UnsupportedEntry { name, kind: describe(kind) }),
        }
        Ok(())
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
    let name = clean_name(text.trim_start_matches('/'));
    if name.is_empty() {
        return if text.is_empty() { Err(unsafe_name(text, "it is empty")) } else { Ok(None) };
    }
    check_name(&name)?;
    Ok(Some((name, text.ends_with('/'))))
}

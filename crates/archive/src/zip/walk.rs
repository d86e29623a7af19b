//! The way along a zip archive, from the first local header to the central directory, in one pass.

use std::path::Path;

use flate2::{Decompress, FlushDecompress, Status};

use super::format::{CENTRAL, CentralEntry, DESCRIPTOR, END, END64, LOCAL, STORED, ZipHeader, u32_at, u64_at};
use super::input::Input;
use super::tail::{Hints, hints};
use crate::names::{EntryKind, NameSet};
use crate::sink::{Feed, KnownEntry};
use crate::{ArchiveError, Limits};

/// An entry that has been unpacked: sizes and checksum are the real ones.
#[derive(Clone, Debug)]
pub(crate) struct WalkedZip {
    pub(crate) header: ZipHeader,
    pub(crate) offset: u64,
}

/// What a walk needs to know.
pub(crate) struct ZipWalk<'a> {
    pub(crate) limits: &'a Limits,
    /// The central directory, if it is known beforehand.
    pub(crate) hints: Option<Hints>,
    /// Where the rest of an archive that cannot be streamed may be put.
    pub(crate) spool: Option<&'a Path>,
}

impl ZipWalk<'_> {
    /// Unpacks entry after entry until the central directory, whose signature is left in `input`.
    pub(crate) fn run(mut self, input: &mut Input<'_>, feed: &mut Feed) -> Result<Vec<WalkedZip>, ArchiveError> {
        let mut walked = Vec::new();
        let mut names = NameSet::default();
        let mut inflater = Decompress::new(false);
        let mut bytes_out = 0;
        check_beginning(input)?;
        while input.peek(4)? == LOCAL {
            self.limits.check_entries(walked.len() + 1)?;
            let offset = input.position();
            input.signature()?;
            let header = ZipHeader::read_local(&mut |buffer| input.read_exact(buffer))?;
            names.insert(&header.name, header.kind)?;
            let hint = self.hint_for(&header, offset, input)?;
            let (name, kind) = (header.name.clone(), header.kind);
            match kind {
                EntryKind::Directory => feed.directory(&name)?,
                EntryKind::File => {
                    let known = hint.as_ref().map(|hint| KnownEntry { size: hint.header.size, mode: hint.mode });
                    feed.start(&name, known)?;
                }
            }
            let mut data =
                EntryData { limits: self.limits, input, feed, inflater: &mut inflater, bytes_out: &mut bytes_out };
            let header = data.read(header, hint.as_ref())?;
            if kind == EntryKind::File {
                feed.finish(header.crc)?;
            }
            walked.push(WalkedZip { header, offset });
        }
        let signature = input.peek(4)?;
        if signature.len() < 4 {
            return Err(ArchiveError::Truncated);
        }
        if signature != CENTRAL {
            return Err(ArchiveError::Malformed { reason: "something lies between its entries" });
        }
        Ok(walked)
    }

    /// What the central directory says about the entry, if it is known or must be. Most archives stream without.
    fn hint_for(
        &mut self,
        header: &ZipHeader,
        offset: u64,
        input: &mut Input<'_>,
    ) -> Result<Option<CentralEntry>, ArchiveError> {
        // Stored data has no end of its own, and a zip64 size may be in the central directory only.
        let needed = header.sizes_missing || header.method == STORED && header.has_descriptor();
        if needed && self.hints.is_none() {
            let folder = self.spool.ok_or(ArchiveError::Malformed { reason: "its directory cannot be found" })?;
            self.hints = Some(hints(input.spool(folder)?));
        }
        let Some(hints) = &mut self.hints else { return Ok(None) };
        let mismatch = || ArchiveError::Mismatch { name: header.name.clone(), what: "offset" };
        hints.remove(&offset).map(Some).ok_or_else(mismatch)
    }
}

pub(super) fn check_beginning(input: &mut Input<'_>) -> Result<(), ArchiveError> {
    let beginning = input.peek(4)?;
    match beginning.len() {
        4 if *beginning == LOCAL => Ok(()),
        4 if *beginning == END || *beginning == END64 => Err(ArchiveError::Empty),
        1..4 if LOCAL.starts_with(beginning) => Err(ArchiveError::Truncated),
        _ => Err(ArchiveError::NotAZip),
    }
}

/// The data of one entry on its way to the sink.
struct EntryData<'a, 'b> {
    limits: &'a Limits,
    input: &'a mut Input<'b>,
    feed: &'a mut Feed,
    inflater: &'a mut Decompress,
    /// Of all entries so far.
    bytes_out: &'a mut u64,
}

impl EntryData<'_, '_> {
    /// Reads the data and what follows it; the header comes back with the real sizes and the recorded checksum.
    fn read(&mut self, mut header: ZipHeader, hint: Option<&CentralEntry>) -> Result<ZipHeader, ArchiveError> {
        let recorded = (header.crc, header.compressed, header.size);
        if let Some(hint) = hint.filter(|_| header.sizes_missing || header.has_descriptor()) {
            (header.compressed, header.size) = (hint.header.compressed, hint.header.size);
        }
        let known = hint.is_some() || !header.has_descriptor();
        let (compressed, size) = if header.method == STORED {
            self.copy(header.compressed)?
        } else {
            let most = if known { header.compressed } else { u64::MAX };
            self.inflate(most).map_err(|error| error.unless_longer(&header.name))?
        };
        if known {
            require(&header.name, "compressed size", compressed == header.compressed)?;
            require(&header.name, "size", size == header.size)?;
        }
        (header.compressed, header.size) = (compressed, size);
        if header.kind == EntryKind::Directory && size != 0 {
            return Err(crate::names::unsafe_name(&header.name, "it is a directory with contents"));
        }
        if header.has_descriptor() {
            header.crc = self.descriptor(&header)?;
            // The fields of the local header are empty then, or they are right.
            let sizes =
                header.sizes_missing || [0, compressed].contains(&recorded.1) && [0, size].contains(&recorded.2);
            require(&header.name, "size", sizes)?;
            require(&header.name, "checksum", [0, header.crc].contains(&recorded.0))?;
        }
        header.sizes_missing = false;
        Ok(header)
    }

    fn count(&mut self, made: usize) -> Result<(), ArchiveError> {
        *self.bytes_out += made as u64;
        self.limits.check_bytes(self.input.position(), *self.bytes_out)
    }

    fn copy(&mut self, length: u64) -> Result<(u64, u64), ArchiveError> {
        let mut left = length;
        while left > 0 {
            let mut buffer = self.feed.buffer()?;
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            self.input.read_exact(&mut buffer[..count])?;
            self.count(count)?;
            self.feed.data(buffer, count)?;
            left -= count as u64;
        }
        Ok((length, length))
    }

    /// Inflates to the end mark of the deflate stream, which must come within `most` bytes.
    fn inflate(&mut self, most: u64) -> Result<(u64, u64), InflateError> {
        self.inflater.reset(false);
        loop {
            let mut buffer = self.feed.buffer()?;
            let mut used = 0;
            let mut ended = false;
            while used < buffer.len() && !ended {
                let chunk = self.input.fill()?;
                if chunk.is_empty() {
                    return Err(ArchiveError::Truncated.into());
                }
                let (eaten, made) = (self.inflater.total_in(), self.inflater.total_out());
                let status = self
                    .inflater
                    .decompress(chunk, &mut buffer[used..], FlushDecompress::None)
                    .map_err(|error| ArchiveError::Damaged { what: "zip entry", source: error.into() })?;
                let eaten = usize::try_from(self.inflater.total_in() - eaten).unwrap_or(usize::MAX);
                let made = usize::try_from(self.inflater.total_out() - made).unwrap_or(usize::MAX);
                if eaten == 0 && made == 0 && status != Status::StreamEnd {
                    return Err(ArchiveError::Malformed { reason: "an entry does not inflate" }.into());
                }
                self.input.consume(eaten);
                used += made;
                self.count(made)?;
                if self.inflater.total_in() > most {
                    return Err(InflateError::Longer);
                }
                ended = status == Status::StreamEnd;
            }
            self.feed.data(buffer, used)?;
            if ended {
                return Ok((self.inflater.total_in(), self.inflater.total_out()));
            }
        }
    }

    /// Steps over the data descriptor, whose checksum is returned. It comes with or without a signature, with narrow or
    /// wide sizes, and does not say which: the one counts that has the real sizes and a header after it.
    fn descriptor(&mut self, header: &ZipHeader) -> Result<u32, ArchiveError> {
        let ahead = self.input.peek(28)?;
        let candidate = |signature: usize, wide: bool| {
            let length = signature + if wide { 20 } else { 12 };
            let record = ahead.get(..length)?;
            let next = ahead.get(length..length + 4)?;
            let (compressed, size) = if wide {
                (u64_at(record, signature + 4), u64_at(record, signature + 12))
            } else {
                (u64::from(u32_at(record, signature + 4)), u64::from(u32_at(record, signature + 8)))
            };
            let fits = record.starts_with(&DESCRIPTOR[..signature])
                && (compressed, size) == (header.compressed, header.size)
                && (next == LOCAL || next == CENTRAL);
            fits.then(|| (length, u32_at(record, signature)))
        };
        let found = candidate(4, false).or_else(|| candidate(4, true));
        let found = found.or_else(|| candidate(0, false)).or_else(|| candidate(0, true));
        let short = ahead.len() < 16;
        let Some((length, crc)) = found else {
            return Err(if short {
                ArchiveError::Truncated
            } else {
                ArchiveError::Mismatch { name: header.name.clone(), what: "size" }
            });
        };
        self.input.consume(length);
        Ok(crc)
    }
}

fn require(name: &str, what: &'static str, agrees: bool) -> Result<(), ArchiveError> {
    if agrees { Ok(()) } else { Err(ArchiveError::Mismatch { name: name.to_owned(), what }) }
}

/// Why an entry was not inflated.
enum InflateError {
    Other(ArchiveError),
    /// The deflate stream goes on after the entry's end.
    Longer,
}

impl From<ArchiveError> for InflateError {
    fn from(error: ArchiveError) -> Self {
        Self::Other(error)
    }
}

impl InflateError {
    fn unless_longer(self, name: &str) -> ArchiveError {
        match self {
            Self::Other(error) => error,
            Self::Longer => ArchiveError::Mismatch { name: name.to_owned(), what: "compressed size" },
        }
    }
}

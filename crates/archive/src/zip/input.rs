//! The bytes of a zip archive in order, with a look ahead.

use std::fs::File;
use std::io::{Seek, Write as _};
use std::path::Path;

use bytes::{Bytes, BytesMut};

use super::format::CentralEntry;
use super::tail::read_entries;
use crate::{ArchiveError, ByteSource, Limits, ReadSource};

/// A [`ByteSource`] that knows its position.
pub(crate) struct Input<'a> {
    source: InputSource<'a>,
    chunk: Bytes,
    position: u64,
    /// Bytes that the source has delivered.
    delivered: u64,
    limits: &'a Limits,
}

enum InputSource<'a> {
    Given(&'a mut dyn ByteSource),
    Spooled(ReadSource<File>),
}

impl<'a> Input<'a> {
    pub(crate) fn new(source: &'a mut dyn ByteSource, limits: &'a Limits) -> Self {
        Self { source: InputSource::Given(source), chunk: Bytes::new(), position: 0, delivered: 0, limits }
    }

    /// How many bytes have been consumed.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The bytes at hand, at least one; empty at the end.
    pub(crate) fn fill(&mut self) -> Result<&[u8], ArchiveError> {
        while self.chunk.is_empty() {
            let Some(chunk) = self.next_chunk()? else { break };
            self.chunk = chunk;
        }
        Ok(&self.chunk)
    }

    fn next_chunk(&mut self) -> Result<Option<Bytes>, ArchiveError> {
        match &mut self.source {
            InputSource::Given(source) => {
                let chunk = source.next_chunk().map_err(ArchiveError::Input)?;
                self.delivered += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
                self.limits.check_delivered(self.delivered)?;
                Ok(chunk)
            }
            InputSource::Spooled(source) => {
                source.next_chunk().map_err(ArchiveError::io("read", Path::new("the spool file")))
            }
        }
    }

    /// Steps over `count` of the bytes that [`Input::fill`] showed.
    pub(crate) fn consume(&mut self, count: usize) {
        self.chunk = self.chunk.split_off(count.min(self.chunk.len()));
        self.position += count as u64;
    }

    /// Up to `count` of the next bytes without stepping over them; fewer only at the end.
    pub(crate) fn peek(&mut self, count: usize) -> Result<&[u8], ArchiveError> {
        while self.chunk.len() < count {
            let Some(more) = self.next_chunk()? else { break };
            let mut joined = BytesMut::with_capacity(self.chunk.len() + more.len());
            joined.extend_from_slice(&self.chunk);
            joined.extend_from_slice(&more);
            self.chunk = joined.freeze();
        }
        Ok(&self.chunk[..count.min(self.chunk.len())])
    }

    /// Fills all of `buffer`.
    pub(crate) fn read_exact(&mut self, mut buffer: &mut [u8]) -> Result<(), ArchiveError> {
        while !buffer.is_empty() {
            let chunk = self.fill()?;
            if chunk.is_empty() {
                return Err(ArchiveError::Truncated);
            }
            let count = chunk.len().min(buffer.len());
            let (now, later) = buffer.split_at_mut(count);
            now.copy_from_slice(&chunk[..count]);
            self.consume(count);
            buffer = later;
        }
        Ok(())
    }

    /// The next four bytes, stepped over.
    pub(crate) fn signature(&mut self) -> Result<[u8; 4], ArchiveError> {
        let mut signature = [0; 4];
        self.read_exact(&mut signature)?;
        Ok(signature)
    }

    /// Puts the rest of the source into a temporary file in `folder`, from which reading goes on. Returns the entries
    /// of the central directory, found from the end of that file.
    pub(crate) fn spool(&mut self, folder: &Path) -> Result<Vec<CentralEntry>, ArchiveError> {
        let mut file = tempfile::tempfile_in(folder).map_err(ArchiveError::io("write into", folder))?;
        loop {
            // Not `consume`: these bytes are still to come.
            let chunk = self.fill()?;
            if chunk.is_empty() {
                break;
            }
            file.write_all(chunk).map_err(ArchiveError::io("write into", folder))?;
            self.chunk = Bytes::new();
        }
        let entries = read_entries(&file, self.position, self.limits)?;
        file.rewind().map_err(ArchiveError::io("read from", folder))?;
        self.source = InputSource::Spooled(ReadSource::new(file));
        Ok(entries)
    }
}

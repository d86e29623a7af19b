//! Where the bytes of an archive come from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::{Bytes, BytesMut};

use crate::ArchiveError;

/// Pieces of an archive on their way in. Called from the thread that unpacks, which it may block.
///
/// The error of a failed download travels in the [`io::Error`] (as its custom payload) and comes back untouched in
/// [`ArchiveError::Input`]. That is also the way to cancel: answer with an error.
pub trait ByteSource: Send {
    /// The next piece; `None` after the last one. Empty pieces are allowed. Pieces of 128 KiB or more are best.
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>>;
}

/// A file, or anything else that reads, as a source of pieces of 256 KiB.
#[derive(Debug)]
pub struct ReadSource<R> {
    reader: R,
    buffer: BytesMut,
}

impl ReadSource<File> {
    /// The file at `path` from its beginning.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        tofu_oci_disk::open_file(path).map(Self::new).map_err(ArchiveError::io("read", path))
    }
}

impl<R: Read + Send> ReadSource<R> {
    const CHUNK: usize = 256 << 10;

    /// Reads `reader` from its present position.
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: BytesMut::new() }
    }
}

impl<R: Read + Send> ByteSource for ReadSource<R> {
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        // The allocation of the last piece is reused once no piece refers to it.
        self.buffer.resize(Self::CHUNK, 0);
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => {
                    let mut piece = self.buffer.split();
                    piece.truncate(count);
                    return Ok(Some(piece.freeze()));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

//! Shared by this crate's tests.

use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::ByteSource;

/// Writes a file and the folders above it.
pub(crate) fn put(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// A source that hands out pieces of a chosen size.
pub(crate) struct Pieces<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) size: usize,
}

impl ByteSource for Pieces<'_> {
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        let (now, later) = self.bytes.split_at(self.size.min(self.bytes.len()));
        self.bytes = later;
        Ok((!now.is_empty()).then(|| Bytes::copy_from_slice(now)))
    }
}

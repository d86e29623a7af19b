//! Parts of contents: bytes from one position to another.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::error::StoreError;
use crate::verify::ByteStream;

/// How much is read at a time: a slow reader makes no thread wait, and holds no more than this.
const PIECE: u64 = 64 << 10;

/// These bytes of an open file, in pieces of 64 KiB that are read when they are wanted. Errors name the path.
pub fn file_range(file: Arc<File>, path: PathBuf, range: Range<u64>) -> ByteStream {
    let read = move |at: u64, buffer: &mut [u8]| {
        let mut filled = 0;
        while filled < buffer.len() {
            match read_at(&file, &mut buffer[filled..], at + filled as u64) {
                Ok(0) => return Err(StoreError::io("read", &path, ErrorKind::UnexpectedEof.into())),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(StoreError::io("read", &path, error)),
            }
        }
        Ok(())
    };
    range_of(read, range)
}

/// The bytes of a range, by a function that fills a buffer with those at a position.
pub(crate) fn range_of(
    read: impl Fn(u64, &mut [u8]) -> Result<(), StoreError> + Send + Sync + 'static,
    range: Range<u64>,
) -> ByteStream {
    let read = Arc::new(read);
    let pieces = futures_util::stream::try_unfold(range, move |range| {
        let read = Arc::clone(&read);
        async move {
            if range.is_empty() {
                return Ok(None);
            }
            let end = range.end.min(range.start.saturating_add(PIECE));
            let piece = tokio::task::spawn_blocking(move || {
                let length = usize::try_from(end - range.start).expect("a piece is small");
                let mut buffer = BytesMut::zeroed(length);
                read(range.start, &mut buffer)?;
                Ok::<_, StoreError>(buffer.freeze())
            });
            let stopped = |error| Err(StoreError::io("read", "a file", io::Error::other(error)));
            Ok(Some((piece.await.unwrap_or_else(stopped)?, end..range.end)))
        }
    });
    pieces.boxed()
}

/// The bytes of a range, of a stream that begins before it. What comes before the range is read and dropped.
pub(crate) fn part_of(stream: ByteStream, range: Range<u64>) -> ByteStream {
    let state = (stream, range.start, range.end.saturating_sub(range.start));
    let part = futures_util::stream::try_unfold(state, |(mut stream, mut skip, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        loop {
            let Some(mut piece): Option<Bytes> = stream.try_next().await? else { return Ok(None) };
            let before = skip.min(piece.len() as u64);
            skip -= before;
            piece.advance(usize::try_from(before).unwrap_or(piece.len()));
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            if !piece.is_empty() {
                let left = left - piece.len() as u64;
                return Ok(Some((piece, (stream, skip, left))));
            }
        }
    });
    part.boxed()
}

#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

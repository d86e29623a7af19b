//! What is pushed: bytes that can be read again from the start, because an upload may have to begin anew.

use std::io::Read;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tofu_oci_types::Descriptor;
use tokio::sync::mpsc;

use crate::error::StoreError;
use crate::traits::{Body, ReadStore};
use crate::verify::ByteStream;

/// Read size for files: large enough that the channel costs nothing, small enough to keep memory flat.
const FILE_CHUNK: usize = 256 * 1024;

/// Pieces that a file's thread reads ahead.
const PIECES_AHEAD: usize = 4;

/// A file, read in pieces.
#[derive(Clone, Copy)]
pub struct FileBody<'a>(pub &'a Path);

/// The content of another store, verified while it is read.
#[derive(Clone, Copy)]
pub struct StoredBody<'a>(pub &'a dyn ReadStore, pub &'a Descriptor);

#[async_trait]
impl Body for Bytes {
    async fn open(&self) -> Result<ByteStream, StoreError> {
        Ok(futures_util::stream::iter([Ok(self.clone())]).boxed())
    }

    fn in_memory(&self) -> Option<&Bytes> {
        Some(self)
    }
}

#[async_trait]
impl Body for FileBody<'_> {
    async fn open(&self) -> Result<ByteStream, StoreError> {
        open_file(self.0).await
    }
}

#[async_trait]
impl Body for StoredBody<'_> {
    async fn open(&self) -> Result<ByteStream, StoreError> {
        Ok(self.0.fetch(self.1).await?.fuse().boxed())
    }
}

/// The bytes of a file in pieces of 256 KiB, read ahead by a thread that may block.
pub(crate) async fn open_file(path: &Path) -> Result<ByteStream, StoreError> {
    let path = path.to_owned();
    let opening = path.clone();
    let opened = tokio::task::spawn_blocking(move || tofu_oci_disk::open_file(&opening)).await;
    let opened = opened.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    let file = opened.map_err(|source| StoreError::io("read", &path, source))?;
    Ok(stream_of(file, path))
}

/// What a reader gives, in pieces of 256 KiB, read ahead by a thread that may block. Errors name the path.
pub(crate) fn stream_of(mut file: impl Read + Send + 'static, path: PathBuf) -> ByteStream {
    let (pieces, inbox) = mpsc::channel::<Result<Bytes, StoreError>>(PIECES_AHEAD);
    tokio::task::spawn_blocking(move || {
        loop {
            let piece = read_piece(&mut file).map_err(|source| StoreError::io("read", &path, source));
            let (is_end, is_error) = (piece.as_ref().is_ok_and(Bytes::is_empty), piece.is_err());
            // The channel is closed if the reader does not want the rest.
            if is_end || pieces.blocking_send(piece).is_err() || is_error {
                return;
            }
        }
    });
    futures_util::stream::unfold(inbox, |mut inbox| async { inbox.recv().await.map(|piece| (piece, inbox)) })
        .fuse()
        .boxed()
}

fn read_piece(file: &mut impl Read) -> std::io::Result<Bytes> {
    let mut buffer = BytesMut::zeroed(FILE_CHUNK);
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(buffer.freeze())
}

//! What is pushed: bytes that can be read again from the start, because an upload may have to begin anew.

use std::io::Read as _;
use std::path::Path;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tofu_oci_types::Descriptor;
use tokio::sync::mpsc;

use crate::{ByteStream, ReadStore, StoreError};

/// Read size for files: large enough that the channel costs nothing, small enough to keep memory flat.
const FILE_CHUNK: usize = 256 * 1024;

/// Pieces that are read ahead of whoever takes them.
const PIECES_AHEAD: usize = 4;

/// Where the bytes of a push come from. Each [`Content::open`] starts from the first byte.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Bytes in memory: manifests and configs.
    Bytes(&'a Bytes),
    /// A file, read in pieces.
    File(&'a Path),
    /// Content of another store, verified while it is read.
    Stored(&'a dyn ReadStore, &'a Descriptor),
}

impl Content<'_> {
    /// The bytes from the start. The stream may be asked again after its end: it has ended then, too.
    pub async fn open(&self) -> Result<ByteStream, StoreError> {
        let stream = match self {
            Self::Bytes(bytes) => {
                let bytes = Bytes::clone(bytes);
                futures_util::stream::once(async move { Ok(bytes) }).boxed()
            }
            Self::File(path) => open_file(path).await?,
            Self::Stored(store, descriptor) => store.fetch(descriptor).await?,
        };
        Ok(stream.fuse().boxed())
    }
}

/// The bytes of a file in pieces of 256 KiB, read ahead by a thread that may block.
pub(crate) async fn open_file(path: &Path) -> Result<ByteStream, StoreError> {
    let path = path.to_owned();
    let opening = path.clone();
    let opened = tokio::task::spawn_blocking(move || tofu_oci_disk::open_file(&opening)).await;
    let opened = opened.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    let mut file = opened.map_err(|source| StoreError::io("read", &path, source))?;
    let (pieces, inbox) = mpsc::channel::<Result<Bytes, StoreError>>(PIECES_AHEAD);
    tokio::task::spawn_blocking(move || {
        loop {
            let piece = read_piece(&mut file).map_err(|source| StoreError::io("read", &path, source));
            let last = matches!(&piece, Ok(bytes) if bytes.is_empty()) || piece.is_err();
            // A closed channel means that nobody wants the rest.
            if matches!(&piece, Ok(bytes) if bytes.is_empty()) || pieces.blocking_send(piece).is_err() || last {
                return;
            }
        }
    });
    Ok(futures_util::stream::unfold(inbox, |mut inbox| async { inbox.recv().await.map(|piece| (piece, inbox)) })
        .fuse()
        .boxed())
}

fn read_piece(file: &mut std::fs::File) -> std::io::Result<Bytes> {
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

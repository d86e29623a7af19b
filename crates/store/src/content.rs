//! What is pushed: bytes that can be read again from the start, because an upload may have to begin anew.

use std::path::Path;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_types::Descriptor;
use tokio::io::AsyncReadExt as _;

use crate::{ByteStream, ReadStore, StoreError};

/// Read size for files: large enough that the channel costs nothing, small enough to keep memory flat.
const FILE_CHUNK: usize = 256 * 1024;

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
    /// The bytes from the start.
    pub async fn open(&self) -> Result<ByteStream, StoreError> {
        match self {
            Self::Bytes(bytes) => {
                let bytes = Bytes::clone(bytes);
                Ok(futures_util::stream::once(async move { Ok(bytes) }).boxed())
            }
            Self::File(path) => open_file(path).await,
            Self::Stored(store, descriptor) => store.fetch(descriptor).await,
        }
    }
}

async fn open_file(path: &Path) -> Result<ByteStream, StoreError> {
    let path = path.to_owned();
    let file = tokio::fs::File::open(&path).await.map_err(|source| StoreError::io("read", &path, source))?;
    let stream = futures_util::stream::try_unfold((file, path), |(mut file, path)| async move {
        let mut buffer = bytes::BytesMut::with_capacity(FILE_CHUNK);
        let read = file.read_buf(&mut buffer).await.map_err(|source| StoreError::io("read", &path, source))?;
        Ok((read > 0).then(|| (buffer.freeze(), (file, path))))
    });
    Ok(stream.boxed())
}

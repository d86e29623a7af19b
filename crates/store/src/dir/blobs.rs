//! Paths below `blobs/`, and what may be read through them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use tofu_oci_types::Digest;

use super::folder::DirStore;
use crate::error::{StoreError, StoreItem};
use crate::manifest::MAX_MANIFEST;
use crate::traits::ReadStore as _;

impl DirStore {
    /// Where content of this digest lies. A [`Digest`] holds no path separator and no dots alone, so this never leaves
    /// the folder.
    pub(crate) fn blob_path(&self, digest: &Digest) -> PathBuf {
        self.root.join("blobs").join(digest.algorithm_name()).join(digest.encoded())
    }

    /// The file that holds this content, and its size in bytes.
    ///
    /// A symbolic link is followed only if it stays inside the layout: a foreign layout must not make this program
    /// read other files.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the file does not exist.
    pub(super) fn blob_file(&self, digest: &Digest, what: StoreItem) -> Result<(PathBuf, u64), StoreError> {
        let path = self.blob_path(digest);
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if is_absent(&error) => {
                return Err(StoreError::NotFound { place: self.place(), what });
            }
            Err(error) => return Err(StoreError::io("read", path, error)),
        };
        let root = self.root.canonicalize().map_err(|error| StoreError::io("read", &self.root, error))?;
        let metadata = real.metadata().map_err(|error| StoreError::io("read", &path, error))?;
        let problem = if !real.starts_with(root) {
            "is a link out of the layout"
        } else if metadata.is_file() {
            return Ok((real, metadata.len()));
        } else {
            "is not a file"
        };
        Err(StoreError::Malformed { place: self.place(), problem: format!("blob {digest} {problem}") })
    }

    /// The bytes of a manifest as they lie there, unverified. At most 4 MiB.
    pub(super) fn manifest_bytes(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let what = StoreItem::Manifest(digest.clone());
        let (path, _) = self.blob_file(digest, what.clone())?;
        read_limited(&path, MAX_MANIFEST)?.ok_or_else(|| StoreError::TooLarge {
            place: self.place(),
            what: what.to_string(),
            limit: MAX_MANIFEST,
        })
    }
}

/// The bytes of a file; `None` if there are more than `limit`.
pub(super) fn read_limited(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let mut bytes = Vec::new();
    tofu_oci_disk::open_file(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(|error| StoreError::io("read", path, error))?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Whether the error means that the file does not exist.
pub(super) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

//! Changing the folder: beside, then renamed into place.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tempfile::NamedTempFile;
use tofu_oci_types::{Descriptor, Digest, DigestHasher, Tag};
use tokio::sync::mpsc;

use super::index_json::IndexJson;
use super::{DirStore, OWN_PREFIX, blocking};
use crate::manifest::Manifest;
use crate::{ByteStream, Content, ReadStore as _, StoreError};

/// Pieces that may wait for the disk.
const PIECES_AHEAD: usize = 8;

impl DirStore {
    pub(super) fn init_layout(&self) -> Result<(), StoreError> {
        std::fs::create_dir_all(&self.root).map_err(|error| self.write_error("create", &self.root, error))?;
        if self.root.join("oci-layout").exists() {
            return self.check_layout();
        }
        let entries = std::fs::read_dir(&self.root).map_err(|error| StoreError::io("read", &self.root, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| StoreError::io("read", &self.root, error))?;
            let name = entry.file_name();
            let ours = name.to_string_lossy().starts_with(OWN_PREFIX);
            // What another process that is making the same layout right now may have written before `oci-layout`.
            if !ours && !["blobs", "index.json", "oci-layout"].iter().any(|part| name == *part) {
                let problem = "the folder is not empty and is no OCI image layout".to_owned();
                return Err(StoreError::Malformed { place: self.place(), problem });
            }
        }
        let _lock = self.lock()?;
        self.make_folder(&self.root.join("blobs").join("sha256"))?;
        if self.root.join("index.json").exists() {
            // Not ours, perhaps: then the folder stays as it is.
            self.index_json()?;
        } else {
            self.write_file("index.json", &IndexJson::empty().to_bytes())?;
        }
        // Last, because it is what makes the folder a layout.
        self.write_file("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)
    }

    /// Writes content beside its place while hashing it, and renames it there when size and digest are right.
    pub(super) async fn write_blob(&self, descriptor: &Descriptor, content: &Content<'_>) -> Result<(), StoreError> {
        let hasher = descriptor
            .digest
            .hasher()
            .ok_or_else(|| StoreError::UnsupportedDigest { digest: descriptor.digest.clone() })?;
        let mut stream = content.open().await?;
        let (pieces, inbox) = mpsc::channel::<Bytes>(PIECES_AHEAD);
        let store = self.clone();
        let writer = blocking(move || store.write_pieces(inbox, hasher));
        let feeder = self.feed(descriptor, &mut stream, pieces);
        // Both to their ends, so that the file of a failed push is gone when this returns.
        let (fed, written) = tokio::join!(feeder, writer);
        fed?;
        let (file, digest, size) = written?;
        if size != descriptor.size {
            return Err(self.wrong_size(descriptor, size));
        }
        if digest != descriptor.digest {
            return Err(StoreError::DigestMismatch {
                place: self.place(),
                what: crate::verify::what(descriptor),
                expected: descriptor.digest.clone(),
                actual: digest,
            });
        }
        let (store, path) = (self.clone(), self.blob_path(&descriptor.digest));
        blocking(move || {
            store.make_folder(path.parent().unwrap_or(&store.root))?;
            store.put_in_place(file, &path)
        })
        .await
    }

    async fn feed(
        &self,
        descriptor: &Descriptor,
        stream: &mut ByteStream,
        pieces: mpsc::Sender<Bytes>,
    ) -> Result<(), StoreError> {
        let mut seen = 0;
        while let Some(piece) = stream.next().await {
            let piece = piece?;
            seen += piece.len() as u64;
            if seen > descriptor.size {
                return Err(self.wrong_size(descriptor, seen));
            }
            if pieces.send(piece).await.is_err() {
                // The writer has stopped, and says itself why.
                break;
            }
        }
        Ok(())
    }

    fn write_pieces(
        &self,
        mut inbox: mpsc::Receiver<Bytes>,
        mut hasher: DigestHasher,
    ) -> Result<(NamedTempFile, Digest, u64), StoreError> {
        let mut file = self.temp_file()?;
        let mut size = 0;
        while let Some(piece) = inbox.blocking_recv() {
            hasher.update(&piece);
            size += piece.len() as u64;
            file.write_all(&piece).map_err(|error| self.write_error("write", file.path(), error))?;
        }
        Ok((file, hasher.finish(), size))
    }

    /// Lists a manifest that has a `subject` in `index.json`, without a tag, so that it is found again.
    pub(super) fn list_referrer(&self, descriptor: &Descriptor) -> Result<(), StoreError> {
        let bytes = self.manifest_bytes(&descriptor.digest)?;
        let Ok(manifest) = Manifest::parse(&bytes) else { return Ok(()) };
        if manifest.subject().is_none() {
            return Ok(());
        }
        let referrer = manifest.as_referrer(&descriptor.media_type, &descriptor.digest, bytes.len() as u64);
        self.change_index(|index| index.add_untagged(&referrer))
    }

    pub(super) fn tag_now(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        let (_, size) = self.blob_file(&descriptor.digest, &format!("manifest {}", descriptor.digest))?;
        let mut entry = Descriptor::new(&descriptor.media_type, descriptor.digest.clone(), size);
        entry.artifact_type.clone_from(&descriptor.artifact_type);
        self.change_index(|index| index.set_tag(tag, &entry))
    }

    /// Reads, changes and replaces `index.json` while no other process does. Nothing is written when `change` says
    /// that there was nothing to change.
    fn change_index(&self, change: impl FnOnce(&mut IndexJson) -> bool) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let mut index = self.index_json()?;
        if !change(&mut index) {
            return Ok(());
        }
        self.write_file("index.json", &index.to_bytes())
    }

    /// Waits until no other process changes the folder; released when dropped.
    fn lock(&self) -> Result<File, StoreError> {
        let path = self.root.join(format!("{OWN_PREFIX}lock"));
        let lock = || {
            let file = File::options().create(true).truncate(false).write(true).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|error| self.write_error("lock", &path, error))
    }

    fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.cache.forget();
        let mut file = self.temp_file()?;
        file.write_all(bytes).map_err(|error| self.write_error("write", file.path(), error))?;
        self.put_in_place(file, &self.root.join(name))
    }

    fn temp_file(&self) -> Result<NamedTempFile, StoreError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(OWN_PREFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // As any other new file: the process's mask decides who may read it.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(&self.root).map_err(|error| self.write_error("create a file in", &self.root, error))
    }

    fn put_in_place(&self, file: NamedTempFile, path: &Path) -> Result<(), StoreError> {
        file.persist(path).map(drop).map_err(|error| self.write_error("write", path, error.error))
    }

    fn make_folder(&self, path: &Path) -> Result<(), StoreError> {
        std::fs::create_dir_all(path).map_err(|error| self.write_error("create", path, error))
    }

    pub(crate) fn write_error(&self, action: &'static str, path: &Path, error: std::io::Error) -> StoreError {
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { place: self.place() },
            _ => StoreError::io(action, path, error),
        }
    }

    fn wrong_size(&self, descriptor: &Descriptor, actual: u64) -> StoreError {
        StoreError::SizeMismatch {
            place: self.place(),
            what: crate::verify::what(descriptor),
            expected: descriptor.size,
            actual,
        }
    }
}

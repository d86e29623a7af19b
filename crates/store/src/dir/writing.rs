//! Changing the folder: beside, then renamed into place.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_disk::{FileError, LOCK_NAME, Lock, LockError, Lockable, OWN_PREFIX, ScratchFile};
use tofu_oci_types::{Descriptor, Digest, DigestHasher, Event, Tag};
use tokio::sync::{mpsc, oneshot};

use super::blobs::{is_absent, read_limited};
use super::folder::{DirStore, blocking};
use super::index_json::{ChangeOfIndex, IndexChange, IndexJson, MAX_INDEX_JSON};
use super::listing::{KnownIndex, Stamp, lock};
use crate::error::{StoreError, StoreItem};
use crate::manifest::ManifestEdges;
use crate::traits::{Body, ReadStore as _};
use crate::verify::ByteStream;

/// What `oci-layout` says.
pub(super) const LAYOUT_MARKER: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;

/// Pieces that may wait for the disk.
const PIECES_AHEAD: usize = 8;

impl DirStore {
    pub(super) fn init_layout(&self) -> Result<(), StoreError> {
        std::fs::create_dir_all(&self.root).map_err(|error| self.write_error("create", &self.root, error))?;
        if self.root.join("oci-layout").exists() {
            return self.check_layout();
        }
        self.check_strangers()?;
        self.make_blob_folder(&self.root.join("blobs").join("sha256"))?;
        if self.root.join("index.json").exists() {
            // Another tool's index: if it cannot be read, the folder stays as it is.
            self.index_json()?;
        } else {
            self.write_new("index.json", &IndexJson::empty().to_bytes())?;
        }
        // Last, because it is what makes the folder a layout.
        self.write_new("oci-layout", LAYOUT_MARKER)
    }

    /// Reads `index.json` as it is now, with every member.
    pub(super) fn index_json(&self) -> Result<IndexJson, StoreError> {
        let malformed = |problem: String| StoreError::Malformed { place: self.place(), problem };
        let bytes = match read_limited(&self.root.join("index.json"), MAX_INDEX_JSON) {
            Ok(bytes) => bytes.ok_or_else(|| malformed("index.json is too large".to_owned()))?,
            Err(StoreError::Io(error)) if is_absent(&error.source) => {
                if self.is_to_be_made() {
                    return Ok(IndexJson::empty());
                }
                return Err(malformed("it has no index.json".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let index = IndexJson::parse(&bytes);
        let index = index.map_err(|error| malformed(format!("index.json is not valid JSON: {error}")))?;
        index.ok_or_else(|| malformed("index.json is not an index".to_owned()))
    }

    /// Refuses a folder that holds something else than a layout, or one in the making.
    pub(super) fn check_strangers(&self) -> Result<(), StoreError> {
        let entries = match std::fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|error| StoreError::io("read", &self.root, error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| StoreError::io("read", &self.root, error))?;
            let name = entry.file_name();
            let ours = name.to_string_lossy().starts_with(OWN_PREFIX);
            // What another process that is making the same layout right now may have written before `oci-layout`.
            if !ours && !["blobs", "index.json", "oci-layout"].iter().any(|part| name == *part) {
                let problem = "the folder is not empty and not an OCI image layout".to_owned();
                return Err(StoreError::Malformed { place: self.place(), problem });
            }
        }
        Ok(())
    }

    /// Writes content beside its place while hashing it, and renames it there if size and digest are right.
    pub(super) async fn write_blob(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<(), StoreError> {
        let hasher = descriptor
            .digest
            .hasher()
            .ok_or_else(|| StoreError::UnsupportedDigest { digest: descriptor.digest.clone() })?;
        let mut stream = body.open().await?;
        let (pieces, inbox) = mpsc::channel::<Bytes>(PIECES_AHEAD);
        let store = self.clone();
        let writer = blocking(move || store.write_pieces(inbox, hasher));
        let feeder = self.feed(descriptor, &mut stream, pieces);
        // Both run to their ends, so that the file of a failed push is gone when this returns.
        let (fed, written) = tokio::join!(feeder, writer);
        fed?;
        let (file, digest, size) = written?;
        if size != descriptor.size {
            return Err(self.wrong_size(descriptor, size));
        }
        if digest != descriptor.digest {
            return Err(StoreError::DigestMismatch {
                place: self.place(),
                what: StoreItem::of(descriptor),
                expected: descriptor.digest.clone(),
                actual: Box::new(digest),
            });
        }
        let (store, path) = (self.clone(), self.blob_path(&descriptor.digest));
        blocking(move || {
            store.make_blob_folder(path.parent().unwrap_or(&store.root))?;
            store.written.store(true, Ordering::Relaxed);
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
                // The writer has stopped, and reports why.
                break;
            }
        }
        Ok(())
    }

    fn write_pieces(
        &self,
        mut inbox: mpsc::Receiver<Bytes>,
        mut hasher: DigestHasher,
    ) -> Result<(ScratchFile, Digest, u64), StoreError> {
        let file = self.temp_file()?;
        let mut size = 0;
        while let Some(piece) = inbox.blocking_recv() {
            hasher.update(&piece);
            size += piece.len() as u64;
            file.as_file().write_all(&piece).map_err(|error| self.write_error("write", file.path(), error))?;
        }
        Ok((file, hasher.finish(), size))
    }

    /// Lists a manifest that has a `subject` in `index.json`, without a tag, so that it is found again.
    pub(super) async fn list_referrer(&self, descriptor: &Descriptor) -> Result<(), StoreError> {
        let (store, own) = (self.clone(), descriptor.clone());
        let bytes = blocking(move || store.manifest_bytes(&own.digest)).await?;
        let Ok(manifest) = ManifestEdges::parse(&bytes) else { return Ok(()) };
        if manifest.subject().is_none() {
            return Ok(());
        }
        let referrer = manifest.as_referrer(&descriptor.media_type, &descriptor.digest, bytes.len() as u64);
        self.change_index(move |index| index.add_untagged(&referrer)).await
    }

    pub(super) async fn write_tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        let (entry, tag) = (self.entry(descriptor).await?, tag.clone());
        self.change_index(move |index| index.set_tag(&tag, &entry)).await
    }

    /// The same if the tag points at `before`; false otherwise.
    pub(super) async fn rewrite_tag(
        &self,
        descriptor: &Descriptor,
        tag: &Tag,
        before: Option<&Digest>,
    ) -> Result<bool, StoreError> {
        let (entry, tag, before) = (self.entry(descriptor).await?, tag.clone(), before.cloned());
        let (answer, moved) = oneshot::channel();
        let store = self.clone();
        let change = move |index: &mut IndexJson| {
            let tagged = index.tagged(&tag);
            let now = tagged.first().map(|now| &now.digest).filter(|now| store.blob_path(now).exists());
            let is_before = now == before.as_ref();
            // The caller may have stopped waiting.
            let _ = answer.send(is_before);
            is_before && index.set_tag(&tag, &entry)
        };
        self.change_index(change).await?;
        Ok(moved.await.unwrap_or(false))
    }

    /// Removes a tag if it points at `expected`; true if the tag does not exist afterwards.
    pub(super) async fn remove_tag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        let (tag, expected, store) = (tag.clone(), expected.clone(), self.clone());
        let (answer, gone) = oneshot::channel();
        let change = move |index: &mut IndexJson| {
            let tagged = index.tagged(&tag);
            // A tag without a manifest is nobody's.
            let is_other = tagged.iter().any(|now| now.digest != expected && store.blob_path(&now.digest).exists());
            // The caller may have stopped waiting.
            let _ = answer.send(!is_other);
            !is_other && index.remove_tag(&tag)
        };
        self.change_index(change).await?;
        Ok(gone.await.unwrap_or(false))
    }

    /// The entry of a manifest that is there.
    async fn entry(&self, descriptor: &Descriptor) -> Result<Descriptor, StoreError> {
        let (store, digest) = (self.clone(), descriptor.digest.clone());
        let (_, size) = blocking(move || store.blob_file(&digest, StoreItem::Manifest(digest.clone()))).await?;
        let mut entry = Descriptor::new(&descriptor.media_type, descriptor.digest.clone(), size);
        entry.artifact_type.clone_from(&descriptor.artifact_type);
        Ok(entry)
    }

    /// Reads, changes and replaces `index.json` while no other process does. Nothing is written if `change` returns
    /// false. What waits meanwhile is written with the next one, all at once.
    async fn change_index(
        &self,
        change: impl FnOnce(&mut IndexJson) -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        let (done, mut answer) = oneshot::channel();
        lock(&self.changes).push(IndexChange { change: Box::new(change), done });
        let turn = Arc::clone(&self.turn).lock_owned().await;
        if let Ok(written) = answer.try_recv() {
            return written;
        }
        let held = self.lock().await?;
        let store = self.clone();
        blocking(move || {
            // Here, so that an interruption does not release them while the file is being written.
            let (_turn, _held) = (turn, held);
            let mut changes = std::mem::take(&mut *lock(&store.changes));
            // Their callers have stopped waiting.
            changes.retain(|change| !change.done.is_closed());
            let (changes, answers): (Vec<_>, Vec<_>) =
                changes.into_iter().map(|IndexChange { change, done }| (change, done)).unzip();
            let written = store.write_changes(changes);
            for done in answers {
                let _ = done.send(written.clone());
            }
            Ok(())
        })
        .await?;
        answer
            .await
            .unwrap_or_else(|_| Err(StoreError::io("change", &self.root, std::io::Error::other("it was given up"))))
    }

    fn write_changes(&self, changes: Vec<ChangeOfIndex>) -> Result<(), StoreError> {
        let own = self.take_own();
        let is_own = own.is_some();
        let mut index = match own {
            Some(index) => index,
            None => self.index_json()?,
        };
        self.keep_first_index(&index)?;
        let mut is_changed = false;
        for change in changes {
            is_changed |= change(&mut index);
        }
        if is_changed {
            self.written.store(true, Ordering::Relaxed);
            return self.write_index(index);
        }
        if let Some(own) = lock(&self.cache.last).as_mut().and_then(|known| known.own.as_mut()).filter(|_| is_own) {
            own.index = Some(index);
        }
        Ok(())
    }

    /// Takes `index.json` as this process has written it, if nobody has changed it since. The lock must be held.
    fn take_own(&self) -> Option<IndexJson> {
        let stamp = Stamp::of(&std::fs::symlink_metadata(self.root.join("index.json")).ok()?);
        let mut last = lock(&self.cache.last);
        let known = last.as_mut().filter(|known| known.stamp == stamp)?;
        known.own.as_mut()?.index.take()
    }

    /// Waits until no other process changes the folder; released when dropped.
    pub(super) async fn lock(&self) -> Result<Lock, StoreError> {
        let on = Lockable::File(self.root.join(LOCK_NAME));
        let report = |held: &_| self.reporter.event(&Event::note("waiting-for-lock", self.waiter.words(held)));
        tofu_oci_disk::lock(&on, &self.waiter, &report).await.map_err(|error| match error {
            LockError::Io(FileError { action, path, source }) => self.write_error(action, &path, source),
            held @ LockError::Held { .. } => StoreError::Locked(held),
        })
    }

    pub(super) fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        *lock(&self.cache.last) = None;
        let file = self.file_with(bytes)?;
        self.put_in_place(file, &self.root.join(name))
    }

    /// Writes `index.json`, and keeps what it lists.
    fn write_index(&self, index: IndexJson) -> Result<(), StoreError> {
        #[cfg(test)]
        self.cache.writes.fetch_add(1, Ordering::Relaxed);
        let (file, path) = (self.file_with(&index.to_bytes())?, self.root.join("index.json"));
        let open = file.as_file().try_clone();
        self.put_in_place(file, &path)?;
        let mut last = lock(&self.cache.last);
        let own = open.ok().filter(|_| cfg!(unix)).and_then(|open| KnownIndex::own(open, index, last.as_ref()));
        *last = own;
        Ok(())
    }

    /// Writes the file unless somebody else has just written it.
    fn write_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let (file, path) = (self.file_with(bytes)?, self.root.join(name));
        file.put_new(&path).map(drop).map_err(|error| self.write_error("write", &path, error))
    }

    pub(super) fn file_with(&self, bytes: &[u8]) -> Result<ScratchFile, StoreError> {
        let file = self.temp_file()?;
        file.as_file().write_all(bytes).map_err(|error| self.write_error("write", file.path(), error))?;
        Ok(file)
    }

    fn temp_file(&self) -> Result<ScratchFile, StoreError> {
        ScratchFile::beside(&self.root).map_err(|error| self.write_error("create a file in", &self.root, error))
    }

    pub(super) fn put_in_place(&self, file: ScratchFile, path: &Path) -> Result<(), StoreError> {
        file.put(path).map_err(|error| self.write_error("write", path, error))
    }

    /// Makes a folder below `blobs/` if it is missing.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] if a symbolic link leads out of the layout: a foreign layout must not make this program
    /// write elsewhere.
    fn make_blob_folder(&self, path: &Path) -> Result<(), StoreError> {
        let root = self.root.canonicalize().map_err(|error| StoreError::io("read", &self.root, error))?;
        for (name, part) in [("blobs", &*self.root.join("blobs")), ("a folder in blobs", path)] {
            match part.canonicalize() {
                Ok(real) if real.starts_with(&root) => {}
                Ok(_) => {
                    let problem = format!("{name} is a link out of the layout");
                    return Err(StoreError::Malformed { place: self.place(), problem });
                }
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(StoreError::io("read", part, error)),
            }
        }
        std::fs::create_dir_all(path).map_err(|error| self.write_error("create", path, error))
    }

    pub(crate) fn write_error(
        &self,
        action: &'static str,
        path: &Path,
        error: impl Into<Arc<std::io::Error>>,
    ) -> StoreError {
        let error = error.into();
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { place: self.place() },
            _ => FileError::new(action, path, error).into(),
        }
    }

    fn wrong_size(&self, descriptor: &Descriptor, actual: u64) -> StoreError {
        StoreError::SizeMismatch {
            place: self.place(),
            what: StoreItem::of(descriptor),
            expected: descriptor.size,
            actual,
        }
    }
}

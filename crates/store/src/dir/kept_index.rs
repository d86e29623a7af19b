//! What becomes of an `index.json` that a power cut has emptied or cut off: the one that the last run kept takes its place.
//!
//! `index.json` alone says which tags there are, so nothing else could bring them back: manifests do not tell which of two
//! releases of a version counts, nor which one was withdrawn.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::de::IgnoredAny;
use tofu_oci_disk::{KEPT_INDEX_NAME, LOCK_NAME, Lockable, sync_folder, sync_tree, try_lock};

use super::blobs::{is_absent, read_limited};
use super::folder::{DirStore, blocking};
use super::index_json::{IndexJson, MAX_INDEX_JSON};
use super::writing::LAYOUT_MARKER;
use crate::error::StoreError;

/// The code of the warning, and what it says of `index.json`.
const KEPT: (&str, &str) = ("index-restored", "what it listed when a run last ended there counts");
const LOST: (&str, &str) = ("index-lost", "no run has kept a copy of it, so its tags are not known");

/// Whether a document ends before it should, as after a power cut: it is empty, breaks off, or ends in NUL.
pub fn is_cut(bytes: &[u8]) -> bool {
    let text = &bytes[..bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)];
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(_) => text.len() < bytes.len(),
        Err(error) => error.is_eof(),
    }
}

fn is_index(bytes: &[u8]) -> bool {
    matches!(IndexJson::parse(bytes), Ok(Some(_)))
}

impl DirStore {
    /// Puts the `index.json` that the last run kept in the place of one that is empty, cut off or gone. An empty one that no run
    /// has ended over lists nothing. Leaves it to another program that has locked the folder. Tells what is to be said of it.
    pub(super) fn restore_index(&self) -> Result<Option<(&'static str, &'static str)>, StoreError> {
        let path = self.root.join("index.json");
        let cut = || match read_limited(&path, MAX_INDEX_JSON) {
            Ok(bytes) => Ok(bytes.filter(|bytes| is_cut(bytes))),
            Err(StoreError::Io(error)) if is_absent(&error.source) => {
                Ok(self.root.join("oci-layout").exists().then(Vec::new))
            }
            Err(error) => Err(error),
        };
        let marker = self.root.join("oci-layout");
        let is_marker_cut = || matches!(read_limited(&marker, 64 * 1024), Ok(Some(bytes)) if is_cut(&bytes));
        if cut()?.is_none() && !is_marker_cut() {
            return Ok(None);
        }
        let lock = try_lock(&Lockable::File(self.root.join(LOCK_NAME)), &self.waiter.program);
        let lock = lock.map_err(|error| self.write_error("lock", &self.root, error))?;
        let Some(_lock) = lock else { return Ok(None) };
        if is_marker_cut() {
            self.write_file("oci-layout", LAYOUT_MARKER)?;
        }
        let Some(bytes) = cut()? else { return Ok(None) };
        let kept = read_limited(&self.root.join(KEPT_INDEX_NAME), MAX_INDEX_JSON).ok().flatten();
        let kept = kept.filter(|kept| is_index(kept));
        let has_text = bytes.iter().any(|byte| *byte != 0 && !byte.is_ascii_whitespace());
        match kept {
            Some(kept) => self.write_file("index.json", &kept).map(|()| Some(KEPT)),
            // Of one that breaks off, a person may still read something.
            None if has_text => Ok(None),
            None => {
                self.write_file("index.json", &IndexJson::empty().to_bytes())?;
                let blobs = std::fs::read_dir(self.root.join("blobs/sha256"));
                Ok(blobs.is_ok_and(|mut blobs| blobs.next().is_some()).then_some(LOST))
            }
        }
    }

    /// Flushes what was written, and keeps `index.json` as it is then, unless it is damaged. What fails is tried again by the
    /// next call.
    pub(super) async fn persist_now(&self) -> Result<(), StoreError> {
        // Other programs do not take a layout without its marker for one.
        if self.is_to_be_made() && self.root.join("index.json").exists() {
            let store = self.clone();
            blocking(move || store.init_layout()).await?;
        }
        if !self.written.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let flushed = self.flush().await;
        if flushed.is_err() {
            self.written.store(true, Ordering::Relaxed);
        }
        flushed
    }

    async fn flush(&self) -> Result<(), StoreError> {
        let store = self.clone();
        blocking(move || sync_tree(&store.root).map_err(|error| store.write_error("write", &store.root, error)))
            .await?;
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let held = self.lock().await?;
        let store = self.clone();
        blocking(move || {
            let (_turn, _held) = (turn, held);
            let bytes = read_limited(&store.root.join("index.json"), MAX_INDEX_JSON)?;
            let Some(bytes) = bytes.filter(|bytes| is_index(bytes)) else { return Ok(()) };
            store.keep_index(&bytes)?;
            sync_folder(&store.root).map_err(|error| store.write_error("write", &store.root, error))
        })
        .await
    }

    /// Keeps `index.json` as it is before the first change of a run, if no run has kept one.
    pub(super) fn keep_first_index(&self, index: &IndexJson) -> Result<(), StoreError> {
        if self.changed.swap(true, Ordering::Relaxed) || index.is_empty() || self.kept_index().exists() {
            return Ok(());
        }
        self.keep_index(&index.to_bytes())
    }

    fn keep_index(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let file = self.file_with(bytes)?;
        file.as_file().sync_all().map_err(|error| self.write_error("write", file.path(), error))?;
        self.put_in_place(file, &self.kept_index())
    }

    fn kept_index(&self) -> PathBuf {
        self.root.join(KEPT_INDEX_NAME)
    }
}

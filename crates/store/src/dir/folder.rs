//! The folder of a store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tofu_oci_disk::Waiter;
use tofu_oci_types::{Event, NoReporter, Reporter};
use tokio::sync::Mutex;

use super::index_json::IndexChange;
use super::listing::Cache;
use crate::error::StoreError;
use crate::traits::ReadStore as _;

/// A repository in a folder, as an OCI image layout that oras, crane and skopeo read and write as well.
///
/// ```text
/// oci-layout                {"imageLayoutVersion":"1.0.0"}
/// index.json                tags: entries with the annotation org.opencontainers.image.ref.name
///                           referrers: manifests that have a `subject`, listed without that annotation
/// blobs/sha256/HEX          manifests, configs, layers
/// .tofu-oci-lock            locked while index.json is being changed; names whoever has locked it
/// .tofu-oci-index.json      index.json as it was at the end of the last run, for one that a power cut has emptied
/// .tofu-oci-RANDOM          content on its way in; removed if that fails, or by the next writer if its own was killed
/// ```
///
/// Everything is written beside its place and renamed into it, so a reader sees the old or the new state and needs no
/// lock. `index.json` is read once for each of its states, element by element. Content is hashed while it is written. A
/// manifest without a tag is still found by its digest.
///
/// Spec: OCI image-spec 1.1.1, image-layout.md.
#[derive(Clone)]
pub struct DirStore {
    pub(super) root: PathBuf,
    pub(super) folder: Folder,
    pub(crate) cache: Arc<Cache>,
    pub(super) waiter: Waiter,
    /// The lock among the tasks of this process; the folder's lock is for other processes.
    pub(super) turn: Arc<Mutex<()>>,
    /// The changes of `index.json` that wait for it.
    pub(super) changes: Arc<std::sync::Mutex<Vec<IndexChange>>>,
    pub(super) reporter: Arc<dyn Reporter>,
    /// Whether what killed runs have left was removed; it is, by the first write.
    pub(super) swept: Arc<AtomicBool>,
    /// Whether anything was written since it was flushed.
    pub(super) written: Arc<AtomicBool>,
    /// Whether this run has changed `index.json`.
    pub(super) changed: Arc<AtomicBool>,
    /// What is to be said of an `index.json` that was damaged: the code of a warning, and what counts now.
    pub(super) restored: Option<(&'static str, &'static str)>,
}

impl fmt::Debug for DirStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirStore").field("root", &self.root).field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Whether the layout is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// It exists, or must exist.
    Ready,
    /// The first write makes it.
    MadeOnWrite,
}

impl DirStore {
    pub(super) fn at(root: PathBuf, folder: Folder) -> Self {
        Self {
            root,
            folder,
            cache: Arc::default(),
            waiter: Waiter::default(),
            turn: Arc::default(),
            changes: Arc::default(),
            reporter: Arc::new(NoReporter),
            swept: Arc::default(),
            written: Arc::default(),
            changed: Arc::default(),
            restored: None,
        }
    }

    /// The same, with the program that waits for the folder's lock, how long it waits, and the reporter of the wait.
    #[must_use]
    pub fn waiting(self, waiter: Waiter, reporter: Arc<dyn Reporter>) -> Self {
        if let Some((code, counts)) = self.restored {
            let text = format!("index.json of {} was damaged: {counts}", self.place());
            let hint = "versions that are missing are brought again by the run that brought them; look whether one was withdrawn since";
            reporter.event(&Event::warning(code, text).with_hint(hint));
        }
        Self { waiter, reporter, ..self }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }
}

/// Runs file work on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(stopped) => match stopped.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(StoreError::io("use", "the runtime", std::io::Error::other("it is shutting down"))),
        },
    }
}

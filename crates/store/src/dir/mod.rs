//! A store in a folder: an OCI image layout.

mod blobs;
mod index_json;
mod listing;
mod reading;
mod unverified;
mod writing;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use tofu_oci_disk::{Waiter, Whose};
use tofu_oci_types::{Descriptor, Digest, NoReporter, Place, Reference, Reporter, Tag};
use tokio::sync::Mutex;

use self::listing::Cache;
use crate::{ByteStream, Content, Pushed, ReadStore, Store, StoreError, UnverifiedManifest};

/// A repository in a folder, as an OCI image layout that oras, crane and skopeo read and write as well.
///
/// ```text
/// oci-layout                {"imageLayoutVersion":"1.0.0"}
/// index.json                tags: entries with the annotation org.opencontainers.image.ref.name
///                           referrers: manifests that have a `subject`, listed without that annotation
/// blobs/sha256/HEX          manifests, configs, layers
/// .tofu-oci-lock            locked while index.json is being changed; names whoever has locked it
/// .tofu-oci-RANDOM          something on its way in; removed when it fails, and by the next writer if that was killed
/// ```
///
/// Everything is written beside its place and renamed into it, so a reader sees the old or the new state and needs no
/// lock. `index.json` is read once for each of its states, element by element. Content is hashed while it is written. A
/// manifest without a tag is still found by its digest.
///
/// Spec: OCI image-spec 1.1.1, image-layout.md.
#[derive(Clone)]
pub struct DirStore {
    root: PathBuf,
    folder: Folder,
    pub(crate) cache: Arc<Cache>,
    waiter: Waiter,
    /// Whose turn it is among the parts of this process; the folder's lock is for other processes.
    turn: Arc<Mutex<()>>,
    reporter: Arc<dyn Reporter>,
    /// Whether what killed runs have left was removed; it is, by the first write.
    swept: Arc<AtomicBool>,
}

impl fmt::Debug for DirStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirStore").field("root", &self.root).field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Whether the layout is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folder {
    /// It is, or must be.
    Ready,
    /// It is made by the first write.
    MadeOnWrite,
}

impl DirStore {
    /// Opens the layout in this folder.
    ///
    /// # Errors
    /// [`StoreError::UnknownRepository`] when there is no such folder, [`StoreError::Malformed`] when it is no layout.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self::at(path.into(), Folder::Ready);
        store.check_layout()?;
        Ok(store)
    }

    /// Opens the layout in this folder, or makes one: the folder is created where it is missing.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] when the folder has something in it and is no layout.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self::at(path.into(), Folder::Ready);
        store.init_layout()?;
        Ok(store)
    }

    /// Opens the layout in this folder, or one that is made when something is first written to it: a job that fails
    /// before that leaves no trace. Until then it holds nothing.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] when the folder has something in it and is no layout.
    pub fn create_on_write(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self::at(path.into(), Folder::MadeOnWrite);
        let ready = match std::fs::read_dir(&store.root) {
            Ok(_) => store.root.join("oci-layout").exists(),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        if ready {
            return Self::create(store.root);
        }
        store.check_strangers()?;
        store.index_json()?;
        Ok(store)
    }

    fn at(root: PathBuf, folder: Folder) -> Self {
        Self {
            root,
            folder,
            cache: Arc::default(),
            waiter: Waiter::default(),
            turn: Arc::default(),
            reporter: Arc::new(NoReporter),
            swept: Arc::default(),
        }
    }

    /// The same, with the program that waits for the folder's lock, how long it waits, and the reporter of the wait.
    #[must_use]
    pub fn waiting(self, waiter: Waiter, reporter: Arc<dyn Reporter>) -> Self {
        Self { waiter, reporter, ..self }
    }

    /// Makes the layout where the first write is to make it, and removes what killed writers have left.
    async fn ready(&self) -> Result<(), StoreError> {
        if self.folder == Folder::Ready && self.swept.load(Ordering::Relaxed) {
            return Ok(());
        }
        let store = self.clone();
        blocking(move || {
            if store.folder == Folder::MadeOnWrite {
                store.init_layout()?;
            }
            if !store.swept.swap(true, Ordering::Relaxed) {
                tofu_oci_disk::sweep(&store.root, Whose::Ours);
            }
            Ok(())
        })
        .await
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }
}

/// Runs file work where it may block.
async fn blocking<T: Send + 'static>(
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

#[async_trait]
impl ReadStore for DirStore {
    fn place(&self) -> Place {
        Place::Layout(self.root.clone())
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        let (store, reference) = (self.clone(), reference.clone());
        blocking(move || store.resolve_now(&reference)).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        let store = self.clone();
        blocking(move || store.tags_now()).await
    }

    async fn tag_texts(&self) -> Result<Vec<String>, StoreError> {
        let store = self.clone();
        blocking(move || store.tag_texts_now()).await
    }

    async fn manifest_unverified(&self, reference: &Reference, limit: u64) -> Result<UnverifiedManifest, StoreError> {
        let (store, reference) = (self.clone(), reference.clone());
        blocking(move || store.manifest_unverified_now(&reference, limit)).await
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        let (store, descriptor) = (self.clone(), descriptor.clone());
        blocking(move || store.exists_now(&descriptor)).await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let (store, descriptor) = (self.clone(), descriptor.clone());
        let path = blocking(move || store.blob_file(&descriptor.digest, &crate::verify::what(&descriptor))).await?;
        crate::content::open_file(&path.0).await
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let (store, subject) = (self.clone(), subject.clone());
        blocking(move || store.referrers_now(&subject)).await
    }
}

#[async_trait]
impl Store for DirStore {
    async fn push(&self, descriptor: &Descriptor, content: &Content<'_>) -> Result<Pushed, StoreError> {
        self.ready().await?;
        let pushed = if self.exists(descriptor).await? {
            Pushed::Present
        } else {
            self.write_blob(descriptor, content).await?;
            Pushed::Uploaded
        };
        if crate::is_manifest_type(&descriptor.media_type) {
            self.list_referrer(descriptor).await?;
        }
        Ok(pushed)
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.ready().await?;
        self.write_tag(descriptor, tag).await
    }

    async fn retag(&self, descriptor: &Descriptor, tag: &Tag, before: Option<&Digest>) -> Result<bool, StoreError> {
        self.ready().await?;
        self.rewrite_tag(descriptor, tag, before).await
    }
}

//! A store in a folder: an OCI image layout.

mod blobs;
mod index_json;
mod listing;
mod reading;
mod unverified;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use self::listing::Cache;
use crate::{ByteStream, Content, Pushed, ReadStore, Store, StoreError, UnverifiedManifest};

/// Names of our own files in the folder begin with this; other tools ignore them.
const OWN_PREFIX: &str = ".tofu-oci-";

/// A repository in a folder, as an OCI image layout that oras, crane and skopeo read and write as well.
///
/// ```text
/// oci-layout                {"imageLayoutVersion":"1.0.0"}
/// index.json                tags: entries with the annotation org.opencontainers.image.ref.name
///                           referrers: manifests that have a `subject`, listed without that annotation
/// blobs/sha256/HEX          manifests, configs, layers
/// .tofu-oci-lock            held while index.json is being changed
/// .tofu-oci-RANDOM          something on its way in; removed when it fails
/// ```
///
/// Everything is written beside its place and renamed into it, so a reader sees the old or the new state and needs no
/// lock. `index.json` is read once for each of its states, element by element. Content is hashed while it is written. A manifest that nobody tags is still found by its digest.
///
/// Spec: OCI image-spec 1.1.1, image-layout.md.
#[derive(Clone, Debug)]
pub struct DirStore {
    root: PathBuf,
    folder: Folder,
    pub(crate) cache: Arc<Cache>,
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
    fn at(root: PathBuf, folder: Folder) -> Self {
        Self { root, folder, cache: Arc::default() }
    }

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
        let root = path.into();
        let empty = match std::fs::read_dir(&root) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if empty { Ok(Self::at(root, Folder::MadeOnWrite)) } else { Self::create(root) }
    }

    /// Makes the layout where the first write is to make it.
    async fn ready(&self) -> Result<(), StoreError> {
        if self.folder == Folder::Ready {
            return Ok(());
        }
        let store = self.clone();
        blocking(move || store.init_layout()).await
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
    fn place(&self) -> String {
        format!("oci:{}", self.root.display())
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
            let (store, descriptor) = (self.clone(), descriptor.clone());
            blocking(move || store.list_referrer(&descriptor)).await?;
        }
        Ok(pushed)
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.ready().await?;
        let (store, descriptor, tag) = (self.clone(), descriptor.clone(), tag.clone());
        blocking(move || store.tag_now(&descriptor, &tag)).await
    }
}

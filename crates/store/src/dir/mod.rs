//! A store in a folder: an OCI image layout.

mod blobs;
mod folder;
mod index_json;
mod kept_index;
mod listing;
mod reading;
mod unverified;
mod writing;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use tofu_oci_disk::FolderOwner;
use tofu_oci_types::{Descriptor, Digest, Place, Reference, Tag};

pub use self::folder::DirStore;
use self::folder::Folder;
pub(crate) use self::folder::blocking;
pub(crate) use self::index_json::{MAX_INDEX_JSON, named_entry, tag_of};
pub use self::kept_index::is_cut;
pub(crate) use self::reading::{MAX_DEPTH, layout_version};
use crate::body::open_file;
use crate::error::{StoreError, StoreItem};
use crate::manifest::is_manifest_type;
use crate::range::file_range;
use crate::traits::{Body, Pushed, ReadStore, Store, UnverifiedManifest};
use crate::verify::ByteStream;

impl DirStore {
    /// Opens the layout in this folder.
    ///
    /// # Errors
    /// [`StoreError::UnknownRepository`] if the folder does not exist, [`StoreError::Malformed`] if it is not a layout.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self::open_later(path);
        store.check_layout()?;
        Ok(store)
    }

    /// The layout in this folder, which is looked at with the first question: what [`DirStore::open`] refuses, every
    /// question refuses.
    pub fn open_later(path: impl Into<PathBuf>) -> Self {
        Self::at(path.into(), Folder::Ready)
    }

    /// Opens the layout in this folder, or makes one: a missing folder is created.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] if the folder is not empty and not a layout.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let mut store = Self::at(path.into(), Folder::Ready);
        store.restored = store.restore_index()?;
        store.init_layout()?;
        Ok(store)
    }

    /// Opens the layout in this folder, or one that is made when something is first written to it: a job that fails
    /// before that leaves no trace. Until then it holds nothing.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] if the folder is not empty and not a layout.
    pub fn create_on_write(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let mut store = Self::at(path.into(), Folder::MadeOnWrite);
        let ready = match std::fs::read_dir(&store.root) {
            Ok(_) => store.root.join("oci-layout").exists(),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        if ready {
            return Self::create(store.root);
        }
        store.check_strangers()?;
        store.restored = store.restore_index()?;
        store.index_json()?;
        Ok(store)
    }

    /// Makes the layout if the first write is to make it, and removes what killed writers have left.
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
                tofu_oci_disk::sweep(&store.root, FolderOwner::Ours);
            }
            Ok(())
        })
        .await
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
        let path = blocking(move || store.blob_file(&descriptor.digest, StoreItem::of(&descriptor))).await?;
        open_file(&path.0).await
    }

    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        let (store, blob) = (self.clone(), blob.clone());
        let opened = blocking(move || {
            let (path, _) = store.blob_file(&blob.digest, StoreItem::of(&blob))?;
            let file = tofu_oci_disk::open_file(&path).map_err(|error| StoreError::io("read", &path, error))?;
            Ok((Arc::new(file), path))
        });
        let (file, path) = opened.await?;
        Ok(file_range(file, path, range))
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let (store, subject) = (self.clone(), subject.clone());
        blocking(move || store.referrers_now(&subject)).await
    }
}

#[async_trait]
impl Store for DirStore {
    async fn push(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<Pushed, StoreError> {
        self.ready().await?;
        let pushed = if self.exists(descriptor).await? {
            Pushed::Present
        } else {
            self.write_blob(descriptor, body).await?;
            Pushed::Uploaded
        };
        if is_manifest_type(&descriptor.media_type) {
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

    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        self.remove_tag(tag, expected).await
    }

    async fn persist(&self) -> Result<(), StoreError> {
        self.persist_now().await
    }
}

//! A disk that has no room.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_store::{BlobSender, ByteStream, MemoryStore, ReadStore, StoreError};
use tofu_oci_types::{Descriptor, Digest, Place, Reference, Tag};

use super::super::work::LayerContents;
use super::super::{PackageZip, Packages};
use super::{answered, layer_zip, options};

/// A repository with one blob, which reaches the disk only if the folder holds no other zip: the disk is that small.
struct OnSmallDisk {
    blob: Bytes,
    folder: PathBuf,
    /// Whether the disk is full of something else.
    is_full: bool,
    /// Whether another host has the blob.
    elsewhere: bool,
    fetches: Arc<AtomicUsize>,
}

impl OnSmallDisk {
    fn stream(&self) -> ByteStream {
        let blob = self.blob.clone();
        futures_util::stream::once(async move { Ok(blob) }).boxed()
    }
}

#[async_trait]
impl ReadStore for OnSmallDisk {
    fn place(&self) -> Place {
        Place::Registry("ghcr.io/acme/zap".parse().unwrap())
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        MemoryStore::new(self.place()).resolve(reference).await
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        Ok(Vec::new())
    }

    async fn exists(&self, _: &Descriptor) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn fetch_unverified(&self, _: &Descriptor) -> Result<ByteStream, StoreError> {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        if !self.is_full && zips(&self.folder) == 0 {
            return Ok(self.stream());
        }
        let error = StoreError::io("write", &self.folder, io::ErrorKind::StorageFull.into());
        Ok(futures_util::stream::once(async { Err(error) }).boxed())
    }

    async fn blob_sender(&self, _: &Descriptor) -> Result<BlobSender, StoreError> {
        Ok(if self.elsewhere { BlobSender::OtherHost(None) } else { BlobSender::Store(self.stream()) })
    }

    async fn referrers(&self, _: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        Ok(Vec::new())
    }
}

fn zips(folder: &Path) -> usize {
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|extension| extension == "zip")).count()
}

/// Waits until no answer holds a zip any more: what is held is not removed.
async fn released(folder: &Path) {
    let is_held = || {
        let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let zips = paths.filter(|path| path.extension().is_some_and(|extension| extension == "zip"));
        zips.filter_map(|path| std::fs::File::open(path).ok()).any(|file| file.try_lock().is_err())
    };
    while is_held() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

fn small_disk(text: &'static str, folder: &Path, is_full: bool) -> OnSmallDisk {
    let (folder, fetches) = (folder.to_owned(), Arc::default());
    OnSmallDisk { blob: text.into(), folder, is_full, elsewhere: false, fetches }
}

fn zip_of(store: OnSmallDisk) -> PackageZip {
    let descriptor = Descriptor::of("archive/zip", &store.blob);
    layer_zip(store, descriptor, LayerContents::Provider)
}

#[tokio::test]
async fn a_disk_smaller_than_the_zip_cache_refused_every_new_zip_once_it_was_full() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    for text in ["first", "second", "third"] {
        let zip = zip_of(small_disk(text, cache.path(), false));
        assert_eq!(answered(&packages, &zip, Some("bytes=0-0")).await, (206, Bytes::from(&text[..1])));
        assert_eq!(zips(cache.path()), 1, "{text}");
        released(cache.path()).await;
    }
}

#[tokio::test]
async fn a_part_of_a_zip_was_a_502_on_a_full_disk_although_the_registry_sends_the_whole() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    let zip = zip_of(small_disk("all of it", cache.path(), true));
    assert_eq!(answered(&packages, &zip, Some("bytes=4-5")).await, (200, Bytes::from("all of it")));
}

#[tokio::test]
async fn a_disk_that_is_full_of_other_things_cost_every_kept_zip_and_a_download_for_each_halving() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    for text in ["one", "two", "six", "ten", "old"] {
        let blob = Descriptor::of("archive/zip", text.as_bytes());
        let store = MemoryStore::new(Place::Registry("ghcr.io/acme/zap".parse().unwrap()));
        store.insert_unchecked(&blob, Bytes::from(text));
        let zip = layer_zip(store, blob, LayerContents::Provider);
        assert_eq!(answered(&packages, &zip, Some("bytes=0-0")).await.0, 206);
    }
    let store = OnSmallDisk { elsewhere: true, ..small_disk("four", cache.path(), true) };
    let fetches = Arc::clone(&store.fetches);
    assert_eq!(answered(&packages, &zip_of(store), Some("bytes=0-0")).await.0, 502);
    assert_eq!((fetches.load(Ordering::Relaxed), zips(cache.path())), (2, 3), "four bytes are two zips of three");
}

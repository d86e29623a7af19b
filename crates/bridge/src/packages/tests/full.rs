//! A disk that has no room.

use std::io;
use std::path::{Path, PathBuf};

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
        if !self.is_full && zips(&self.folder) == 0 {
            return Ok(self.stream());
        }
        let error = StoreError::io("write", &self.folder, io::ErrorKind::StorageFull.into());
        Ok(futures_util::stream::once(async { Err(error) }).boxed())
    }

    async fn blob_sender(&self, _: &Descriptor) -> Result<BlobSender, StoreError> {
        Ok(BlobSender::Store(self.stream()))
    }

    async fn referrers(&self, _: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        Ok(Vec::new())
    }
}

fn zips(folder: &Path) -> usize {
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|extension| extension == "zip")).count()
}

fn zip_of(text: &'static str, folder: &Path, is_full: bool) -> PackageZip {
    let blob = Bytes::from(text);
    let descriptor = Descriptor::of("archive/zip", &blob);
    layer_zip(OnSmallDisk { blob, folder: folder.to_owned(), is_full }, descriptor, LayerContents::Provider)
}

#[tokio::test]
async fn a_disk_smaller_than_the_zip_cache_refused_every_new_zip_once_it_was_full() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    for text in ["first", "second", "third"] {
        let zip = zip_of(text, cache.path(), false);
        assert_eq!(answered(&packages, &zip, Some("bytes=0-0")).await, (206, Bytes::from(&text[..1])));
        assert_eq!(zips(cache.path()), 1, "{text}");
    }
}

#[tokio::test]
async fn a_part_of_a_zip_was_a_502_on_a_full_disk_although_the_registry_sends_the_whole() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    let zip = zip_of("all of it", cache.path(), true);
    assert_eq!(answered(&packages, &zip, Some("bytes=4-5")).await, (200, Bytes::from("all of it")));
}

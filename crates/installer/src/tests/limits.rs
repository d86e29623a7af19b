//! Packages that are too large, or are not packages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tofu_oci_archive::ArchiveError;
use tofu_oci_fetch::FetchError;
use tofu_oci_layout::PackageLayout;
use tofu_oci_store::{ByteStream, MemoryStore, ReadStore as _, Store, StoreError};
use tofu_oci_testkit::{HookedStore, StoreHook};
use tofu_oci_types::{Descriptor, NetworkFault, Reference, Tag};

use super::fixture::{Workspace, store, with_causes};
use crate::{InstallError, InstallTarget, install};

const PIECE: &[u8] = &[b'<'; 64 << 10];

/// How many bytes of a package come before the test fails.
const MOST: u64 = 64 << 20;

/// A store whose packages have no end, and are not archives.
struct Endless {
    inner: Arc<MemoryStore>,
    served: Arc<AtomicU64>,
}

#[async_trait]
impl StoreHook for Endless {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        if descriptor.media_type.ends_with("json") {
            return self.inner.fetch_unverified(descriptor).await;
        }
        let (served, place) = (Arc::clone(&self.served), self.inner.place());
        let stream = futures_util::stream::repeat_with(move || {
            if served.fetch_add(PIECE.len() as u64, Ordering::Relaxed) >= MOST {
                let problem = "this has no end".to_owned();
                return Err(StoreError::Unreachable { place: place.clone(), fault: NetworkFault::Lost, problem });
            }
            Ok(Bytes::from_static(PIECE))
        });
        Ok(stream.boxed())
    }
}

async fn document(store: &MemoryStore, descriptor: &Value) -> Value {
    let descriptor: Descriptor = serde_json::from_value(descriptor.clone()).unwrap();
    let bytes = tofu_oci_store::fetch_bytes(store, &descriptor, 1 << 20).await.unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// The descriptor of the document after a change; it is stored anew.
async fn change(store: &MemoryStore, descriptor: &Value, edit: impl FnOnce(&mut Value)) -> Value {
    let mut document = document(store, descriptor).await;
    edit(&mut document);
    let bytes = Bytes::from(document.to_string());
    let made = Descriptor::of(descriptor["mediaType"].as_str().unwrap(), &bytes);
    store.insert_unchecked(&made, bytes);
    let mut changed = descriptor.clone();
    changed["digest"] = json!(made.digest.to_string());
    changed["size"] = json!(made.size);
    changed
}

/// A release whose packages have these sizes by its manifests.
async fn declaring(layout: PackageLayout, sizes: &[u64]) -> Arc<MemoryStore> {
    let (store, _) = store(layout).await;
    let tag: Tag = "1.0.0".parse().unwrap();
    let root = store.resolve(&Reference::Tag(tag.clone())).await.unwrap();
    let bytes = tofu_oci_store::fetch_bytes(&*store, &root, 1 << 20).await.unwrap();
    let mut index: Value = serde_json::from_slice(&bytes).unwrap();
    for leaf in index["manifests"].as_array_mut().unwrap() {
        let config = document(&store, leaf).await["config"].clone();
        let config = change(&store, &config, |config| {
            // An image names as many layers in its config.
            if let Some(ids) = config.pointer_mut("/rootfs/diff_ids") {
                *ids = sizes.iter().map(|_| ids[0].clone()).collect();
            }
        })
        .await;
        *leaf = change(&store, leaf, |leaf| {
            leaf["config"] = config;
            let layer = leaf["layers"][0].clone();
            let layers = sizes.iter().map(|size| {
                let mut layer = layer.clone();
                layer["size"] = json!(size);
                layer
            });
            leaf["layers"] = layers.collect();
        })
        .await;
    }
    let bytes = Bytes::from(index.to_string());
    let made = Descriptor::of(&root.media_type, &bytes);
    store.insert_unchecked(&made, bytes);
    store.tag(&made, &tag).await.unwrap();
    store
}

/// The result of an installation, and how many bytes of the package it took.
async fn run(store: Arc<MemoryStore>, packed: bool, limit: Option<u64>) -> (Result<(), InstallError>, u64) {
    let served = Arc::new(AtomicU64::new(0));
    let store = Arc::new(HookedStore(Endless { inner: store, served: Arc::clone(&served) }));
    let workspace = Workspace::new();
    let mut job = workspace.job(store);
    if packed {
        job.target = InstallTarget::MirrorPacked(workspace.path().join("mirror"));
    }
    let mut options = workspace.options();
    if let Some(limit) = limit {
        options.limits.packed_bytes = limit;
    }
    let done = install(&[job], &options, &workspace.reporter).await;
    assert!(workspace.snapshot().is_empty(), "{:?}", workspace.snapshot());
    (done.map(drop), served.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_package_declared_as_a_pebibyte_fills_no_disk() {
    let pebibyte = 1 << 50;
    let together = [2 << 30, 1];
    let declared = [
        (PackageLayout::Artifact, &[pebibyte][..]),
        (PackageLayout::Image, &[pebibyte]),
        (PackageLayout::Image, &together),
    ];
    for (layout, sizes) in declared {
        for packed in [false, true] {
            let (done, served) = run(declaring(layout, sizes).await, packed, None).await;
            let text = with_causes(&done.expect_err("it is too large"));
            let all = sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
            let want = format!("the archive has {all} bytes or more, and the limit is {}", 2_u64 << 30);
            assert!(text.ends_with(&want), "{layout} {sizes:?} packed {packed}: {text}");
            assert_eq!(served, 0, "{layout} {sizes:?} packed {packed}");
        }
    }
}

#[tokio::test]
async fn a_package_may_be_as_large_as_the_limit() {
    for (declared, want) in [(1000, "not an archive"), (1001, "too large")] {
        let (done, served) = run(declaring(PackageLayout::Artifact, &[declared]).await, true, Some(1000)).await;
        let error = done.expect_err("it is not an archive");
        let is_size =
            matches!(&error, InstallError::Fetch(FetchError::Package { source: ArchiveError::Oversized { .. }, .. }));
        assert_eq!(is_size, want == "too large", "{}", with_causes(&error));
        assert_eq!(served > 0, want == "not an archive");
    }
}

#[tokio::test]
async fn what_does_not_begin_as_an_archive_is_not_read_to_its_end() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image] {
        for packed in [false, true] {
            let (done, served) = run(declaring(layout, &[1 << 30]).await, packed, None).await;
            let text = with_causes(&done.expect_err("it is not an archive"));
            let want = if layout == PackageLayout::Artifact {
                "this is not a zip archive"
            } else {
                "this does not begin as a gzip stream does"
            };
            assert!(text.ends_with(want), "{layout} packed {packed}: {text}");
            assert!(served < 8 << 20, "{layout} packed {packed}: {served} bytes were read");
        }
    }
}

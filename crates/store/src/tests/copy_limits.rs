//! How much a copy follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use tofu_oci_types::{Descriptor, Digest, NoReporter, Place, Reference, Tag};

use super::{push, push_json, push_release};
use crate::manifest::{OCI_INDEX, OCI_MANIFEST};
use crate::{ByteStream, CopyBudget, CopyError, CopyOptions, CopyReferrers, MemoryStore, ReadStore, StoreError, copy};

/// Copies with what refers to it, within so many manifests and bytes of them.
async fn copy_within(from: &dyn ReadStore, root: &Descriptor, budget: &Arc<CopyBudget>) -> Result<usize, String> {
    let to = MemoryStore::new("to".parse().unwrap());
    let options = CopyOptions {
        jobs: 4,
        reporter: &NoReporter,
        tag: None,
        referrers: CopyReferrers::Copy,
        budget: Arc::clone(budget),
    };
    let told = |CopyError { side, error }: CopyError| format!("{side}: {error}");
    copy(from, &to, root, options).await.map(|report| report.pushed).map_err(told)
}

/// A store in which 100 manifests refer to each manifest, without an end.
struct Growing {
    inner: MemoryStore,
    config: Descriptor,
    read: AtomicUsize,
}

/// So many manifests are read; then the test has failed.
const MOST: usize = 60_000;

#[async_trait]
impl ReadStore for Growing {
    fn place(&self) -> Place {
        self.inner.place()
    }
    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.inner.resolve(reference).await
    }
    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.inner.tags().await
    }
    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.inner.exists(descriptor).await
    }
    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        assert!(self.read.fetch_add(1, Ordering::Relaxed) < MOST, "it goes on and on");
        self.inner.fetch_unverified(descriptor).await
    }
    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let refer = |nth: usize| {
            let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "artifactType": "application/x",
                "config": self.config, "layers": [], "annotations": { "nth": nth.to_string() },
                "subject": Descriptor::new(OCI_MANIFEST, subject.clone(), 2) });
            let bytes = Bytes::from(manifest.to_string());
            let descriptor = Descriptor::of(OCI_MANIFEST, &bytes);
            self.inner.insert_unchecked(&descriptor, bytes);
            descriptor
        };
        Ok((0..100).map(refer).collect())
    }
}

#[tokio::test]
async fn referrers_of_referrers_share_one_budget() {
    let inner = MemoryStore::new("memory".parse().unwrap());
    let config = push(&inner, "application/vnd.oci.empty.v1+json", b"{}").await;
    let release = push_release(&inner).await;
    let from = Growing { inner, config, read: AtomicUsize::new(0) };
    let error =
        copy_within(&from, &release.index, &CopyBudget::new(1000, 64 << 20).into()).await.expect_err("it has no end");
    insta::assert_snapshot!(error, @"source: 1003 manifests with 459031 bytes, or more, hang together in memory, and the limits are 1000 manifests and 67108864 bytes");
    assert!(from.read.into_inner() < 1200, "and the blobs");
}

#[tokio::test]
async fn all_copies_of_a_run_share_one_budget() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&from).await;
    let bytes: u64 = release.leaves.iter().chain([&release.index]).map(|manifest| manifest.size).sum();
    // Three manifests each.
    for (manifests, of_bytes, second) in [(6, 2 * bytes, true), (5, 2 * bytes, false), (6, 2 * bytes - 1, false)] {
        let budget = Arc::new(CopyBudget::new(manifests, of_bytes));
        assert_eq!(copy_within(&from, &release.index, &budget).await, Ok(6));
        let again = copy_within(&from, &release.index, &budget).await;
        assert_eq!(again.is_ok(), second, "{manifests} {of_bytes}: {again:?}");
    }
}

#[tokio::test]
async fn a_blob_may_have_10_gibibytes() {
    let copied = async |size: u64| {
        let from = MemoryStore::new("memory".parse().unwrap());
        let config = push(&from, "application/vnd.oci.empty.v1+json", b"{}").await;
        let layer = Descriptor::new("archive/zip", Digest::sha256(b"layer"), size);
        let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [layer] });
        let root = push_json(&from, OCI_MANIFEST, &manifest).await;
        copy_within(&from, &root, &Arc::default())
            .await
            .expect_err("there is no such blob")
            .replace(layer.digest.encoded(), "HEX")
    };
    insta::assert_snapshot!(copied(10 << 30).await, @"source: memory has no blob sha256:HEX");
    for size in [(10 << 30) + 1, 1 << 50] {
        let error = copied(size).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @"source: blob sha256:HEX of memory is larger than 10737418240 bytes");
        }
    }
}

#[tokio::test]
async fn a_chain_of_20000_subjects_does_not_overflow_the_stack() {
    for (length, is_copied) in [(16, true), (17, false), (20_000, false)] {
        let from = MemoryStore::new("memory".parse().unwrap());
        let config = push(&from, "application/vnd.oci.empty.v1+json", b"{}").await;
        let mut subject = Value::Null;
        let mut chain = Vec::new();
        // The index that lists them is one more.
        for _ in 1..length {
            let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [],
                "subject": subject });
            let bytes = Bytes::from(manifest.to_string());
            let descriptor = Descriptor::of(OCI_MANIFEST, &bytes);
            from.insert_unchecked(&descriptor, bytes);
            subject = serde_json::to_value(&descriptor).unwrap();
            chain.push(descriptor);
        }
        chain.reverse();
        let index = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": chain });
        let root = push_json(&from, OCI_INDEX, &index).await;
        // Not its referrers: each manifest would be asked for.
        let to = MemoryStore::new("to".parse().unwrap());
        let options = CopyOptions {
            jobs: 4,
            reporter: &NoReporter,
            tag: None,
            referrers: CopyReferrers::Leave,
            budget: Arc::default(),
        };
        let copied = copy(&from, &to, &root, options).await;
        assert_eq!(copied.is_ok(), is_copied, "{length}: {copied:?}");
        if let Err(error) = copied {
            insta::allow_duplicates! { insta::assert_snapshot!(error.error, @"manifests of memory need each other over more than 16 levels"); }
            assert_eq!(to.digests(), [], "nothing is sent");
        }
    }
}

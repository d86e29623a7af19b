//! A repository whose manifests may come from the cache.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_types::{Descriptor, Digest, Place, Reference, RepositoryRef, Tag};

use super::files::ManifestFiles;
use crate::error::StoreError;
use crate::manifest::{MAX_MANIFEST, ManifestEdges, is_manifest_type};
use crate::traits::{BlobAhead, BlobSender, Lists, ReadStore, Transport, UnverifiedManifest, in_one_piece};
use crate::verify::{ByteStream, verified};

/// A repository, with a cache of its manifests. A manifest comes from the cache only if the repository has named its digest
/// in this run: by its answer for a tag, or in a manifest that such an answer leads to.
pub struct CachedStore {
    inner: Arc<dyn ReadStore>,
    files: ManifestFiles,
    /// The digests that the repository has named.
    named: Mutex<HashSet<Digest>>,
}

impl CachedStore {
    /// The repository with this cache.
    pub fn new(inner: Arc<dyn ReadStore>, files: ManifestFiles) -> Self {
        Self { inner, files, named: Mutex::default() }
    }

    /// Remembers that the repository has this manifest, and names what it leads to.
    fn note(&self, digest: &Digest, bytes: &[u8]) {
        let edges = ManifestEdges::parse(bytes).unwrap_or_default();
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.insert(digest.clone());
        let children = edges.children().filter(|child| is_manifest_type(&child.media_type));
        named.extend(children.map(|child| child.digest.clone()));
    }

    fn is_named(&self, digest: &Digest) -> bool {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).contains(digest)
    }

    /// The bytes of a manifest that the repository has named, from the cache or from the repository. They are verified.
    async fn named_manifest(&self, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
        let (files, wanted) = (self.files.clone(), descriptor.clone());
        let kept = tokio::task::spawn_blocking(move || files.read(&wanted)).await.ok().flatten();
        let bytes = if let Some(bytes) = kept {
            Bytes::from(bytes)
        } else {
            let stream = self.inner.fetch_unverified(descriptor).await?;
            let bytes = in_one_piece(verified(self.place(), stream, descriptor)?).await?;
            self.keep(&descriptor.digest, &bytes);
            bytes
        };
        self.note(&descriptor.digest, &bytes);
        Ok(bytes)
    }

    /// Writes to the cache, and does not wait for it: the next run may find it.
    fn keep(&self, digest: &Digest, bytes: &Bytes) {
        let (files, digest, bytes) = (self.files.clone(), digest.clone(), bytes.clone());
        drop(tokio::task::spawn_blocking(move || files.write(&digest, &bytes)));
    }
}

#[async_trait]
impl ReadStore for CachedStore {
    fn place(&self) -> Place {
        self.inner.place()
    }

    fn repository(&self) -> Option<&RepositoryRef> {
        self.inner.repository()
    }

    fn prepare(&self, requests: usize) {
        self.inner.prepare(requests);
    }

    async fn transport(&self) -> Transport {
        self.inner.transport().await
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.inner.resolve(reference).await
    }

    async fn manifest(&self, reference: &Reference) -> Result<(Descriptor, Bytes), StoreError> {
        let (descriptor, bytes) = self.inner.manifest(reference).await?;
        self.note(&descriptor.digest, &bytes);
        Ok((descriptor, bytes))
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.inner.tags().await
    }

    async fn tag_texts(&self) -> Result<Vec<String>, StoreError> {
        self.inner.tag_texts().await
    }

    async fn manifest_unverified(&self, reference: &Reference, limit: u64) -> Result<UnverifiedManifest, StoreError> {
        self.inner.manifest_unverified(reference, limit).await
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.inner.exists(descriptor).await
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let is_small = is_manifest_type(&descriptor.media_type) && descriptor.size <= MAX_MANIFEST;
        if !is_small || !self.is_named(&descriptor.digest) {
            return self.inner.fetch_unverified(descriptor).await;
        }
        let bytes = self.named_manifest(descriptor).await?;
        Ok(futures_util::stream::once(async move { Ok(bytes) }).boxed())
    }

    async fn blob_ahead(&self, digest: &Digest, claimed: Option<u64>) -> Result<Option<BlobAhead>, StoreError> {
        self.inner.blob_ahead(digest, claimed).await
    }

    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        self.inner.fetch_range_unverified(blob, range).await
    }

    async fn blob_sender(&self, blob: &Descriptor) -> Result<BlobSender, StoreError> {
        self.inner.blob_sender(blob).await
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.inner.referrers(subject).await
    }

    async fn referrers_in(&self, subject: &Digest, lists: Lists) -> Result<Vec<Descriptor>, StoreError> {
        self.inner.referrers_in(subject, lists).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{OCI_INDEX, OCI_MANIFEST};
    use crate::memory::MemoryStore;
    use crate::traits::{Store as _, fetch_bytes};

    const LEAF: &[u8] = br#"{"schemaVersion":2}"#;

    /// A repository with an index under the tag 1.0.0, whose leaf it has lost.
    async fn repository() -> (Arc<MemoryStore>, Descriptor) {
        let store = MemoryStore::new("memory".parse().unwrap());
        let leaf = Descriptor::of(OCI_MANIFEST, LEAF);
        let entry = format!(r#"{{"mediaType":"{OCI_MANIFEST}","digest":"{}","size":{}}}"#, leaf.digest, leaf.size);
        let text = format!(r#"{{"schemaVersion":2,"mediaType":"{OCI_INDEX}","manifests":[{entry}]}}"#);
        let index = Descriptor::of(OCI_INDEX, text.as_bytes());
        store.insert_unchecked(&index, Bytes::from(text));
        store.tag(&index, &"1.0.0".parse().unwrap()).await.unwrap();
        (Arc::new(store), leaf)
    }

    #[tokio::test]
    async fn a_manifest_comes_from_the_cache_once_the_repository_has_named_it() {
        let folder = tempfile::tempdir().unwrap();
        let files = ManifestFiles::new(folder.path());
        let (inner, leaf) = repository().await;
        files.write(&leaf.digest, LEAF);
        let store = CachedStore::new(inner, files);
        assert!(fetch_bytes(&store, &leaf, 1000).await.unwrap_err().is_not_found(), "nothing has named it yet");
        store.manifest(&Reference::Tag("1.0.0".parse().unwrap())).await.unwrap();
        assert_eq!(fetch_bytes(&store, &leaf, 1000).await.unwrap(), LEAF);
        let other = Descriptor::of(OCI_MANIFEST, b"{}");
        assert!(fetch_bytes(&store, &other, 1000).await.unwrap_err().is_not_found());
    }
}

//! A store in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_types::{Descriptor, Digest, Place, Reference, Tag};

use crate::error::{StoreError, StoreItem};
use crate::manifest::{ManifestEdges, is_manifest_type};
use crate::traits::{Body, Pushed, ReadStore, Store, in_one_piece};
use crate::verify::{ByteStream, verified};

/// A repository in memory: for tests, and for building something that is copied elsewhere.
///
/// It behaves like a registry that has everything: referrers are listed, tags move atomically, and content is checked
/// on its way in.
pub struct MemoryStore {
    place: Place,
    state: Mutex<MemoryState>,
}

#[derive(Default)]
struct MemoryState {
    contents: BTreeMap<Digest, (String, Bytes)>,
    tags: BTreeMap<Tag, Descriptor>,
}

impl MemoryStore {
    /// An empty repository that errors name by this place.
    pub fn new(place: Place) -> Self {
        Self { place, state: Mutex::default() }
    }

    /// Stores bytes under a digest, right or wrong: for tests of what happens then.
    pub fn insert_unchecked(&self, descriptor: &Descriptor, bytes: Bytes) {
        self.lock().contents.insert(descriptor.digest.clone(), (descriptor.media_type.clone(), bytes));
    }

    /// Takes content away; what points at it stays.
    pub fn remove(&self, digest: &Digest) {
        self.lock().contents.remove(digest);
    }

    /// Every digest that content is stored under, sorted.
    pub fn digests(&self) -> Vec<Digest> {
        self.lock().contents.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        // No invariant spans two statements under this lock, so a panic elsewhere leaves nothing half-done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the tag point at the manifest if it may leave what it points at now; false otherwise.
    fn point(
        &self,
        descriptor: &Descriptor,
        tag: &Tag,
        may: impl FnOnce(Option<&Digest>) -> bool,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        if !state.contents.contains_key(&descriptor.digest) {
            return Err(self.not_found(StoreItem::Manifest(descriptor.digest.clone())));
        }
        if !may(state.tags.get(tag).map(|now| &now.digest)) {
            return Ok(false);
        }
        let mut entry = Descriptor::new(&descriptor.media_type, descriptor.digest.clone(), descriptor.size);
        entry.artifact_type.clone_from(&descriptor.artifact_type);
        state.tags.insert(tag.clone(), entry);
        Ok(true)
    }

    fn not_found(&self, what: StoreItem) -> StoreError {
        StoreError::NotFound { place: self.place.clone(), what }
    }
}

#[async_trait]
impl ReadStore for MemoryStore {
    fn place(&self) -> Place {
        self.place.clone()
    }

    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        let state = self.lock();
        match reference {
            Reference::Tag(tag) => state.tags.get(tag).cloned().ok_or_else(|| self.not_found(reference.into())),
            Reference::Digest(digest) => match state.contents.get(digest) {
                Some((media_type, bytes)) if is_manifest_type(media_type) => {
                    Ok(Descriptor::new(media_type, digest.clone(), bytes.len() as u64))
                }
                _ => Err(self.not_found(reference.into())),
            },
        }
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        Ok(self.lock().tags.keys().cloned().collect())
    }

    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        Ok(self.lock().contents.contains_key(&descriptor.digest))
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let state = self.lock();
        let (_, bytes) =
            state.contents.get(&descriptor.digest).ok_or_else(|| self.not_found(StoreItem::of(descriptor)))?;
        let bytes = Bytes::clone(bytes);
        Ok(futures_util::stream::once(async move { Ok(bytes) }).boxed())
    }

    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let state = self.lock();
        let mut found = Vec::new();
        for (digest, (media_type, bytes)) in &state.contents {
            if !is_manifest_type(media_type) {
                continue;
            }
            if let Ok(manifest) = ManifestEdges::parse(bytes)
                && manifest.subject() == Some(subject)
            {
                found.push(manifest.as_referrer(media_type, digest, bytes.len() as u64));
            }
        }
        Ok(found)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn push(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<Pushed, StoreError> {
        if self.exists(descriptor).await? {
            return Ok(Pushed::Present);
        }
        let bytes = in_one_piece(verified(self.place(), body.open().await?, descriptor)?).await?;
        self.insert_unchecked(descriptor, bytes);
        Ok(Pushed::Uploaded)
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.point(descriptor, tag, |_| true).map(drop)
    }

    async fn retag(&self, descriptor: &Descriptor, tag: &Tag, before: Option<&Digest>) -> Result<bool, StoreError> {
        self.point(descriptor, tag, |now| now == before)
    }

    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        let mut state = self.lock();
        match state.tags.get(tag) {
            Some(now) if now.digest != *expected => Ok(false),
            _ => {
                state.tags.remove(tag);
                Ok(true)
            }
        }
    }
}

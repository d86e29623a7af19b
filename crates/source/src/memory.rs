//! What a source has read, so that it asks for it once.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tofu_oci_layout::MAX_DOCUMENT;
use tofu_oci_store::{ReadStore, StoreError, StoreItem, fetch_bytes};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};
use tokio::sync::OnceCell;

/// Most bytes of kept documents.
const KEPT: usize = 64 * 1024 * 1024;

/// A value that is read once: a second reader waits for the first. Errors are not kept.
pub(crate) type SharedCell<T> = Arc<OnceCell<T>>;

/// Tags as they were resolved first, documents by digest, and the tags that were listed last.
#[derive(Default)]
pub(crate) struct DocumentCache {
    tags: Mutex<HashMap<Tag, SharedCell<Descriptor>>>,
    /// By SHA-256, the digest by which the store itself names a manifest.
    named: Mutex<HashMap<Digest, Digest>>,
    /// By digest and media type: the same bytes under another type are refused.
    documents: Mutex<Documents>,
    listed: Mutex<Option<Arc<BTreeSet<Tag>>>>,
}

#[derive(Default)]
struct Documents {
    known: HashMap<(Digest, String), SharedCell<Bytes>>,
    bytes: usize,
}

impl DocumentCache {
    /// What the tag named when it was first resolved, by SHA-256 even if the store uses another algorithm.
    ///
    /// Pins, signatures and checksums name content, so the same bytes must have the same digest from every store.
    pub(crate) async fn resolve(&self, store: &dyn ReadStore, tag: &Tag) -> Result<Descriptor, StoreError> {
        let once = slot(&mut lock(&self.tags), tag.clone());
        let descriptor = once.get_or_try_init(|| async {
            let (named, bytes) = store.manifest(&Reference::Tag(tag.clone())).await?;
            let descriptor = Descriptor { digest: Digest::sha256(&bytes), ..named.clone() };
            if named.digest != descriptor.digest {
                lock(&self.named).insert(descriptor.digest.clone(), named.digest);
            }
            self.keep(&descriptor, &bytes);
            Ok(descriptor)
        });
        descriptor.await.cloned()
    }

    /// The bytes of a manifest or config of at most 4 MiB, verified.
    pub(crate) async fn document(&self, store: &dyn ReadStore, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
        let once = slot(&mut lock(&self.documents).known, key(descriptor));
        let fetched = once.get_or_try_init(|| async {
            let bytes = self.fetch(store, descriptor).await?;
            self.make_room(bytes.len());
            Ok::<_, StoreError>(bytes)
        });
        let bytes = fetched.await?.clone();
        if bytes.len() as u64 == descriptor.size {
            return Ok(bytes);
        }
        // Another descriptor of the same bytes claims another size: the store reports it.
        self.fetch(store, descriptor).await
    }

    /// The bytes, asked for by the digest that the store itself has named.
    async fn fetch(&self, store: &dyn ReadStore, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
        let named = lock(&self.named).get(&descriptor.digest).cloned();
        let Some(digest) = named else { return fetch_bytes(store, descriptor, MAX_DOCUMENT).await };
        let bytes = fetch_bytes(store, &Descriptor { digest, ..descriptor.clone() }, MAX_DOCUMENT).await?;
        let (expected, actual) = (descriptor.digest.clone(), Digest::sha256(&bytes));
        if actual == expected {
            return Ok(bytes);
        }
        Err(StoreError::DigestMismatch {
            place: store.place(),
            what: StoreItem::of(descriptor),
            expected,
            actual: Box::new(actual),
        })
    }

    fn keep(&self, descriptor: &Descriptor, bytes: &Bytes) {
        self.make_room(bytes.len());
        let known = Arc::new(OnceCell::new_with(Some(bytes.clone())));
        lock(&self.documents).known.insert(key(descriptor), known);
    }

    fn make_room(&self, more: usize) {
        let mut documents = lock(&self.documents);
        if documents.bytes + more > KEPT {
            *documents = Documents::default();
        }
        documents.bytes += more;
    }

    /// Forgets all documents, as if there were too many.
    #[cfg(test)]
    pub(crate) fn forget_documents(&self) {
        *lock(&self.documents) = Documents::default();
    }

    pub(crate) fn set_listed(&self, tags: &[Tag]) {
        *lock(&self.listed) = Some(Arc::new(tags.iter().cloned().collect()));
    }

    /// The tags that were listed last; `None` if no list was read.
    pub(crate) fn listed(&self) -> Option<Arc<BTreeSet<Tag>>> {
        lock(&self.listed).clone()
    }
}

pub(crate) fn key(descriptor: &Descriptor) -> (Digest, String) {
    (descriptor.digest.clone(), descriptor.media_type.clone())
}

pub(crate) fn slot<K: Hash + Eq, T>(known: &mut HashMap<K, SharedCell<T>>, key: K) -> SharedCell<T> {
    Arc::clone(known.entry(key).or_default())
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No invariant spans two statements under one of these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

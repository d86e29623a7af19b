//! The documentation of releases, read once for all who ask.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tofu_oci_docs::ProviderDocs;
use tofu_oci_mirror::Singleflight;
use tofu_oci_source::{DocsError, FoundDocs, Release, find_docs, read_docs};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Digest, Place};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::package_contents::SkipReason;

/// How long an answer counts before the repository is asked again.
const FRESH: Duration = Duration::from_mins(1);
/// How many bytes of pages are remembered.
const KEPT: usize = 32 << 20;
/// How many releases are remembered.
const MOST: usize = 200;
/// How many zips are read at a time.
const AT_ONCE: usize = 2;
/// How long a page waits.
const PATIENCE: Duration = Duration::from_secs(10);
/// For how long the work goes on, also without a page that waits.
const LONGEST: Duration = Duration::from_mins(1);

/// What is known of a release: its documentation, if it has one.
type KnownDocs = Result<Option<ReadDocs>, SkipReason>;

#[derive(Clone)]
struct ReadDocs {
    found: FoundDocs,
    pages: Arc<ProviderDocs>,
}

/// A release in a place, by its index.
type ReleaseKey = (Place, Digest);

/// The documentation that was read last.
#[derive(Clone)]
pub(super) struct DocsCache {
    known: Arc<Mutex<VecDeque<(ReleaseKey, Instant, KnownDocs)>>>,
    running: Singleflight<ReleaseKey, KnownDocs>,
    turns: Arc<Semaphore>,
}

impl Default for DocsCache {
    fn default() -> Self {
        Self { known: Arc::default(), running: Singleflight::default(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl DocsCache {
    /// The documentation of a release; `None` if it has none.
    ///
    /// # Errors
    /// [`SkipReason::Unread`] also if that takes longer than a page waits.
    pub(super) async fn of(&self, release: &Arc<dyn Release>) -> Result<Option<Arc<ProviderDocs>>, SkipReason> {
        let id = release.id();
        let Some(index) = id.identity.index() else { return Ok(None) };
        let key = (id.place.clone(), index.clone());
        let known = self.known(&key);
        let docs = match known {
            Some((since, docs)) if since.elapsed() < FRESH => docs,
            known => {
                let old = known.and_then(|(_, docs)| docs.ok().flatten());
                let (cache, release, own) = (self.clone(), Arc::clone(release), key.clone());
                let work = self.running.join(&key, || {
                    async move {
                        let looked = timeout(LONGEST, cache.look(&*release, &own.1, old.as_ref())).await;
                        let looked = match (looked.unwrap_or(Err(SkipReason::Unread)), old) {
                            (Err(SkipReason::Unread), Some(old)) => Ok(Some(old)),
                            (looked, _) => looked,
                        };
                        cache.keep(own, &looked);
                        looked
                    }
                    .boxed()
                });
                // The next page finds what this one does not wait for.
                drop(tokio::spawn(work.clone()));
                timeout(PATIENCE, work).await.unwrap_or(Err(SkipReason::Unread))
            }
        };
        Ok(docs?.map(|docs| docs.pages))
    }

    async fn look(&self, release: &dyn Release, index: &Digest, old: Option<&ReadDocs>) -> KnownDocs {
        let Some(store) = release.store() else { return Ok(None) };
        let _turn = self.turns.acquire().await;
        let found = find_docs(&*store, index).await.map_err(|_| SkipReason::Unread)?;
        let Some(found) = found else { return Ok(None) };
        if let Some(old) = old.filter(|old| old.found == found) {
            return Ok(Some(old.clone()));
        }
        let pages = read_docs(&*store, &found).await.map_err(|error| match error {
            DocsError::Store(StoreError::TooLarge { .. }) => SkipReason::TooLarge,
            DocsError::Damaged { .. } => SkipReason::Damaged,
            _ => SkipReason::Unread,
        })?;
        Ok(Some(ReadDocs { found, pages: Arc::new(pages) }))
    }

    fn known(&self, key: &ReleaseKey) -> Option<(Instant, KnownDocs)> {
        let mut known = self.lock();
        let at = known.iter().position(|(known, ..)| known == key)?;
        // Whatever was asked for last is kept longest.
        let entry = known.remove(at)?;
        let (_, since, docs) = &entry;
        let found = (*since, docs.clone());
        known.push_front(entry);
        Some(found)
    }

    /// Keeps what was found. What cannot be read now may be readable soon.
    fn keep(&self, key: ReleaseKey, looked: &KnownDocs) {
        let mut known = self.lock();
        known.retain(|(known, ..)| *known != key);
        if matches!(looked, Err(SkipReason::Unread)) {
            return;
        }
        known.push_front((key, Instant::now(), looked.clone()));
        known.truncate(MOST);
        let bytes = |docs: &KnownDocs| docs.as_ref().ok().and_then(Option::as_ref).map_or(0, |docs| docs.pages.bytes());
        let mut all: usize = known.iter().map(|(.., docs)| bytes(docs)).sum();
        while all > KEPT && known.len() > 1 {
            all -= known.pop_back().map_or(0, |(.., docs)| bytes(&docs));
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(ReleaseKey, Instant, KnownDocs)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

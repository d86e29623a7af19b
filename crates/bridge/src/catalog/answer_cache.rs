//! How long a question to a place is held, when it goes on alone, and when an old answer is used: equal questions are
//! one.
//!
//! ```text
//! fresh answer, recent refusal       used
//! old answer                         the question is put; after a second, or if it fails, the old answer is used
//! none                               the question is put, and put again while the fault may pass, as long as a client waits
//! ```
//!
//! A question goes on without its clients for a time, so that the next client finds the answer. Then it ends and is
//! remembered as a refusal: an endless list is not read for ever, and not every client begins it anew.

use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tofu_oci_mirror::{SharedWork, Singleflight};
use tofu_oci_types::Event;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::cached::{CachedAnswer, CachedAnswers};
use super::options::CatalogOptions;
use super::query_failure::{Again, QueryFailure};
use crate::counts::{CacheAnswer, Counts};
use crate::{Refusal, ServedAddress};

/// How long a question may take as long as clients wait for it.
const LONGEST: Duration = Duration::from_mins(1);
/// How long a question goes on without a client, as a multiple of their patience, from its beginning.
const ALONE: u32 = 2;
/// How long a client waits if there is an old answer.
const WITH_OLD_ANSWER: Duration = Duration::from_secs(1);

/// The answers that are kept, and the questions that are put.
pub(super) struct AnswerCache<K, V: Clone> {
    kept: Arc<Mutex<CachedAnswers<K, V>>>,
    running: Singleflight<K, Result<V, QueryFailure>>,
    options: Arc<CatalogOptions>,
    counts: Counts,
}

/// Something that is asked for.
pub(super) trait QueryKey: Clone + Eq + Hash + Send + 'static {
    /// The provider or module that it is about.
    fn address(&self) -> ServedAddress;
}

impl<K: QueryKey, V: Clone + Send + Sync + 'static> AnswerCache<K, V> {
    pub(super) fn new(options: &Arc<CatalogOptions>, counts: &Counts) -> Self {
        let kept = Arc::new(Mutex::new(CachedAnswers::new(Arc::clone(options))));
        Self { kept, running: Singleflight::default(), options: Arc::clone(options), counts: counts.clone() }
    }

    /// The answer. `put` asks the place; it gets the last answer.
    pub(super) async fn ask(
        &self,
        key: &K,
        put: impl Fn(Option<V>) -> BoxFuture<'static, Result<V, QueryFailure>>,
    ) -> Result<V, Refusal> {
        let begun = Instant::now();
        let CatalogOptions { patience, hold, .. } = *self.options;
        let (deadline, given_up) = (begun + patience, begun + hold.min(patience));
        let mut last = None;
        loop {
            let known = self.kept().known(key);
            match known {
                CachedAnswer::Settled(found) => {
                    self.counts.answered(CacheAnswer::Hit);
                    return found;
                }
                CachedAnswer::Later(Some(old), _, refusal) => return Ok(self.old(key, old, &refusal)),
                CachedAnswer::Later(None, at, refusal) if at > given_up => return Err(refusal),
                CachedAnswer::Later(None, at, refusal) => {
                    last = Some(refusal);
                    sleep_until(at).await;
                }
                CachedAnswer::Due(old) => {
                    let limit = if old.is_some() { Instant::now() + WITH_OLD_ANSWER } else { deadline };
                    let found = timeout_at(limit.min(deadline), self.joined(key, &put)).await;
                    let failed = match found {
                        Ok(Ok(answer)) => return Ok(answer),
                        Ok(Err(failed)) => failed,
                        Err(_) => {
                            QueryFailure { refusal: last.take().unwrap_or_else(|| slow(key)), again: Again::Never }
                        }
                    };
                    match (old, failed.again) {
                        (Some(old), _) if matches!(failed.refusal, Refusal::Upstream { .. }) => {
                            return Ok(self.old(key, old, &failed.refusal));
                        }
                        (_, Again::Never) => return Err(failed.refusal),
                        (_, Again::Soon | Again::After(_)) => last = Some(failed.refusal),
                    }
                }
            }
        }
    }

    /// The last refusal of something that has no answer, if it is not older.
    pub(super) fn refusal(&self, key: &K, age: Duration) -> Option<Refusal> {
        self.kept().refusal(key, age).cloned()
    }

    /// The kept answer, of any age that may be used.
    pub(super) fn answer(&self, key: &K) -> Option<V> {
        self.kept().answer(key)
    }

    /// Why the last question failed, if an old answer is used in its place.
    pub(super) fn trouble(&self, key: &K) -> Option<Refusal> {
        match self.kept().known(key) {
            CachedAnswer::Later(Some(_), _, refusal) => Some(refusal),
            CachedAnswer::Settled(_) | CachedAnswer::Due(_) | CachedAnswer::Later(None, ..) => None,
        }
    }

    /// Why questions without a kept answer failed.
    pub(super) fn refusals(&self) -> Vec<Refusal> {
        self.kept().refusals().cloned().collect()
    }

    /// Everything that has an answer.
    pub(super) fn answered(&self) -> Vec<K> {
        self.kept().answered().cloned().collect()
    }

    /// Joins the question that is under way, or asks the place. The question goes on without its client for a time.
    fn joined(
        &self,
        key: &K,
        put: impl Fn(Option<V>) -> BoxFuture<'static, Result<V, QueryFailure>>,
    ) -> SharedWork<Result<V, QueryFailure>> {
        let mut is_new = false;
        let work = self.running.join(key, || {
            is_new = true;
            // An equal question may have been answered since this one looked.
            let known = self.kept().known(key);
            if let CachedAnswer::Settled(found) = known {
                return async { found.map_err(|refusal| QueryFailure { refusal, again: Again::Never }) }.boxed();
            }
            let (question, kept, key) = (put(self.kept().answer(key)), Arc::clone(&self.kept), key.clone());
            let put = InFlightQuery {
                kept,
                key,
                counts: self.counts.clone(),
                begun: Instant::now(),
                state: QueryState::Asked,
            };
            async move {
                let found = match AssertUnwindSafe(timeout(LONGEST, question)).catch_unwind().await {
                    Ok(Ok(found)) => found,
                    Ok(Err(_)) => Err(put.unanswered()),
                    Err(_) => Err(QueryFailure { refusal: bug(&put.key), again: Again::Never }),
                };
                put.ends(&found);
                found
            }
            .boxed()
        });
        self.counts.answered(if is_new { CacheAnswer::Miss } else { CacheAnswer::Joined });
        if is_new {
            // Whoever waits then goes on with it.
            drop(tokio::spawn(timeout(self.options.patience.saturating_mul(ALONE), work.clone())));
        }
        work
    }

    /// An old answer, which is reported once.
    fn old(&self, key: &K, old: V, refusal: &Refusal) -> V {
        self.counts.answered(CacheAnswer::Stale);
        let age = self.kept().report_age(key);
        if let Some(age) = age {
            let text =
                format!("{} is served as it was {} s ago: {}", key.address(), age.as_secs(), refusal.for_operator());
            self.options.reporter.event(&Event::warning("served-stale", text));
        }
        old
    }

    fn kept(&self) -> MutexGuard<'_, CachedAnswers<K, V>> {
        lock(&self.kept)
    }
}

/// A question that is under way. If every client leaves before the answer, the catalog keeps that as a refusal.
struct InFlightQuery<K: QueryKey, V: Clone> {
    kept: Arc<Mutex<CachedAnswers<K, V>>>,
    key: K,
    counts: Counts,
    begun: Instant,
    state: QueryState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QueryState {
    Asked,
    Ended,
}

impl<K: QueryKey, V: Clone> InFlightQuery<K, V> {
    fn ends(mut self, found: &Result<V, QueryFailure>) {
        self.keep(found);
        self.state = QueryState::Ended;
    }

    fn keep(&self, found: &Result<V, QueryFailure>) {
        if let Err(QueryFailure { refusal: Refusal::Upstream { code, .. }, .. }) = found {
            self.counts.failed(code);
        }
        lock(&self.kept).keep(&self.key, found);
        self.counts.changed();
    }

    fn unanswered(&self) -> QueryFailure {
        let reason = format!("its place does not answer within {} s", self.begun.elapsed().as_secs());
        let refusal = Refusal::Upstream { address: self.key.address(), code: "timeout", reason, detail: None };
        QueryFailure { refusal, again: Again::Never }
    }
}

impl<K: QueryKey, V: Clone> Drop for InFlightQuery<K, V> {
    fn drop(&mut self) {
        if self.state == QueryState::Asked {
            self.keep(&Err(self.unanswered()));
        }
    }
}

fn slow(key: &impl QueryKey) -> Refusal {
    let reason = "the place that it is served from does not answer in time".to_owned();
    Refusal::Upstream { address: key.address(), code: "timeout", reason, detail: None }
}

fn bug(key: &impl QueryKey) -> Refusal {
    let reason = "a bug in tofu-oci ended the question".to_owned();
    Refusal::Upstream { address: key.address(), code: "bug", reason, detail: None }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No invariant spans two statements under this lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

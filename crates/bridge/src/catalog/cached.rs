//! How long `serve` keeps an answer, how old a stale one may be, and how many it keeps. Nothing waits here.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::options::CatalogOptions;
use super::query_failure::{Again, QueryFailure};
use super::refused::REFUSED;
use crate::Refusal;

/// What is known of several things.
pub(super) struct CachedAnswers<K, V> {
    options: Arc<CatalogOptions>,
    entries: HashMap<K, CacheEntry<V>>,
    uses: u64,
}

struct CacheEntry<V> {
    answer: Option<(V, Instant)>,
    failure: Option<LastFailure>,
    /// Whether it was reported that the answer is used although it is old.
    reported: bool,
    used: u64,
}

struct LastFailure {
    failed: QueryFailure,
    at: Instant,
    /// How many in a row.
    times: u32,
}

/// What is known of one thing.
pub(super) enum CachedAnswer<V> {
    /// Use it without asking the place.
    Settled(Result<V, Refusal>),
    /// An old answer, or `None`. The place is asked now.
    Due(Option<V>),
    /// An old answer, or `None`. The place is not asked before this moment, because of this refusal.
    Later(Option<V>, Instant, Refusal),
}

/// The longest pause between two attempts, unless the place asks for more.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// The first pause.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

impl<K: Clone + Eq + Hash, V: Clone> CachedAnswers<K, V> {
    pub(super) fn new(options: Arc<CatalogOptions>) -> Self {
        Self { options, entries: HashMap::new(), uses: 0 }
    }

    /// What is known now.
    pub(super) fn known(&mut self, key: &K) -> CachedAnswer<V> {
        self.uses += 1;
        let Some(entry) = self.entries.get_mut(key) else { return CachedAnswer::Due(None) };
        entry.used = self.uses;
        let now = Instant::now();
        let CatalogOptions { fresh, negative, stale, .. } = *self.options;
        let age = |at: Instant| now.saturating_duration_since(at);
        let old = match &entry.answer {
            Some((answer, at)) if age(*at) < fresh => return CachedAnswer::Settled(Ok(answer.clone())),
            Some((answer, at)) => Some(answer).filter(|_| age(*at) <= stale).cloned(),
            None => None,
        };
        let Some(LastFailure { failed, at, times }) = &entry.failure else { return CachedAnswer::Due(old) };
        let pause = match failed.again {
            Again::Never => negative,
            Again::Soon => LONGEST_PAUSE.min(FIRST_PAUSE * 2_u32.saturating_pow((*times - 1).min(8))),
            Again::After(time) => time,
        };
        match (old, now < *at + pause) {
            (old, false) => CachedAnswer::Due(old),
            (None, true) if failed.again == Again::Never => CachedAnswer::Settled(Err(failed.refusal.clone())),
            (old, true) => CachedAnswer::Later(old, *at + pause, failed.refusal.clone()),
        }
    }

    /// The answer, however old, to compare it with a new one.
    pub(super) fn answer(&self, key: &K) -> Option<V> {
        Some(self.entries.get(key)?.answer.as_ref()?.0.clone())
    }

    /// The last refusal, if the thing has no answer and the refusal is not older.
    pub(super) fn refusal(&self, key: &K, age: Duration) -> Option<&Refusal> {
        let entry = self.entries.get(key).filter(|entry| entry.answer.is_none())?;
        let failure = entry.failure.as_ref().filter(|failure| failure.at.elapsed() < age)?;
        Some(&failure.failed.refusal)
    }

    /// Why questions without a kept answer failed.
    pub(super) fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        let failed = self.entries.values().filter(|entry| entry.answer.is_none());
        failed.filter_map(|entry| Some(&entry.failure.as_ref()?.failed.refusal))
    }

    /// Everything that has an answer.
    pub(super) fn answered(&self) -> impl Iterator<Item = &K> {
        self.entries.iter().filter(|(_, entry)| entry.answer.is_some()).map(|(key, _)| key)
    }

    /// Keeps an answer, or that the place failed. If the place has answered that it lacks the thing, its earlier answer
    /// is forgotten.
    pub(super) fn keep(&mut self, key: &K, found: &Result<V, QueryFailure>) {
        self.uses += 1;
        let entry = self.entries.entry(key.clone()).or_insert_with(|| CacheEntry {
            answer: None,
            failure: None,
            reported: false,
            used: 0,
        });
        entry.used = self.uses;
        match found {
            Ok(answer) => {
                entry.answer = Some((answer.clone(), Instant::now()));
                (entry.failure, entry.reported) = (None, false);
            }
            Err(failed) => {
                if !matches!(failed.refusal, Refusal::Upstream { .. }) {
                    entry.answer = None;
                }
                let times = entry.failure.as_ref().map_or(0, |failure| failure.times).saturating_add(1);
                entry.failure = Some(LastFailure { failed: failed.clone(), at: Instant::now(), times });
            }
        }
        self.make_room();
    }

    /// How old the answer is, once: `None` if that was reported since the place answered last.
    pub(super) fn report_age(&mut self, key: &K) -> Option<Duration> {
        let entry = self.entries.get_mut(key)?;
        let (_, at) = entry.answer.as_ref()?;
        (!std::mem::replace(&mut entry.reported, true)).then(|| at.elapsed())
    }

    /// Forgets old refusals, then whatever was used longest ago, refusals first: made-up names do not displace answers.
    fn make_room(&mut self) {
        self.entries.retain(|_, entry| {
            let counts = |failure: &LastFailure| failure.at.elapsed() < REFUSED;
            entry.answer.is_some() || entry.failure.as_ref().is_some_and(counts)
        });
        while self.entries.len() > self.options.most {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| (entry.answer.is_some(), entry.used));
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            self.entries.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::ProviderAddr;

    use super::super::tests::options;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_someone_made_up_is_forgotten_by_count_and_by_time() {
        let most = 100;
        let options = CatalogOptions { most, ..options().0 };
        let mut kept: CachedAnswers<usize, ()> = CachedAnswers::new(Arc::new(options));
        let address: ProviderAddr = "example.com/made/up".parse().unwrap();
        let refusal = Refusal::UnknownAddress { address: (&address).into(), reason: None };
        let unknown = Err(QueryFailure { refusal, again: Again::Never });
        kept.keep(&0, &Ok(()));
        for number in 1..1000 {
            kept.keep(&number, &unknown);
        }
        assert_eq!(kept.entries.len(), most);
        tokio::time::advance(REFUSED).await;
        kept.keep(&1000, &unknown);
        assert_eq!(kept.entries.len(), 2);
        assert!(kept.answer(&0).is_some());
    }
}

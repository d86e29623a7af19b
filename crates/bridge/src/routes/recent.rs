//! Documents that count for a second more. Without clients in the configuration, everyone gets the same ones.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use crate::Bridge;
use crate::counts::CacheAnswer;

/// How long a document counts from the request that it was made for, at most.
const LASTS: Duration = Duration::from_secs(1);
/// The most bytes of documents that are kept.
const MOST: usize = 8 << 20;

/// The text of an answer.
#[derive(Clone)]
pub(super) struct Document {
    pub(super) content_type: &'static str,
    pub(super) text: Bytes,
    /// What its requests are counted as.
    pub(super) route: &'static str,
}

/// When a document was asked for, and what was known then.
#[derive(Clone, Copy)]
pub(super) struct AskedMoment {
    at: Instant,
    state: (u64, u64),
}

impl AskedMoment {
    pub(super) fn now(bridge: &Bridge) -> Self {
        Self { at: Instant::now(), state: (bridge.catalog.changes(), bridge.packages.changes()) }
    }
}

/// The documents of the last second, by their paths.
#[derive(Default)]
pub(super) struct RecentDocuments(Mutex<KeptDocuments>);

#[derive(Default)]
struct KeptDocuments {
    by_path: HashMap<String, (Document, AskedMoment)>,
    bytes: usize,
}

impl RecentDocuments {
    /// The document at a path, if nothing was learned since it was asked for.
    pub(super) fn get(&self, path: &str, bridge: &Bridge) -> Option<Document> {
        let found = self.kept().by_path.get(path).cloned();
        let (document, asked) = found?;
        let now = AskedMoment::now(bridge);
        let is_recent = now.at.saturating_duration_since(asked.at) < LASTS.min(bridge.catalog.fresh());
        let counts = is_recent && now.state == asked.state;
        counts.then(|| {
            bridge.catalog.counts().answered(CacheAnswer::Hit);
            document
        })
    }

    pub(super) fn keep(&self, path: &str, document: &Document, asked: AskedMoment) {
        let mut kept = self.kept();
        let bytes = path.len() + document.text.len();
        if bytes <= MOST {
            if kept.bytes + bytes > MOST {
                *kept = KeptDocuments::default();
            }
            let before = kept.by_path.insert(path.to_owned(), (document.clone(), asked));
            let before = before.map_or(0, |(before, _)| path.len() + before.text.len());
            kept.bytes = kept.bytes + bytes - before;
        }
    }

    fn kept(&self) -> MutexGuard<'_, KeptDocuments> {
        // No invariant spans two statements under this lock, except in `keep`, which does not panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

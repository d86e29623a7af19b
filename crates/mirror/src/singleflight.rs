//! Who shares work that is under way: whoever asks for the same thing.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

/// Work that is under way, by what it is for.
pub struct Singleflight<K, T: Clone> {
    running: Arc<Mutex<RunningWork<K, T>>>,
}

/// Work that several callers wait for. It goes on as long as one of them does.
pub type SharedWork<T> = Shared<BoxFuture<'static, T>>;

type RunningWork<K, T> = HashMap<K, WeakShared<BoxFuture<'static, T>>>;

impl<K, T: Clone> Clone for Singleflight<K, T> {
    fn clone(&self) -> Self {
        Self { running: Arc::clone(&self.running) }
    }
}

impl<K, T: Clone> Default for Singleflight<K, T> {
    fn default() -> Self {
        Self { running: Arc::default() }
    }
}

impl<K: Clone + Eq + Hash + Send + 'static, T: Clone + Send + Sync + 'static> Singleflight<K, T> {
    /// The work that is under way for the key, or new work. Whoever asks after its end begins anew.
    pub fn join(&self, key: &K, begin: impl FnOnce() -> BoxFuture<'static, T>) -> SharedWork<T> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(work) = running.get(key).and_then(WeakShared::upgrade) {
            return work;
        }
        // Work that all its callers have left is still listed.
        running.retain(|_, work| work.upgrade().is_some());
        let (task, done, own) = (begin(), Arc::clone(&self.running), key.clone());
        let work = async move {
            let result = task.await;
            done.lock().unwrap_or_else(PoisonError::into_inner).remove(&own);
            result
        };
        let work = work.boxed().shared();
        running.extend(work.downgrade().map(|work| (key.clone(), work)));
        work
    }
}

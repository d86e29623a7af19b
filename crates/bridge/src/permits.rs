//! Who waits for whom: who may ask a place now, or fetch from it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a limit on questions or downloads is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LimitScope {
    /// A registry, by its host; or what an archive is made from, by its place.
    Host(String),
    /// What a place consists of, by the number of the place.
    Place(usize),
    /// The same of a place of modules.
    ModulePlace(usize),
}

/// The questions, or the downloads, that are under way.
pub(crate) struct Permits {
    all: Arc<Semaphore>,
    each: Mutex<HashMap<LimitScope, Weak<Semaphore>>>,
    at_one: usize,
}

/// The right to ask or to fetch, as long as it is held.
pub(crate) struct Permit {
    _one: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Permits {
    /// So many in all at a time, and so many of these to one place.
    pub(crate) fn new(all: usize, at_one: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), each: Mutex::default(), at_one }
    }

    /// It waits for its turn at the place first. Otherwise those who wait for a stuck place would take the turns of
    /// others.
    pub(crate) async fn take(&self, scope: LimitScope) -> Permit {
        let one = {
            let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = each.get(&scope).and_then(Weak::upgrade) {
                known
            } else {
                each.retain(|_, permits| permits.strong_count() > 0);
                let new = Arc::new(Semaphore::new(self.at_one));
                each.insert(scope, Arc::downgrade(&new));
                new
            }
        };
        let closed = "no one closes the semaphore";
        let one = one.acquire_owned().await.expect(closed);
        let all = Arc::clone(&self.all).acquire_owned().await.expect(closed);
        Permit { _one: one, _all: all }
    }
}

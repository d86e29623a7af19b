//! How many distinct keys vouch for the index and for each archive.

use std::collections::{BTreeMap, BTreeSet};

use crate::key_id::KeyId;

/// The keys that have signed the index, and those that have signed single archives, each key once.
pub(super) struct Reached<'a, A> {
    threshold: usize,
    index: BTreeSet<&'a KeyId>,
    archives: BTreeMap<A, BTreeSet<&'a KeyId>>,
}

impl<'a, A: Ord> Reached<'a, A> {
    /// Counts signatures of one type of statement: each with its key, and with its archives unless it is about the index.
    pub(super) fn count<I: IntoIterator<Item = A>>(
        threshold: usize,
        signed: impl Iterator<Item = (&'a KeyId, Option<I>)>,
    ) -> Self {
        let mut reached = Self { threshold, index: BTreeSet::new(), archives: BTreeMap::new() };
        for (key, archives) in signed {
            match archives {
                None => {
                    reached.index.insert(key);
                }
                Some(archives) => archives.into_iter().for_each(|archive| {
                    reached.archives.entry(archive).or_default().insert(key);
                }),
            }
        }
        reached
    }

    /// Whether enough keys have signed the index.
    pub(super) fn index(&self) -> bool {
        self.index.len() >= self.threshold
    }

    /// Whether enough keys have signed this archive; those that have signed the index count too.
    pub(super) fn archive(&self, archive: &A) -> bool {
        let keys = self.archives.get(archive).map_or(self.index.len(), |keys| keys.union(&self.index).count());
        keys >= self.threshold
    }

    /// The archives that enough keys have signed.
    pub(super) fn archives(&self) -> impl Iterator<Item = &A> {
        self.archives.keys().filter(|archive| self.archive(archive))
    }
}

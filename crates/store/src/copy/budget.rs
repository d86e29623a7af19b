//! How much all copies of one run may follow: anyone who may write to the source can make its graph large.

use std::sync::{Mutex, PoisonError};
use tofu_oci_types::Place;

use crate::error::StoreError;

/// How many manifests, and how many bytes of them, the copies that share it may read. They are held in memory while they
/// are copied.
#[derive(Debug)]
pub struct CopyBudget {
    manifests: usize,
    bytes: u64,
    spent: Mutex<Spent>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    manifests: usize,
    bytes: u64,
}

impl Default for CopyBudget {
    /// 50,000 manifests and 64 MiB: 500 versions for 14 platforms, most of them signed, have less.
    fn default() -> Self {
        Self::new(50_000, 64 << 20)
    }
}

impl CopyBudget {
    /// So many manifests, and so many bytes of them.
    pub fn new(manifests: usize, bytes: u64) -> Self {
        Self { manifests, bytes, spent: Mutex::default() }
    }

    /// Takes manifests before they are read; their sizes are those that their descriptors claim, and that they have if they
    /// are read at all.
    ///
    /// # Errors
    /// [`StoreError::TooManyManifests`] if they do not fit; they are not taken then.
    pub(super) fn take(&self, place: &Place, sizes: impl Iterator<Item = u64>) -> Result<(), StoreError> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wanted = *spent;
        for size in sizes {
            wanted.manifests += 1;
            wanted.bytes = wanted.bytes.saturating_add(size);
        }
        if wanted.manifests > self.manifests || wanted.bytes > self.bytes {
            return Err(StoreError::TooManyManifests {
                place: place.clone(),
                manifests: wanted.manifests,
                bytes: wanted.bytes,
                most: self.manifests,
                most_bytes: self.bytes,
            });
        }
        *spent = wanted;
        Ok(())
    }
}

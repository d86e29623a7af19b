//! How much one search for evidence may hold. Anyone who may write to the repository puts things beside a release.

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_trust::EVIDENCE_LIMIT;
use tofu_oci_types::{Descriptor, Digest};

use crate::memory::{SharedCell, key, lock, slot};

/// Most bytes of a bundle, a payload, a file of checksums, a signature or a key.
pub(super) const MOST_BYTES: u64 = 1024 * 1024;

/// Most bytes of all pieces of evidence together.
const ALL_BYTES: u64 = 32 * 1024 * 1024;

/// What is left for one search, and what it has fetched. The first piece that does not fit ends the search.
pub(super) struct EvidenceBudget {
    left: Mutex<Left>,
    /// By digest and media type: a blob that many layers name is fetched once.
    fetched: Mutex<HashMap<(Digest, String), SharedCell<Bytes>>>,
}

struct Left {
    pieces: usize,
    bytes: u64,
    is_spent: bool,
}

/// Why a layer's content is missing.
pub(super) enum Lack {
    /// It would be more than the search may hold.
    Spent,
    Store(StoreError),
}

impl Default for EvidenceBudget {
    fn default() -> Self {
        let left = Left { pieces: EVIDENCE_LIMIT, bytes: ALL_BYTES, is_spent: false };
        Self { left: Mutex::new(left), fetched: Mutex::default() }
    }
}

impl EvidenceBudget {
    /// Whether the search has omitted something, or will.
    pub(super) fn is_spent(&self) -> bool {
        lock(&self.left).is_spent
    }

    /// Ends the search.
    pub(super) fn spend(&self) {
        lock(&self.left).is_spent = true;
    }

    /// Takes one piece of evidence; false if the budget is spent.
    pub(super) fn take_piece(&self) -> bool {
        let mut left = lock(&self.left);
        match left.pieces.checked_sub(1).filter(|_| !left.is_spent) {
            Some(pieces) => left.pieces = pieces,
            None => left.is_spent = true,
        }
        !left.is_spent
    }

    /// Takes the bytes that a descriptor claims. The store refuses what is too large for a single piece.
    pub(super) fn take_bytes(&self, claimed: u64) -> Result<(), Lack> {
        let mut left = lock(&self.left);
        let wanted = if claimed > MOST_BYTES { 0 } else { claimed };
        if let Some(bytes) = left.bytes.checked_sub(wanted).filter(|_| !left.is_spent) {
            left.bytes = bytes;
            Ok(())
        } else {
            left.is_spent = true;
            Err(Lack::Spent)
        }
    }

    /// Gives back what a layer that failed had taken.
    fn give_back(&self, claimed: u64) {
        if claimed <= MOST_BYTES {
            lock(&self.left).bytes += claimed;
        }
    }

    /// The bytes that a descriptor names, verified. [`Self::take_bytes`] comes first.
    pub(super) async fn fetch(&self, store: &dyn ReadStore, descriptor: &Descriptor) -> Result<Vec<u8>, Lack> {
        let once = slot(&mut lock(&self.fetched), key(descriptor));
        let fetched = match once.get_or_try_init(|| fetch_bytes(store, descriptor, MOST_BYTES)).await {
            Ok(bytes) if bytes.len() as u64 == descriptor.size => Ok(bytes.clone()),
            // Another descriptor of the same bytes claims another size: the store reports it.
            Ok(_) => fetch_bytes(store, descriptor, MOST_BYTES).await,
            Err(error) => Err(error),
        };
        match fetched {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => {
                self.give_back(descriptor.size);
                Err(Lack::Store(error))
            }
        }
    }

    /// The problem that a search reports when the budget is spent.
    pub(super) fn problem() -> String {
        let most = ALL_BYTES / (1024 * 1024);
        format!("there is more evidence than tofu-oci reads: the search ended at {EVIDENCE_LIMIT} pieces or {most} MiB")
    }
}

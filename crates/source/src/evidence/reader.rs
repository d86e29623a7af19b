//! The reader of what lies beside one index.

use tofu_oci_store::ReadStore;
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Descriptor, Digest};

use super::budget::EvidenceBudget;
use crate::memory::DocumentCache;

/// Reads what lies beside one index.
pub(crate) struct EvidenceReader<'a> {
    pub(super) store: &'a dyn ReadStore,
    /// Manifests that have been read are not asked for again.
    pub(super) memory: &'a DocumentCache,
    pub(super) index: &'a Descriptor,
    pub(super) budget: EvidenceBudget,
}

impl<'a> EvidenceReader<'a> {
    pub(crate) fn new(store: &'a dyn ReadStore, memory: &'a DocumentCache, index: &'a Descriptor) -> Self {
        Self { store, memory, index, budget: EvidenceBudget::default() }
    }
}

pub(super) fn unreadable(origin: &Digest, problem: String) -> Evidence {
    Evidence::Unreadable { origin: origin.clone(), problem }
}

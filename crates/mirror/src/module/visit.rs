//! One version that a run visits.

use std::sync::Arc;

use tofu_oci_types::{ModuleAddr, Subdir, Version};

use super::calls::ReadCalls;
use super::error::ModuleMirrorError;
use super::pick::ModuleOrigin;
use super::report::ModuleOutcome;
use super::state::{ModuleMoves, WithdrawnBy};

/// One version that a run visits, and the folders of its package whose calls are wanted.
pub(super) struct ModuleVisit {
    pub(super) address: ModuleAddr,
    pub(super) version: Version,
    pub(super) origin: ModuleOrigin,
    /// Who has withdrawn it at the destination, if the list there says so.
    pub(super) withdrawn: Option<WithdrawnBy>,
    /// What the run moves with it, if that is remembered.
    pub(super) moves: Option<Arc<ModuleMoves>>,
    pub(super) folders: Vec<Subdir>,
}

/// What came of a visit.
pub(super) struct Visited {
    pub(super) outcome: Result<ModuleOutcome, ModuleMirrorError>,
    /// The calls of each folder, if the package could be looked into.
    pub(super) calls: Vec<(Subdir, ReadCalls)>,
}

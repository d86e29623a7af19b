//! One version that a run visits.

use tofu_oci_types::{ModuleAddr, Subdir, Version};

use super::calls::ReadCalls;
use super::error::ModuleMirrorError;
use super::pick::ModuleOrigin;
use super::report::ModuleOutcome;

/// One version that a run visits, and the folders of its package whose calls are wanted.
pub(super) struct ModuleVisit {
    pub(super) address: ModuleAddr,
    pub(super) version: Version,
    pub(super) origin: ModuleOrigin,
    pub(super) folders: Vec<Subdir>,
}

/// What came of a visit.
pub(super) struct Visited {
    pub(super) outcome: Result<ModuleOutcome, ModuleMirrorError>,
    /// The calls of each folder, if the package could be looked into.
    pub(super) calls: Vec<(Subdir, ReadCalls)>,
}

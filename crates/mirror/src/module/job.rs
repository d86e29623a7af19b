//! What is asked of a run.

use tofu_oci_tfconfig::OuterCall;
use tofu_oci_types::Reporter;

use super::destination::ModuleDestination;
use super::pick::WantedModule;
use super::upstream::ModuleUpstream;
use crate::run::Carrying;

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorMode {
    /// Packages are read, and nothing is written.
    Plan,
    /// What is missing is carried.
    Run,
}

/// What becomes of the modules of registries that mirrored modules call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestedModules {
    /// They are mirrored too.
    Follow,
    Report,
}

/// One run.
pub struct ModuleMirrorJob<'a> {
    /// The modules that are asked for by name.
    pub wanted: &'a [WantedModule],
    pub configuration: Option<(String, Vec<OuterCall>)>,
    /// Where modules come from.
    pub upstream: &'a dyn ModuleUpstream,
    pub destination: &'a dyn ModuleDestination,
    /// What becomes of nested calls.
    pub nested: NestedModules,
    /// Whether anything is written.
    pub mode: MirrorMode,
    pub how: &'a Carrying<'a>,
    /// Who hears of it.
    pub reporter: &'a dyn Reporter,
}

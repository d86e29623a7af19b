//! What is asked of a run.

use tofu_oci_tfconfig::OuterCall;
use tofu_oci_types::{ModuleAddr, Reporter};

use super::destination::ModuleDestination;
use super::pick::WantedModule;
use super::upstream::ModuleUpstream;
use crate::MirrorRules;
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
    /// Of these rules, `allow`, `deny` and `min_age` count for every version of a registry, whoever calls it.
    pub rules: &'a MirrorRules<ModuleAddr>,
    /// What becomes of nested calls.
    pub nested: NestedModules,
    /// Whether anything is written.
    pub mode: MirrorMode,
    pub how: &'a Carrying<'a>,
    /// Who hears of it.
    pub reporter: &'a dyn Reporter,
}

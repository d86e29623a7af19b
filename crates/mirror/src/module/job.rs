//! What is asked of a run.

use tofu_oci_tfconfig::OuterCall;
use tofu_oci_types::{ModuleAddr, ModuleSource, Reporter};

use super::destination::ModuleDestination;
use super::pick::WantedModule;
use super::upstream::ModuleUpstream;
use crate::MirrorRules;
use crate::plan::Prune;
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
    /// Of these rules, `allow`, `deny`, `min_age` and `gone` count for every version of a registry, whoever calls it.
    pub rules: &'a MirrorRules<ModuleAddr>,
    /// Whether versions are taken away that neither the rules nor calls name any more, of the modules that are asked for by name.
    pub prune: Prune,
    /// What becomes of nested calls.
    pub nested: NestedModules,
    /// Whether anything is written.
    pub mode: MirrorMode,
    pub how: &'a Carrying<'a>,
    /// Who hears of it.
    pub reporter: &'a dyn Reporter,
}

impl ModuleMirrorJob<'_> {
    /// Whether the user asks for the module by name, in the command, the rules or the configuration.
    pub(super) fn names(&self, address: &ModuleAddr) -> bool {
        let calls = self.configuration.iter().flat_map(|(_, calls)| calls);
        let is_called =
            |call: &OuterCall| matches!(&call.source, Some(ModuleSource::Registry(own, _)) if own == address);
        self.wanted.iter().any(|wanted| wanted.address == *address) || calls.into_iter().any(is_called)
    }
}

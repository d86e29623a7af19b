//! The reports on the providers and on the modules of one run.

use tofu_oci_mirror::{MirrorLine, MirrorMode, ModuleMirrorReport};

use crate::exit::Exit;
use crate::page::Page;
use crate::verbs::context::Context;
use crate::verbs::mirror::print;
use crate::verbs::module::mirror as modules;

/// What became of providers, and of modules; `None` for a kind that was not asked for.
#[derive(Default)]
pub(super) struct BundleReport {
    pub(super) providers: Option<Vec<MirrorLine>>,
    pub(super) modules: Option<ModuleMirrorReport>,
}

impl BundleReport {
    /// Prints it, and gives the exit code of the kind that failed worse.
    pub(super) fn print(self, context: &Context) -> Exit {
        let are_both = self.providers.is_some() && self.modules.is_some();
        let first = self.providers.map_or(Exit::Done, |lines| print(context, MirrorMode::Run, lines));
        if are_both {
            context.emit_all(|_| {}, || Page::of(""));
        }
        let second = self.modules.map_or(Exit::Done, |report| modules::print(context, MirrorMode::Run, report));
        if first == Exit::Done || second == Exit::Unexpected { second } else { first }
    }
}

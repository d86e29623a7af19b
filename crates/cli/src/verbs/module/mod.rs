//! `module`: modules in OCI repositories.

mod lock;
pub(super) mod mapped;
pub(super) mod mirror;
pub(super) mod open;
mod pull;
mod push;
pub(super) mod resolve;
mod versions;

use super::context::Context;
use crate::args::{ModuleArgs, ModuleVerb, OutputArgs};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;

impl ModuleVerb {
    /// How it prints.
    pub(super) fn output(&self) -> &OutputArgs {
        match self {
            Self::Push(args) => &args.output,
            Self::Pull(args) => &args.output,
            Self::Versions(args) => &args.output,
            Self::Mirror(args) => &args.output,
            Self::Lock(args) => &args.output,
        }
    }
}

/// Runs one of the verbs.
pub(crate) async fn module(context: &Context, args: &ModuleArgs) -> Result<Exit, Diagnostic> {
    match &args.verb {
        ModuleVerb::Push(args) => push::push(context, args).await?,
        ModuleVerb::Pull(args) => pull::pull(context, args).await?,
        ModuleVerb::Lock(args) => lock::lock(context, args).await?,
        ModuleVerb::Versions(args) => versions::versions(context, args).await?,
        ModuleVerb::Mirror(args) => return mirror::mirror(context, args).await,
    }
    Ok(Exit::Done)
}

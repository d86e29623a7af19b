//! `resolve` of a module: where it is, which version, and with `--explain` why.

mod explained;
mod line;
mod model;
mod text;

use std::path::Path;

use tofu_oci_types::ModuleName;

use super::mapped::MappedModule;
use super::open::{self, AskedRegistry, OpenedModule};
use crate::args::ResolveArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::modules;
use crate::verbs::context::Context;
use model::{ModuleAsk, ResolvedModule};

/// Prints where a module is, and with `--explain` why.
pub(in crate::verbs) async fn resolve(
    context: &Context,
    args: &ResolveArgs,
    name: &ModuleName,
) -> Result<(), Diagnostic> {
    let others = [("--platform", args.platform.is_some()), ("--upgrade", args.upgrade)];
    open::refuse_for_module(&args.subject, &args.lookup, &others)?;
    if let ModuleName::Git(source) = name {
        return Err(Diagnostic::usage(format!("{source} is a git repository, and says itself where the module is"))
            .code("git-has-no-versions")
            .hint("`git ls-remote` with the same address lists its tags and branches"));
    }
    let chdir = args.chdir.as_deref();
    let dir = chdir.unwrap_or(Path::new("."));
    let mirrors = modules::load(&args.mapping, &args.predecessors, dir)?;
    let mapped = MappedModule::of(&mirrors, name)?;
    let connector = open::connector(context, name, mapped.as_ref(), &args.access, chdir).await?;
    connector.config(chdir)?;
    let file = modules::mapping_file(&args.mapping, dir).map(|path| path.display().to_string());
    let ask = ModuleAsk { typed: &args.subject, name, mirrors: &mirrors, mapped: mapped.as_ref(), file };
    if args.explain {
        return explained::explain(context, &ask, &args.predecessors.all(), &connector).await;
    }
    let (registry, found) = find(&ask, &connector).await?;
    open::note_other_address(context, name, &found, &args.predecessors.all());
    let found = ResolvedModule::of(found);
    let registry = registry.as_deref();
    context.emit(&line::resolved(&ask, registry, &found), || text::resolved(&ask, registry, &found));
    Ok(())
}

/// The package, and the address of the registry that is asked; `None` if a repository is.
async fn find(ask: &ModuleAsk<'_>, connector: &Connector) -> Result<(Option<String>, OpenedModule), Diagnostic> {
    let (ModuleName::Registry { address, subdir, constraints }, None) = (ask.name, ask.mapped) else {
        return Ok((None, open::find(ask.name, ask.mapped, connector).await?));
    };
    let opener = open::opener(connector)?;
    let asked = AskedRegistry { registry: opener.module_registry(address.hostname()).await?, opener };
    let listing = asked.registry.versions(address).await.map_err(|error| open::unmapped(address, error))?;
    let found = asked.find((address, subdir, constraints), &listing, connector).await?;
    Ok((Some(asked.registry.address()), found))
}

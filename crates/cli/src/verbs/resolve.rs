//! `resolve`.

use std::path::Path;

use serde::Serialize;
use tofu_oci_types::{Event, ProviderAddr};

use super::context::Context;
use super::explain;
use super::install::working_dir;
use super::module;
use super::typed::typed;
use crate::args::ResolveArgs;
use crate::diagnostic::Diagnostic;
use crate::invocation;
use crate::lookup::Finder;
use crate::page::Page;
use crate::subject;

/// Prints the places of an address, and the rule that names each; or the place of a module.
pub(crate) async fn resolve(context: &Context, args: &ResolveArgs) -> Result<(), Diagnostic> {
    if let Some(name) = subject::module(&args.subject)? {
        working_dir(args.chdir.as_deref())?;
        return module::resolve::resolve(context, args, &name).await;
    }
    let mapping = args.mapping.modules_file.as_deref().and_then(Path::to_str);
    if typed(mapping, "TOFU_OCI_MODULES") {
        return Err(Diagnostic::usage(format!("--modules is for modules, and `{}` is a provider", args.subject))
            .hint("omit it; the CLI configuration, or --from, says where a provider is"));
    }
    let (address, constraints) = subject::provider(&args.subject)?;
    if !args.explain {
        args.access.identity.refuse("without --explain no registry is asked", "add --explain, or leave it out")?;
    }
    working_dir(args.chdir.as_deref())?;
    let access = args.lookup.access(&args.access.identity, args.chdir.as_deref()).await?;
    let connector = context.connector(&args.access.network, access);
    if args.explain {
        return explain::explain(context, args, connector, &address, &constraints).await;
    }
    let finder = Finder::new(&args.lookup, connector, args.chdir.as_deref(), &[])?;
    let places = finder.places(&address).await?;
    if !constraints.is_any() {
        context.say(&Page::of("every version has the same place; --explain says which version is chosen"));
    }
    for found in places.found {
        let (place, rule) = (found.place.as_str(), found.rule.as_str());
        context.emit(&Resolved { address: &address, place, rule }, || Page::of(place));
        context.say(&Page::of(format_args!("{address} by {rule}")));
    }
    for failed in places.failed {
        let explain = invocation::command(&format!("resolve {address} --explain"));
        let hint = format!("`install` stops there; `{explain}` says more");
        context.reporter.event(&Event::warning("no-place", failed).with_hint(hint));
    }
    Ok(())
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "resolved")]
struct Resolved<'a> {
    address: &'a ProviderAddr,
    place: &'a str,
    rule: &'a str,
}

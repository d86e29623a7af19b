//! `resolve`.

use serde::Serialize;
use tofu_oci_types::{Constraints, Event, ProviderAddr};

use super::context::Context;
use super::explain;
use crate::args::ResolveArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::lookup::Finder;
use crate::page::Page;
use crate::printer;
use crate::report::json_line;

const VERSIONS: &str = "write @1.4.0, @'~> 1.4' or @'>= 1.2, < 2.0', quoted for your shell";

/// Prints the places of an address, and the rule that names each.
pub(crate) async fn resolve(context: &Context, args: &ResolveArgs) -> Result<(), Diagnostic> {
    let (address, constraints) = subject(args)?;
    if !args.explain {
        args.identity.refuse("without --explain no registry is asked", "add --explain, or leave it out")?;
    }
    let access = args.lookup.access(&args.identity, args.chdir.as_deref()).await?;
    let connector = context.connector(&args.network, access);
    if args.explain {
        return explain::explain(context, args, connector, &address, &constraints).await;
    }
    let finder = Finder::new(&args.lookup, connector, args.chdir.as_deref(), &[])?;
    let places = finder.places(&address).await?;
    for found in places.found {
        if context.json {
            #[derive(Serialize)]
            struct ResolvedLine<'a> {
                event: &'static str,
                address: &'a ProviderAddr,
                place: &'a str,
                rule: &'a str,
            }
            json_line(&ResolvedLine { event: "resolved", address: &address, place: &found.place, rule: &found.rule });
            continue;
        }
        printer::stdout(&Page::of(&found.place));
        if !context.quiet {
            printer::stderr(&Page::of(format_args!("{address} by {}", found.rule)));
        }
    }
    for failed in places.failed {
        let explain = invocation::command(&format!("resolve {address} --explain"));
        let hint = format!("`install` stops there; `{explain}` says more");
        context.reporter.event(&Event::warning("no-place", failed).with_hint(hint));
    }
    Ok(())
}

/// The address, and with `--explain` the constraint after it.
fn subject(args: &ResolveArgs) -> Result<(ProviderAddr, Constraints), Diagnostic> {
    let (text, constraints) = args.subject.split_once('@').unwrap_or((&args.subject, ""));
    let address = text.parse().map_err(|error| {
        Diagnostic::of(Exit::Usage, &error).hint("write HOST/NAMESPACE/TYPE, such as registry.example.com/acme/widget")
    })?;
    if !args.explain && args.subject.contains('@') {
        return Err(Diagnostic::usage("where a provider is looked for does not depend on a version")
            .hint(format!("omit the constraint: {text}"))
            .hint("to see which version is chosen, and from where, add --explain"));
    }
    if constraints.trim().is_empty() && args.subject.contains('@') {
        return Err(Diagnostic::usage(format!("`{}` names no version after the @", args.subject))
            .hint(VERSIONS)
            .hint(format!("for the newest version, omit the @: {text}")));
    }
    let constraints = constraints.parse().map_err(|error| Diagnostic::of(Exit::Usage, &error).hint(VERSIONS))?;
    Ok((address, constraints))
}

//! `versions`.

use std::sync::Arc;

use serde::Serialize;
use tofu_oci_source::{NotOffered, OciSource, Source, SourceError, StrayEffect, StrayTag};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Event, Platform, ProviderAddr, Version};

use super::Context;
use super::resolve::{lookup, suffix};
use crate::args::VersionsArgs;
use crate::complaint::Complaint;
use crate::connect::End;
use crate::printer;
use crate::report::json_line;

/// Lists versions, newest first.
pub(crate) async fn versions(context: &Context, args: &VersionsArgs) -> Result<(), Complaint> {
    let Subject { end, address, named } = subject(args)?;
    let store = context.connector(&args.network).source(&end)?;
    let place = store.place();
    let source = OciSource::new(Arc::clone(&store));
    let listing = source.versions(&address).await.map_err(|error| match error {
        SourceError::NotOffered { place, what: NotOffered::UnknownProvider, .. } if named == Named::Repository => {
            Complaint::from(StoreError::UnknownRepository { place })
        }
        error => error.into(),
    })?;
    warn(context, &place, &listing.stray);
    let mut lines = Vec::new();
    for version in listing.versions.iter().rev() {
        let platforms = if args.platforms { Some(source.platforms(&address, version).await?) } else { None };
        lines.push(Line { event: "version", place: &place, version, platforms });
    }
    if context.json {
        lines.iter().for_each(json_line);
        return Ok(());
    }
    if lines.is_empty() && !context.quiet {
        printer::stderr(&format!("{place} has no versions\n"));
    }
    let text: String = lines.iter().map(Line::text).collect();
    printer::stdout(&text);
    Ok(())
}

#[derive(Serialize)]
struct Line<'a> {
    event: &'static str,
    place: &'a str,
    version: &'a Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    platforms: Option<Vec<Platform>>,
}

impl Line<'_> {
    fn text(&self) -> String {
        let platforms = self.platforms.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let gap = if platforms.is_empty() { "" } else { "  " };
        format!("{}{gap}{platforms}\n", self.version)
    }
}

/// Where to look, and for what.
struct Subject {
    end: End,
    address: ProviderAddr,
    named: Named,
}

/// What people have named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Address,
    Repository,
}

/// An address where `--from` or the magic suffix makes it one, a repository otherwise.
fn subject(args: &VersionsArgs) -> Result<Subject, Complaint> {
    if args.lookup.from.is_some() {
        let address = args.subject.parse().map_err(|error| {
            Complaint::of(crate::exit::Exit::Usage, &error).hint("with --from, name a provider: HOST/NAMESPACE/TYPE")
        })?;
        return Ok(Subject { end: lookup(&args.lookup, &address)?.end, address, named: Named::Address });
    }
    if let Ok(address) = args.subject.parse::<ProviderAddr>()
        && address.hostname().as_str().split(':').next().is_some_and(|host| {
            suffix(&args.lookup).is_ok_and(|suffix| host.ends_with(&format!(".{}", suffix.as_str())))
        })
    {
        return Ok(Subject { end: lookup(&args.lookup, &address)?.end, address, named: Named::Address });
    }
    let end = End::parse(&args.subject).map_err(|complaint| match args.subject.parse::<ProviderAddr>() {
        Ok(_) => complaint.hint("for a provider address, say where it is with --from REPOSITORY"),
        Err(_) => complaint,
    })?;
    // The repository alone is asked; nothing of the answer depends on the address.
    let address = "registry.opentofu.org/unknown/unknown".parse().expect("a well-formed address");
    Ok(Subject { end, address, named: Named::Repository })
}

/// Says which tags OpenTofu would trip over.
pub(crate) fn warn(context: &Context, place: &str, stray: &[StrayTag]) {
    for stray in stray.iter().filter(|stray| stray.effect == StrayEffect::BreaksInit) {
        let StrayTag { tag, version, .. } = stray;
        let text = format!("{place} has a tag {tag}, which OpenTofu reads as version {version} and then cannot find");
        let hint = format!("delete the tag {tag}: as long as it is the newest, `tofu init` fails for everybody");
        context.reporter.event(&Event::warning("floating-tag", text).with_hint(hint));
    }
}

//! `versions`.

mod lines;
mod table;

pub(super) use lines::{note_notices, warn_of_halves};
pub(super) use table::signed;

use std::sync::Arc;

use tofu_oci_explain::releases::{VersionsQuestion, notice_of};
use tofu_oci_logins::Access;
use tofu_oci_source::{Listing, NotOffered, OciSource, Source, SourceError, StrayEffect, StrayTag};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Constraints, Event, Place, ProviderAddr, ReleaseName, Version};

use super::context::Context;
use crate::args::{LookupArgs, RegistryAccess, VersionsArgs};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::identity;
use crate::lookup::{self, Finder};
use crate::page::Page;
use crate::subject;

/// Lists versions, newest first.
pub(crate) async fn versions(context: &Context, args: &VersionsArgs) -> Result<(), Diagnostic> {
    let VersionsArgs { subject: text, lookup, provider, access, .. } = args;
    let named = SubjectArgs { subject: text, lookup, provider: *provider, access };
    let Subject { source, address, wanted, named } = subject(context, &named).await?;
    let place = source.place().clone();
    // An address and a repository look alike, and a variable or an old file may have decided which it is.
    let who = match named {
        SubjectKind::From if lookup.from.is_some() => Some("--from or TOFU_OCI_FROM"),
        SubjectKind::From => Some("--plugin-dir"),
        SubjectKind::Pattern => Some("the CLI configuration"),
        SubjectKind::Address | SubjectKind::Repository => None,
    };
    if let Some(who) = who {
        context.say(&Page::of(format_args!("asking {place} for {address}, as {who} says")));
    }
    let mut listing = source.versions(&address).await.map_err(|error| named.diagnostic(error, text))?;
    if !wanted.is_any() {
        if let Some(gone) = gone(&listing, &wanted) {
            let reason = notice_of(source.as_ref(), &address, gone, &listing).await.and_then(|notice| notice.reason);
            return Err(Diagnostic::withdrawn(&place, gone, reason, &listing.versions));
        }
        keep(&mut listing.versions, &wanted, &place)?;
    }
    warn(context, &place, &listing.stray);
    let question = VersionsQuestion {
        source: source.as_ref(),
        address: Some(&address).filter(|_| named != SubjectKind::Repository),
        asked_as: &address,
        reporter: context.reporter.as_ref(),
    };
    let lines = lines::lines(context, args, &question, &listing).await?;
    if lines.is_empty() {
        context.say(&Page::of(format_args!("{place} has no versions")));
    }
    context.emit_all(|out| out.add_all(&lines), || if args.long { table::table(&lines) } else { table::list(&lines) });
    Ok(())
}

/// The withdrawn version that was asked for, if no version that is offered meets the constraints.
pub(super) fn gone<'a>(listing: &'a Listing, wanted: &Constraints) -> Option<&'a Version> {
    let is_met = listing.versions.iter().any(|version| wanted.admits(version));
    listing.withdrawn.iter().rev().find(|version| !is_met && wanted.admits(version))
}

/// Keeps the versions that were asked for.
pub(super) fn keep(versions: &mut Vec<Version>, wanted: &Constraints, place: &Place) -> Result<(), Diagnostic> {
    let all: Vec<String> = versions.iter().rev().map(ToString::to_string).collect();
    versions.retain(|version| wanted.admits(version));
    if !versions.is_empty() {
        return Ok(());
    }
    let diagnostic = Diagnostic::new(
        Exit::Fixable,
        match wanted.exact() {
            Some(version) => format!("{place} has no version {version}"),
            None => format!("{place} has no version that meets `{wanted}`"),
        },
    );
    Err(if all.is_empty() { diagnostic } else { diagnostic.hint(format!("it has {}", all.join(", "))) })
}

/// The arguments that say where to look, and for what.
pub(super) struct SubjectArgs<'a> {
    pub(super) subject: &'a str,
    pub(super) lookup: &'a LookupArgs,
    /// Whether the argument is an address, although it could be a repository.
    pub(super) provider: bool,
    pub(super) access: &'a RegistryAccess,
}

pub(super) struct Subject {
    pub(super) source: Arc<dyn Source>,
    pub(super) address: ProviderAddr,
    /// The versions that the argument asks for.
    pub(super) wanted: Constraints,
    pub(super) named: SubjectKind,
}

/// What the argument is, and what makes it an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SubjectKind {
    /// An address, by `--from` or `--plugin-dir`.
    From,
    /// An address, because a pattern of the CLI configuration names its host.
    Pattern,
    /// An address, by its suffix or by `--provider`.
    Address,
    Repository,
}

impl SubjectKind {
    /// Why there is no listing. If the user named a repository, the message names no address.
    fn diagnostic(self, error: SourceError, subject: &str) -> Diagnostic {
        let is_address = || subject.parse::<ProviderAddr>().is_ok();
        match (self, error) {
            (Self::Repository, SourceError::NotOffered { place, what: NotOffered::UnknownProvider, .. }) => {
                Diagnostic::from(StoreError::UnknownRepository { place })
            }
            (Self::Repository, error @ SourceError::Store(StoreError::Unreachable { .. })) if is_address() => {
                Diagnostic::from(error).hint(IF_ADDRESS)
            }
            (_, error) => error.into(),
        }
    }
}

/// What to do if the argument was meant as an address.
const IF_ADDRESS: &str = "for a provider address, add --provider, or say where it is with --from REPOSITORY";

/// Reads the argument as an address if an option or the CLI configuration says so, else as a repository.
pub(super) async fn subject(context: &Context, args: &SubjectArgs<'_>) -> Result<Subject, Diagnostic> {
    let connector = context.connector(&args.access.network, access(args).await?);
    let (address, wanted) = match subject::read(args.subject)? {
        ReleaseName::Provider { address, constraints } => (address, constraints),
        _ if args.lookup.names_place() || args.provider => subject::provider(args.subject)?,
        ReleaseName::Whole(text) => match text.parse() {
            Ok(address) => (address, Constraints::any()),
            Err(_) => return repository(args, &connector),
        },
        _ => return repository(args, &connector),
    };
    if args.lookup.names_place() || args.provider || !wanted.is_any() {
        let named = if args.lookup.names_place() { SubjectKind::From } else { SubjectKind::Address };
        let finder = finder(args, connector)?;
        return Ok(Subject { source: finder.source(&address)?, address, wanted, named });
    }
    let configured = lookup::configured(connector.config(None)?, args.lookup, &[])?;
    if configured.is_missing() && !configured.is_magic(&address) {
        return repository(args, &connector);
    }
    let finder = finder(args, connector)?;
    let named = match finder.configured() {
        Some(configured) if configured.is_magic(&address) => SubjectKind::Address,
        Some(configured) if configured.names_host(&address) => SubjectKind::Pattern,
        _ => return repository(args, &finder.into_connector()),
    };
    args.access.identity.need_registry()?;
    Ok(Subject { source: finder.source(&address)?, address, wanted, named })
}

/// Who asks. Without `--from` and `--provider` the argument names the registry, unless it turns out to be an address.
async fn access(args: &SubjectArgs<'_>) -> Result<Access, Diagnostic> {
    if args.lookup.names_place() || args.provider {
        return args.lookup.access(&args.access.identity, None).await;
    }
    match subject::place(args.subject) {
        Ok((end, _)) => {
            args.access.identity.access(&identity::of_end(&end).into_iter().collect::<Vec<_>>(), None).await
        }
        Err(_) if args.access.identity.anonymous => Ok(Access::Anonymous),
        // The rest is an address, or an error that `repository` reports.
        Err(_) => Ok(Access::Ambient { chdir: None }),
    }
}

fn finder(args: &SubjectArgs<'_>, connector: Connector) -> Result<Finder, Diagnostic> {
    Finder::new(args.lookup, connector, None, &[])
}

fn repository(args: &SubjectArgs<'_>, connector: &Connector) -> Result<Subject, Diagnostic> {
    let (end, version) =
        subject::place(args.subject).map_err(|diagnostic| match args.subject.parse::<ProviderAddr>() {
            Ok(_) => diagnostic.hint(IF_ADDRESS),
            Err(_) => diagnostic,
        })?;
    let source = Arc::new(OciSource::new(connector.source(&end)?));
    let wanted = version.map_or_else(Constraints::any, Constraints::exactly);
    Ok(Subject { source, address: unknown_address(), wanted, named: SubjectKind::Repository })
}

/// The address that a repository is asked with: its answer does not depend on it.
pub(super) fn unknown_address() -> ProviderAddr {
    "registry.opentofu.org/unknown/unknown".parse().expect("a well-formed address")
}

/// Says which tags OpenTofu would trip over.
pub(crate) fn warn(context: &Context, place: &Place, stray: &[StrayTag]) {
    for stray in stray.iter().filter(|stray| stray.effect == StrayEffect::BreaksInit) {
        let StrayTag { tag, version, .. } = stray;
        let text = format!("{place} has a tag {tag}, which OpenTofu reads as version {version} and then cannot find");
        let hint = format!("delete the tag {tag}: as long as it is the newest, `tofu init` fails for everybody");
        context.reporter.event(&Event::warning("floating-tag", text).with_hint(hint));
    }
}

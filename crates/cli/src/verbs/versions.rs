//! `versions`.

mod lines;
mod table;

pub(super) use lines::noticed;
pub(super) use table::signed;

use std::sync::Arc;

use serde::Serialize;
use tofu_oci_explain::releases::{NoticesOf, VersionsQuestion};
use tofu_oci_logins::Access;
use tofu_oci_source::{Listing, NotOffered, OciSource, Source, SourceError, StrayEffect, StrayTag};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Constraints, Event, Place, ProviderAddr, ReleaseName};

use super::context::Context;
use crate::args::{IdentityArgs, LookupArgs, RegistryAccess, VersionsArgs};
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
    let Subject { source, address, wanted, named } = subject(context, text, lookup, *provider, access).await?;
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
    keep(&mut listing, &wanted, &place, Some(NoticesOf::Provider(source.as_ref(), &address))).await?;
    warn(context, &place, &listing.stray);
    let question = VersionsQuestion {
        source: source.as_ref(),
        address: Some(&address).filter(|_| named != SubjectKind::Repository),
        asked_as: &address,
        reporter: context.reporter.as_ref(),
    };
    let lines = lines::lines(context, args, &question, &listing).await?;
    print(context, &place, &lines, if args.long { table::table } else { table::list });
    Ok(())
}

/// Prints one line a version.
pub(super) fn print<L: Serialize>(context: &Context, place: &Place, lines: &[L], page: impl FnOnce(&[L]) -> Page) {
    if lines.is_empty() {
        context.say(&Page::of(format_args!("{place} has no versions")));
    }
    context.emit_all(|out| out.add_all(lines), || page(lines));
}

/// Keeps the versions that were asked for. If only withdrawn ones meet the constraints, the notice about the newest says why.
pub(super) async fn keep(
    listing: &mut Listing,
    wanted: &Constraints,
    place: &Place,
    notices: Option<NoticesOf<'_>>,
) -> Result<(), Diagnostic> {
    if wanted.is_any() {
        return Ok(());
    }
    let offered = listing.versions.clone();
    listing.versions.retain(|version| wanted.admits(version));
    if !listing.versions.is_empty() {
        return Ok(());
    }
    let gone = listing.withdrawn.iter().rev().find(|version| wanted.admits(version));
    if let (Some(notices), Some(gone)) = (notices, gone) {
        let reason = notices.version(gone, listing).await.and_then(|notice| notice.reason);
        return Err(Diagnostic::withdrawn(place, gone, reason, &offered));
    }
    let all: Vec<String> = offered.iter().rev().map(ToString::to_string).collect();
    let diagnostic = Diagnostic::new(
        Exit::Fixable,
        match wanted.exact() {
            Some(version) => format!("{place} has no version {version}"),
            None => format!("{place} has no version that meets `{wanted}`"),
        },
    );
    Err(if all.is_empty() { diagnostic } else { diagnostic.hint(format!("it has {}", all.join(", "))) })
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

/// Reads the argument as an address if an option or the CLI configuration says so, else as a repository. If it is `provider`, it
/// is an address although it could be a repository.
pub(super) async fn subject(
    context: &Context,
    text: &str,
    lookup: &LookupArgs,
    provider: bool,
    RegistryAccess { network, identity }: &RegistryAccess,
) -> Result<Subject, Diagnostic> {
    let is_address = lookup.names_place() || provider;
    let access = if is_address { lookup.access(identity, None).await } else { access(text, identity).await };
    let connector = context.connector(network, access?);
    let (address, wanted) = match subject::read(text)? {
        ReleaseName::Provider { address, constraints } => (address, constraints),
        _ if is_address => subject::provider(text)?,
        ReleaseName::Whole(text) => match text.parse() {
            Ok(address) => (address, Constraints::any()),
            Err(_) => return repository(&text, &connector),
        },
        _ => return repository(text, &connector),
    };
    let finder = |connector| Finder::new(lookup, connector, None, &[]);
    if is_address || !wanted.is_any() {
        let named = if lookup.names_place() { SubjectKind::From } else { SubjectKind::Address };
        return Ok(Subject { source: finder(connector)?.source(&address)?, address, wanted, named });
    }
    let configured = lookup::configured(connector.config(None)?, lookup, &[])?;
    if configured.is_missing() && !configured.is_magic(&address) {
        return repository(text, &connector);
    }
    let finder = finder(connector)?;
    let named = match finder.configured() {
        Some(configured) if configured.is_magic(&address) => SubjectKind::Address,
        Some(configured) if configured.names_host(&address) => SubjectKind::Pattern,
        _ => return repository(text, &finder.into_connector()),
    };
    identity.need_registry()?;
    Ok(Subject { source: finder.source(&address)?, address, wanted, named })
}

/// Who asks the registry that the argument names, unless it turns out to be an address.
async fn access(text: &str, identity: &IdentityArgs) -> Result<Access, Diagnostic> {
    match subject::place(text) {
        Ok((end, _)) => identity.access(&identity::of_end(&end).into_iter().collect::<Vec<_>>(), None).await,
        Err(_) if identity.anonymous => Ok(Access::Anonymous),
        // The rest is an address, or an error that `repository` reports.
        Err(_) => Ok(Access::Ambient { chdir: None }),
    }
}

fn repository(text: &str, connector: &Connector) -> Result<Subject, Diagnostic> {
    let (end, version) = subject::place(text).map_err(|diagnostic| match text.parse::<ProviderAddr>() {
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

//! `versions`.

use std::sync::Arc;

use serde::Serialize;
use tofu_oci_logins::Access;
use tofu_oci_source::{Listing, NotOffered, OciSource, Source, SourceError, StrayEffect, StrayTag};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Constraints, Event, Place, Platform, ProviderAddr, ReleaseName, Version};

use super::context::Context;
use crate::args::VersionsArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::identity;
use crate::lookup::{self, Finder};
use crate::page::{Line, Page};
use crate::printer;
use crate::report::json_line;
use crate::subject;

/// Lists versions, newest first.
pub(crate) async fn versions(context: &Context, args: &VersionsArgs) -> Result<(), Diagnostic> {
    let Subject { source, address, wanted, named } = subject(context, args).await?;
    let place = source.place().clone();
    // An address and a repository look alike, and a variable or an old file may have decided which it is.
    if !context.json && !context.quiet {
        match named {
            SubjectKind::From => {
                let says = format!("asking {place} for {address}, as --from or TOFU_OCI_FROM says");
                printer::stderr(&Page::of(says));
            }
            SubjectKind::Pattern => {
                let says = format!("asking {place} for {address}, as the CLI configuration says");
                printer::stderr(&Page::of(says));
            }
            SubjectKind::Address | SubjectKind::Repository => {}
        }
    }
    let mut listing = source.versions(&address).await.map_err(|error| named.diagnostic(error, &args.subject))?;
    if !wanted.is_any() {
        keep(&mut listing.versions, &wanted, &place)?;
    }
    warn(context, &place, &listing.stray);
    let asked = Asked { source: source.as_ref(), address: &address, place: &place };
    let lines = lines(context, args, &asked, &listing).await?;
    if context.json {
        lines.iter().for_each(json_line);
        return Ok(());
    }
    if lines.is_empty() && !context.quiet {
        printer::stderr(&Page::of(format_args!("{place} has no versions")));
    }
    let width = lines.iter().map(|line| line.version.to_string().len()).max().unwrap_or_default();
    let mut page = Page::default();
    for line in &lines {
        page.push(line.shown(width));
    }
    printer::stdout(&page);
    Ok(())
}

/// Keeps the versions that were asked for.
fn keep(versions: &mut Vec<Version>, wanted: &Constraints, place: &Place) -> Result<(), Diagnostic> {
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

/// One line a version, newest first. A broken release produces a warning and has no platforms.
async fn lines<'a>(
    context: &Context,
    args: &VersionsArgs,
    asked: &Asked<'a>,
    listing: &'a Listing,
) -> Result<Vec<VersionLine<'a>>, Diagnostic> {
    let mut lines = Vec::new();
    for version in listing.versions.iter().rev() {
        let platforms = if args.platforms { asked.platforms(context, version).await? } else { None };
        lines.push(VersionLine { event: "version", place: asked.place, version, platforms });
    }
    Ok(lines)
}

/// One repository, and the provider that is looked for in it.
struct Asked<'a> {
    source: &'a dyn Source,
    address: &'a ProviderAddr,
    place: &'a Place,
}

impl Asked<'_> {
    /// The platforms of a release; `None` and a warning if the release itself is broken.
    async fn platforms(&self, context: &Context, version: &Version) -> Result<Option<Vec<Platform>>, Diagnostic> {
        let platforms = match self.source.release(self.address, version).await {
            Ok(release) => release.platforms().await,
            Err(error) => Err(error),
        };
        let error = match platforms {
            Ok(platforms) => return Ok(Some(platforms)),
            Err(error) => error,
        };
        let Some(problem) = broken(&error) else { return Err(error.into()) };
        let text = format!("the platforms of {version} in {} cannot be read: {problem}", self.place);
        let event = Event::warning("broken-release", text).with_hint("its publisher can push the release again");
        context.reporter.event(&event);
        Ok(None)
    }
}

/// What is wrong with this release alone; `None` if the error may concern all of them.
fn broken(error: &SourceError) -> Option<String> {
    match error {
        SourceError::Layout { source, .. } => Some(source.to_string()),
        SourceError::Unusable { problem, .. } => Some(problem.clone()),
        SourceError::NotOffered { what, .. } => Some(what.to_string()),
        SourceError::Store(
            error @ (StoreError::NotFound { .. }
            | StoreError::DigestMismatch { .. }
            | StoreError::SizeMismatch { .. }
            | StoreError::TooLarge { .. }
            | StoreError::UnsupportedDigest { .. }),
        ) => Some(error.to_string()),
        _ => None,
    }
}

#[derive(Serialize)]
struct VersionLine<'a> {
    event: &'static str,
    place: &'a Place,
    version: &'a Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    platforms: Option<Vec<Platform>>,
}

impl VersionLine<'_> {
    /// The platforms begin at the same column in every line.
    fn shown(&self, width: usize) -> Line {
        let platforms = self.platforms.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        Line::of(format_args!("{:<width$}  {platforms}", self.version.to_string())).trimmed()
    }
}

/// Where to look, and for what.
struct Subject {
    source: Arc<dyn Source>,
    address: ProviderAddr,
    /// Which versions to list.
    wanted: Constraints,
    named: SubjectKind,
}

/// What the argument is, and what makes it an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SubjectKind {
    /// An address, by `--from`.
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

/// Reads the argument as an address if its version, an option or the CLI configuration says so, else as a repository.
async fn subject(context: &Context, args: &VersionsArgs) -> Result<Subject, Diagnostic> {
    let connector = context.connector(&args.network, access(args).await?);
    let (address, wanted) = match subject::read(&args.subject)? {
        ReleaseName::Provider { address, constraints } => (address, constraints),
        _ if args.lookup.from.is_some() || args.provider => subject::provider(&args.subject)?,
        ReleaseName::Whole(text) => match text.parse() {
            Ok(address) => (address, Constraints::any()),
            Err(_) => return repository(args, &connector),
        },
        _ => return repository(args, &connector),
    };
    if args.lookup.from.is_some() || args.provider || !wanted.is_any() {
        let named = if args.lookup.from.is_some() { SubjectKind::From } else { SubjectKind::Address };
        let finder = finder(args, connector)?;
        return Ok(Subject { source: finder.source(&address)?, address, wanted, named });
    }
    let configured = lookup::configured(connector.config(None)?, &args.lookup, &[])?;
    if configured.is_missing() && !configured.is_magic(&address) {
        return repository(args, &connector);
    }
    let finder = finder(args, connector)?;
    let named = match finder.configured() {
        Some(configured) if configured.is_magic(&address) => SubjectKind::Address,
        Some(configured) if configured.names_host(&address) => SubjectKind::Pattern,
        _ => return repository(args, &finder.into_connector()),
    };
    args.identity.need_registry()?;
    Ok(Subject { source: finder.source(&address)?, address, wanted, named })
}

/// Who asks. Without `--from` and `--provider` the argument names the registry, unless it turns out to be an address.
async fn access(args: &VersionsArgs) -> Result<Access, Diagnostic> {
    if args.lookup.from.is_some() || args.provider {
        return args.lookup.access(&args.identity, None).await;
    }
    match subject::place(&args.subject) {
        Ok((end, _)) => args.identity.access(&identity::of_end(&end).into_iter().collect::<Vec<_>>(), None).await,
        Err(_) if args.identity.anonymous => Ok(Access::Anonymous),
        // The rest is an address, or an error that `repository` reports.
        Err(_) => Ok(Access::Ambient { chdir: None }),
    }
}

fn finder(args: &VersionsArgs, connector: Connector) -> Result<Finder, Diagnostic> {
    Finder::new(&args.lookup, connector, None, &[])
}

fn repository(args: &VersionsArgs, connector: &Connector) -> Result<Subject, Diagnostic> {
    let (end, version) =
        subject::place(&args.subject).map_err(|diagnostic| match args.subject.parse::<ProviderAddr>() {
            Ok(_) => diagnostic.hint(IF_ADDRESS),
            Err(_) => diagnostic,
        })?;
    let source = Arc::new(OciSource::new(connector.source(&end)?));
    // The answer of a repository does not depend on the address.
    let address = "registry.opentofu.org/unknown/unknown".parse().expect("a well-formed address");
    let wanted = version.map_or_else(Constraints::any, Constraints::exactly);
    Ok(Subject { source, address, wanted, named: SubjectKind::Repository })
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

//! The release that an argument names.

use std::path::Path;
use std::sync::Arc;

use tofu_oci_source::{Listing, NotOffered, OciSource, Release, Source, SourceError};
use tofu_oci_types::{Constraints, Place, ProviderAddr, ReleaseName, Version, versions_in_words};

use crate::args::{LookupArgs, RegistryAccess};
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::exit::Exit;
use crate::invocation;
use crate::verbs::context::Context;
use crate::verbs::install::finder;
use crate::verbs::versions::{Subject, SubjectKind, subject, unknown_address};

/// Which release is asked for, and where it is looked for.
pub(in crate::verbs) struct ReleaseQuestion<'a> {
    pub(in crate::verbs) subject: &'a str,
    pub(in crate::verbs) lookup: &'a LookupArgs,
    pub(in crate::verbs) access: &'a RegistryAccess,
    pub(in crate::verbs) chdir: Option<&'a Path>,
}

/// The release, and how it is known whose it is.
pub(in crate::verbs) struct ShownSubject {
    pub(in crate::verbs) release: Arc<dyn Release>,
    pub(super) naming: ReleaseNaming,
}

/// How it is known which provider a release is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReleaseNaming {
    /// The user named it.
    Asked,
    /// The release names it.
    ByItself,
    /// Nothing names it.
    Unnamed,
}

pub(in crate::verbs) async fn find(context: &Context, args: &ReleaseQuestion<'_>) -> Result<ShownSubject, Diagnostic> {
    match crate::subject::read(args.subject)? {
        ReleaseName::Provider { address, constraints } => {
            let finder = finder(context, args.lookup, args.access, args.chdir, &[]).await?;
            let source = finder.source(&address)?;
            let version = match constraints.exact() {
                Some(version) => version.clone(),
                None => newest(&source.versions(&address).await?, source.place(), &constraints)?,
            };
            Ok(ShownSubject { release: source.release(&address, &version).await?, naming: ReleaseNaming::Asked })
        }
        ReleaseName::Repository { repository, version } => {
            in_repository(&*open(context, args, &End::Registry(repository)).await?, &version).await
        }
        ReleaseName::Layout { dir, version } => {
            in_repository(&*open(context, args, &End::Layout(dir)).await?, &version).await
        }
        ReleaseName::Whole(text) => newest_of(context, args, &text).await,
    }
}

/// The newest release of a provider or of a repository.
async fn newest_of(context: &Context, args: &ReleaseQuestion<'_>, text: &str) -> Result<ShownSubject, Diagnostic> {
    let ReleaseQuestion { lookup, access, .. } = args;
    let is_address = text.parse::<ProviderAddr>().is_ok();
    let provider = is_address && !crate::subject::is_repository(text);
    let Subject { source, address, named, .. } = subject(context, text, lookup, provider, access).await?;
    let is_repository = named == SubjectKind::Repository;
    let listing = source.versions(&address).await.map_err(|error| match is_repository {
        true if is_address => Diagnostic::of_repository(error)
            .hint(format!("for a provider, name a version, {text}@VERSION, or say where it is with --from REPOSITORY")),
        true => Diagnostic::of_repository(error),
        false => error.into(),
    })?;
    let version = newest(&listing, source.place(), &Constraints::any())?;
    if is_repository {
        return in_repository(&*source, &version).await;
    }
    Ok(ShownSubject { release: source.release(&address, &version).await?, naming: ReleaseNaming::Asked })
}

/// The newest version that `install` would choose.
fn newest(listing: &Listing, place: &Place, constraints: &Constraints) -> Result<Version, Diagnostic> {
    constraints.select(&listing.versions).cloned().ok_or_else(|| {
        let text = match constraints.is_any() {
            true if listing.versions.is_empty() => format!("{place} has no versions"),
            true => format!("{place} has pre-releases only, and none is chosen unless it is named"),
            false => format!("no version in {place} meets `{constraints}`"),
        };
        let diagnostic = Diagnostic::new(Exit::Fixable, text).code("no-matching-release");
        if listing.versions.is_empty() {
            diagnostic
        } else {
            diagnostic.hint(versions_in_words("it has", &listing.versions))
        }
    })
}

async fn open(context: &Context, args: &ReleaseQuestion<'_>, end: &End) -> Result<Arc<dyn Source>, Diagnostic> {
    if args.lookup.from.is_some() {
        let text = format!("`{}` says where the release is, and --from does, too", args.subject);
        return Err(Diagnostic::usage(text)
            .hint("name a provider beside --from: HOST/NAMESPACE/TYPE@VERSION")
            .hint(format!("or leave --from out: {}", invocation::this_without("from"))));
    }
    let connector = context.reach(args.access, &[end], args.chdir).await?;
    Ok(Arc::new(OciSource::new(connector.source(end)?)))
}

/// A release of a repository, under the address that it names itself. What was read under the other name counts.
async fn in_repository(source: &dyn Source, version: &Version) -> Result<ShownSubject, Diagnostic> {
    let release = match source.release(&unknown_address(), version).await {
        Ok(release) => release,
        Err(error) => return Err(Diagnostic::of_repository(with_reason(source, version, error).await)),
    };
    let about = release.describe().await.map_err(Diagnostic::of_repository)?;
    match about.published_as.clone() {
        Some(own) => {
            Ok(ShownSubject { release: source.release(&own, version).await?, naming: ReleaseNaming::ByItself })
        }
        None => Ok(ShownSubject { release, naming: ReleaseNaming::Unnamed }),
    }
}

/// Why a version was withdrawn: the notice names the provider, which the newest release names, too.
async fn with_reason(source: &dyn Source, version: &Version, error: SourceError) -> SourceError {
    let SourceError::NotOffered { what: NotOffered::Withdrawn { offered, .. }, .. } = &error else { return error };
    let Some(newest) = offered.last() else { return error };
    let Ok(release) = source.release(&unknown_address(), newest).await else { return error };
    let named = release.describe().await.ok().and_then(|about| about.published_as.clone());
    match named {
        Some(address) => source.release(&address, version).await.err().unwrap_or(error),
        None => error,
    }
}

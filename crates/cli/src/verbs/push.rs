//! `push` and `pack`.

use std::path::{Path, PathBuf};

use tofu_oci_layout::PackageLayout;
use tofu_oci_logins::Access;
use tofu_oci_packer::{
    Dist, DistOptions, ExecutableCheck, H1Mode, PackError, Publication, PushRequest, ReleaseDocs, Rename, ReplaceTag,
    SmallLayers, UnknownPlatforms, read_dist_with,
};
use tofu_oci_types::{Event, ProviderAddr, Version};

use super::context::Context;
use super::magic_address::magic_address;
use super::published::{self, PushLine};
use super::sign::one_password;
use crate::args::{H1Choice, Network, PackArgs, PushArgs, ReleaseArgs};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::{End, is_tar, without_kind};
use crate::environment::cache_folder;
use crate::invocation;
use crate::page::Page;
use crate::signing_key::NamedSigner;
use crate::subject;

/// How many folders are looked into for release files that the named folder does not have.
const MOST_FOLDERS: usize = 32;

/// Publishes to a registry, or to a directory.
pub(crate) async fn push(context: &Context, args: &PushArgs) -> Result<(), Diagnostic> {
    let destination = destination("push", &args.release, &args.destination)?;
    one_password(args.release.attach.signer.key.key_password_stdin, args.access.identity.password_stdin)?;
    let connector = context.reach(&args.access, &[&destination.end], None).await?;
    release(context, &args.release, &destination, connector).await
}

/// Where a release goes, and the version that the arguments give it.
struct PushDestination {
    end: End,
    version: Option<Version>,
}

fn destination(verb: &str, args: &ReleaseArgs, text: &str) -> Result<PushDestination, Diagnostic> {
    let (end, named) = place_after_folder(verb, &args.dist, text)?;
    Ok(PushDestination { end, version: subject::one_version(text, named, args.version.as_ref())? })
}

/// The place after a folder, with the version that is written after it.
/// It also fails if the two are given the other way round.
pub(crate) fn place_after_folder(verb: &str, folder: &Path, text: &str) -> Result<(End, Option<Version>), Diagnostic> {
    let first = folder.to_string_lossy();
    let read = subject::place(text);
    if !folder.exists() && (read.is_err() || Path::new(text).is_dir()) && subject::place(&first).is_ok() {
        return Err(Diagnostic::usage(format!("`{verb}` takes the folder first, and then where it goes"))
            .hint(invocation::with_first(text)));
    }
    read
}

/// Publishes to a directory.
pub(crate) async fn pack(context: &Context, args: &PackArgs) -> Result<(), Diagnostic> {
    let destination = match destination("pack", &args.release, &args.destination) {
        Ok(destination @ PushDestination { end: End::Layout(_), .. }) => destination,
        Err(diagnostic) if End::parse(&args.destination).is_ok() || !args.release.dist.exists() => {
            return Err(diagnostic);
        }
        Err(diagnostic)
            if args.destination.starts_with("oci:")
                || args.destination.contains("://")
                || is_tar(&args.destination) =>
        {
            return Err(diagnostic);
        }
        Err(_) => {
            return Err(Diagnostic::usage(format!("`{}` does not name a directory", args.destination))
                .hint(format!("`pack` writes an image layout: oci:{}", without_kind(&args.destination))));
        }
        Ok(PushDestination { end: End::Registry(repository), .. }) => {
            return Err(Diagnostic::usage(format!("`{repository}` is a repository, not a directory"))
                .hint(format!("write to a directory: oci:{}", args.destination))
                .hint(format!(
                    "or publish: {}",
                    invocation::with_all_options(&format!(
                        "push {} {repository}",
                        invocation::quoted(&args.release.dist.to_string_lossy())
                    ))
                )));
        }
    };
    let network = Network { timeout: args.timeout, ..Network::default() };
    release(context, &args.release, &destination, context.connector(&network, Access::Anonymous)).await
}

async fn release(
    context: &Context,
    args: &ReleaseArgs,
    destination: &PushDestination,
    connector: Connector,
) -> Result<(), Diagnostic> {
    let PushDestination { end, version } = destination;
    if args.small && args.layout == PackageLayout::Image {
        return Err(Diagnostic::usage(
            "--small adds a layer to the zips of the artifact layout, and --layout image has none",
        )
        .hint("publish both: --layout both --small")
        .hint(format!("or omit it: {}", invocation::this_without("small"))));
    }
    let unknown_platforms = if args.any_platform { UnknownPlatforms::Allow } else { UnknownPlatforms::Refuse };
    let options = DistOptions { version: version.clone(), unknown_platforms };
    let dist = read_dist_with(&args.dist, &options).map_err(|error| elsewhere(&args.dist, &options, error))?;
    let address = address(args, end, &dist)?;
    if let Err(error) = address.clone().for_opentofu() {
        let warning = Event::warning("namespace-underscore", error.to_string());
        context
            .reporter
            .event(&warning.with_hint("for both, push it with --address and a namespace without underscores"));
    }
    let version = dist.choose_version(version.as_ref())?;
    tracing::info!(kind = ?dist.kind, %address, %version, platforms = dist.packages.len(), place = %end, "publishing");
    let signer = NamedSigner::of(&args.attach.signer, context.reporter.as_ref()).await?;
    let docs = args.docs.as_deref().map(|dir| ReleaseDocs::pack(dir, &std::env::temp_dir())).transpose()?;
    let request = PushRequest {
        dist: &dist,
        publication: Publication {
            address: &address,
            version: &version,
            layout: args.layout,
            jobs: usize::from(args.jobs),
            replace: if args.replace_tag { ReplaceTag::Replace } else { ReplaceTag::Refuse },
            rename: if args.insist.rename { Rename::Allow } else { Rename::Refuse },
            predecessors: &args.predecessors.all(),
            signer: signer.as_ref().map(NamedSigner::signer),
        },
        h1: match args.h1 {
            H1Choice::Compute => H1Mode::Compute,
            H1Choice::Skip => H1Mode::Skip,
        },
        small: if args.small { SmallLayers::Make } else { SmallLayers::Omit },
        executables: if args.insist.skip_executable_check { ExecutableCheck::Skip } else { ExecutableCheck::Refuse },
        docs: docs.as_ref(),
        sums: args.attach.sums.mode(),
        memo_dir: cache_folder("h1"),
        work_dir: std::env::temp_dir(),
    };
    if args.dry_run {
        let store = connector.preview(end)?;
        let plan = tofu_oci_packer::plan(&request, store.as_ref(), context.reporter.as_ref()).await?;
        let how = (request.publication.replace, derived(args, &address));
        return published::plan(context, PushLine::PushPlan, &plan, how);
    }
    let store = connector.destination(end)?;
    let report = tofu_oci_packer::push(&request, store.as_ref(), context.reporter.as_ref()).await?;
    store.persist().await?;
    published::report(context, PushLine::Pushed, &report, derived(args, &address));
    Ok(())
}

/// Says in which folder below it the release files are, if there is one.
fn elsewhere(folder: &Path, options: &DistOptions, error: PackError) -> Diagnostic {
    let inside = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut inside: Vec<PathBuf> = inside.filter(|path| path.is_dir()).take(MOST_FOLDERS).collect();
    inside.sort();
    let has_release = |path: &&PathBuf| read_dist_with(path, options).is_ok_and(|dist| !dist.packages.is_empty());
    match inside.iter().find(has_release).map(|found| found.strip_prefix(".").unwrap_or(found).display()) {
        Some(found) => Diagnostic::usage(format!("the release files are not in {}, but in {found}", folder.display()))
            .hint(format!("name that folder: {found}")),
        None if is_tar(&folder.to_string_lossy()) => {
            Diagnostic::from(error).hint("for a bundle: tofu-oci bundle load FILE 'REGISTRY/${namespace}/${type}'")
        }
        None => Diagnostic::from(error),
    }
}

/// The address as given, or the one that the magic suffix gives to the repository.
fn address(args: &ReleaseArgs, end: &End, dist: &Dist) -> Result<ProviderAddr, Diagnostic> {
    if let Some(address) = &args.address {
        return Ok(address.clone());
    }
    let provider_type = dist.provider_type.as_deref().unwrap_or("TYPE");
    if let End::Registry(repository) = end
        && let Some(address) = magic_address(repository)
    {
        return Ok(address);
    }
    Err(Diagnostic::usage("the provider's address is missing")
        .hint(format!("add --address HOST/NAMESPACE/{provider_type}, as `source` in required_providers will say it")))
}

/// That the name of the repository gave the address.
fn derived(args: &ReleaseArgs, address: &ProviderAddr) -> Page {
    let mut page = Page::default();
    if args.address.is_none() {
        let name = address.provider_type();
        page.line(format_args!(
            "  the name of the repository gives this address; for another: --address HOST/NAMESPACE/{name}"
        ));
    }
    page
}

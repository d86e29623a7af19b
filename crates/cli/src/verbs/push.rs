//! `push` and `pack`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_layout::PackageLayout;
use tofu_oci_logins::Access;
use tofu_oci_packer::{
    AttachmentState, Dist, DistOptions, ExecutableCheck, H1Mode, PackError, PlatformReport, Publication, PushPlan,
    PushReport, PushRequest, Rename, ReplaceTag, ReplacedRelease, Signing, SmallLayers, TagState, UnknownPlatforms,
    read_dist_with,
};
use tofu_oci_store::{MemoryStore, ReadStore};
use tofu_oci_types::{Place, ProviderAddr, Version};

use super::context::{Context, tagged};
use super::magic_address::magic_address;
use super::sign::{attachments, one_password};
use crate::args::{H1Choice, Network, PackArgs, PushArgs, ReleaseArgs};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::{End, is_tar, without_kind};
use crate::environment::cache_folder;
use crate::identity;
use crate::invocation;
use crate::page::Page;
use crate::printer;
use crate::report::{human_bytes, json_event, json_line};
use crate::signing_key;
use crate::subject;

/// How many folders are looked into for release files that the named folder does not have.
const MOST_FOLDERS: usize = 32;

/// Publishes to a registry, or to a directory.
pub(crate) async fn push(context: &Context, args: &PushArgs) -> Result<(), Diagnostic> {
    let destination = destination("push", &args.release, &args.destination)?;
    one_password(args.release.attach.signing.key_password_stdin, args.identity.password_stdin)?;
    let named = identity::of_end(&destination.end).into_iter().collect::<Vec<_>>();
    let access = args.identity.access(&named, None).await?;
    release(context, &args.release, &destination, context.connector(&args.network, access)).await
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
///
/// # Errors
/// As [`subject::place`], and if the two are given the other way round.
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
    let version = dist.choose_version(version.as_ref())?;
    tracing::info!(kind = ?dist.kind, %address, %version, platforms = dist.packages.len(), place = %end, "publishing");
    let key = signing_key::named(&args.attach.signing, context.reporter.as_ref()).await?;
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
            signing: key.as_ref().map(|key| Signing { key, forms: args.attach.signing.sign_format.forms() }),
        },
        h1: match args.h1 {
            H1Choice::Compute => H1Mode::Compute,
            H1Choice::Skip => H1Mode::Skip,
        },
        small: if args.small { SmallLayers::Make } else { SmallLayers::Omit },
        executables: if args.insist.skip_executable_check { ExecutableCheck::Skip } else { ExecutableCheck::Refuse },
        sums: args.attach.sums.mode(),
        memo_dir: cache_folder("h1"),
        work_dir: std::env::temp_dir(),
    };
    if args.dry_run {
        // A dry run does not create a missing directory.
        let store: Arc<dyn ReadStore> = match end {
            End::Layout(dir) if !dir.exists() => Arc::new(MemoryStore::new(end.place())),
            _ => connector.source(end)?,
        };
        let plan = tofu_oci_packer::plan(&request, store.as_ref(), context.reporter.as_ref()).await?;
        print_plan(context, &plan, request.publication.replace, args);
        return Ok(());
    }
    let store = connector.destination(end)?;
    let report = tofu_oci_packer::push(&request, store.as_ref(), context.reporter.as_ref()).await?;
    store.persist().await?;
    print_report(context, &report, args);
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
    if let End::Registry(repository) = end
        && let Some(address) = magic_address(repository)
    {
        return Ok(address);
    }
    let provider_type = dist.provider_type.as_deref().unwrap_or("TYPE");
    Err(Diagnostic::usage("the provider's address is missing")
        .hint(format!("add --address HOST/NAMESPACE/{provider_type}, as `source` in required_providers will say it")))
}

fn print_report(context: &Context, report: &PushReport, args: &ReleaseArgs) {
    if context.json {
        return json_line(&PushedLine { event: "pushed", outcome: done(&report.place), report });
    }
    let PushReport { address, version, place, tag, index, .. } = report;
    let there = tagged(place, tag);
    let attached = report.attachments.iter().any(|attachment| attachment.state == AttachmentState::Attached);
    let mut page = Page::of(match (report.unchanged, attached) {
        (true, false) => format!("{address} {version} is at {there} already; nothing was sent"),
        (true, true) => format!("{address} {version} is at {there} already; what it lacked was attached"),
        (false, _) => format!("{} {address} {version} to {there}", done(place)),
    });
    page.append(derived(args, address));
    page.line(format_args!("  index {index}"));
    page.append(platforms(&report.platforms));
    page.append(attachments(&report.attachments));
    if let Some(replaced) = &report.replaced {
        page.line(replaced_line(replaced));
    }
    if !report.unchanged || attached {
        let sent = report.transfers;
        let mounted = if sent.mounted > 0 { format!(", {} mounted", sent.mounted) } else { String::new() };
        let bytes = human_bytes(sent.bytes);
        let sent_word = if is_layout(place) { "wrote" } else { "sent" };
        page.line(format_args!("  {sent_word} {bytes} ({} new{mounted}, {} present)", sent.uploaded, sent.present));
    }
    printer::stdout(&page);
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

/// A directory is no registry: nothing is pushed into it.
fn is_layout(place: &Place) -> bool {
    matches!(place, Place::Layout(_))
}

fn verb(place: &Place) -> &'static str {
    if is_layout(place) { "pack" } else { "push" }
}

fn done(place: &Place) -> &'static str {
    if is_layout(place) { "packed" } else { "pushed" }
}

#[derive(Serialize)]
struct PushedLine<'a> {
    event: &'static str,
    outcome: &'static str,
    #[serde(flatten)]
    report: &'a PushReport,
}

fn print_plan(context: &Context, plan: &PushPlan, replace: ReplaceTag, args: &ReleaseArgs) {
    if context.json {
        return json_event("push-plan", plan);
    }
    let PushPlan { address, version, place, tag, index, .. } = plan;
    let there = tagged(place, tag);
    let mut page = Page::default();
    match &plan.tag_state {
        TagState::Free => page.line(format_args!("would {} {address} {version} to {there}", verb(place))),
        TagState::Equal if plan.bytes_to_send == 0 => {
            page.line(format_args!("{address} {version} is at {there} already; nothing would be sent"));
        }
        TagState::Equal => {
            page.line(format_args!("{address} {version} is at {there} already; what it lacks would be attached"));
        }
        TagState::Taken { existing, of } => {
            let of = of.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
            page.line(format_args!("{there} points at another release{of}, {existing}"));
            if replace == ReplaceTag::Replace {
                let verb = verb(place);
                page.line(format_args!("would mark it as withdrawn, and {verb} {address} {version} in its place"));
            } else {
                page.line(format_args!("would {} {address} {version} only with --replace-tag", verb(place)));
            }
        }
    }
    page.append(derived(args, address));
    page.line(format_args!("  index {index}"));
    page.append(platforms(&plan.platforms));
    for item in &plan.items {
        let platform = item.platform.as_ref().map(ToString::to_string).unwrap_or_default();
        let state = if item.present { "present" } else { "new" };
        let (role, digest, size) = (item.role, item.digest.as_str(), human_bytes(item.size));
        page.line(format_args!("  {state:<8} {role:<9} {platform:<16} {digest} {size:>9}"));
    }
    page.append(attachments(&plan.attachments));
    page.line(format_args!(
        "  would {} {}",
        if is_layout(place) { "write" } else { "send" },
        human_bytes(plan.bytes_to_send)
    ));
    printer::stdout(&page);
}

fn platforms(platforms: &[PlatformReport]) -> Page {
    let mut page = Page::default();
    for report in platforms {
        let checksum = report.h1.as_ref().or(report.zh.as_ref()).map(ToString::to_string).unwrap_or_default();
        let (platform, size) = (report.platform.to_string(), human_bytes(report.size));
        page.line(format_args!("  {platform:<16} {size:>9}  {checksum}"));
        if let Some(small) = &report.small {
            let (size, saved) = (human_bytes(small.size), saved(small.size, report.size));
            page.line(format_args!("  {:<16} {size:>9}  small layer {}, saves {saved}", "", small.digest));
        }
        if let Some(size) = report.small_omitted {
            let (blank, saved) = ("", saved(size, report.size));
            page.line(format_args!(
                "  {blank:<16} {blank:>9}  no small layer: it would save {saved}, and less than 5 % is not worth it"
            ));
        }
    }
    page
}

/// What a small layer saves of the zip, in bytes and percent.
fn saved(small: u64, zip: u64) -> String {
    let saved = zip.saturating_sub(small);
    if saved == 0 {
        return "nothing".to_owned();
    }
    format!("{} ({} % of the zip)", human_bytes(saved), u128::from(saved) * 100 / u128::from(zip))
}

/// What became of what the tag pointed at before.
pub(super) fn replaced_line(ReplacedRelease { index, notice }: &ReplacedRelease) -> String {
    let marked = if notice.is_some() { "marked as withdrawn" } else { "not marked as withdrawn" };
    format!("  replaced {index}, {marked}")
}

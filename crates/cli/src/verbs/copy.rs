//! `copy`.

use serde::Serialize;
use tofu_oci_layout::media_type::is_index;
use tofu_oci_packer::{
    CopiedRelease, CopyChoice, CopyPlan, CopyRequest, Rename, ReplaceTag, TagState, copy_release, plan_copy,
};
use tofu_oci_source::Listing;
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Constraints, Place, Version};

use super::context::{Context, tagged};
use super::published::{demand_free, other};
use crate::args::CopyArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::exit::Exit;
use crate::page::Page;
use crate::report::{JsonLines, human_bytes};
use crate::subject;

/// Copies one version, some, or all.
pub(crate) async fn copy(context: &Context, args: &CopyArgs) -> Result<(), Diagnostic> {
    let (from, version) = subject::place(&args.source)?;
    let (to, there) = subject::place(&args.destination)?;
    if from.is_one(&to) {
        return Err(Diagnostic::usage(format!("{from} is both the source and the destination"))
            .hint("name another repository or directory to copy to"));
    }
    let connector = context.reach(&args.access, &[&from, &to], None).await?;
    let source = connector.source(&from)?;
    let (versions, withdrawn) = match named_version(args, version, there)? {
        Some(version) => (vec![version], Vec::new()),
        None => chosen(args, source.as_ref()).await?,
    };
    let predecessors = args.predecessors.all();
    let request = CopyRequest {
        versions: versions.into_iter().map(|version| (version, None)).collect(),
        withdrawn,
        choice: if args.all { CopyChoice::All } else { CopyChoice::Named },
        replace: if args.replace_tag { ReplaceTag::Replace } else { ReplaceTag::Refuse },
        rename: if args.rename { Rename::Allow } else { Rename::Refuse },
        predecessors: &predecessors,
        asked_as: None,
        jobs: usize::from(args.jobs),
        signing: None,
        files: &[],
    };
    if args.dry_run {
        let destination = connector.preview(&to)?;
        let reporter = context.reporter.as_ref();
        let plans = plan_copy(source.as_ref(), destination.as_ref(), &request, reporter).await?;
        for plan in &plans {
            context.emit(plan, || plan_page(plan, &source.place(), request.replace));
        }
        return plans.iter().try_for_each(|CopyPlan { to, tag, tag_state, .. }| {
            demand_free(&tagged(to, tag), tag_state, request.replace)
        });
    }
    let destination = connector.destination(&to)?;
    let copied = copy_release(source.as_ref(), destination.as_ref(), &request, context.reporter.as_ref()).await?;
    destination.persist().await?;
    let place = &to.to_string();
    let lines = |lines: &JsonLines| lines.add_all(copied.iter().map(|release| Copied { place, release }));
    context.emit_all(lines, || {
        let mut all = Page::default();
        for release in &copied {
            all.append(page(release, &to));
        }
        if copied.len() > 1 {
            let bytes = copied.iter().map(|release| release.transfers.bytes).sum();
            all.line(format_args!("{} releases, {} sent", copied.len(), human_bytes(bytes)));
        }
        all
    });
    Ok(())
}

/// The version that is written after the source, or after the destination: `copy` changes no version.
fn named_version(
    args: &CopyArgs,
    source: Option<Version>,
    destination: Option<Version>,
) -> Result<Option<Version>, Diagnostic> {
    let (text, version) = match (source, destination) {
        (None, None) => return Ok(None),
        (Some(from), Some(to)) if from != to => {
            return Err(Diagnostic::usage(format!("`copy` keeps the version, and the arguments name {from} and {to}"))
                .hint(format!("write {from} in both, or omit it after the destination")));
        }
        (Some(version), _) => (&args.source, version),
        (None, Some(version)) => (&args.destination, version),
    };
    match args.versions.as_slice() {
        _ if args.all => Err(Diagnostic::usage(format!("`{text}` names version {version}, and --all every version"))
            .hint("omit one of the two")),
        [] => Ok(Some(version)),
        [given] => subject::one_version(text, Some(version), Some(given)),
        _ => Err(Diagnostic::usage(format!("`{text}` names version {version}, and --version several"))
            .hint("name all of them with --version")),
    }
}

/// The versions of the command line, or the only version of the source, oldest first; with all of them, also those that
/// the source has withdrawn.
async fn chosen(args: &CopyArgs, source: &dyn ReadStore) -> Result<(Vec<Version>, Vec<Version>), Diagnostic> {
    if !args.versions.is_empty() {
        let mut versions: Vec<Version> = Vec::new();
        for version in &args.versions {
            if !versions.contains(version) {
                versions.push(version.clone());
            }
        }
        return Ok((versions, Vec::new()));
    }
    let Listing { versions: offered, withdrawn, .. } = Listing::in_store(source, &source.tags().await?).await?;
    match offered.len() {
        0 if !args.all || withdrawn.is_empty() => {
            Err(Diagnostic::new(Exit::Fixable, format!("{} has no versions", source.place()))
                .code("no-releases")
                .hint("a version is a tag such as 1.4.0; `tofu-oci push` or `tofu-oci pack` writes one"))
        }
        _ if args.all => Ok((offered, withdrawn)),
        1 => Ok((offered, Vec::new())),
        _ => {
            let list = offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let newest = Constraints::any().select(&offered).or(offered.last());
            let newest = newest.map(ToString::to_string).unwrap_or_default();
            Err(Diagnostic::usage(format!("{} has several versions: {list}", source.place()))
                .hint(format!("name one, such as {}:{newest}, or copy all of them with --all", source.place())))
        }
    }
}

/// What would be copied.
fn plan_page(plan: &CopyPlan, from: &Place, replace: ReplaceTag) -> Page {
    let CopyPlan { tag, index, media_type, to, tag_state } = plan;
    let (here, there) = (tagged(from, tag), tagged(to, tag));
    let mut page = Page::default();
    match tag_state {
        TagState::Free => page.line(format_args!("would copy {here} to {there}")),
        TagState::Equal => {
            page.line(format_args!("{there} is this release already; only what refers to it would be copied"));
        }
        TagState::Taken { existing, of } => {
            page.line(format_args!("{there} points at {}, {existing}", other(of.as_ref())));
            page.line(match replace {
                ReplaceTag::Refuse => format!("would copy {here} only with --replace-tag"),
                ReplaceTag::Replace => format!("would copy {here} in its place"),
            });
        }
    }
    page.line(format_args!("  {} {index}", manifest_word(media_type)));
    page
}

/// What a release's manifest is called: one of a module is no index.
fn manifest_word(media_type: &str) -> &'static str {
    if is_index(media_type) { "index" } else { "manifest" }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "copied")]
struct Copied<'a> {
    place: &'a str,
    #[serde(flatten)]
    release: &'a CopiedRelease,
}

fn page(release: &CopiedRelease, to: &End) -> Page {
    let CopiedRelease { tag, index, media_type, tags, transfers, unchanged } = release;
    let there = tagged(&to.place(), tag);
    let mut page = Page::of(if *unchanged {
        format!("{there} is there already")
    } else {
        format!(
            "copied {there}, sent {} ({} new, {} mounted, {} present)",
            human_bytes(transfers.bytes),
            transfers.uploaded,
            transfers.mounted,
            transfers.present
        )
    });
    page.line(format_args!("  {} {index}", manifest_word(media_type)));
    for tag in tags {
        page.line(format_args!("  with the tag {tag}"));
    }
    page
}

//! `copy`.

use serde::Serialize;
use tofu_oci_packer::{CopiedRelease, CopyRequest, ReplaceTag, Versions, copy_release};
use tofu_oci_source::Listing;
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Tag, Version};

use super::Context;
use crate::args::CopyArgs;
use crate::complaint::Complaint;
use crate::connect::End;
use crate::exit::Exit;
use crate::printer;
use crate::report::{human_bytes, json_line};

/// Copies one version, some, or all.
pub(crate) async fn copy(context: &Context, args: &CopyArgs) -> Result<(), Complaint> {
    let (from, to) = (End::parse(&args.source)?, End::parse(&args.destination)?);
    if from == to {
        return Err(Complaint::usage(format!("{from} is both the source and the destination")));
    }
    let connector = context.connector(&args.network);
    let source = connector.source(&from)?;
    let versions = chosen(args, source.as_ref()).await?;
    if args.dry_run {
        return preview(context, source.as_ref(), &to, &versions).await;
    }
    let destination = connector.destination(&to)?;
    let replace = if args.replace_tag { ReplaceTag::Replace } else { ReplaceTag::Refuse };
    let request = CopyRequest { versions: Versions::These(versions), replace, jobs: usize::from(args.jobs) };
    let copied = copy_release(source.as_ref(), destination.as_ref(), &request, context.reporter.as_ref()).await?;
    for release in &copied {
        print(context, release, &to);
    }
    if !context.json && copied.len() > 1 {
        let bytes = copied.iter().map(|release| release.transfers.bytes).sum();
        printer::stdout(&format!("{} releases, {} sent\n", copied.len(), human_bytes(bytes)));
    }
    Ok(())
}

/// The versions that were asked for, or the only one that there is, oldest first.
async fn chosen(args: &CopyArgs, source: &dyn ReadStore) -> Result<Vec<Version>, Complaint> {
    if !args.versions.is_empty() {
        let mut versions: Vec<Version> = Vec::new();
        for version in &args.versions {
            if !versions.contains(version) {
                versions.push(version.clone());
            }
        }
        return Ok(versions);
    }
    let offered = Listing::of(&source.tags().await?).versions;
    match offered.len() {
        0 => Err(Complaint::new(Exit::Fixable, format!("{} has no versions", source.place()))),
        1 => Ok(offered),
        _ if args.all => Ok(offered),
        _ => {
            let list = offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(Complaint::usage(format!("{} has several versions: {list}", source.place()))
                .hint("name one with --version, or copy all of them with --all"))
        }
    }
}

async fn preview(context: &Context, source: &dyn ReadStore, to: &End, versions: &[Version]) -> Result<(), Complaint> {
    for version in versions {
        let tag = Tag::for_version(version).map_err(|error| Complaint::of(Exit::Usage, &error))?;
        let index = source.resolve(&tofu_oci_types::Reference::Tag(tag.clone())).await?;
        if context.json {
            json_line(&Preview { event: "plan", tag: &tag, index: index.digest.as_str(), to: &to.to_string() });
        } else {
            printer::stdout(&format!("would copy {}:{tag} to {to}:{tag}\n  index {}\n", source.place(), index.digest));
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Preview<'a> {
    event: &'static str,
    tag: &'a Tag,
    index: &'a str,
    to: &'a str,
}

fn print(context: &Context, release: &CopiedRelease, to: &End) {
    #[derive(Serialize)]
    struct Line<'a> {
        event: &'static str,
        place: String,
        #[serde(flatten)]
        release: &'a CopiedRelease,
    }
    if context.json {
        return json_line(&Line { event: "copied", place: to.to_string(), release });
    }
    let CopiedRelease { tag, index, transfers, unchanged } = release;
    let state = if *unchanged {
        "unchanged".to_owned()
    } else {
        format!(
            "sent {} ({} new, {} mounted, {} present)",
            human_bytes(transfers.bytes),
            transfers.uploaded,
            transfers.mounted,
            transfers.present
        )
    };
    printer::stdout(&format!("copied {to}:{tag}, {state}\n  index {index}\n"));
}

//! `attach`.

use serde::Serialize;
use tofu_oci_packer::{ATTACH_LIMIT, AttachError, AttachFileRequest, AttachReport, AttachedFile, PackError};

use super::context::{Context, tagged};
use super::sign::{SignTarget, attachments, manifest_word, target};
use crate::args::AttachArgs;
use crate::diagnostic::Diagnostic;
use crate::page::Page;

/// Puts a file beside a release.
pub(crate) async fn attach(context: &Context, args: &AttachArgs) -> Result<(), Diagnostic> {
    let SignTarget { end, version, address } =
        target(&args.target, args.from.as_deref(), args.version.as_ref(), args.address.as_ref())?;
    let files = read(args)?;
    let connector = context.reach(&args.access, &[&end], None).await?;
    // Attaching must not create a missing directory.
    let source = connector.source(&end)?;
    let request = AttachFileRequest { version: &version, address, path: &args.file, files: &files };
    let reporter = context.reporter.as_ref();
    if args.dry_run {
        let report = tofu_oci_packer::plan_attach_files(source.as_ref(), &request, reporter).await?;
        context.emit(&AttachLine::AttachPlan(&report), || page(&report, "would be attached to"));
        return Ok(());
    }
    let store = connector.destination(&end)?;
    let report = tofu_oci_packer::attach_files(store.as_ref(), &request, reporter).await?;
    store.persist().await?;
    context.emit(&AttachLine::Attached(&report), || page(&report, "is attached to"));
    Ok(())
}

fn read(args: &AttachArgs) -> Result<Vec<AttachedFile>, Diagnostic> {
    let path = &args.file;
    let bytes = tofu_oci_disk::read_file(path, ATTACH_LIMIT).map_err(|error| {
        let text = format!("cannot read {}: {error}", path.display());
        Diagnostic::usage(text).hint("name the file first, and then the release")
    })?;
    let wrong = |error: AttachError| Diagnostic::from(PackError::from(error));
    AttachedFile::read(path, bytes, args.file_type.as_ref()).map_err(wrong)
}

/// The lines of `attach`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum AttachLine<'a> {
    Attached(&'a AttachReport),
    AttachPlan(&'a AttachReport),
}

fn page(report: &AttachReport, done: &str) -> Page {
    let AttachReport { place, of, version, tag, index, artifact_type, unchanged, .. } = report;
    let there = tagged(place, tag);
    let mut page = Page::of(if *unchanged {
        format!("{artifact_type} is attached to {of} {version} at {there} already")
    } else {
        format!("{artifact_type} {done} {of} {version} at {there}")
    });
    page.line(format_args!("  {} {index}", manifest_word(of)));
    page.append(attachments(&report.attachments));
    page
}

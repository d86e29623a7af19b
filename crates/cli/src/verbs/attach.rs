//! `attach`.

use std::path::Path;

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
    let mut files = Vec::with_capacity(args.files.len());
    for path in &args.files {
        files.push((path.as_path(), read(path, args)?));
    }
    let connector = context.reach(&args.access, &[&end], None).await?;
    // Attaching must not create a missing directory.
    let source = connector.source(&end)?;
    let request = |(path, files)| AttachFileRequest { version: &version, address: address.clone(), path, files };
    let requests: Vec<_> = files.iter().map(|(path, files)| request((*path, files.as_slice()))).collect();
    let (reporter, mut reports) = (context.reporter.as_ref(), Vec::with_capacity(requests.len()));
    // One that is about something else keeps the others out, too.
    if args.dry_run || requests.len() > 1 {
        for request in &requests {
            reports.push(tofu_oci_packer::plan_attach_files(source.as_ref(), request, reporter).await?);
        }
    }
    if args.dry_run {
        emit(context, &reports, AttachLine::AttachPlan, "would be attached to");
        return Ok(());
    }
    reports.clear();
    let store = connector.destination(&end)?;
    for request in &requests {
        reports.push(tofu_oci_packer::attach_files(store.as_ref(), request, reporter).await?);
    }
    store.persist().await?;
    emit(context, &reports, AttachLine::Attached, "is attached to");
    Ok(())
}

fn emit<'a>(context: &Context, reports: &'a [AttachReport], line: fn(&'a AttachReport) -> AttachLine<'a>, done: &str) {
    let pages = || {
        let mut all = Page::default();
        for report in reports {
            all.append(page(report, done));
        }
        all
    };
    context.emit_all(|lines| lines.add_all(reports.iter().map(line)), pages);
}

fn read(path: &Path, args: &AttachArgs) -> Result<Vec<AttachedFile>, Diagnostic> {
    let bytes = tofu_oci_disk::read_file(path, ATTACH_LIMIT).map_err(|error| {
        let text = format!("cannot read {}: {error}", path.display());
        Diagnostic::usage(text).hint("name the files first, and then the release")
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

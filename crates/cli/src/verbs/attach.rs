//! `attach`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tofu_oci_packer::{
    ATTACH_LIMIT, AttachError, AttachFileRequest, AttachReport, AttachableFiles, AttachedFile, PackError,
};
use tofu_oci_store::ReadStore;
use tofu_oci_types::ReleaseName;

use super::context::{Context, tagged};
use super::sign::{SignTarget, attachments, manifest_word, target};
use crate::args::AttachArgs;
use crate::diagnostic::Diagnostic;
use crate::invocation;
use crate::page::Page;
use crate::subject;

/// Puts a file beside a release.
pub(crate) async fn attach(context: &Context, args: &AttachArgs) -> Result<(), Diagnostic> {
    demand_release(args)?;
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
    let mut reports = Vec::with_capacity(requests.len());
    if args.dry_run {
        for files in found(source.as_ref(), &requests, context).await? {
            reports.push(files.plan(source.as_ref()).await?);
        }
        emit(context, &reports, AttachLine::AttachPlan, "would be attached to");
        return Ok(());
    }
    let store = connector.destination(&end)?;
    let mut failed = None;
    for files in found(store.as_ref(), &requests, context).await? {
        match files.attach(store.as_ref()).await {
            Ok(report) => reports.push(report),
            Err(error) => {
                let (done, all) = (reports.len(), requests.len());
                let error = Diagnostic::from(error);
                failed =
                    Some(if all == 1 { error } else { error.hint(format!("{done} of {all} files were attached")) });
                break;
            }
        }
    }
    if !reports.is_empty() {
        store.persist().await?;
        emit(context, &reports, AttachLine::Attached, "is attached to");
    }
    failed.map_or(Ok(()), Err)
}

/// The files, if all of them are about the release: one that is not keeps the others out, too.
async fn found<'a>(
    store: &dyn ReadStore,
    requests: &'a [AttachFileRequest<'a>],
    context: &Context,
) -> Result<Vec<AttachableFiles<'a>>, Diagnostic> {
    let mut found = Vec::with_capacity(requests.len());
    for request in requests {
        found.push(AttachableFiles::find(store, request, context.reporter.as_ref()).await?);
    }
    Ok(found)
}

/// Refuses a file in the place of the release.
fn demand_release(args: &AttachArgs) -> Result<(), Diagnostic> {
    let AttachArgs { files, target, .. } = args;
    if !Path::new(target).is_file() {
        return Ok(());
    }
    let named = |path: &&PathBuf| {
        let is_release = |text| subject::read(text).is_ok_and(|name| !matches!(name, ReleaseName::Whole(_)));
        !path.exists() && path.to_str().is_some_and(is_release)
    };
    let release = files.iter().find(named);
    let others = files.iter().filter(|path| Some(*path) != release).map(|path| path.to_string_lossy());
    let words =
        others.chain([target.into(), release.map_or("REPOSITORY:VERSION".into(), |path| path.to_string_lossy())]);
    let words: Vec<String> = words.map(|word| invocation::quoted(&word)).collect();
    let line = invocation::with_all_options(&format!("attach {}", words.join(" ")));
    let text = match release {
        Some(_) => "`attach` takes the files first, and then the release".to_owned(),
        None => format!("the release is missing after the files: {target} is a file"),
    };
    Err(Diagnostic::usage(text).hint(format!("write {line}")))
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
        Diagnostic::usage(text).hint("check the path; the files come first, and then the release")
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

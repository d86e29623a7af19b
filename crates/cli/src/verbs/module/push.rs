//! `module push`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_packer::{
    AttachmentState, ModuleContents, ModulePushPlan, ModulePushReport, ModulePushRequest, ModuleTagState, ReplaceTag,
};
use tofu_oci_store::{MemoryStore, ReadStore};
use tofu_oci_types::Place;

use crate::args::ModulePushArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::identity;
use crate::invocation;
use crate::page::Page;
use crate::printer;
use crate::report::{human_bytes, json_event, json_line};
use crate::subject;
use crate::verbs::context::{Context, tagged};
use crate::verbs::sign::attachments;

/// How many of the files that were left out are named to people.
const NAMED: usize = 10;

/// Publishes a module to a registry, or to a directory.
pub(super) async fn push(context: &Context, args: &ModulePushArgs) -> Result<(), Diagnostic> {
    let (end, named) = subject::place(&args.destination)?;
    let version = subject::one_version(&args.destination, named, args.version.as_ref())?;
    let Some(version) = version else {
        let words = format!("module push {} {}", quoted(args), invocation::quoted(&args.destination));
        return Err(Diagnostic::usage("the version of the module is missing")
            .hint(format!("add it: {} --version 1.0.0", invocation::with_all_options(&words))));
    };
    let named = identity::of_end(&end).into_iter().collect::<Vec<_>>();
    let access = args.identity.access(&named, None).await?;
    let connector = context.connector(&args.network, access);
    let request = ModulePushRequest {
        dir: &args.dir,
        version: &version,
        annotations: BTreeMap::new(),
        replace: if args.replace_tag { ReplaceTag::Replace } else { ReplaceTag::Refuse },
        work_dir: std::env::temp_dir(),
    };
    if args.dry_run {
        // A dry run does not create a missing directory.
        let store: Arc<dyn ReadStore> = match &end {
            End::Layout(dir) if !dir.exists() => Arc::new(MemoryStore::new(end.place())),
            _ => connector.source(&end)?,
        };
        let plan = tofu_oci_packer::plan_module_push(&request, store.as_ref(), context.reporter.as_ref()).await?;
        print_plan(context, &plan, request.replace);
        return Ok(());
    }
    let store = connector.destination(&end)?;
    let report = tofu_oci_packer::push_module(&request, store.as_ref(), context.reporter.as_ref()).await?;
    print_report(context, &report);
    Ok(())
}

fn quoted(args: &ModulePushArgs) -> String {
    invocation::quoted(&args.dir.to_string_lossy())
}

fn is_layout(place: &Place) -> bool {
    matches!(place, Place::Layout(_))
}

fn done(place: &Place) -> &'static str {
    if is_layout(place) { "packed" } else { "pushed" }
}

#[derive(Serialize)]
struct PushedModuleLine<'a> {
    event: &'static str,
    outcome: &'static str,
    #[serde(flatten)]
    report: &'a ModulePushReport,
}

fn print_report(context: &Context, report: &ModulePushReport) {
    if context.json {
        return json_line(&PushedModuleLine { event: "module_pushed", outcome: done(&report.place), report });
    }
    let ModulePushReport { place, version, tag, manifest, .. } = report;
    let there = tagged(place, tag);
    let attached = report.attachments.iter().any(|attachment| attachment.state == AttachmentState::Attached);
    let mut page = Page::of(match (report.unchanged, attached) {
        (true, false) => format!("the module {version} is at {there} already; nothing was sent"),
        (true, true) => format!("the module {version} is at {there} already; what it lacked was attached"),
        (false, _) => format!("{} the module {version} to {there}", done(place)),
    });
    page.line(format_args!("  manifest {manifest}"));
    page.append(contents(&report.contents));
    page.append(attachments(&report.attachments));
    if let Some(replaced) = &report.replaced {
        page.line(format_args!("  replaced {replaced}"));
    }
    if !report.unchanged || attached {
        let (sent, word) = (report.transfers, if is_layout(place) { "wrote" } else { "sent" });
        let bytes = human_bytes(sent.bytes);
        page.line(format_args!("  {word} {bytes} ({} new, {} present)", sent.uploaded, sent.present));
    }
    printer::stdout(&page);
}

fn print_plan(context: &Context, plan: &ModulePushPlan, replace: ReplaceTag) {
    if context.json {
        return json_event("module_plan", plan);
    }
    let ModulePushPlan { place, version, tag, manifest, .. } = plan;
    let there = tagged(place, tag);
    let verb = if is_layout(place) { "pack" } else { "push" };
    let mut page = Page::default();
    match &plan.tag_state {
        ModuleTagState::Free => page.line(format_args!("would {verb} the module {version} to {there}")),
        ModuleTagState::Equal if plan.bytes_to_send == 0 => {
            page.line(format_args!("the module {version} is at {there} already; nothing would be sent"));
        }
        ModuleTagState::Equal => {
            page.line(format_args!("the module {version} is at {there} already; what it lacks would be attached"));
        }
        ModuleTagState::Taken { existing } => {
            page.line(format_args!("{there} points at something else, {existing}"));
            let how = if replace == ReplaceTag::Replace { "in its place" } else { "only with --replace-tag" };
            page.line(format_args!("would {verb} the module {version} {how}"));
        }
    }
    page.line(format_args!("  manifest {manifest}"));
    page.append(contents(&plan.contents));
    page.append(attachments(&plan.attachments));
    let word = if is_layout(place) { "write" } else { "send" };
    page.line(format_args!("  would {word} {}", human_bytes(plan.bytes_to_send)));
    printer::stdout(&page);
}

/// The zip, and what is not in it.
fn contents(contents: &ModuleContents) -> Page {
    let ModuleContents { zip, size, files, left_out, .. } = contents;
    let mut page = Page::default();
    let word = if *files == 1 { "file" } else { "files" };
    page.line(format_args!("  zip {zip}, {files} {word}, {}", human_bytes(*size)));
    for file in left_out.iter().take(NAMED) {
        page.line(format_args!("  left out {}: {}", file.name, file.text));
    }
    if left_out.len() > NAMED {
        page.line(format_args!("  left out {} more; --json names them all", left_out.len() - NAMED));
    }
    page
}

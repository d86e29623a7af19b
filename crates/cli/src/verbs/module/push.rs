//! `module push`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;
use tofu_oci_layout::annotation;
use tofu_oci_packer::{
    AttachmentState, DistOptions, ModuleChecks, ModuleContents, ModulePushPlan, ModulePushReport, ModulePushRequest,
    ModuleTagState, PackedFiles, ReplaceTag, Signing, UnknownPlatforms, read_dist_with,
};
use tofu_oci_store::{MemoryStore, ReadStore};
use tofu_oci_tfconfig::is_configuration_file;
use tofu_oci_types::{Moment, OciModuleSource, Place};

use crate::args::ModulePushArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::identity;
use crate::invocation;
use crate::page::Page;
use crate::printer;
use crate::report::{human_bytes, json_event, json_line};
use crate::signing_key;
use crate::subject;
use crate::verbs::context::{Context, tagged};
use crate::verbs::push::{place_after_folder, replaced_line};
use crate::verbs::sign::{attachments as signatures, one_password};

/// How many of the files that were left out are named to people.
const NAMED: usize = 10;

/// Refuses a folder with the release files of a provider, and without a module.
fn demand_module(args: &ModulePushArgs) -> Result<(), Diagnostic> {
    let mut names = std::fs::read_dir(&args.dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
    if args.skip_checks || names.any(|name| is_configuration_file(&name.to_string_lossy())) {
        return Ok(());
    }
    let options = DistOptions { version: None, unknown_platforms: UnknownPlatforms::Refuse };
    match read_dist_with(&args.dir, &options) {
        Ok(dist) if !dist.packages.is_empty() => {
            let words = format!("push {} {}", quoted(args), invocation::quoted(&args.destination));
            Err(Diagnostic::usage(format!("{} holds release files of a provider, and no module", args.dir.display()))
                .hint(format!(
                    "to publish them: {} --address HOST/NAMESPACE/TYPE",
                    invocation::with_all_options(&words)
                ))
                .hint("to publish the folder as a module all the same, add --skip-checks"))
        }
        _ => Ok(()),
    }
}

/// Publishes a module to a registry, or to a directory.
pub(super) async fn push(context: &Context, args: &ModulePushArgs) -> Result<(), Diagnostic> {
    let (end, named) = place_after_folder("module push", &args.dir, &args.destination)?;
    let version = subject::one_version(&args.destination, named, args.version.as_ref())?;
    let Some(version) = version else {
        let words = format!("module push {} {}", quoted(args), invocation::quoted(&args.destination));
        return Err(Diagnostic::usage("the version of the module is missing")
            .hint(format!("add it: {} --version 1.0.0", invocation::with_all_options(&words))));
    };
    demand_module(args)?;
    one_password(args.signing.key_password_stdin, args.identity.password_stdin)?;
    let named = identity::of_end(&end).into_iter().collect::<Vec<_>>();
    let access = args.identity.access(&named, None).await?;
    let connector = context.connector(&args.network, access);
    let key = signing_key::named(&args.signing, context.reporter.as_ref()).await?;
    let request = ModulePushRequest {
        dir: &args.dir,
        version: &version,
        annotations: annotations(args)?,
        replace: if args.replace_tag { ReplaceTag::Replace } else { ReplaceTag::Refuse },
        files: PackedFiles::Chosen,
        checks: if args.skip_checks { ModuleChecks::Skip } else { ModuleChecks::Run },
        signing: key.as_ref().map(|key| Signing { key, forms: args.signing.sign_format.forms() }),
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
    store.persist().await?;
    print_report(context, &report);
    Ok(())
}

fn quoted(args: &ModulePushArgs) -> String {
    invocation::quoted(&args.dir.to_string_lossy())
}

/// The annotations that the arguments and the environment name.
fn annotations(args: &ModulePushArgs) -> Result<BTreeMap<String, String>, Diagnostic> {
    let own = [
        (annotation::SOURCE, args.source.clone()),
        (annotation::REVISION, args.revision.clone()),
        (annotation::LICENSES, args.licenses.clone()),
        (annotation::CREATED, source_date()?),
    ];
    let mut annotations = BTreeMap::new();
    for (key, value) in own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))) {
        annotations.insert(key, value);
    }
    let (mut given, created) = (args.annotations.iter(), annotation::CREATED);
    // The time that the user names counts more than the environment.
    if args.annotations.iter().any(|(key, _)| key == created) {
        annotations.remove(created);
    }
    match given.find(|(key, value)| annotations.insert(key.clone(), value.clone()).is_some()) {
        Some((key, _)) => Err(Diagnostic::usage(format!("the annotation {key} is given twice")).hint("give it once")),
        None => Ok(annotations),
    }
}

/// The moment in `SOURCE_DATE_EPOCH`, by which builds name the time of their source; without it a package has no time.
fn source_date() -> Result<Option<String>, Diagnostic> {
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH").filter(|text| !text.is_empty()) else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse::<u64>().ok()).filter(|seconds| *seconds < 1 << 38);
    match seconds {
        Some(seconds) => Ok(Some(Moment::from(UNIX_EPOCH + Duration::from_secs(seconds)).to_string())),
        None => Err(Diagnostic::usage("SOURCE_DATE_EPOCH is not a number of seconds since 1970")
            .hint("unset it, or set it to such a number: git log -1 --format=%ct")),
    }
}

/// How a configuration calls the module.
fn call(source: Option<&OciModuleSource>) -> Page {
    let mut page = Page::default();
    if let Some(source) = source {
        page.line(format_args!("  source = \"{source}\""));
    }
    page
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
        return json_line(&PushedModuleLine { event: "module-pushed", outcome: done(&report.place), report });
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
    page.append(signatures(&report.attachments));
    page.append(call(report.source.as_ref()));
    if let Some(replaced) = &report.replaced {
        page.line(replaced_line(replaced));
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
        return json_event("module-push-plan", plan);
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
    page.append(signatures(&plan.attachments));
    page.append(call(plan.source.as_ref()));
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

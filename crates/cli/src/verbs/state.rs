//! `withdraw` and `deprecate`.

use serde::Serialize;
use tofu_oci_packer::{PackError, StateChange, StatePlan, StateReport, StateRequest};
use tofu_oci_store::StoreError;
use tofu_oci_trust::{NoticeReason, NoticeWriter, VersionOf};

use super::context::{Context, tagged};
use super::sign::{self, SignTarget, target};
use crate::args::{DeprecateArgs, StateArgs, WithdrawArgs};
use crate::diagnostic::Diagnostic;
use crate::page::Page;
use crate::signing_key::{self, KeyPassword};

/// What a notice says that brings a release back, if the user gives no reason.
const AVAILABLE: &str = "available again";

/// Takes a version away, or brings it back.
pub(crate) async fn withdraw(context: &Context, args: &WithdrawArgs) -> Result<(), Diagnostic> {
    let missing = || {
        Diagnostic::usage("`withdraw` needs a reason")
            .hint("say in one line why, and what to use instead: --reason 'deletes state; use 1.4.1'")
    };
    let reason = reason(args.reason.as_ref(), args.state.undo, missing)?;
    let change = if args.state.undo { StateChange::Reinstate } else { StateChange::Withdraw };
    run(context, &args.state, change, reason).await
}

/// Adds a warning to a version, or ends it.
pub(crate) async fn deprecate(context: &Context, args: &DeprecateArgs) -> Result<(), Diagnostic> {
    let missing = || {
        Diagnostic::usage("`deprecate` needs a message")
            .hint("say in one line what to use instead: --message 'use 2.0.0; 1.x gets no more fixes'")
    };
    let reason = reason(args.message.as_ref(), args.state.undo, missing)?;
    let change = if args.state.undo { StateChange::Undeprecate } else { StateChange::Deprecate };
    run(context, &args.state, change, reason).await
}

fn reason(
    given: Option<&NoticeReason>,
    undo: bool,
    missing: impl Fn() -> Diagnostic,
) -> Result<NoticeReason, Diagnostic> {
    match given {
        Some(reason) => Ok(reason.clone()),
        None if undo => Ok(AVAILABLE.parse().expect("the text is one short line")),
        None => Err(missing()),
    }
}

async fn run(context: &Context, args: &StateArgs, change: StateChange, reason: NoticeReason) -> Result<(), Diagnostic> {
    let SignTarget { end, version, address } =
        target(&args.target, args.from.as_deref(), args.version.as_ref(), args.address.as_ref())?;
    sign::one_password(args.key_password_stdin, args.access.identity.password_stdin)?;
    let connector = context.reach(&args.access, &[&end], None).await?;
    let source = connector.source(&end)?;
    let key = match &args.sign_key {
        Some(key) => {
            let password = KeyPassword::of(args.key_password_stdin);
            Some(signing_key::load(key, password, context.reporter.as_ref()).await?)
        }
        None => None,
    };
    let (writer, key) = (NoticeWriter::Publisher, key.as_ref());
    let request = StateRequest { change, version: &version, address, reason, writer, key, signed: None };
    if args.dry_run {
        let plan = StatePlan::look(source.as_ref(), request, context.reporter.as_ref()).await?;
        let report = plan.report();
        context.emit(&StateLine::StatePlan(report), || plan_page(change, report));
        return Ok(());
    }
    let store = connector.destination(&end)?;
    let plan = StatePlan::look(store.as_ref(), request, context.reporter.as_ref()).await?;
    let report = plan.carry_out(store.as_ref()).await.map_err(|error| denied(change, error))?;
    store.persist().await?;
    context.emit(&StateLine::ReleaseState(&report), || page(change, &report));
    Ok(())
}

/// A refusal of access, with the right that the verb needs beyond those of a push.
fn denied(change: StateChange, error: PackError) -> Diagnostic {
    let deletes = matches!(change, StateChange::Withdraw | StateChange::Reinstate);
    let is_denied = matches!(error, PackError::Store(StoreError::Denied { .. }));
    let diagnostic = Diagnostic::from(error);
    if deletes && is_denied {
        diagnostic.hint("`withdraw` deletes a tag, so it needs the right to delete as well")
    } else {
        diagnostic
    }
}

/// The lines of `withdraw` and `deprecate`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum StateLine<'a> {
    ReleaseState(&'a StateReport),
    StatePlan(&'a StateReport),
}

fn page(change: StateChange, report: &StateReport) -> Page {
    let StateReport { of, version, place, tag, state_tag, index, reason, .. } = report;
    let (there, marked) = (tagged(place, tag), tagged(place, state_tag));
    let mut page = Page::of(match (change, report.unchanged) {
        (StateChange::Withdraw, false) => format!("withdrew {of} {version} from {place}: {reason}"),
        (StateChange::Withdraw, true) => format!("{of} {version} is withdrawn from {place} already: {reason}"),
        (StateChange::Reinstate, false) => format!("{of} {version} is available again at {there}"),
        (StateChange::Reinstate, true) => {
            format!("{of} {version} at {there} is not withdrawn; nothing was changed")
        }
        (StateChange::Deprecate, false) => format!("deprecated {of} {version} at {there}: {reason}"),
        (StateChange::Deprecate, true) => format!("{of} {version} at {there} is deprecated already: {reason}"),
        (StateChange::Undeprecate, false) => format!("{of} {version} at {there} is no longer deprecated"),
        (StateChange::Undeprecate, true) => {
            format!("{of} {version} at {there} is not deprecated; nothing was changed")
        }
    });
    page.line(format_args!("  {} {index}", sign::manifest_word(of)));
    let undone = matches!(change, StateChange::Reinstate | StateChange::Undeprecate) && report.unchanged;
    match (&report.notice, &report.key) {
        _ if undone => {}
        (Some(notice), Some(key)) => page.line(format_args!("  notice {notice}, signed by {key}")),
        (Some(notice), None) => page.line(format_args!("  notice {notice}, not signed")),
        (None, _) => {}
    }
    match change {
        StateChange::Withdraw => {
            page.line(format_args!("  the tag {tag} is gone: no client can choose this version"));
            let with = if report.key.is_some() { "--undo with --sign-key" } else { "--undo" };
            page.line(format_args!("  the content stays at {marked}; {with} brings it back"));
            page.line(match of {
                VersionOf::Provider { .. } => {
                    "  consumers whose lock file names this version read the reason when `install`, `lock` or `verify` asks for it"
                }
                VersionOf::Module => {
                    "  consumers read the reason from `module pull`; OpenTofu itself still takes it by its digest"
                }
            });
        }
        StateChange::Reinstate if report.kept && !report.unchanged => page.line(format_args!(
            "  the tag {state_tag} stays, because {place} did not let it go; beside the tag {tag} it has no effect"
        )),
        StateChange::Deprecate => {
            page.line(format_args!("  clients can still choose this version; tofu-oci warns with the message"));
        }
        StateChange::Reinstate | StateChange::Undeprecate => {}
    }
    page
}

fn plan_page(change: StateChange, report: &StateReport) -> Page {
    let StateReport { of, version, place, tag, state_tag, reason, .. } = report;
    let (there, marked) = (tagged(place, tag), tagged(place, state_tag));
    if report.unchanged {
        let text = format!("{of} {version} in {place} is {} already; nothing would be changed", report.state);
        return Page::of(text);
    }
    let mut page = Page::of(match change {
        StateChange::Withdraw => format!("would withdraw {of} {version} from {place}: {reason}"),
        StateChange::Reinstate => format!("would make {of} {version} available again at {there}"),
        StateChange::Deprecate => format!("would deprecate {of} {version} at {there}: {reason}"),
        StateChange::Undeprecate => format!("would end the deprecation of {of} {version} at {there}"),
    });
    page.line(format_args!("  {} {}", sign::manifest_word(of), report.index));
    if change == StateChange::Withdraw {
        page.line(format_args!("  would keep the content at {marked} and delete the tag {tag}"));
        page.line(format_args!("  whether {place} lets a tag be deleted shows when it is done"));
    }
    page
}

//! The report for people: what changes or could not be done, the calls that are not mirrored, failures, counts.

use tofu_oci_mirror::{CallOutcome, MirrorMode, ModuleAction, ModuleOutcome, UnfollowedCall};
use tofu_oci_types::printable;

use super::model::{ModuleMirrorRow, ModuleMirrorSummary};
use crate::page::Page;
use crate::report::human_bytes;
use crate::verbs::mirror::{GONE, REINSTATED, REPLACED, counts, denied, failures, row_name};

/// The whole report.
pub(super) fn page(
    mode: MirrorMode,
    rows: &[ModuleMirrorRow],
    calls: &[UnfollowedCall],
    summary: &ModuleMirrorSummary,
) -> Page {
    let mut page = Page::default();
    let is_news =
        |row: &&ModuleMirrorRow| !matches!(&row.outcome, Ok(ModuleOutcome { action: ModuleAction::Present, .. }));
    let news: Vec<&ModuleMirrorRow> = rows.iter().filter(is_news).collect();
    if !news.is_empty() {
        let report = if mode == MirrorMode::Plan { "would be" } else { "report" };
        let table: Vec<[String; 4]> = news.iter().map(|row| in_columns(row)).collect();
        if table.iter().all(|row| row[3].is_empty()) {
            let head = ["module", "version", report];
            let table = table.into_iter().map(|[module, version, what, _]| [module, version, what]);
            page.table(head, table);
        } else {
            let head = ["module", "version", report, "called by"];
            page.table(head, table);
        }
        page.gap();
    }
    let calls: Vec<&UnfollowedCall> = calls.iter().filter(|call| call.fate != CallOutcome::Stays).collect();
    if !calls.is_empty() {
        let head = ["caller", "at", "call", "not mirrored"];
        let table = calls.iter().map(|call| {
            let constraints = call.constraints.as_ref().map(|text| format!(" {text}")).unwrap_or_default();
            let source = printable(&call.source).into_owned();
            [call.caller.clone(), call.at.clone(), format!("{source}{constraints}"), fate(call.fate).to_owned()]
        });
        page.table(head, table);
        page.gap();
    }
    let failed = rows.iter().filter_map(|row| {
        let failure = row.outcome.as_ref().err()?;
        Some((row_name(&row.address, row.version.as_ref()), failure))
    });
    failures(&mut page, failed, |text, name| text.contains(name));
    page.line(ending(mode, summary));
    page
}

fn in_columns(row: &ModuleMirrorRow) -> [String; 4] {
    let version = row.version.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    [row.address.to_string(), version, what(row), callers(row)]
}

fn what(row: &ModuleMirrorRow) -> String {
    let Ok(deed) = &row.outcome else { return "failed".to_owned() };
    let size = human_bytes(deed.bytes);
    match &deed.action {
        ModuleAction::Copy { from } => format!("copied from {from}, {size}"),
        ModuleAction::Pack { from, folder } if folder.is_empty() => format!("packed from {from}, {size}"),
        ModuleAction::Pack { from, folder } => format!("packed from {from}//{folder}, {size}"),
        ModuleAction::Present => "there already".to_owned(),
        ModuleAction::ReplacedThere => REPLACED.to_owned(),
        ModuleAction::WithdrawnThere => "left out: it was withdrawn at the destination".to_owned(),
        ModuleAction::Held { until } => format!("held back until {until}"),
        ModuleAction::Denied { by } => denied(by.as_deref()),
        ModuleAction::Reinstate => REINSTATED.to_owned(),
        ModuleAction::Gone { .. } => GONE.to_owned(),
        ModuleAction::Withdraw { reason, .. } => format!("withdrawn: {reason}"),
        _ => "done".to_owned(),
    }
}

/// The first caller, and how many more there are.
fn callers(row: &ModuleMirrorRow) -> String {
    match row.called_by.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, others @ ..] => format!("{first}, and {} more", others.len()),
    }
}

fn fate(fate: CallOutcome) -> &'static str {
    match fate {
        CallOutcome::Leaves => "leads elsewhere",
        CallOutcome::NoMirror => "leads to its registry: no mirror covers it",
        CallOutcome::NotInBundle => "leads to its registry: the bundle lacks it",
        CallOutcome::NotFollowed => "not mirrored: --no-nested",
        CallOutcome::Unknown => "unknown: its source or version is computed",
        CallOutcome::Loop => "calls itself: OpenTofu will refuse it",
        _ => "",
    }
}

fn ending(mode: MirrorMode, summary: &ModuleMirrorSummary) -> String {
    let named = [
        (summary.added, "added"),
        (summary.present, "there already"),
        (summary.held, "held back"),
        (summary.left, "left out"),
        (summary.gone, "no longer listed"),
        (summary.withdrawn, "withdrawn"),
        (summary.reinstated, "available again"),
        (summary.failed, "failed"),
    ];
    let call = |count: usize, what: &str| match count {
        0 => String::new(),
        1 => format!("; 1 call {what}"),
        count => format!("; {count} calls {what}"),
    };
    let calls =
        call(summary.leaving, "not mirrored") + &call(summary.unknown, "unknown") + &call(summary.loops, "in a circle");
    let (counts, bytes) = (counts(&named, "nothing to mirror"), human_bytes(summary.bytes));
    match mode {
        MirrorMode::Plan => format!("plan: {counts}{calls}; {bytes} to send. Nothing was changed"),
        MirrorMode::Run => format!("{counts}{calls}; {bytes} sent"),
    }
}

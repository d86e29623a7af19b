//! The report for people: a table of what changes or could not be done, then what failed and why, then the counts.

use tofu_oci_mirror::{MirrorAction, MirrorMode, MirrorOutcome, Withdrawer};
use tofu_oci_types::Platform;

use super::failure::{counts, failures, row_name};
use super::model::{MirrorSummary, Row};
use crate::page::Page;
use crate::report::human_bytes;

/// What became of a version that its place no longer lists, in a table.
pub(in crate::verbs) const GONE: &str = "kept, although its place no longer lists it";
/// The same of one whose tag is no longer the mirror's.
pub(in crate::verbs) const REPLACED: &str = "kept: people put something else under its tag at the destination";
/// The same of one that comes back.
pub(in crate::verbs) const REINSTATED: &str = "available again";

/// The whole report.
pub(super) fn page(mode: MirrorMode, rows: &[Row], summary: &MirrorSummary) -> Page {
    let mut page = Page::default();
    let is_news = |row: &&Row| match &row.outcome {
        Ok(MirrorOutcome { action: MirrorAction::Present, attestations, .. }) => !attestations.is_empty(),
        _ => true,
    };
    let news: Vec<&Row> = rows.iter().filter(is_news).collect();
    if !news.is_empty() {
        let head = ["provider", "version", if mode == MirrorMode::Plan { "would be" } else { "report" }];
        let cells = news.iter().map(|row| {
            let version = row.version.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            [row.address.to_string(), version, what(mode, row)]
        });
        page.table(head, cells);
        page.gap();
    }
    let failed = rows.iter().filter_map(|row| {
        let failure = row.outcome.as_ref().err()?;
        Some((row_name(&row.address, row.version.as_ref()), failure))
    });
    failures(&mut page, failed, |text, name| text.starts_with(name));
    let is_kept = |row: &&Row| {
        let by_publisher =
            |action: &MirrorAction| matches!(action, MirrorAction::Gone { decided: Withdrawer::Publisher { .. }, .. });
        row.outcome.as_ref().is_ok_and(|outcome| by_publisher(&outcome.action))
    };
    page.line(ending(mode, summary, rows.iter().filter(is_kept).count()));
    page
}

fn what(mode: MirrorMode, row: &Row) -> String {
    let Ok(deed) = &row.outcome else { return "failed".to_owned() };
    let moved = |verb: &str, platforms: &[Platform]| {
        let names: Vec<String> = platforms.iter().map(ToString::to_string).collect();
        let size = deed.bytes.map_or_else(|| "of unknown size".to_owned(), human_bytes);
        format!("{verb} for {}, {size}", names.join(" "))
    };
    let came: Vec<&str> = deed.attestations.iter().map(|late| late.predicate_type.as_str()).collect();
    let came = match (came.join(", "), mode) {
        (came, _) if came.is_empty() => came,
        (came, MirrorMode::Plan) => format!("; it would get {came}"),
        (came, MirrorMode::Run) => format!("; it got {came}"),
    };
    match &deed.action {
        MirrorAction::Add => moved("added", &deed.platforms),
        MirrorAction::Widen { missing } => moved("widened", missing),
        MirrorAction::Present => format!("there already{came}"),
        MirrorAction::Reinstate => REINSTATED.to_owned(),
        MirrorAction::Held { until } => format!("held back until {until}"),
        MirrorAction::Denied { by } => denied(by.as_deref()),
        MirrorAction::NoPlatform => "left out: it has none of the platforms".to_owned(),
        MirrorAction::ReplacedThere => REPLACED.to_owned(),
        MirrorAction::WithdrawnThere => "left out: it was withdrawn at the destination".to_owned(),
        MirrorAction::NotOurs => "kept as it is: it lacks platforms, and `mirror` did not put it there".to_owned(),
        MirrorAction::Withdrawn { reason, signer } => format!("left out: {}: {reason}", withdrawn(signer.as_deref())),
        MirrorAction::Gone { reason: Some(reason), decided: Withdrawer::Publisher { signer } } => {
            format!("kept, although {}: {reason}{came}", withdrawn(signer.as_deref()))
        }
        MirrorAction::Gone { .. } => GONE.to_owned(),
        MirrorAction::Withdraw { reason, decided: Withdrawer::Publisher { signer: Some(by) } } => {
            format!("withdrawn by {by}: {reason}{came}")
        }
        MirrorAction::Withdraw { reason, .. } => format!("withdrawn: {reason}{came}"),
        MirrorAction::Deprecate { reason } => format!("deprecated: {reason}"),
        MirrorAction::Unmet { versions, .. } if versions.is_any() => "missing: its place lists no version".to_owned(),
        MirrorAction::Unmet { versions, listed } if listed.is_empty() => {
            format!("missing: no listed version meets {versions}")
        }
        MirrorAction::Unmet { versions, listed } => {
            let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
            format!("missing: no listed version meets {versions}; it has {}", listed.join(", "))
        }
    }
}

fn withdrawn(signer: Option<&str>) -> String {
    signer.map_or_else(|| "it was withdrawn".to_owned(), |by| format!("it was withdrawn by {by}"))
}

/// `kept` are those that a notice withdraws, and that stay.
fn ending(mode: MirrorMode, summary: &MirrorSummary, kept: usize) -> String {
    let named = [
        (summary.added, "added"),
        (summary.present, "there already"),
        (summary.held, "held back"),
        (summary.left, "left out"),
        (summary.gone - kept, "no longer listed"),
        (kept, "kept although withdrawn"),
        (summary.withdrawn, "withdrawn"),
        (summary.reinstated, "available again"),
        (summary.deprecated, "deprecated"),
        (summary.failed, "failed"),
    ];
    let counts = counts(&named, "no version is named");
    let bytes = summary.bytes.map_or_else(|| "an unknown number of bytes".to_owned(), human_bytes);
    match mode {
        MirrorMode::Plan => {
            // Manifests are known only after the packages, and what the destination has of a release only then.
            let about = if summary.bytes.is_some_and(|bytes| bytes > 0) { "about " } else { "" };
            format!("plan: {counts}; {about}{bytes} to send. Nothing was changed")
        }
        MirrorMode::Run => format!("{counts}; {bytes} sent"),
    }
}

/// Why a version is left out: the entry of `deny`, or `None` for `allow`.
pub(in crate::verbs) fn denied(by: Option<&str>) -> String {
    match by {
        Some(entry) => format!("left out: denied by {entry}"),
        None => "left out: the allow list does not name it".to_owned(),
    }
}

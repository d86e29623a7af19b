//! The providers for people: a table of versions, and below it what to do about each.

use std::path::Path;

use tofu_oci_explain::outdated::{ModuleDemand, UpgradeState, VersionComparison};
use tofu_oci_explain::releases::VersionNotice;
use tofu_oci_trust::ReleaseState;
use tofu_oci_types::Version;

use super::model::ProviderRow;
use crate::invocation;
use crate::page::Page;
use crate::verbs::providers::declared_at;

/// The whole report; `is_all_known` says whether every module was read.
pub(super) fn page(rows: &[ProviderRow], dir: &Path, is_all_known: bool) -> Page {
    let behind: Vec<&ProviderRow> = rows.iter().filter(|row| row.is_behind()).collect();
    if rows.is_empty() {
        return Page::of("the configuration requires no providers");
    }
    if behind.is_empty() {
        return Page::of(match rows.len() {
            1 if is_all_known => "the provider is up to date".to_owned(),
            count if is_all_known => format!("all {count} providers are up to date"),
            1 => "the one provider that is known is up to date".to_owned(),
            count => format!("the {count} providers that are known are up to date"),
        });
    }
    let mut page = table(&behind);
    for row in &behind {
        page.gap();
        details(row, dir, &mut page);
    }
    let others = rows.len() - behind.len();
    if others > 0 {
        page.gap();
        page.line(match others {
            1 => "one other provider is up to date".to_owned(),
            count => format!("{count} other providers are up to date"),
        });
    }
    page
}

fn table(rows: &[&ProviderRow]) -> Page {
    let shown = |version: Option<&Version>| version.map_or_else(|| "-".to_owned(), ToString::to_string);
    let head = ["provider", "locked", "admitted", "newest"];
    let cells = rows.iter().map(|row| {
        let VersionComparison { admitted, newest, .. } = &row.comparison;
        [row.address.to_string(), shown(row.locked.as_ref()), shown(admitted.as_ref()), shown(newest.as_ref())]
    });
    let mut page = Page::default();
    page.table(head, cells);
    page
}

/// Where a provider comes from, and what moves when.
fn details(row: &ProviderRow, dir: &Path, page: &mut Page) {
    page.line(&row.address);
    let mut say = |name: &str, text: String| page.row("  ", name, text);
    if let Some(place) = &row.place {
        say("from", place.to_string());
    }
    if let (Some(by), Some(locked)) = (&row.locked_by, &row.locked) {
        say("locked", format!("{locked} by the entry of {by}"));
    }
    if let (Some(reason), None) = (&row.trouble.reason, &row.unusable) {
        say("unknown", reason.clone());
        row.trouble.causes.iter().for_each(|cause| say("cause", cause.clone()));
        row.trouble.hints.iter().for_each(|hint| say("hint", hint.clone()));
    }
    if let Some(notice @ VersionNotice { version, state, reason, .. }) = &row.notice {
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let verb = if *state == ReleaseState::Withdrawn { "was" } else { "is" };
        say("notice", format!("{version} {verb} {}{reason}", notice.said()));
    } else if let Some(locked) = row.locked.as_ref().filter(|_| !row.locked_is_offered) {
        say("gone", format!("{locked} is locked and not offered any more: a machine that lacks the package fails"));
    }
    if let (Some(version), Some(reason)) = (&row.unusable, &row.trouble.reason) {
        say("broken", format!("{version} would be chosen and cannot be installed: {reason}"));
    }
    if let Some(text) = moves(row).filter(|_| row.unusable.is_none()) {
        say("upgrade", text);
    }
    let newest = row.comparison.newest.as_ref().map(ToString::to_string).unwrap_or_default();
    for demand in &row.comparison.held_back_by {
        say("held", format!("{newest} is not admitted by {}", demanded(demand, dir)));
    }
}

/// What the next command would move.
fn moves(row: &ProviderRow) -> Option<String> {
    let VersionComparison { admitted, state, .. } = &row.comparison;
    let upgrade = || invocation::with_all_options("install --upgrade");
    Some(match ((*state)?, &row.locked, admitted) {
        (UpgradeState::Upgrade, Some(locked), Some(admitted)) => format!("{locked} to {admitted}: {}", upgrade()),
        (UpgradeState::GoesBack, Some(locked), Some(admitted)) => {
            format!("{locked} back to {admitted}, the newest that is offered and admitted: {}", upgrade())
        }
        (UpgradeState::NotLocked, _, Some(admitted)) => {
            format!("no version is locked; {admitted} would be: {}", invocation::with_all_options("install"))
        }
        (UpgradeState::NoMatch, _, _) => format!("no version that is offered meets `{}`", row.constraints),
        _ => return None,
    })
}

fn demanded(demand: &ModuleDemand, dir: &Path) -> String {
    let module = if demand.path.is_empty() { "the root module" } else { &demand.path };
    format!("`{}` of {module} ({})", demand.constraints, declared_at(&demand.declared, dir))
}

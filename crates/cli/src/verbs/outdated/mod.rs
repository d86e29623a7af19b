//! `outdated`.

mod model;
mod text;

use std::path::PathBuf;

use futures_util::StreamExt as _;
use tofu_oci_explain::outdated::{UpgradeState, compare, demands};
use tofu_oci_explain::releases::{VersionNotice, notice_of};
use tofu_oci_lockfile::{Guide, LOCK_FILE_NAME, LockFile};
use tofu_oci_source::Source;
use tofu_oci_tfconfig::{ProviderTree, providers_tree};
use tofu_oci_trust::ReleaseState;
use tofu_oci_types::{Constraints, Event, Place, ProviderAddr, Version};

use super::context::{Context, data_dir};
use super::install::{existing_dir, finder, required};
use super::slow;
use crate::args::OutdatedArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::lookup::Finder;
use crate::printer;
use crate::report::json_line;
use model::{OutdatedLine, ProviderRow};

/// How many providers are asked for at once.
const AT_ONCE: usize = 16;

/// Prints which providers of a configuration are behind, and what moves when.
pub(crate) async fn outdated(context: &Context, args: &OutdatedArgs) -> Result<Exit, Diagnostic> {
    let dir = args.chdir.clone().unwrap_or_else(|| PathBuf::from("."));
    existing_dir(&dir)?;
    let data_dir = data_dir(&dir);
    let required = required(context, &dir, &data_dir).map_err(Diagnostic::of_needed_configuration)?;
    let workspace = std::env::var("TF_WORKSPACE").ok();
    let tree = providers_tree(&dir, &data_dir, workspace.as_deref()).map_err(Diagnostic::of_needed_configuration)?;
    let lock = tofu_oci_lockfile::read(&dir.join(LOCK_FILE_NAME))?;
    let finder = finder(context, &args.lookup, &args.identity, &args.network, args.chdir.as_deref(), &[]).await?;
    finder.tell_apart(&required.iter().map(|(address, _)| address).collect::<Vec<_>>()).await?;
    let rows = required.iter().map(|(address, constraints)| row(&finder, &tree, lock.file(), address, constraints));
    let rows: Vec<_> = rows.collect();
    let rows = futures_util::stream::iter(rows).buffered(AT_ONCE).collect::<Vec<ProviderRow>>();
    let rows = slow::noted(context, format!("listing the versions of {} providers", required.len()), rows).await;
    if context.json {
        rows.iter().for_each(|row| json_line(&OutdatedLine::of(row)));
    } else {
        printer::stdout(&text::page(&rows, &dir));
    }
    rows.iter().for_each(|row| warn(context, row));
    let is_behind = rows.iter().any(ProviderRow::is_behind);
    Ok(if args.exit_code && is_behind { Exit::Fixable } else { Exit::Done })
}

/// What is known of one provider. A place that fails is part of the answer: the others are asked all the same.
async fn row(
    finder: &Finder,
    tree: &ProviderTree,
    lock: &LockFile,
    address: &ProviderAddr,
    constraints: &Constraints,
) -> ProviderRow {
    let locked = lock.guide(address);
    let demands = demands(&tree.root, address);
    let mut row = ProviderRow::new(address, constraints, locked.as_ref().map(|guide| guide.entry.version.clone()));
    row.locked_by = locked.as_ref().and_then(|guide: &Guide| guide.predecessor(address)).cloned();
    let asked = async {
        let source = finder.source(address)?;
        let listing = source.versions(address).await?;
        Ok::<_, Diagnostic>((source, listing))
    };
    let (source, listing) = match asked.await {
        Ok(asked) => asked,
        Err(diagnostic) => return row.failed(diagnostic),
    };
    let comparison = compare(constraints, &demands, row.locked.as_ref(), &listing.versions);
    let chosen = comparison.admitted.as_ref().or(comparison.newest.as_ref());
    row.place = place(&*source, address, chosen).await;
    row.locked_is_offered = row.locked.as_ref().is_none_or(|locked| listing.versions.contains(locked));
    if let Some(version) = row.locked.as_ref().or(comparison.admitted.as_ref()) {
        row.notice = notice_of(&*source, address, version, &listing).await;
    }
    row.comparison = Some(comparison);
    row
}

/// Where the version comes from. Only if there are several places, one of them is asked for the version.
async fn place(source: &dyn Source, address: &ProviderAddr, version: Option<&Version>) -> Option<Place> {
    match (source.place(), version) {
        (Place::Methods(places), Some(version)) if places.len() != 1 => {
            source.release(address, version).await.ok().map(|release| release.id().place.clone())
        }
        (Place::Methods(places), _) => places.first().cloned(),
        (place, _) => Some(place.clone()),
    }
}

/// Warns of what `install` would fail with, or lose.
fn warn(context: &Context, row: &ProviderRow) {
    let address = &row.address;
    if let Some(diagnostic) = &row.failure {
        let text = format!("the versions of {address} cannot be listed: {}", diagnostic.text());
        let event = Event::warning("not-listed", text);
        let event = diagnostic.hints().iter().fold(event, |event, hint| event.with_hint(hint.clone()));
        context.reporter.event(&event);
    }
    if let Some(VersionNotice { version, state, reason }) = &row.notice {
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let text = format!("{address} {version} is {state} by its publisher{reason}");
        let code = if *state == ReleaseState::Withdrawn { "withdrawn" } else { "deprecated" };
        context.reporter.event(&Event::warning(code, text));
    } else if let Some(locked) = row.locked.as_ref().filter(|_| !row.locked_is_offered) {
        let text = format!("{address} is locked at {locked}, which is not offered any more");
        let event = Event::warning("locked-version-gone", text);
        context.reporter.event(&event.with_hint("a machine that lacks the package cannot install it: upgrade"));
    }
    if row.state() == Some(UpgradeState::NoMatch) {
        let text = format!("no version of {address} that is offered meets `{}`", row.constraints);
        context.reporter.event(&Event::warning("no-matching-release", text));
    }
}

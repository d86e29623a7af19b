//! `outdated`.

mod model;
mod text;

use futures_util::{FutureExt as _, StreamExt as _};
use tofu_oci_explain::outdated::{compare, demands};
use tofu_oci_explain::releases::NoticesOf;
use tofu_oci_lockfile::{Guide, LOCK_FILE_NAME, LockFile};
use tofu_oci_tfconfig::{ProviderTree, providers_tree};
use tofu_oci_types::{Constraints, Counter, Place, ProviderAddr};

use super::context::{Context, config_folder};
use super::install::{finder, working_dir};
use super::required::{nothing_required, required};
use super::show::reason;
use crate::args::OutdatedArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::lookup::Finder;
use model::{ProviderRow, Trouble};

/// How many providers are asked for at once.
const AT_ONCE: usize = 16;

/// Prints which providers of a configuration are behind, and what moves when.
pub(crate) async fn outdated(context: &Context, args: &OutdatedArgs) -> Result<Exit, Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    let folder = config_folder(context, &dir, &args.tests);
    let required = required(context, &folder).map_err(Diagnostic::of_needed_configuration)?;
    let tree = providers_tree(&folder).map_err(Diagnostic::of_needed_configuration)?;
    let is_all_known = tree.not_looked_into.is_empty();
    if required.is_empty() && !is_all_known {
        return Err(nothing_required(&folder));
    }
    let lock = tofu_oci_lockfile::read(&dir.join(LOCK_FILE_NAME))?;
    let finder = finder(context, &args.lookup, &args.access, args.chdir.as_deref(), &[]).await?;
    finder.tell_apart(&required, &args.predecessors.all()).await?;
    let count = Counter::new(context.reporter.as_ref(), "providers", required.len());
    let rows = required.iter().map(|(address, constraints)| {
        row(context, &finder, &tree, lock.file(), address, constraints).inspect(|_| count.done())
    });
    let rows: Vec<_> = rows.collect();
    let rows: Vec<ProviderRow> = futures_util::stream::iter(rows).buffered(AT_ONCE).collect().await;
    context.emit_all(|lines| lines.add_all(&rows), || text::page(&rows, &dir, is_all_known));
    let is_behind = !is_all_known || rows.iter().any(ProviderRow::is_behind);
    Ok(if args.exit_code && is_behind { Exit::Fixable } else { Exit::Done })
}

/// What is known of one provider. A place that fails is part of the answer: the others are asked all the same.
async fn row(
    context: &Context,
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
        Err(diagnostic) => return ProviderRow { trouble: Trouble::of(&context.explained(diagnostic), address), ..row },
    };
    let comparison = compare(constraints, &demands, row.locked.as_ref(), &listing.versions);
    let chosen = comparison.admitted.as_ref().or(comparison.newest.as_ref());
    row.place = Some(source.place().clone());
    if let Some(chosen) = chosen.filter(|chosen| row.locked.as_ref() != Some(chosen) || is_several(source.place())) {
        match source.release(address, chosen).await {
            Ok(release) => row.place = Some(release.id().place.clone()),
            Err(error) => {
                row.unusable = Some(chosen.clone());
                let (code, reason) = (Some(error.code().to_owned()), Some(reason(&error)));
                row.trouble = Trouble { code, reason, ..Trouble::default() };
            }
        }
    }
    row.locked_is_offered = row.locked.as_ref().is_none_or(|locked| listing.versions.contains(locked));
    if let Some(version) = row.locked.as_ref().or(comparison.admitted.as_ref()) {
        row.notice = NoticesOf::Provider(&*source, address).version(version, &listing).await;
    }
    row.comparison = comparison;
    row
}

/// Whether only the release says which place it comes from.
fn is_several(place: &Place) -> bool {
    matches!(place, Place::Methods(_))
}

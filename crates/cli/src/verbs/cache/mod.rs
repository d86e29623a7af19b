//! `cache`: what is in the package cache, and how it becomes smaller.

mod model;
mod text;

use std::time::Duration;

use tofu_oci_disk::Waiter;
use tofu_oci_fetch::{PackageCache, PruneAct, PruneRules};
use tofu_oci_types::ByteSize;

use super::context::Context;
use crate::args::{CacheArgs, CachePruneArgs, CacheVerb};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::package_cache;
use crate::printer;
use crate::report::json_line;

/// How long a package stays that no project gets.
const UNUSED: Duration = Duration::from_hours(24 * 30);

/// Runs one of its verbs.
pub(crate) async fn cache(context: &Context, args: &CacheArgs) -> Result<Exit, Diagnostic> {
    let cache = package_cache::open(context.reporter.as_ref());
    let info = cache.info().await?.ok_or_else(|| {
        Diagnostic::usage("there is no package cache")
            .hint("TOFU_OCI_CACHE_DIR names its folder; an empty value turns the cache off")
            .hint("without the variable it is in the cache folder of your user: tofu-oci help caching")
    })?;
    match &args.verb {
        CacheVerb::Info(_) => {
            if context.json {
                model::info(&info).iter().for_each(json_line);
            } else {
                printer::stdout(&text::info(&info));
            }
            Ok(Exit::Done)
        }
        CacheVerb::Prune(args) => prune(context, &cache, args).await,
        CacheVerb::Verify(_) => verify(context, &cache).await,
    }
}

async fn prune(context: &Context, cache: &PackageCache, args: &CachePruneArgs) -> Result<Exit, Diagnostic> {
    let unused_for = match (args.unused_for, args.max_size) {
        (Some(age), _) => age.0,
        (None, None) => UNUSED,
        (None, Some(_)) => Duration::MAX,
    };
    let max_bytes = args.max_size.map_or(u64::MAX, |ByteSize(size)| size);
    let act = if args.dry_run { PruneAct::Report } else { PruneAct::Remove };
    let pruned = cache.prune(PruneRules { unused_for, max_bytes, act }, &waiter()).await?;
    if context.json {
        model::pruned(&pruned, act).iter().for_each(json_line);
    } else {
        printer::stdout(&text::pruned(&pruned, act));
    }
    Ok(Exit::Done)
}

async fn verify(context: &Context, cache: &PackageCache) -> Result<Exit, Diagnostic> {
    let health = cache.verify(&waiter()).await?;
    if context.json {
        model::health(&health).iter().for_each(json_line);
    } else {
        printer::stdout(&text::health(&health));
    }
    Ok(if health.damaged.is_empty() { Exit::Done } else { Exit::Fixable })
}

/// This program, as others see it that wait for a package.
fn waiter() -> Waiter {
    Waiter { program: "tofu-oci cache".to_owned(), ..Waiter::default() }
}

//! `cache`: what is in the package cache, and how it becomes smaller.

mod model;
mod text;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tofu_oci_disk::Waiter;
use tofu_oci_fetch::{CacheDirOrigin, PackageCache, PackageCacheSettings, PruneAct, PruneRules};
use tofu_oci_types::{ByteSize, Event, Reporter};

use super::context::Context;
use crate::args::{CacheArgs, CachePruneArgs, CacheVerb};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::package_cache;

/// How long a package stays that no project gets.
const UNUSED: Duration = Duration::from_hours(24 * 30);

/// Runs one of its verbs.
pub(crate) async fn cache(context: &Context, args: &CacheArgs) -> Result<Exit, Diagnostic> {
    let (settings, held) = (package_cache::settings()?, HeldMessages::default());
    let cache = PackageCache::open(&settings, &held);
    let messages = held.take();
    let Some(info) = cache.info().await? else { return Err(no_cache(&settings, messages)) };
    for message in &messages {
        context.reporter.event(message);
    }
    match &args.verb {
        CacheVerb::Info(_) => {
            context.emit_all(|lines| lines.add_all(model::info(&info)), || text::info(&info));
            Ok(Exit::Done)
        }
        CacheVerb::Prune(args) => prune(context, &cache, args).await,
        CacheVerb::Verify(_) => verify(context, &cache).await,
    }
}

/// What is said while caches are opened. It becomes the error if the user's own one cannot be used.
#[derive(Default)]
struct HeldMessages(Mutex<Vec<Event>>);

impl HeldMessages {
    fn take(self) -> Vec<Event> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reporter for HeldMessages {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
    }
}

/// Why there is no cache. The first message is about the user's own one.
fn no_cache(settings: &PackageCacheSettings, messages: Vec<Event>) -> Diagnostic {
    match (&settings.dir, settings.origin, messages.into_iter().next()) {
        (Some(_), _, Some(Event::Message { code, text, hints, .. })) => {
            Diagnostic::new(Exit::Fixable, text).code(code).more_hints(hints)
        }
        (Some(dir), ..) => Diagnostic::usage(format!("the package cache in {} cannot be used", dir.display())),
        (None, CacheDirOrigin::Named, _) => Diagnostic::usage("TOFU_OCI_CACHE_DIR is empty: the package cache is off")
            .hint("set it to the folder of a cache, or unset it for the usual one: tofu-oci help caching"),
        (None, CacheDirOrigin::Usual, _) => {
            Diagnostic::usage("there is no package cache: the environment names no cache folder for your user")
                .hint("name a folder by TOFU_OCI_CACHE_DIR: tofu-oci help caching")
        }
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
    context.emit_all(|lines| lines.add_all(model::pruned(&pruned, act)), || text::pruned(&pruned, act));
    pruned.failed.map_or(Ok(Exit::Done), |error| Err(error.into()))
}

async fn verify(context: &Context, cache: &PackageCache) -> Result<Exit, Diagnostic> {
    let health = cache.verify(&waiter()).await?;
    context.emit_all(|lines| lines.add_all(model::health(&health)), || text::health(&health));
    match health.failed {
        Some(error) => Err(error.into()),
        None if health.damaged.is_empty() => Ok(Exit::Done),
        None => Ok(Exit::Fixable),
    }
}

/// This program, as others see it that wait for a package.
fn waiter() -> Waiter {
    Waiter { program: "tofu-oci cache".to_owned(), ..Waiter::default() }
}

//! The answers about one kind of address: which versions each has, and each version.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tofu_oci_types::Version;
use tokio::time::Instant;

use super::answer_cache::{AnswerCache, QueryKey};
use super::options::CatalogOptions;
use super::query_failure::QueryFailure;
use super::refused::{JUDGED, REFUSED, is_judged, is_withdrawal};
use crate::counts::Counts;
use crate::permits::Permits;
use crate::{Refusal, ServedAddress, ServedVersions};

/// What questions about one kind are put to.
pub(super) struct AskedPlaces<P> {
    pub(super) places: Vec<P>,
    pub(super) options: Arc<CatalogOptions>,
    pub(super) permits: Arc<Permits>,
}

/// The answers about addresses `A`, whose versions are served as `S`.
pub(super) struct KindAnswers<A, S: Clone> {
    pub(super) versions: AnswerCache<A, Arc<ServedVersions<A>>>,
    each: AnswerCache<(A, Version), Judged<S>>,
    /// How long a list of versions counts.
    fresh: Duration,
}

/// A version that clients may see, and when that was found.
#[derive(Clone)]
pub(super) struct Judged<S> {
    pub(super) served: S,
    judged: Instant,
}

impl<S> Judged<S> {
    pub(super) fn now(served: S) -> Self {
        Self { served, judged: Instant::now() }
    }

    /// Whether it is not too long ago.
    pub(super) fn is_recent(&self) -> bool {
        self.judged.elapsed() < JUDGED
    }
}

impl<A: QueryKey + Sync, S: Clone + Send + Sync + 'static> KindAnswers<A, S>
where
    (A, Version): QueryKey,
{
    pub(super) fn new(options: &Arc<CatalogOptions>, counts: &Counts) -> Self {
        Self {
            versions: AnswerCache::new(options, counts),
            each: AnswerCache::new(options, counts),
            fresh: options.fresh,
        }
    }

    /// The versions without those that were judged and refused meanwhile, also of a list that was read before.
    pub(super) async fn versions(
        &self,
        address: &A,
        put: impl Fn(Option<Arc<ServedVersions<A>>>) -> BoxFuture<'static, Result<Arc<ServedVersions<A>>, QueryFailure>>,
    ) -> Result<Arc<ServedVersions<A>>, Refusal> {
        let mut found = self.versions.ask(address, put).await?;
        let is_refused = |version: &Version| {
            let key = (address.clone(), version.clone());
            let known = self.each.refusal(&key, REFUSED).filter(is_judged);
            // The next list knows whether a withdrawn version has come back.
            known.is_some_and(|refusal| !is_withdrawal(&refusal) || self.each.refusal(&key, self.fresh).is_some())
        };
        if found.versions.iter().any(is_refused) {
            Arc::make_mut(&mut found).versions.retain(|version| !is_refused(version));
        }
        Ok(found)
    }

    pub(super) async fn version(
        &self,
        address: &A,
        version: &Version,
        put: impl Fn(Option<Judged<S>>) -> BoxFuture<'static, Result<Judged<S>, QueryFailure>>,
    ) -> Result<S, Refusal> {
        Ok(self.each.ask(&(address.clone(), version.clone()), put).await?.served)
    }

    /// Why questions failed, of which no answer is kept, each once.
    pub(super) fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = self.versions.refusals();
        refusals.extend(self.each.refusals());
        refusals.sort_by_key(ToString::to_string);
        refusals.dedup();
        refusals
    }
}

impl<A: Clone + Eq + Hash + Into<ServedAddress> + Send + 'static> QueryKey for (A, Version) {
    fn address(&self) -> ServedAddress {
        self.0.clone().into()
    }
}

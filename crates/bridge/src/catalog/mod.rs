//! What is served, asked of its places.

mod answer_cache;
mod cached;
mod modules;
mod of_kind;
mod options;
mod query_failure;
mod question;
mod refused;
pub(crate) mod served_by;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use tofu_oci_fetch::Trust;
use tofu_oci_mirror::MirrorError;
use tofu_oci_source::Release;
use tofu_oci_types::{Event, Identity, Place, ProviderAddr, Version};

use self::answer_cache::QueryKey;
pub use self::modules::ModuleCatalog;
use self::of_kind::{AskedPlaces, Judged, KindAnswers};
pub use self::options::CatalogOptions;
use self::query_failure::{Again, QueryFailure};
use self::question::PlaceQuestion;
use self::refused::{IF_MEANT, refused, says_another};
use self::served_by::{served_by, sole_address};
use crate::counts::Counts;
use crate::permits::{LimitScope, Permits};
use crate::place_fault::one_line;
use crate::{OfferedBy, Refusal, ServedAddress, ServedModulePlace, ServedPlace, ServedRelease, ServedVersions};

/// The providers of all places. Equal questions are asked once; [`CatalogOptions`] says how long answers are kept.
pub struct Catalog {
    answers: KindAnswers<ProviderAddr, Arc<ServedRelease>>,
    served: Arc<AskedPlaces<ServedPlace>>,
    modules: ModuleCatalog,
    counts: Counts,
}

impl Catalog {
    /// A catalog of these places. No place is asked yet.
    pub fn new(places: Vec<ServedPlace>, options: CatalogOptions) -> Self {
        let (counts, options) = (Counts::default(), Arc::new(options));
        let permits = Arc::new(Permits::new(options.at_once, options.at_one_host));
        for place in &places {
            if let OfferedBy::PullThrough(through) = &place.offered {
                through.observe(counts.pulls_of("provider"));
            }
        }
        Self {
            modules: ModuleCatalog::new(Vec::new(), Arc::clone(&options), Arc::clone(&permits), &counts),
            answers: KindAnswers::new(&options, &counts),
            counts,
            served: Arc::new(AskedPlaces { places, options, permits }),
        }
    }

    /// The same with these places of modules.
    #[must_use]
    pub fn with_modules(self, places: Vec<ServedModulePlace>) -> Self {
        let AskedPlaces { options, permits, .. } = &*self.served;
        let modules = ModuleCatalog::new(places, Arc::clone(options), Arc::clone(permits), &self.counts);
        Self { modules, ..self }
    }

    pub fn modules(&self) -> &ModuleCatalog {
        &self.modules
    }

    /// The versions of a provider that clients may see.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn versions(&self, address: &ProviderAddr) -> Result<Arc<ServedVersions>, Refusal> {
        let number = self.number(address)?;
        let put = |last: Option<Arc<ServedVersions>>| {
            let (served, address) = (Arc::clone(&self.served), address.clone());
            async move {
                let asked = served.asks(number, &address, async |question| match last {
                    Some(_) => question.all_versions().await,
                    None => question.versions().await,
                });
                Ok(Arc::new(asked.await?))
            }
            .boxed()
        };
        self.answers.versions(address, put).await
    }

    /// A release that clients may see. If its place still has the same one, it is neither read nor judged again for an hour.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<ServedRelease>, Refusal> {
        let number = self.number(address)?;
        let put = |last: Option<Judged<Arc<ServedRelease>>>| {
            let (served, address, version) = (Arc::clone(&self.served), address.clone(), version.clone());
            async move {
                let asked = served.asks(number, &address, async |question| {
                    let release = question.release(&version).await?;
                    match last {
                        Some(last) if last.is_recent() && is_same(&last.served, &*release) => Ok(last),
                        _ => Ok(Judged::now(Arc::new(question.served(&release).await?))),
                    }
                });
                asked.await
            }
            .boxed()
        };
        self.answers.version(address, version, put).await
    }

    /// The providers that the configuration names without wildcards, those that places list, and those that clients
    /// asked for successfully. A place that cannot be listed produces a warning.
    pub async fn providers(&self) -> Vec<ProviderAddr> {
        let places = &self.served.places;
        let place_of = |address: &ProviderAddr| self.served.number(address);
        let named = places.iter().flat_map(|place| &place.include).filter_map(sole_address);
        let named = named.filter(|address| place_of(address).is_some());
        let mut providers: Vec<ProviderAddr> = named.chain(self.answers.versions.answered()).collect();
        for (number, place) in places.iter().enumerate() {
            let listed = match &place.list {
                Some(list) => list().await,
                None => continue,
            };
            match listed {
                Ok(listed) => {
                    providers.extend(listed.into_iter().filter(|address| place_of(address) == Some(number)));
                }
                Err(error) => {
                    let text = format!("the providers of a place are not listed: {}", one_line(&error));
                    self.served.options.reporter.event(&Event::warning(error.code(), text));
                }
            }
        }
        providers.sort_by_key(ToString::to_string);
        providers.dedup();
        providers
    }

    /// Whether any provider is served.
    pub(crate) fn has_providers(&self) -> bool {
        !self.served.places.is_empty()
    }

    /// The versions of a provider as they were read last, if that was recently. The place is not asked.
    pub(crate) fn known_versions(&self, address: &ProviderAddr) -> Option<Arc<ServedVersions>> {
        self.answers.versions.answer(address)
    }

    /// Why the place of a provider did not answer the last time, if its earlier answer is served meanwhile.
    pub(crate) fn trouble(&self, address: &ProviderAddr) -> Option<Refusal> {
        self.answers.versions.trouble(address)
    }

    /// How questions were answered so far, and which faults places had.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Grows with each answer that is kept.
    pub(crate) fn changes(&self) -> u64 {
        self.counts.changes()
    }

    /// How long an answer is used without asking again.
    pub(crate) fn fresh(&self) -> Duration {
        self.served.options.fresh
    }

    pub(crate) fn trust_now(&self) -> Trust {
        Trust { now: SystemTime::now(), ..self.served.options.trust.clone() }
    }

    /// The place of a provider, by its number.
    fn number(&self, address: &ProviderAddr) -> Result<usize, Refusal> {
        let number = self.served.number(address);
        number.ok_or_else(|| Refusal::NotServed { address: address.into() })
    }
}

impl AskedPlaces<ServedPlace> {
    fn number(&self, address: &ProviderAddr) -> Option<usize> {
        served_by(&self.places, self.options.trust.policy.predecessors(), address)
    }

    /// Asks a place when it is its turn.
    async fn asks<T>(
        &self,
        number: usize,
        address: &ProviderAddr,
        put: impl AsyncFnOnce(&PlaceQuestion<'_>) -> Result<T, MirrorError>,
    ) -> Result<T, QueryFailure> {
        let ServedPlace { offered, renamed, .. } = &self.places[number];
        let ask = async {
            let question = PlaceQuestion::new(address, (offered, *renamed), &self.options)?;
            let burdened = match question.place() {
                Some(Place::Registry(repository)) => LimitScope::Host(repository.registry().to_owned()),
                _ => LimitScope::Place(number),
            };
            let _turn = self.permits.take(burdened).await;
            put(&question).await
        };
        ask.await.map_err(|error| {
            let place = match offered {
                OfferedBy::Place(open) => open(address).ok().map(|source| source.place().clone()),
                OfferedBy::PullThrough(through) => {
                    through.note_refusal(address, &error);
                    through.place(address)
                }
            };
            let refusal = refused(address, offered, &error).without(place.as_ref().and_then(Place::repository));
            if says_another(&refusal) {
                let text = format!("{address} is not served: {}", one_line(&error));
                self.options.reporter.event(&Event::warning("other-address", text).with_hint(IF_MEANT));
            }
            QueryFailure { refusal, again: Again::of(&error) }
        })
    }
}

/// Whether a release is the one that was judged. A place that does not identify its releases is read again.
fn is_same(judged: &ServedRelease, release: &dyn Release) -> bool {
    let id = release.id();
    id.identity != Identity::Unidentified && judged.release.id() == id
}

impl QueryKey for ProviderAddr {
    fn address(&self) -> ServedAddress {
        self.into()
    }
}

#[cfg(test)]
mod tests;

//! What is served, asked of its places.

mod answers;
mod failed;
mod kept;
mod modules;
mod options;
mod question;
mod refused;
pub(crate) mod served_by;

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use tofu_oci_fetch::Trust;
use tofu_oci_mirror::MirrorError;
use tofu_oci_source::Release;
use tofu_oci_types::{Event, Identity, Place, ProviderAddr, Version};
use tokio::time::Instant;

use self::answers::{Answers, AskedFor, Waits};
use self::failed::{Again, Failed};
use self::kept::Lifetimes;
pub use self::modules::ModuleCatalog;
pub use self::options::CatalogOptions;
use self::question::PlaceQuestion;
use self::refused::{IF_MEANT, JUDGED, REFUSED, is_judged, refused, says_another};
use self::served_by::{served_by, sole_address};
use crate::counts::Counts;
use crate::place_fault::one_line;
use crate::turns::{Burdened, Turns};
use crate::{OfferedBy, Refusal, ServedAddress, ServedModulePlace, ServedPlace, ServedRelease, ServedVersions};

/// The providers of all places. Equal questions are asked once; [`CatalogOptions`] says how long answers are kept.
pub struct Catalog {
    versions: Answers<ProviderAddr, Arc<ServedVersions>>,
    releases: Arc<Answers<(ProviderAddr, Version), JudgedRelease>>,
    served: Arc<CatalogPlace>,
    modules: ModuleCatalog,
    counts: Counts,
}

/// What questions are put to.
struct CatalogPlace {
    places: Vec<ServedPlace>,
    options: CatalogOptions,
    turns: Arc<Turns>,
}

#[derive(Clone)]
struct JudgedRelease {
    served: Arc<ServedRelease>,
    judged: Instant,
}

impl Catalog {
    /// A catalog of these places. No place is asked yet.
    pub fn new(places: Vec<ServedPlace>, options: CatalogOptions) -> Self {
        let (lifetimes, waits) = (Lifetimes::of(&options), Waits::of(&options));
        let reporter = Arc::clone(&options.reporter);
        let counts = Counts::default();
        let turns = Arc::new(Turns::new(options.at_once, options.at_one_host));
        Self {
            modules: ModuleCatalog::new(Vec::new(), options.clone(), Arc::clone(&turns), &counts),
            versions: Answers::new(lifetimes, waits, Arc::clone(&reporter), counts.clone()),
            releases: Arc::new(Answers::new(lifetimes, waits, reporter, counts.clone())),
            counts,
            served: Arc::new(CatalogPlace { places, options, turns }),
        }
    }

    /// The same with these places of modules.
    #[must_use]
    pub fn with_modules(self, places: Vec<ServedModulePlace>) -> Self {
        let CatalogPlace { options, turns, .. } = &*self.served;
        let modules = ModuleCatalog::new(places, options.clone(), Arc::clone(turns), &self.counts);
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
        let mut found = self.versions.ask(address, put).await?;
        let is_refused = |version: &Version| {
            let known = self.releases.refusal(&(address.clone(), version.clone()), REFUSED);
            known.is_some_and(|refusal| is_judged(&refusal))
        };
        // Also of a list that was read before.
        if found.versions.iter().any(is_refused) {
            Arc::make_mut(&mut found).versions.retain(|version| !is_refused(version));
        }
        Ok(found)
    }

    /// A release that clients may see. If its place still has the same one, it is neither read nor judged again for an hour.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<ServedRelease>, Refusal> {
        let number = self.number(address)?;
        let key = (address.clone(), version.clone());
        let put = |last: Option<JudgedRelease>| {
            let (served, (address, version)) = (Arc::clone(&self.served), key.clone());
            async move {
                let asked = served.asks(number, &address, async |question| {
                    let release = question.release(&version).await?;
                    match last {
                        Some(last) if last.still_counts(&*release) => Ok(last),
                        _ => {
                            let served = Arc::new(question.served(&release).await?);
                            Ok(JudgedRelease { served, judged: Instant::now() })
                        }
                    }
                });
                asked.await
            }
            .boxed()
        };
        Ok(self.releases.ask(&key, put).await?.served)
    }

    /// The providers that the configuration names without wildcards, those that places list, and those that clients
    /// asked for successfully. A place that cannot be listed produces a warning.
    pub async fn providers(&self) -> Vec<ProviderAddr> {
        let places = &self.served.places;
        let place_of = |address: &ProviderAddr| self.served.number(address);
        let named = places.iter().flat_map(|place| &place.include).filter_map(sole_address);
        let named = named.filter(|address| place_of(address).is_some());
        let mut providers: Vec<ProviderAddr> = named.chain(self.versions.answered()).collect();
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
        self.versions.answer(address)
    }

    /// Why the place of a provider did not answer the last time, if its earlier answer is served meanwhile.
    pub(crate) fn trouble(&self, address: &ProviderAddr) -> Option<Refusal> {
        self.versions.trouble(address)
    }

    /// How questions were answered so far, and which faults places had.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
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

impl CatalogPlace {
    fn number(&self, address: &ProviderAddr) -> Option<usize> {
        served_by(&self.places, self.options.trust.policy.predecessors(), address)
    }

    /// Asks a place when it is its turn.
    async fn asks<T>(
        &self,
        number: usize,
        address: &ProviderAddr,
        put: impl AsyncFnOnce(&PlaceQuestion<'_>) -> Result<T, MirrorError>,
    ) -> Result<T, Failed> {
        let ServedPlace { offered, renamed, .. } = &self.places[number];
        let ask = async {
            let question = PlaceQuestion::new(address, (offered, *renamed), &self.options)?;
            let burdened = match question.place() {
                Some(Place::Registry(repository)) => Burdened::Host(repository.registry().to_owned()),
                _ => Burdened::Place(number),
            };
            let _turn = self.turns.take(burdened).await;
            put(&question).await
        };
        ask.await.map_err(|error| {
            let place = match offered {
                OfferedBy::Place(open) => open(address).ok().map(|source| source.place().clone()),
                OfferedBy::PullThrough(through) => through.place(address),
            };
            let refusal = refused(address, offered, &error).without(place.as_ref().and_then(Place::repository));
            if says_another(&refusal) {
                let text = format!("{address} is not served: {}", one_line(&error));
                self.options.reporter.event(&Event::warning("other-address", text).with_hint(IF_MEANT));
            }
            Failed { refusal, again: Again::of(&error) }
        })
    }
}

impl JudgedRelease {
    /// Whether this release is the one that was judged, and not too long ago. A place that does not identify its releases is
    /// read again.
    fn still_counts(&self, release: &dyn Release) -> bool {
        let id = release.id();
        id.identity != Identity::Unidentified && self.served.release.id() == id && self.judged.elapsed() < JUDGED
    }
}

impl AskedFor for ProviderAddr {
    fn address(&self) -> ServedAddress {
        self.into()
    }
}

impl AskedFor for (ProviderAddr, Version) {
    fn address(&self) -> ServedAddress {
        (&self.0).into()
    }
}

#[cfg(test)]
mod tests;

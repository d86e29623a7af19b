//! Which modules are served, and in which versions, asked of their repositories; what becomes of one that names another
//! address.

use std::borrow::Borrow;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::{FutureExt as _, StreamExt as _};
use tofu_oci_archive::Limits;
use tofu_oci_checker::facts::{LARGEST_DIRECTORY, repository_in_zip};
use tofu_oci_fetch::{ModuleFetchError, RenamedReleases, Trust, judge_module, module_says_another, other_address_note};
use tofu_oci_mirror::ModuleMirrorError;
use tofu_oci_source::{Listing, ModuleError, ModulePackage, module_notice, withdrawal};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Event, ModuleAddr, ModulePattern, Place, Reference, Subdir, Tag, Version};

use super::answer_cache::QueryKey;
use super::of_kind::{AskedPlaces, Judged, KindAnswers};
use super::options::CatalogOptions;
use super::query_failure::{Again, QueryFailure};
use super::refused::{IF_MEANT, absent_version, module_refused, pull_refused, says_another};
use super::served_by::most_specific;
use crate::counts::Counts;
use crate::permits::{LimitScope, Permit, Permits};
use crate::place_fault::{embedded_repository, one_line, upstream};
use crate::{
    Refusal, ServedAddress, ServedModule, ServedModulePlace, ServedVersions, VersionAbsence, WithdrawnVersion,
};

/// Of how many versions notices are read, the newest first.
const MOST_NOTICES: usize = 50;

/// How many notices are read at once.
const NOTICES_AT_ONCE: usize = 8;

/// What clients read of an address that no repository can have.
const NO_REPOSITORY: &str =
    "no rule of the settings gives a repository for this address; names of repositories are lower-case";

/// The modules of all places. Equal questions are asked once; [`CatalogOptions`] says how long answers are kept.
pub struct ModuleCatalog {
    answers: KindAnswers<ModuleAddr, Arc<ServedModule>>,
    served: Arc<AskedPlaces<ServedModulePlace>>,
}

impl ModuleCatalog {
    /// A catalog of these places, which takes the same turns as that of the providers.
    pub(super) fn new(
        places: Vec<ServedModulePlace>,
        options: Arc<CatalogOptions>,
        permits: Arc<Permits>,
        counts: &Counts,
    ) -> Self {
        let answers = KindAnswers::new(&options, counts);
        for through in places.iter().filter_map(|place| place.pull.as_ref()) {
            through.observe(counts.pulls_of("module"));
        }
        Self { answers, served: Arc::new(AskedPlaces { places, options, permits }) }
    }

    /// The versions of a module that clients may see: those of the canonical tags. No manifest is read.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn versions(&self, address: &ModuleAddr) -> Result<Arc<ServedVersions<ModuleAddr>>, Refusal> {
        let number = self.number(address)?;
        let put = |last: Option<Arc<ServedVersions<ModuleAddr>>>| {
            let (served, address) = (Arc::clone(&self.served), address.clone());
            async move {
                let (store, _turn) = served.turn(number, &address).await?;
                let listing = match (&served.places[number].pull, last) {
                    (None, _) => listing(&address, &store).await?,
                    // An old list of both is better than one of the repository alone.
                    (Some(through), Some(_)) => {
                        served.pulled(number, (&address, None), through.all_versions(&address).await)?
                    }
                    (Some(through), None) => {
                        served.pulled(number, (&address, None), through.versions(&address).await)?
                    }
                };
                Ok(Arc::new(listed(&address, &store, listing).await))
            }
            .boxed()
        };
        self.answers.versions(address, put).await
    }

    /// A version of a module that clients may see: its manifest, and what opens its zip. The same manifest is not judged
    /// again for an hour.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn module(&self, address: &ModuleAddr, version: &Version) -> Result<Arc<ServedModule>, Refusal> {
        let number = self.number(address)?;
        let put = |last: Option<Judged<Arc<ServedModule>>>| {
            let (served, address, version) = (Arc::clone(&self.served), address.clone(), version.clone());
            async move {
                let (store, _turn) = served.turn(number, &address).await?;
                let pull = served.places[number].pull.as_ref();
                if let Some(through) = pull {
                    let brought = through.bring(&address, &version).await;
                    served.pulled(number, (&address, Some(&version)), brought)?;
                }
                let package = found(&address, &version, &store).await.map_err(|failure| match pull {
                    Some(through) => failure.if_sealed(through.upstream_use()),
                    None => failure,
                })?;
                served.demand_address(number, (&address, &version), &package)?;
                let is_same = |last: &Judged<Arc<ServedModule>>| package.manifest() == Some(&last.served.digest);
                if let Some(last) = last.filter(|last| last.is_recent() && is_same(last)) {
                    return Ok(last);
                }
                let trust = Trust { now: SystemTime::now(), ..served.options.trust.clone() };
                let judged = judge_module(&package, Some(&version), &trust, &*served.options.reporter).await;
                judged.map_err(|error| failed(&address, &version, &store, &error))?;
                let in_repository = "a package of a repository has a manifest";
                let manifest = package.about().cloned().expect(in_repository);
                refuse_repository(&address, &version, &store, manifest.package()).await?;
                let module = ServedModule {
                    manifest,
                    digest: package.manifest().cloned().expect(in_repository),
                    address,
                    version,
                    store,
                    locations: served.places[number].locations,
                };
                Ok(Judged::now(Arc::new(module)))
            }
            .boxed()
        };
        self.answers.version(address, version, put).await
    }

    /// The modules that the configuration names without wildcards, and those that were asked for successfully.
    pub fn modules(&self) -> Vec<ModuleAddr> {
        let named = self.served.places.iter().flat_map(|place| &place.include).filter_map(ModulePattern::address);
        let named = named.filter(|address| self.number(address).is_ok());
        let mut modules: Vec<ModuleAddr> = named.chain(self.answers.versions.answered()).collect();
        modules.sort();
        modules.dedup();
        modules
    }

    /// Why questions about modules without a kept answer failed, each once.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.answers.refusals()
    }

    /// Whether any module is served.
    pub(crate) fn is_served(&self) -> bool {
        !self.served.places.is_empty()
    }

    /// The versions of a module as they were read last, if that was recently. Its repository is not asked.
    pub fn known_versions(&self, address: &ModuleAddr) -> Option<Arc<ServedVersions<ModuleAddr>>> {
        self.answers.versions.answer(address)
    }

    /// Why the repository of a module did not answer the last time, if its earlier answer is served meanwhile.
    pub fn trouble(&self, address: &ModuleAddr) -> Option<Refusal> {
        self.answers.versions.trouble(address)
    }

    /// The place of a module, by its number.
    fn number(&self, address: &ModuleAddr) -> Result<usize, Refusal> {
        let places = self.served.places.iter().map(|place| (&*place.include, &*place.exclude));
        let names = self.served.options.trust.policy.predecessors().module_names(address);
        let number = most_specific(places, &names, ModulePattern::matches, ModulePattern::covers);
        number.ok_or_else(|| Refusal::NotServed { address: address.into() })
    }
}

impl AskedPlaces<ServedModulePlace> {
    /// The repository of a module, when it is its turn to be asked.
    async fn turn(&self, number: usize, address: &ModuleAddr) -> Result<(Arc<dyn ReadStore>, Permit), QueryFailure> {
        let Ok(store) = (self.places[number].open)(address) else {
            let refusal = Refusal::UnknownAddress { address: address.into(), reason: Some(NO_REPOSITORY) };
            return Err(QueryFailure { refusal, again: Again::Never });
        };
        let burdened = match store.place() {
            Place::Registry(repository) if self.places[number].pull.is_none() => {
                LimitScope::Host(repository.registry().to_owned())
            }
            _ => LimitScope::ModulePlace(number),
        };
        let turn = self.permits.take(burdened).await;
        Ok((store, turn))
    }

    /// What a pull-through gave, or the refusal of whoever asked.
    fn pulled<T, E: Borrow<ModuleMirrorError>>(
        &self,
        number: usize,
        (address, version): (&ModuleAddr, Option<&Version>),
        result: Result<T, E>,
    ) -> Result<T, QueryFailure> {
        result.map_err(|error| {
            let (error, place) = (error.borrow(), &self.places[number]);
            let refusal = pull_refused(address, version, error);
            if says_another(&refusal) {
                let text = format!("{address} is not served: {}", one_line(error));
                self.options.reporter.event(&Event::warning("other-address", text).with_hint(IF_MEANT));
            }
            let store = (place.open)(address).ok().map(|store| store.place());
            let refusal = refusal.without(store.as_ref().and_then(Place::repository));
            let failure = QueryFailure { refusal, again: Again::of_pull(error) };
            place.pull.as_ref().map_or(failure.clone(), |through| failure.if_sealed(through.upstream_use()))
        })
    }

    /// Demands that a package answers for the module that was asked for.
    fn demand_address(
        &self,
        number: usize,
        (address, version): (&ModuleAddr, &Version),
        package: &ModulePackage,
    ) -> Result<(), QueryFailure> {
        let predecessors = self.options.trust.policy.predecessors();
        let Some((said, text)) = module_says_another(package, (address, version), predecessors) else { return Ok(()) };
        if self.places[number].renamed != RenamedReleases::Refuse {
            self.options.reporter.event(&other_address_note(text, address, &said));
            return Ok(());
        }
        let text = format!("{address} is not served: {text}");
        self.options.reporter.event(&Event::warning("other-address", text).with_hint(IF_MEANT));
        let refusal = absent_version(address, version, VersionAbsence::OtherAddress);
        Err(QueryFailure { refusal, again: Again::Never })
    }
}

impl QueryKey for ModuleAddr {
    fn address(&self) -> ServedAddress {
        self.into()
    }
}

async fn listing(address: &ModuleAddr, store: &Arc<dyn ReadStore>) -> Result<Listing, QueryFailure> {
    let tags = store.tags().await.map_err(|error| store_failed(address, store, &error))?;
    Listing::in_store(&**store, &tags).await.map_err(|error| store_failed(address, store, &error))
}

async fn listed(address: &ModuleAddr, store: &Arc<dyn ReadStore>, listing: Listing) -> ServedVersions<ModuleAddr> {
    let Listing { versions, withdrawn, deprecated, .. } = listing;
    let deprecated = still_deprecated(store.as_ref(), deprecated).await;
    ServedVersions { address: address.clone(), versions, deprecated, withdrawn, warnings: Vec::new() }
}

/// The versions among these that their publisher calls deprecated now: the tag stays when the publisher takes that
/// back. Notices are read of the newest [`MOST_NOTICES`] alone.
async fn still_deprecated(store: &dyn ReadStore, mut named: Vec<Version>) -> Vec<Version> {
    named.sort_by(|one, other| other.precedence(one));
    named.truncate(MOST_NOTICES);
    let read = named.into_iter().map(|version| async move {
        let notice = module_notice(store, &version).await;
        notice.map(|_| version)
    });
    let read: Vec<_> = read.collect();
    futures_util::stream::iter(read).buffered(NOTICES_AT_ONCE).filter_map(std::future::ready).collect().await
}

/// The package under the canonical tag of a version. If there is no such tag, the other tags say whether the version was withdrawn.
async fn found(
    address: &ModuleAddr,
    version: &Version,
    store: &Arc<dyn ReadStore>,
) -> Result<ModulePackage, QueryFailure> {
    let absent = |absence| QueryFailure { refusal: absent_version(address, version, absence), again: Again::Never };
    let Ok(tag) = Tag::for_version(version) else { return Err(absent(VersionAbsence::NoTag)) };
    let read = ModulePackage::of_store(Arc::clone(store), &Reference::Tag(tag), Subdir::root()).await;
    match read {
        Ok(package) => Ok(package),
        Err(ModuleError::Store(StoreError::NotFound { .. })) => {
            if !listing(address, store).await?.withdrawn.contains(version) {
                return Err(absent(VersionAbsence::NoTag));
            }
            let notice = withdrawal(&**store, &VersionOf::Module, version).await;
            let notice = notice.as_ref();
            let withdrawn =
                WithdrawnVersion::new(notice.map(|notice| &notice.reason), notice.map(|notice| notice.writer));
            Err(absent(VersionAbsence::Withdrawn(withdrawn)))
        }
        Err(error) => Err(failed(address, version, store, &error.into())),
    }
}

/// Refuses a package that has a repository of version control in it: clients unpack it as it is. Its repository may answer
/// otherwise for the whole; `packages::made` looks at what is sent.
async fn refuse_repository(
    address: &ModuleAddr,
    version: &Version,
    store: &Arc<dyn ReadStore>,
    zip: &Descriptor,
) -> Result<(), QueryFailure> {
    // No end of it is asked for then.
    let admitted = Limits::default().check_packed(zip.size);
    admitted.map_err(|error| QueryFailure { refusal: upstream(address, &error), again: Again::Never })?;
    match repository_in_zip(&**store, zip, LARGEST_DIRECTORY).await {
        Ok(None) => Ok(()),
        Ok(Some(name)) => {
            let refusal = embedded_repository(address, version, name);
            Err(QueryFailure { refusal, again: Again::Never })
        }
        Err(error) => Err(failed(address, version, store, &ModuleError::Store(error).into())),
    }
}

fn store_failed(address: &ModuleAddr, store: &Arc<dyn ReadStore>, error: &StoreError) -> QueryFailure {
    let refusal = module_refused(address, None, &ModuleError::Store(error.clone()).into());
    let refusal = refusal.without(store.place().repository());
    QueryFailure { refusal, again: Again::of_store(error) }
}

fn failed(
    address: &ModuleAddr,
    version: &Version,
    store: &Arc<dyn ReadStore>,
    error: &ModuleFetchError,
) -> QueryFailure {
    let again = match error {
        ModuleFetchError::Module(error) => Again::of_module(error),
        _ => Again::Never,
    };
    QueryFailure { refusal: module_refused(address, Some(version), error).without(store.place().repository()), again }
}

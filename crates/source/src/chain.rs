//! Several methods in order.
//!
//! ```text
//! versions   asks every link in order, passes over "unknown provider", ends at any other error, and joins all lists
//! release    of the first link that has the version; its offers ask the links from there, in order:
//!
//!                                  oci, network mirror     direct, folder
//!            has it                offers it               offers it
//!            platform missing      next                    next
//!            version or provider   ends the search         next
//!              missing
//!            any other error       ends the search         ends the search
//! ```
//!
//! So no later method serves a version that an OCI or network mirror lacks: it is missing on purpose.
//!
//! Spec: `real-tofu-sources.md` (measured), §1.1 and §4; `OpenTofu` 1.12, getproviders, `MultiSource`.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tofu_oci_store::ReadStore;
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Place, Platform, ProviderAddr, Version};

use self::joined::{GaveWay, join};
use crate::rules::{Continuation, ListingAnswer, PackageAnswer};
use crate::{
    ClaimedHashes, InstallMethod, Listing, MethodError, NotOffered, Offer, Part, PartStream, Release, ReleaseDate,
    ReleaseDescription, ReleaseId, Search, Source, SourceError, WantedPackage, ZipNames,
};

mod joined;

/// One method of a chain.
#[derive(Clone)]
pub struct Link {
    /// Its kind, which decides what follows if it lacks something.
    pub method: InstallMethod,
    /// Its name in errors, such as `oci_mirror at /home/u/.tofurc:3`.
    pub label: String,
    /// The place it leads to.
    pub source: Arc<dyn Source>,
}

/// What one method answered when it was asked for versions.
#[derive(Clone, Debug)]
pub struct MethodAnswer {
    pub label: String,
    /// What it has, or why not.
    pub outcome: Result<Listing, SourceError>,
}

/// The methods that match one provider, in the order of the configuration, as one source.
pub struct Chain {
    methods: Arc<ChainedMethods>,
}

/// The links, and what they have listed.
struct ChainedMethods {
    links: Vec<Link>,
    place: Place,
    empty: NotOffered,
    listed: Mutex<HashMap<(usize, ProviderAddr), Vec<Version>>>,
}

impl Chain {
    /// The methods as one source. Without links every answer is [`NotOffered::NoMethods`].
    pub fn new(links: Vec<Link>) -> Self {
        Self::with(links, NotOffered::NoMethods)
    }

    /// A chain without links, because no configured method matches the provider.
    pub fn unmatched() -> Self {
        Self::with(Vec::new(), NotOffered::NoMethodMatches)
    }

    fn with(links: Vec<Link>, empty: NotOffered) -> Self {
        let place = Place::Methods(links.iter().map(|link| link.source.place().clone()).collect());
        Self { methods: Arc::new(ChainedMethods { links, place, empty, listed: Mutex::default() }) }
    }

    /// The methods, in order.
    pub fn links(&self) -> &[Link] {
        &self.methods.links
    }

    /// What each method answers, in order. An error does not end the round.
    pub async fn ask(&self, address: &ProviderAddr) -> Vec<MethodAnswer> {
        let mut all = Vec::new();
        for (nth, link) in self.links().iter().enumerate() {
            all.push(MethodAnswer { label: link.label.clone(), outcome: self.methods.list(nth, address).await });
        }
        all
    }
}

impl ChainedMethods {
    async fn list(&self, nth: usize, address: &ProviderAddr) -> Result<Listing, SourceError> {
        let listing = self.links[nth].source.versions(address).await?;
        self.listed().insert((nth, address.clone()), listing.versions.clone());
        Ok(listing)
    }

    fn listed(&self) -> MutexGuard<'_, HashMap<(usize, ProviderAddr), Vec<Version>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place.clone(), what }
    }

    /// The error of the link that ends the search.
    fn blame(&self, nth: usize, address: &ProviderAddr, version: Option<&Version>, source: SourceError) -> SourceError {
        let link = &self.links[nth];
        let mut elsewhere = Vec::new();
        let absent = matches!(&source, SourceError::NotOffered { what, .. } if what.is_absence());
        if let Some(version) = version.filter(|_| absent) {
            let listed = self.listed();
            for (later, other) in self.links.iter().enumerate().skip(nth + 1) {
                if listed.get(&(later, address.clone())).is_some_and(|listed| listed.contains(version)) {
                    elsewhere.push(other.label.clone());
                }
            }
        }
        SourceError::Method(Box::new(MethodError {
            label: link.label.clone(),
            kind: link.method,
            address: address.clone(),
            version: version.cloned(),
            elsewhere,
            source,
        }))
    }
}

#[async_trait]
impl Source for Chain {
    /// The places of the methods, in order.
    fn place(&self) -> &Place {
        &self.methods.place
    }

    /// The first link is asked in any case.
    fn prepare(&self, requests: usize) {
        if let Some(first) = self.methods.links.first() {
            first.source.prepare(requests);
        }
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        let methods = &self.methods;
        if methods.links.is_empty() {
            return Err(methods.not_offered(address, methods.empty.clone()));
        }
        let mut found = Vec::new();
        let mut gave_way = GaveWay::default();
        for nth in 0..methods.links.len() {
            match methods.list(nth, address).await {
                Ok(listing) => found.push(listing),
                Err(error) => match (ListingAnswer::of(&error).continuation(), error) {
                    (Continuation::Next, SourceError::NotOffered { what, .. }) => gave_way.note(what),
                    (_, error) => return Err(methods.blame(nth, address, None, error)),
                },
            }
        }
        let joined = join(found);
        if joined.versions.is_empty() && joined.stray.is_empty() {
            let what =
                if gave_way.unknown_to_registry { NotOffered::UnknownToRegistry } else { NotOffered::UnknownProvider };
            return Err(methods.not_offered(address, what));
        }
        Ok(joined)
    }

    /// The release of the first link that has the version. Its offers begin with that link.
    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let methods = &self.methods;
        if methods.links.is_empty() {
            return Err(methods.not_offered(address, methods.empty.clone()));
        }
        let mut gave_way = GaveWay::default();
        for (nth, link) in methods.links.iter().enumerate() {
            match link.source.release(address, version).await {
                Ok(first) => {
                    return Ok(Arc::new(ChainedRelease { methods: Arc::clone(methods), nth, first, gave_way }));
                }
                Err(error) => match (link.method.after(PackageAnswer::of(&error)), error) {
                    (Continuation::Next, SourceError::NotOffered { what, .. }) => gave_way.note(what),
                    (_, error) => return Err(methods.blame(nth, address, Some(version), error)),
                },
            }
        }
        Err(methods.not_offered(address, gave_way.verdict(version, None)))
    }

    /// Those of all links: an unsigned notice of one hides no signed notice of another.
    async fn withdrawal_notices(
        &self,
        address: &ProviderAddr,
        version: &Version,
    ) -> Result<Vec<Evidence>, SourceError> {
        let mut found = Vec::new();
        for link in self.links() {
            found.extend(link.source.withdrawal_notices(address, version).await?);
        }
        Ok(found)
    }
}

/// A version in a chain: the release of the first link that has it. Later links may have it for other platforms.
struct ChainedRelease {
    methods: Arc<ChainedMethods>,
    /// The link that has `first`.
    nth: usize,
    first: Arc<dyn Release>,
    /// What the links before it lack.
    gave_way: GaveWay,
}

impl ChainedRelease {
    /// The release as a link has it.
    async fn of_link(&self, nth: usize) -> Result<Arc<dyn Release>, SourceError> {
        if nth == self.nth {
            return Ok(Arc::clone(&self.first));
        }
        let ReleaseId { address, version, .. } = self.id();
        self.methods.links[nth].source.release(address, version).await
    }

    fn blame(&self, nth: usize, error: SourceError) -> SourceError {
        let ReleaseId { address, version, .. } = self.id();
        self.methods.blame(nth, address, Some(version), error)
    }

    /// The offer of the first link that has the platform.
    async fn offered(&self, platform: &Platform, wanted: Option<&dyn WantedPackage>) -> Result<Offer, SourceError> {
        let mut gave_way = self.gave_way.clone();
        for (nth, link) in self.methods.links.iter().enumerate().skip(self.nth) {
            let offer = match self.of_link(nth).await {
                Ok(release) => match wanted {
                    Some(wanted) => release.offer_to_fetch(platform, wanted).await,
                    None => release.offer(platform).await,
                },
                Err(error) => Err(error),
            };
            match offer {
                Ok(offer) => return Ok(offer),
                Err(error) => match (link.method.after(PackageAnswer::of(&error)), error) {
                    (Continuation::Next, SourceError::NotOffered { what, .. }) => gave_way.note(what),
                    (_, error) => return Err(self.blame(nth, error)),
                },
            }
        }
        Err(self.not_offered(gave_way, Some(platform)))
    }

    fn not_offered(&self, gave_way: GaveWay, platform: Option<&Platform>) -> SourceError {
        let ReleaseId { address, version, .. } = self.id();
        self.methods.not_offered(address, gave_way.verdict(version, platform))
    }
}

#[async_trait]
impl Release for ChainedRelease {
    fn id(&self) -> &ReleaseId {
        self.first.id()
    }

    fn published_as(&self) -> Option<&ProviderAddr> {
        self.first.published_as()
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.first.describe().await.map_err(|error| self.blame(self.nth, error))
    }

    /// The platforms of every link up to the one that would end the search.
    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        let mut all: Option<BTreeSet<Platform>> = None;
        let mut gave_way = self.gave_way.clone();
        for (nth, link) in self.methods.links.iter().enumerate().skip(self.nth) {
            let platforms = match self.of_link(nth).await {
                Ok(release) => release.platforms().await,
                Err(error) => Err(error),
            };
            match platforms {
                Ok(platforms) => all.get_or_insert_default().extend(platforms),
                Err(error) => match (link.method.after(PackageAnswer::of(&error)), error) {
                    (Continuation::Next, SourceError::NotOffered { what, .. }) => gave_way.note(what),
                    _ if all.is_some() => break,
                    (_, error) => return Err(self.blame(nth, error)),
                },
            }
        }
        all.map(|all| all.into_iter().collect()).ok_or_else(|| self.not_offered(gave_way, None))
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        self.first.created().await
    }

    /// The offer of the first link that has the platform; its release is that link's.
    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        self.offered(platform, None).await
    }

    async fn offer_to_fetch(
        self: Arc<Self>,
        platform: &Platform,
        wanted: &dyn WantedPackage,
    ) -> Result<Offer, SourceError> {
        self.offered(platform, Some(wanted)).await
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        self.first.evidence(search).await
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        self.first.leaf_evidence().await
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        self.first.notice().await
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        self.first.hashes().await
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        self.first.zip_names().await
    }

    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        self.first.store()
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        self.first.size(part).await
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        self.first.open(part).await
    }
}

#[cfg(test)]
mod tests;

//! Several methods in order.
//!
//! ```text
//! versions   every link is asked, in order; "unknown provider" is passed over, any other error ends it; all that was
//!            found is joined
//! offer      the links are asked in order for the one version:
//!
//!                                  oci, network mirror     direct, folder
//!            has it                offers it               offers it
//!            platform missing      next                    next
//!            version or provider   ends the search         next
//!              missing
//!            any other error       ends the search         ends the search
//! ```
//!
//! So an OCI or network mirror never lets a later method serve a version that it does not have itself: what a mirror
//! lacks is missing on purpose.
//!
//! Spec: `real-tofu-sources.md` (measured), §1.1 and §4; `OpenTofu` 1.12, getproviders, `MultiSource`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_store::ByteStream;
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Digest, PackageHash, Platform, ProviderAddr, Version};

use self::joined::{GaveWay, join};
use crate::rules::{Continuation, ListingAnswer, PackageAnswer};
use crate::{Blame, Kind, Listing, NotOffered, Offer, Release, Search, Source, SourceError};

mod joined;

/// One method of a chain.
#[derive(Clone)]
pub struct Link {
    /// Its kind, which decides what happens when it does not have something.
    pub method: Kind,
    /// How errors name it, such as `oci_mirror at /home/u/.tofurc:3`.
    pub label: String,
    /// The place it leads to.
    pub source: Arc<dyn Source>,
}

/// What one method answered when it was asked for versions.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The method's label.
    pub label: String,
    /// What it has, or why not.
    pub outcome: Result<Listing, SourceError>,
}

/// The methods that are for one provider, in the order of the configuration, as one source.
pub struct Chain {
    links: Vec<Link>,
    empty: NotOffered,
    memory: Mutex<Memory>,
}

/// What a chain has learned from its links.
#[derive(Default)]
struct Memory {
    /// Which link made an offer, by the digest of its leaf manifest and its place.
    offers: HashMap<(Digest, String), usize>,
    /// Which link a release is from, by the digest of its index and its place.
    releases: HashMap<(Digest, String), usize>,
    /// Links that gave way when a release was looked for, and what they did not have.
    absent: HashMap<(usize, ProviderAddr, Version), NotOffered>,
    /// What each link listed last.
    listed: HashMap<(usize, ProviderAddr), Vec<Version>>,
}

impl Chain {
    /// The methods as one source. Without any, nothing can be found: no method is configured.
    pub fn new(links: Vec<Link>) -> Self {
        Self { links, empty: NotOffered::NoMethods, memory: Mutex::default() }
    }

    /// A chain without links because none of the configured methods is for the provider.
    pub fn unmatched() -> Self {
        Self { links: Vec::new(), empty: NotOffered::NoMethodMatches, memory: Mutex::default() }
    }

    /// The methods, in order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// What each method answers, in order. Every one is asked; no error ends it.
    pub async fn ask(&self, address: &ProviderAddr) -> Vec<Asked> {
        let mut all = Vec::new();
        for (nth, link) in self.links.iter().enumerate() {
            all.push(Asked { label: link.label.clone(), outcome: self.list(nth, link, address).await });
        }
        all
    }

    async fn list(&self, nth: usize, link: &Link, address: &ProviderAddr) -> Result<Listing, SourceError> {
        let listing = link.source.versions(address).await?;
        self.memory().listed.insert((nth, address.clone()), listing.versions.clone());
        Ok(listing)
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place(), what }
    }

    /// The error of the link that ends the search.
    fn blame(&self, nth: usize, address: &ProviderAddr, version: Option<&Version>, source: SourceError) -> SourceError {
        let link = &self.links[nth];
        let mut elsewhere = Vec::new();
        let absent = matches!(&source, SourceError::NotOffered { what, .. } if what.is_absence());
        if let Some(version) = version.filter(|_| absent) {
            let memory = self.memory();
            for (later, other) in self.links.iter().enumerate().skip(nth + 1) {
                let listed = memory.listed.get(&(later, address.clone()));
                if listed.is_some_and(|listed| listed.contains(version)) {
                    elsewhere.push(other.label.clone());
                }
            }
        }
        SourceError::Method(Box::new(Blame {
            label: link.label.clone(),
            kind: link.method,
            address: address.clone(),
            version: version.cloned(),
            elsewhere,
            source,
        }))
    }

    /// The link that a release is from.
    fn giver(&self, release: &Release) -> Option<&Link> {
        let nth = self.memory().releases.get(&(release.index.digest.clone(), release.place.clone())).copied();
        let by_place = || self.links.iter().position(|link| link.source.place() == release.place);
        nth.or_else(by_place).and_then(|nth| self.links.get(nth))
    }

    /// What a link did not have when a release of this version was looked for.
    fn absent(&self, nth: usize, address: &ProviderAddr, version: &Version) -> Option<NotOffered> {
        self.memory().absent.get(&(nth, address.clone(), version.clone())).cloned()
    }

    /// The link that made the offer.
    fn maker(&self, offer: &Offer) -> Option<usize> {
        let nth = self.memory().offers.get(&(offer.leaf.digest.clone(), offer.place.clone())).copied();
        nth.or_else(|| self.links.iter().position(|link| link.source.place() == offer.place))
    }
}

#[async_trait]
impl Source for Chain {
    /// The places of the methods, in order.
    fn place(&self) -> String {
        if self.links.is_empty() {
            return "the installation methods".to_owned();
        }
        self.links.iter().map(|link| link.source.place()).collect::<Vec<_>>().join(", ")
    }

    /// As `OpenTofu` does, so that a method that fails ends the search for a locked version too.
    fn lists_first(&self) -> bool {
        true
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        if self.links.is_empty() {
            return Err(self.not_offered(address, self.empty.clone()));
        }
        let mut found = Vec::new();
        let mut gave_way = GaveWay::default();
        for (nth, link) in self.links.iter().enumerate() {
            match self.list(nth, link, address).await {
                Ok(listing) => found.push(listing),
                Err(error) => match (ListingAnswer::of(&error).continuation(), error) {
                    (Continuation::Next, SourceError::NotOffered { what, .. }) => gave_way.note(what),
                    (_, error) => return Err(self.blame(nth, address, None, error)),
                },
            }
        }
        let joined = join(found);
        if joined.versions.is_empty() && joined.stray.is_empty() {
            let what =
                if gave_way.unknown_to_registry { NotOffered::UnknownToRegistry } else { NotOffered::UnknownProvider };
            return Err(self.not_offered(address, what));
        }
        Ok(joined)
    }

    /// The platforms that can be had: those of every link up to the one that would end the search.
    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        if self.links.is_empty() {
            return Err(self.not_offered(address, self.empty.clone()));
        }
        let mut all: Option<BTreeSet<Platform>> = None;
        let mut gave_way = GaveWay::default();
        for (nth, link) in self.links.iter().enumerate() {
            match link.source.platforms(address, version).await {
                Ok(platforms) => all.get_or_insert_default().extend(platforms),
                Err(error) => match (link.method.after(PackageAnswer::of(&error)), error) {
                    (Continuation::Next, SourceError::NotOffered { what, .. }) => gave_way.note(what),
                    _ if all.is_some() => break,
                    (_, error) => return Err(self.blame(nth, address, Some(version), error)),
                },
            }
        }
        match all {
            Some(platforms) => Ok(platforms.into_iter().collect()),
            None => Err(self.not_offered(address, gave_way.verdict(version, None))),
        }
    }

    async fn offer(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
        if self.links.is_empty() {
            return Err(self.not_offered(address, self.empty.clone()));
        }
        let mut gave_way = GaveWay::default();
        for (nth, link) in self.links.iter().enumerate() {
            if let Some(what) = self.absent(nth, address, version) {
                gave_way.note(what);
                continue;
            }
            let error = match link.source.offer(address, version, platform).await {
                Ok(offer) => {
                    self.memory().offers.insert((offer.leaf.digest.clone(), offer.place.clone()), nth);
                    return Ok(offer);
                }
                Err(error) => error,
            };
            match (link.method.after(PackageAnswer::of(&error)), error) {
                (Continuation::Next, SourceError::NotOffered { what, .. }) => gave_way.note(what),
                (_, error) => return Err(self.blame(nth, address, Some(version), error)),
            }
        }
        Err(self.not_offered(address, gave_way.verdict(version, Some(platform))))
    }

    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        let nth = self.maker(offer).ok_or_else(|| self.not_offered(&offer.address, NotOffered::UnknownProvider))?;
        self.links[nth].source.hashes(offer).await
    }

    /// That of the first link that has the version, by the rules of an offer. An offer after it begins with that link.
    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Release, SourceError> {
        if self.links.is_empty() {
            return Err(self.not_offered(address, self.empty.clone()));
        }
        let mut gave_way = GaveWay::default();
        for (nth, link) in self.links.iter().enumerate() {
            match link.source.release(address, version).await {
                Ok(release) => {
                    self.memory().releases.insert((release.index.digest.clone(), release.place.clone()), nth);
                    return Ok(release);
                }
                Err(error @ SourceError::NoIndex { .. }) => return Err(error),
                Err(error) => match (link.method.after(PackageAnswer::of(&error)), error) {
                    (Continuation::Next, SourceError::NotOffered { what, .. }) => {
                        self.memory().absent.insert((nth, address.clone(), version.clone()), what.clone());
                        gave_way.note(what);
                    }
                    (_, error) => return Err(self.blame(nth, address, Some(version), error)),
                },
            }
        }
        Err(self.not_offered(address, gave_way.verdict(version, None)))
    }

    async fn release_of(&self, offer: &Offer) -> Result<Release, SourceError> {
        let nth = self.maker(offer).ok_or_else(|| self.not_offered(&offer.address, NotOffered::UnknownProvider))?;
        let release = self.links[nth].source.release_of(offer).await?;
        self.memory().releases.insert((release.index.digest.clone(), release.place.clone()), nth);
        Ok(release)
    }

    async fn evidence(&self, release: &Release, search: Search) -> Result<Vec<Evidence>, SourceError> {
        let unknown = || self.not_offered(&release.address, NotOffered::UnknownProvider);
        self.giver(release).ok_or_else(unknown)?.source.evidence(release, search).await
    }

    async fn release_hashes(
        &self,
        release: &Release,
    ) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        let unknown = || self.not_offered(&release.address, NotOffered::UnknownProvider);
        self.giver(release).ok_or_else(unknown)?.source.release_hashes(release).await
    }

    async fn open(&self, offer: &Offer, part: usize) -> Result<ByteStream, SourceError> {
        let nth = self.maker(offer).ok_or_else(|| self.not_offered(&offer.address, NotOffered::UnknownProvider))?;
        self.links[nth].source.open(offer, part).await
    }
}

#[cfg(test)]
mod tests;

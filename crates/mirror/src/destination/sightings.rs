//! When a version was first seen, and what `mirror` may withdraw: what it has put there itself.
//!
//! A record holds those of each provider under its name: a provider and its predecessor may share a repository, and what is
//! remembered of one says nothing about the other.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use tofu_oci_packer::Rename;
use tofu_oci_types::{Digest, ModuleAddr, Moment, Predecessors, ProviderAddr, Version};

use crate::{Destination, MirrorError, MirroredAddress};

/// What is remembered of a provider or module at one destination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sightings {
    /// By version, as it is written.
    versions: BTreeMap<String, Sighting>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sighting {
    seen: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<VersionMark>,
}

/// What `mirror` itself did with a version. The digest is that of the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionMark {
    /// It put the release there, for some of its platforms.
    Mirrored(Digest),
    /// It put the release there with every platform that it had, so that its place need not be asked again.
    Whole(Digest),
    /// It withdrew the release that it had put there.
    Withdrawn(Digest),
}

/// What is remembered at one destination, as it is written there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SightingsRecord {
    /// Of an earlier program, which wrote no provider's name. Empty in records of this one.
    #[serde(flatten)]
    pub(crate) unnamed: Sightings,
    #[serde(default)]
    pub(crate) providers: BTreeMap<ProviderAddr, Sightings>,
    /// The providers that runs bring here, each written before its first byte moves. Empty in records of earlier programs.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) claimed: BTreeSet<ProviderAddr>,
    /// The versions that a run brings or withdraws, with the time when it began, written before, and gone from here when their marks
    /// are written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) moving: BTreeMap<ProviderAddr, BTreeMap<String, Moment>>,
    /// The modules whose packages do not say so, in a repository of modules.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) modules: BTreeSet<ModuleAddr>,
    /// What is remembered of modules.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) seen_modules: BTreeMap<ModuleAddr, Sightings>,
    /// As `moving`, of modules.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) moving_modules: BTreeMap<ModuleAddr, BTreeMap<String, Moment>>,
}

/// An address with sightings in a record.
pub(crate) trait Sighted: MirroredAddress {
    /// The sightings of such addresses.
    fn sightings(record: &SightingsRecord) -> &BTreeMap<Self, Sightings>;

    /// The same, to be changed.
    fn sightings_mut(record: &mut SightingsRecord) -> &mut BTreeMap<Self, Sightings>;

    /// The versions of such addresses that a run was moving.
    fn moving(record: &SightingsRecord) -> &BTreeMap<Self, BTreeMap<String, Moment>>;

    /// The same, to be changed.
    fn moving_mut(record: &mut SightingsRecord) -> &mut BTreeMap<Self, BTreeMap<String, Moment>>;

    /// It, if it is a provider: entries without a name in a record of an earlier program are those of providers.
    fn provider(&self) -> Option<&ProviderAddr>;
}

impl Sighted for ProviderAddr {
    fn sightings(record: &SightingsRecord) -> &BTreeMap<Self, Sightings> {
        &record.providers
    }

    fn sightings_mut(record: &mut SightingsRecord) -> &mut BTreeMap<Self, Sightings> {
        &mut record.providers
    }

    fn moving(record: &SightingsRecord) -> &BTreeMap<Self, BTreeMap<String, Moment>> {
        &record.moving
    }

    fn moving_mut(record: &mut SightingsRecord) -> &mut BTreeMap<Self, BTreeMap<String, Moment>> {
        &mut record.moving
    }

    fn provider(&self) -> Option<&ProviderAddr> {
        Some(self)
    }
}

impl Sighted for ModuleAddr {
    fn sightings(record: &SightingsRecord) -> &BTreeMap<Self, Sightings> {
        &record.seen_modules
    }

    fn sightings_mut(record: &mut SightingsRecord) -> &mut BTreeMap<Self, Sightings> {
        &mut record.seen_modules
    }

    fn moving(record: &SightingsRecord) -> &BTreeMap<Self, BTreeMap<String, Moment>> {
        &record.moving_modules
    }

    fn moving_mut(record: &mut SightingsRecord) -> &mut BTreeMap<Self, BTreeMap<String, Moment>> {
        &mut record.moving_modules
    }

    fn provider(&self) -> Option<&ProviderAddr> {
        None
    }
}

impl SightingsRecord {
    /// What is remembered of a provider or module; `None` if nothing is.
    pub(crate) fn of<A: Sighted>(&self, address: &A) -> Option<&Sightings> {
        A::sightings(self).get(address)
    }

    /// Gives a name to what an earlier program wrote without one. A mark is of the provider that its index says it is of, and one
    /// of which nothing is said is forgotten: it could be another provider's. What has no mark is this provider's, unless there
    /// are others.
    pub(crate) fn name(&mut self, address: &ProviderAddr, said: &HashMap<Digest, ProviderAddr>) {
        let are_own = said.values().all(|said| said == address);
        for (version, mut sighting) in std::mem::take(&mut self.unnamed).versions {
            let said = sighting.mark.as_ref().and_then(|mark| said.get(mark.index()));
            let sightings = match said {
                Some(said) => self.providers.entry(said.clone()).or_default(),
                None if are_own => self.providers.entry(address.clone()).or_default(),
                None => &mut self.unnamed,
            };
            sighting.mark = sighting.mark.filter(|_| said.is_some());
            sightings.add_earlier(version, sighting);
        }
    }

    /// The same at a place of this provider alone.
    pub(crate) fn name_all(&mut self, address: &ProviderAddr) {
        for (version, sighting) in std::mem::take(&mut self.unnamed).versions {
            self.providers.entry(address.clone()).or_default().add_earlier(version, sighting);
        }
    }

    /// The other provider that earlier runs have brought here; `None` if they have brought this one, too, or its predecessor.
    /// For releases that say no address, only this record says whose they are.
    pub(crate) fn owner(&self, address: &ProviderAddr, predecessors: &Predecessors) -> Option<&ProviderAddr> {
        let brought: BTreeSet<_> =
            if self.claimed.is_empty() { self.marked().collect() } else { self.claimed.iter().collect() };
        let has_own = brought.iter().any(|of| predecessors.same_provider(of, address));
        brought.first().copied().filter(|_| !has_own)
    }

    /// The providers of which `mirror` has brought releases.
    fn marked(&self) -> impl Iterator<Item = &ProviderAddr> {
        self.providers.iter().filter(|(_, sightings)| sightings.marked().next().is_some()).map(|(of, _)| of)
    }

    /// Writes down that a run brings the provider, unless the place is another one's. Tells whether it was not written before.
    pub(crate) fn claim(&mut self, address: &ProviderAddr, (rename, predecessors): (Rename, &Predecessors)) -> bool {
        let is_new =
            (rename == Rename::Allow || self.owner(address, predecessors).is_none()) && !self.claimed.contains(address);
        if is_new {
            let earlier: Vec<ProviderAddr> = self.marked().cloned().collect();
            self.claimed.extend(earlier.into_iter().chain([address.clone()]));
        }
        is_new
    }

    /// Refuses a provider if its place is another one's.
    ///
    /// # Errors
    /// [`MirrorError::OtherProvider`].
    pub(crate) fn demand_own(
        &self,
        (destination, address): (&dyn Destination, &ProviderAddr),
        (rename, predecessors): (Rename, &Predecessors),
    ) -> Result<(), MirrorError> {
        match self.owner(address, predecessors).filter(|_| rename == Rename::Refuse) {
            Some(kept) => {
                let (kept, address) = (Box::new(kept.clone()), Box::new(address.clone()));
                Err(MirrorError::OtherProvider { place: destination.place(&address)?, kept, address })
            }
            None => Ok(()),
        }
    }

    /// The versions that `mirror` has marked for other providers alone.
    pub(crate) fn of_others(&self, address: &ProviderAddr, predecessors: &Predecessors) -> HashSet<&str> {
        let marked = |is_own: bool| {
            let of = self.providers.iter().filter(move |(of, _)| predecessors.same_provider(of, address) == is_own);
            let sightings = of.flat_map(|(_, sightings)| &sightings.versions);
            sightings.filter(|(_, sighting)| sighting.mark.is_some()).map(|(version, _)| version.as_str())
        };
        let own: HashSet<&str> = marked(true).collect();
        marked(false).filter(|version| !own.contains(version)).collect()
    }

    /// Replaces versions that are moving by others, which move from this time on.
    pub(crate) fn set_moving<A: Sighted>(
        &mut self,
        address: &A,
        ended: &BTreeSet<String>,
        begun: Option<(&BTreeSet<String>, Moment)>,
    ) {
        let all = A::moving_mut(self);
        let mut moving = all.remove(address).unwrap_or_default();
        moving.retain(|version, _| !ended.contains(version));
        if let Some((begun, now)) = begun {
            moving.extend(begun.iter().map(|version| (version.clone(), now)));
        }
        if !moving.is_empty() {
            all.insert(address.clone(), moving);
        }
    }

    /// Adds what a run knows of a provider or module, as [`Sightings::merge`] does.
    pub(crate) fn add<A: Sighted>(&mut self, address: &A, later: &Sightings) {
        A::sightings_mut(self).entry(address.clone()).or_default().merge(later);
    }
}

impl VersionMark {
    /// The index that it is about.
    pub(crate) fn index(&self) -> &Digest {
        match self {
            Self::Mirrored(index) | Self::Whole(index) | Self::Withdrawn(index) => index,
        }
    }
}

impl Sightings {
    /// When the version was first seen; `None` if it was not.
    pub fn seen(&self, version: &Version) -> Option<Moment> {
        self.versions.get(&version.to_string()).map(|sighting| sighting.seen)
    }

    /// What `mirror` did with the version last.
    pub fn mark(&self, version: &Version) -> Option<&VersionMark> {
        self.versions.get(&version.to_string())?.mark.as_ref()
    }

    /// The versions that `mirror` has put there, ascending.
    pub fn mirrored(&self) -> Vec<Version> {
        let is_there =
            |sighting: &Sighting| matches!(sighting.mark, Some(VersionMark::Mirrored(_) | VersionMark::Whole(_)));
        let there = self.versions.iter().filter(|(_, sighting)| is_there(sighting));
        let mut versions: Vec<Version> = there.filter_map(|(text, _)| text.parse().ok()).collect();
        versions.sort_by(Version::precedence);
        versions
    }

    /// A version is there now. An earlier sighting stays.
    pub fn see(&mut self, version: &Version, now: Moment) {
        let sighting = self.versions.entry(version.to_string()).or_insert(Sighting { seen: now, mark: None });
        sighting.seen = sighting.seen.min(now);
    }

    /// `mirror` did something with a version.
    pub fn set_mark(&mut self, version: &Version, mark: VersionMark, now: Moment) {
        self.see(version, now);
        if let Some(sighting) = self.versions.get_mut(&version.to_string()) {
            sighting.mark = Some(mark);
        }
    }

    /// The same without the marks that these have, too.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut news = self.clone();
        for (version, sighting) in &mut news.versions {
            let earlier = before.versions.get(version).and_then(|earlier| earlier.mark.as_ref());
            sighting.mark.take_if(|mark| Some(&*mark) == earlier);
        }
        news
    }

    /// What another run knew of a version before this one.
    fn add_earlier(&mut self, version: String, earlier: Sighting) {
        let known = self.versions.entry(version).or_insert_with(|| earlier.clone());
        known.seen = known.seen.min(earlier.seen);
        known.mark = known.mark.take().or(earlier.mark);
    }

    /// The indexes that marks are about.
    pub(crate) fn marked(&self) -> impl Iterator<Item = &Digest> {
        self.versions.values().filter_map(|sighting| sighting.mark.as_ref().map(VersionMark::index))
    }

    /// The same with what another run knows: the earlier sighting counts, and the marks of `later` replace those here.
    pub fn merge(&mut self, later: &Self) {
        for (version, sighting) in &later.versions {
            match self.versions.get_mut(version) {
                Some(known) => {
                    known.seen = known.seen.min(sighting.seen);
                    known.mark = sighting.mark.clone().or_else(|| known.mark.take());
                }
                None => {
                    self.versions.insert(version.clone(), sighting.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Moment {
        text.parse().unwrap()
    }

    #[test]
    fn the_earlier_sighting_and_the_later_mark_count() {
        let version: Version = "1.0.0".parse().unwrap();
        let (one, two) = (Digest::sha256(b"1"), Digest::sha256(b"2"));
        let mut first = Sightings::default();
        first.set_mark(&version, VersionMark::Mirrored(one), at("2026-01-02T00:00:00Z"));
        let mut second = Sightings::default();
        second.see(&version, at("2026-01-01T00:00:00Z"));
        let mut merged = first.clone();
        merged.merge(&second);
        assert_eq!(merged.seen(&version), Some(at("2026-01-01T00:00:00Z")));
        assert_eq!(merged.mark(&version), first.mark(&version));
        second.set_mark(&version, VersionMark::Withdrawn(two), at("2026-01-03T00:00:00Z"));
        merged.merge(&second);
        assert_eq!(merged.seen(&version), Some(at("2026-01-01T00:00:00Z")));
        assert_eq!(merged.mark(&version), second.mark(&version));
        assert_eq!(merged.mirrored(), []);
    }
}

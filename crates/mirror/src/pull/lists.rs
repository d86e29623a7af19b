//! What a pull-through does with the lists of both ends: it remembers, chooses and merges.

use std::collections::HashSet;
use std::time::SystemTime;

use tofu_oci_source::Listing;
use tofu_oci_types::{Event, Moment, Reporter, Version};

use crate::destination::first_seen::FirstSeen;
use crate::destination::sightings::{Sighted, SightingsRecord};
use crate::pull::outcome::PullOutcome;
use crate::select::{Candidates, MirrorChoice, choice};
use crate::{MinAge, MirrorError, MirrorRules};

/// One look at the lists of an address.
pub(crate) struct PullLists<'a, A: Sighted> {
    address: &'a A,
    rules: &'a MirrorRules<A>,
    reporter: &'a dyn Reporter,
    now: Moment,
}

impl<'a, A: Sighted> PullLists<'a, A> {
    pub(crate) fn new(address: &'a A, rules: &'a MirrorRules<A>, reporter: &'a dyn Reporter) -> Self {
        Self { address, rules, reporter, now: SystemTime::now().into() }
    }

    /// What was remembered of the place before this look; nothing is read or written if no age is demanded.
    pub(crate) async fn remembered(
        &self,
        first_seen: impl FnOnce() -> Result<FirstSeen<A>, MirrorError>,
        offered: &[Version],
    ) -> Result<Option<SightingsRecord>, MirrorError> {
        if self.rules.min_age == MinAge::default() {
            return Ok(None);
        }
        let first_seen = first_seen()?;
        let record = first_seen.record().await?;
        let known = record.as_ref().and_then(|record| record.of(self.address));
        let mut all = known.cloned().unwrap_or_default();
        for version in offered {
            all.see(version, self.now);
        }
        if (known != Some(&all) || first_seen.is_unnamed())
            && !offered.is_empty()
            && let Err(error) = first_seen.add(&all).await
        {
            let address = self.address;
            let text = format!("when the versions of {address} were first seen cannot be remembered: {error}");
            self.reporter.event(&Event::warning(error.code(), text));
        }
        Ok(record)
    }

    /// How the rules keep out a version, which the destination has or lacks; `None` if they admit it.
    pub(crate) fn keeps_out(
        &self,
        version: &Version,
        is_there: bool,
        record: Option<&SightingsRecord>,
    ) -> Option<PullOutcome> {
        PullOutcome::of_choice(&self.choice(version, &is_there.then_some(version).into_iter().collect(), record))
    }

    /// The versions of both ends that the rules admit. What the destination has withdrawn stays withdrawn.
    pub(crate) fn merged(&self, there: Listing, offered: Listing, record: Option<&SightingsRecord>) -> Listing {
        let present = there.versions.iter().collect();
        let own: HashSet<&Version> = there.versions.iter().chain(&there.withdrawn).collect();
        let mut listing = offered;
        listing.versions.retain(|version| !own.contains(version) && self.wants(version, &present, record));
        listing.versions.extend(there.versions.iter().filter(|one| self.wants(one, &present, record)).cloned());
        listing.withdrawn.extend(there.withdrawn);
        let listed: HashSet<&Version> = listing.versions.iter().collect();
        listing.withdrawn.retain(|version| !listed.contains(version));
        listing.deprecated.extend(there.deprecated);
        for versions in [&mut listing.versions, &mut listing.withdrawn, &mut listing.deprecated] {
            versions.sort_by(Version::precedence);
            versions.dedup();
        }
        listing
    }

    fn wants(&self, version: &Version, present: &HashSet<&Version>, record: Option<&SightingsRecord>) -> bool {
        self.choice(version, present, record) == MirrorChoice::Wanted
    }

    fn choice(&self, version: &Version, present: &HashSet<&Version>, record: Option<&SightingsRecord>) -> MirrorChoice {
        let sightings = record.and_then(|record| record.of(self.address));
        let candidates = Candidates { address: self.address, offered: &[], present, sightings, now: self.now };
        choice(self.rules, None, &candidates, version)
    }
}

//! What a provider's place lists and what the destination has, and what follows by the rules. Nothing is written.
//!
//! ```text
//! place         versions                                     1 request
//! destination   tags, the record of first sightings          2 requests, one after the other; 1 if there is no repository
//!               the index of each wanted version that is there
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _};
use tofu_oci_fetch::Trust;
use tofu_oci_source::{Listing, NotOffered, Release, Source, SourceError};
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{Moment, Platform, ProviderAddr, Reference, Reporter, Tag, Version};

use crate::attestations::{AttestationFiles, Attestations, JudgedFiles};
use crate::destination::first_seen::{FirstSeen, SeenNow};
use crate::destination::is_absent;
use crate::destination::sightings::{Sightings, VersionMark};
use crate::plan::{MirrorAction, MirrorOutcome, OtherVersions, Prune, WantedVersion, listed_by_stranger, unmet};
use crate::rules::{DelistedPolicy, MirrorRules};
use crate::select::{Candidates, MirrorChoice, SelectedVersion, select};
use crate::state::leave_replaced;
use crate::transfer::{demand_own, names};
use crate::{Destination, MirrorError};

mod attested;

/// The most characters of a warning that becomes a notice.
const REASON: usize = 1024;

/// How many versions of a provider are asked for at a time.
const VERSIONS: usize = 8;

/// What decides about a provider.
pub(crate) struct Question<'a> {
    pub(crate) rules: &'a MirrorRules,
    pub(crate) prune: Prune,
    pub(crate) now: Moment,
    pub(crate) destination: &'a dyn Destination,
    /// Whom to trust, what happens when the destination has a version of another provider, and which addresses count as one.
    pub(crate) trust: &'a Trust,
    /// Where attestations are.
    pub(crate) attestations: Option<&'a Attestations>,
    pub(crate) reporter: &'a dyn Reporter,
    pub(crate) address: &'a ProviderAddr,
    pub(crate) from: &'a dyn Source,
}

/// What was found of a provider, and what is to be done.
pub(crate) struct ProviderState {
    pub(crate) first_seen: FirstSeen,
    /// What earlier runs know; `None` in the first one.
    pub(crate) known: Option<Sightings>,
    /// The same with what is seen now.
    pub(crate) sightings: Sightings,
    /// What an interrupted run was moving, of which the sightings say by now what became of it.
    pub(crate) interrupted: BTreeSet<String>,
    /// The tags of the destination's repository; `None` if it is not one, or if they are not known.
    pub(crate) listed: Option<Vec<Tag>>,
    /// One entry a version, in ascending order; then what the rules no longer name.
    pub(crate) outcomes: Vec<(Option<Version>, Result<MirrorOutcome, MirrorError>)>,
    /// The releases that were asked for their platforms.
    pub(crate) releases: HashMap<Version, Arc<dyn Release>>,
    /// Attestations of releases that are carried.
    pub(crate) files: HashMap<Version, AttestationFiles>,
    /// Attestations that count for releases which the destination has.
    pub(crate) attestations: HashMap<Version, JudgedFiles>,
}

/// What both ends list.
struct TwoListings<'a> {
    from: &'a Listing,
    from_deprecated: HashSet<&'a Version>,
    there: HashSet<&'a Version>,
    withdrawn_there: HashSet<&'a Version>,
    half_withdrawn_there: HashSet<&'a Version>,
    deprecated_there: HashSet<&'a Version>,
}

impl<'a> TwoListings<'a> {
    fn new(from: &'a Listing, there: &'a Listing) -> Self {
        Self {
            from,
            from_deprecated: from.deprecated.iter().collect(),
            there: there.versions.iter().collect(),
            withdrawn_there: there.withdrawn.iter().collect(),
            half_withdrawn_there: there.half_withdrawn.iter().collect(),
            deprecated_there: there.deprecated.iter().collect(),
        }
    }
}

/// What becomes of a version, and the release if its place was asked for it.
struct ChosenOutcome {
    outcome: Result<MirrorOutcome, MirrorError>,
    release: Option<Arc<dyn Release>>,
    files: AttestationFiles,
    attestations: JudgedFiles,
}

impl From<Result<MirrorOutcome, MirrorError>> for ChosenOutcome {
    fn from(outcome: Result<MirrorOutcome, MirrorError>) -> Self {
        let (files, attestations) = (AttestationFiles::default(), JudgedFiles::default());
        Self { outcome, release: None, files, attestations }
    }
}

impl Question<'_> {
    pub(crate) async fn look(&self) -> Result<ProviderState, MirrorError> {
        let first_seen = FirstSeen::of(self.destination, self.address)?;
        let to = self.destination.source(self.address)?;
        let there = async {
            let there = to.versions(self.address).await;
            let is_new = matches!(&there, Err(SourceError::NotOffered { what: NotOffered::UnknownProvider, .. }));
            (there, if is_new { first_seen.record_of_new().await } else { first_seen.record().await })
        };
        let (from, (there, known)) = tokio::join!(self.from.versions(self.address), there);
        let there = match there {
            Err(error) if is_absent(&error) => Listing { tags: Some(Vec::new()), ..Listing::default() },
            there => there?,
        };
        let from = match from {
            Err(error) if is_unknown(&error) => match self.listed_by_stranger(&there) {
                Some(versions) => Listing { versions, ..Listing::default() },
                None => return Err(error.into()),
            },
            from => from?,
        };
        let lists = TwoListings::new(&from, &there);
        let record = known?.unwrap_or_default();
        record.demand_own((self.destination, self.address), names(self.trust))?;
        let seen = first_seen.seen_now(&record, (&there, &lists.from.versions), self.now).await?;
        let SeenNow { known, sightings, interrupted } = seen;
        let selection = select(
            self.rules,
            &Candidates {
                address: self.address,
                offered: &lists.from.versions,
                present: &lists.there,
                sightings: known.as_ref(),
                now: self.now,
            },
        );
        let choices = selection.versions.iter().map(|selected| self.choose(selected, &lists, &*to, &sightings).boxed());
        let choices: Vec<_> = choices.collect();
        let chosen: Vec<ChosenOutcome> = futures_util::stream::iter(choices).buffered(VERSIONS).collect().await;
        let (listed, outcomes, releases) = (there.tags.clone(), Vec::new(), HashMap::new());
        let (files, attestations) = (HashMap::new(), HashMap::new());
        let mut look = ProviderState {
            first_seen,
            known,
            sightings,
            interrupted,
            listed,
            outcomes,
            releases,
            files,
            attestations,
        };
        for (selected, chosen) in selection.versions.iter().zip(chosen) {
            let (version, ChosenOutcome { outcome, release, files, attestations }) = (&selected.version, chosen);
            look.releases.extend(release.map(|release| (version.clone(), release)));
            look.files.insert(version.clone(), files);
            if !attestations.counting.is_empty() {
                look.attestations.insert(version.clone(), attestations);
            }
            let warning = match &outcome {
                Ok(outcome) => self.warning(selected, &outcome.action, &lists, &mut look).await,
                Err(_) => None,
            };
            look.outcomes.push((Some(selected.version.clone()), outcome));
            if let Some(reason) = warning {
                look.outcomes.push((
                    Some(selected.version.clone()),
                    Ok(MirrorOutcome::still(MirrorAction::Deprecate { reason })),
                ));
            }
        }
        let decided = self.withdrawn_at_place(&lists, &*to, &mut look).await?;
        let others = OtherVersions {
            address: self.address,
            decided: &decided,
            selected: &selection.versions,
            present: &there.versions,
            half_withdrawn: &there.half_withdrawn,
            offered: &lists.from.versions,
            from: self.from.place(),
            sightings: &look.sightings,
            gone: self.rules.gone,
            prune: self.prune,
        };
        let (mut others, too_many) = others.actions();
        if let Some(store) = self.destination.store(self.address)? {
            leave_replaced(&*store, &look.sightings, &mut others).await?;
        }
        look.outcomes
            .extend(others.into_iter().map(|(version, action)| (Some(version), Ok(MirrorOutcome::still(action)))));
        look.outcomes.extend(too_many.map(|error| (None, Err(error))));
        for versions in selection.unmet {
            look.outcomes.push(unmet((self.from, self.address), versions, lists.from).await);
        }
        Ok(look)
    }

    fn listed_by_stranger(&self, there: &Listing) -> Option<Vec<Version>> {
        let rules = self.rules.providers.iter().filter(|rule| rule.is_for(self.address));
        let latest: Vec<Option<usize>> = rules.map(|rule| rule.latest).collect();
        let names_none = !latest.is_empty() && latest.iter().all(|latest| *latest == Some(0));
        listed_by_stranger(self.rules.gone, (self.prune, names_none), &there.versions)
    }

    async fn choose(
        &self,
        selected: &SelectedVersion,
        lists: &TwoListings<'_>,
        to: &dyn Source,
        sightings: &Sightings,
    ) -> ChosenOutcome {
        let outcome = match &selected.choice {
            MirrorChoice::Wanted => match self.wanted(selected, lists, to, sightings).await {
                Ok(chosen) => return chosen,
                Err(error) => Err(error),
            },
            MirrorChoice::Held { until } => Ok(MirrorOutcome::still(MirrorAction::Held { until: *until })),
            MirrorChoice::Denied { by } => Ok(MirrorOutcome::still(MirrorAction::Denied { by: by.clone() })),
        };
        outcome.into()
    }

    /// What becomes of a wanted version. Its place is not asked for it if the destination has all that the rules name, or if
    /// an earlier run carried it whole.
    async fn wanted(
        &self,
        selected: &SelectedVersion,
        lists: &TwoListings<'_>,
        to: &dyn Source,
        sightings: &Sightings,
    ) -> Result<ChosenOutcome, MirrorError> {
        let version = &selected.version;
        let is_listed = lists.there.contains(version);
        // One that is damaged is carried again.
        let there = if is_listed && self.destination.is_whole(self.address, version).await? {
            match to.release(self.address, version).await {
                Ok(release) => {
                    demand_own(release.id(), release.published_as(), names(self.trust))?;
                    Some((release.platforms().await?, release))
                }
                // The tag is listed, and has no manifest: it is carried again.
                Err(SourceError::Store(StoreError::NotFound { what: StoreItem::ManifestOfTag(_), .. })) => None,
                Err(error) => return Err(error.into()),
            }
        } else {
            None
        };
        let (there, present) = there.unzip();
        let is_withdrawn = lists.withdrawn_there.contains(version)
            || (is_listed && there.is_none() && self.is_withdrawn_meanwhile(version).await?);
        let has_all = |there: &Vec<Platform>| {
            !selected.platforms.is_empty() && selected.platforms.iter().all(|platform| there.contains(platform))
        };
        let mark = sightings.mark(version);
        let is_whole = matches!(mark, Some(VersionMark::Whole(_)));
        let (offered, release) = if there.as_ref().is_some_and(|there| is_whole || has_all(there)) {
            (None, None)
        } else {
            let release = self.from.release(self.address, version).await?;
            (Some(release.platforms().await?), Some(release))
        };
        let wanted = WantedVersion {
            selected,
            offered: offered.as_deref(),
            there: there.as_deref(),
            withdrawn: is_withdrawn,
            mark,
            platform_fill: self.destination.platform_fill(),
        };
        let mut chosen = ChosenOutcome { release, ..Ok(wanted.outcome()).into() };
        self.heed_attestations(&mut chosen, present, mark).await?;
        if lists.half_withdrawn_there.contains(version) && mark.is_some() && self.rules.gone != DelistedPolicy::Report {
            self.go_on_withdrawing(&mut chosen, version, to).await?;
        }
        Ok(chosen)
    }

    /// Whether a version that was listed a moment ago has been withdrawn at the destination since.
    async fn is_withdrawn_meanwhile(&self, version: &Version) -> Result<bool, MirrorError> {
        let (Some(store), Ok(tag)) = (self.destination.store(self.address)?, Tag::withdrawn(version)) else {
            return Ok(false);
        };
        match store.resolve(&Reference::Tag(tag)).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What the place says against a version that is there afterwards, unless the destination has a notice of it already or
    /// takes none.
    async fn warning(
        &self,
        selected: &SelectedVersion,
        action: &MirrorAction,
        lists: &TwoListings<'_>,
        look: &mut ProviderState,
    ) -> Option<NoticeReason> {
        let version = &selected.version;
        let is_there = matches!(action, MirrorAction::Add | MirrorAction::Widen { .. } | MirrorAction::Present);
        if !is_there || !self.takes_notices().is_ok_and(|takes| takes) || lists.deprecated_there.contains(version) {
            return None;
        }
        if lists.from_deprecated.contains(version) {
            let release = match look.releases.get(version) {
                Some(release) => Arc::clone(release),
                None => self.from.release(self.address, version).await.ok()?,
            };
            return release.notice().await.ok()?.map(|notice| notice.reason);
        }
        reason(&lists.from.warnings)
    }
}

/// Whether a place has answered that it does not have the provider.
fn is_unknown(error: &SourceError) -> bool {
    match error.innermost() {
        SourceError::NotOffered { what, .. } => what.is_unknown(),
        SourceError::Store(error) => matches!(error, StoreError::UnknownRepository { .. }),
        _ => false,
    }
}

/// The warnings of a registry as the reason of a notice, which has one line; `None` if they say nothing.
fn reason(warnings: &[String]) -> Option<NoticeReason> {
    let text = warnings.join("; ");
    let words: Vec<&str> = text.split(|one: char| one.is_whitespace() || one.is_control()).collect();
    let line: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    line.join(" ").chars().take(REASON).collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests;

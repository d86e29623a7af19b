//! What becomes of a version at the destination of a mirror: what the rules want against what is there.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Display;

use serde::Serialize;
use tofu_oci_source::{Listing, Source};
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{Constraints, Moment, Place, Platform, ProviderAddr, Version};

use crate::destination::PlatformFill;
use crate::destination::sightings::{Sightings, VersionMark};
use crate::rules::DelistedPolicy;
use crate::select::{MirrorChoice, SelectedVersion};
use crate::{LateAttestation, MirrorError};

/// How many versions are named if none meets the constraints.
const MOST_LISTED: usize = 10;
/// Why `mirror` withdraws what the rules no longer name.
const UNNAMED: &str = "the rules of the mirror no longer name this version";
/// Why it withdraws what is gone, after the name of the place.
const UNLISTED: &str = "no longer lists this version";

/// What becomes of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum MirrorAction {
    /// The destination lacks it: it is carried there.
    Add,
    /// The destination lacks some of its platforms: they are carried there.
    Widen {
        /// These.
        missing: Vec<Platform>,
    },
    /// A run withdrew it, and the rules name it again: it comes back.
    Reinstate,
    /// The destination has it.
    Present,
    /// It has not been seen for long enough.
    Held {
        /// From when on it is mirrored.
        until: Moment,
    },
    /// The lists of the rules keep it out.
    Denied {
        /// The entry of `deny`; `None` if `allow` has no entry for it.
        by: Option<String>,
    },
    /// It has no package for any platform that the rules name.
    NoPlatform,
    /// Its publisher at the destination withdrew it; `mirror` brings back only what it withdrew itself.
    WithdrawnThere,
    /// It would be withdrawn, and people have moved its tag: what is there is theirs, and stays.
    ReplacedThere,
    /// The destination has it for fewer platforms, and not from `mirror`: it stays as it is.
    NotOurs,
    /// Its publisher has withdrawn it, before it came: it is not carried.
    Withdrawn {
        /// What the notice says.
        reason: NoticeReason,
        /// Who signed it, as the policy calls them; `None` if no signature is required.
        signer: Option<String>,
    },
    /// Its place no longer lists it, or a notice withdraws it. It stays.
    Gone {
        /// What the notice says.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<NoticeReason>,
        #[serde(flatten)]
        decided: Withdrawer,
    },
    /// It is taken away from clients.
    Withdraw {
        /// Why, as its notice says it.
        reason: NoticeReason,
        #[serde(flatten)]
        decided: Withdrawer,
    },
    /// It stays, with a warning that its place has about it.
    Deprecate {
        /// The warning.
        reason: NoticeReason,
    },
    /// No version that the place lists meets the constraints of a rule.
    Unmet {
        /// The constraints.
        versions: Constraints,
        /// The newest versions that the place lists, highest first.
        listed: Vec<Version>,
    },
}

/// Who decides that a version goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decided_by", rename_all = "kebab-case")]
pub enum Withdrawer {
    /// `mirror`: the rules no longer name it.
    Rules,
    /// `mirror`: its place no longer lists it.
    Place,
    /// Its publisher, in a notice.
    Publisher {
        /// Who signed the notice, as the policy calls them; `None` if no signature is required.
        signer: Option<String>,
    },
}

/// What became of a version, or would become of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MirrorOutcome {
    /// What it is.
    #[serde(flatten)]
    pub action: MirrorAction,
    /// The platforms that the destination has of it afterwards, sorted; empty if no package moves.
    pub platforms: Vec<Platform>,
    /// Bytes that were sent, or that a plan would send; `None` if the place does not say how many.
    pub bytes: Option<u64>,
    /// Attestations that came after the version, which the destination has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attestations: Vec<LateAttestation>,
}

impl MirrorOutcome {
    /// One whose packages move, for these platforms. How many bytes that is is not known yet.
    pub(crate) fn moves(action: MirrorAction, platforms: Vec<Platform>) -> Self {
        Self { action, platforms, bytes: None, attestations: Vec::new() }
    }

    /// The platforms whose packages move.
    pub fn moving(&self) -> &[Platform] {
        if let MirrorAction::Widen { missing } = &self.action { missing } else { &self.platforms }
    }

    /// Whether it writes a notice and moves no package.
    pub(crate) fn is_notice(&self) -> bool {
        matches!(self.action, MirrorAction::Withdraw { .. } | MirrorAction::Reinstate | MirrorAction::Deprecate { .. })
    }

    /// One that moves no package.
    pub(crate) fn still(action: MirrorAction) -> Self {
        Self { bytes: Some(0), ..Self::moves(action, Vec::new()) }
    }
}

/// Whether a run takes away what the rules no longer name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    Keep,
    Withdraw,
}

/// What is known of a wanted version.
pub(crate) struct WantedVersion<'a> {
    /// The version, for the platforms that the rules name.
    pub(crate) selected: &'a SelectedVersion,
    /// The platforms that its place has; `None` if that did not have to be asked.
    pub(crate) offered: Option<&'a [Platform]>,
    /// Those that the destination has; `None` if it lacks the version.
    pub(crate) there: Option<&'a [Platform]>,
    /// Whether the destination keeps it as withdrawn.
    pub(crate) withdrawn: bool,
    pub(crate) mark: Option<&'a VersionMark>,
    /// Which releases of the destination get further platforms.
    pub(crate) platform_fill: PlatformFill,
}

impl WantedVersion<'_> {
    /// What becomes of it. How many bytes move is not known yet.
    pub(crate) fn outcome(&self) -> MirrorOutcome {
        let wanted: Vec<Platform> = match self.offered {
            Some(offered) if self.selected.platforms.is_empty() => offered.to_vec(),
            Some(offered) => offered.iter().filter(|one| self.selected.platforms.contains(one)).cloned().collect(),
            // The destination has what there is.
            None => Vec::new(),
        };
        match (self.there, self.mark) {
            (None, Some(VersionMark::Withdrawn(_))) if self.withdrawn => MirrorOutcome::still(MirrorAction::Reinstate),
            (None, _) if self.withdrawn => MirrorOutcome::still(MirrorAction::WithdrawnThere),
            (None, _) if wanted.is_empty() => MirrorOutcome::still(MirrorAction::NoPlatform),
            (None, _) => MirrorOutcome::moves(MirrorAction::Add, wanted),
            (Some(there), mark) => {
                let missing: Vec<Platform> = wanted.iter().filter(|one| !there.contains(one)).cloned().collect();
                match (mark, self.platform_fill) {
                    _ if missing.is_empty() => MirrorOutcome::still(MirrorAction::Present),
                    (Some(VersionMark::Mirrored(_) | VersionMark::Whole(_)), _) | (_, PlatformFill::Any) => {
                        let kept = |one: &&Platform| wanted.contains(one) || there.contains(one);
                        let platforms = self.offered.unwrap_or_default().iter().filter(kept).cloned().collect();
                        MirrorOutcome::moves(MirrorAction::Widen { missing }, platforms)
                    }
                    _ => MirrorOutcome::still(MirrorAction::NotOurs),
                }
            }
        }
    }
}

/// No more than one in so many mirrored versions may be gone: more look like a broken list.
const MOST_GONE: usize = 2;

/// What is known of the other versions of a provider or module at the destination.
pub(crate) struct OtherVersions<'a> {
    pub(crate) address: &'a dyn Display,
    pub(crate) selected: &'a [SelectedVersion],
    pub(crate) present: &'a [Version],
    /// Those that are withdrawn, and whose own tag is still listed.
    pub(crate) half_withdrawn: &'a [Version],
    pub(crate) offered: &'a [Version],
    pub(crate) from: &'a Place,
    pub(crate) sightings: &'a Sightings,
    pub(crate) gone: DelistedPolicy,
    pub(crate) prune: Prune,
    /// What is decided already, by the version's text.
    pub(crate) decided: &'a BTreeMap<String, (Version, MirrorAction)>,
}

impl OtherVersions<'_> {
    /// What becomes of the versions that `mirror` put there and that are not wanted or no longer listed; and
    /// [`MirrorError::AllGone`] if those that are gone stay because they are too many: a broken list looks like this.
    pub(crate) fn actions(&self) -> (Vec<(Version, MirrorAction)>, Option<MirrorError>) {
        let wanted: BTreeSet<String> = self
            .selected
            .iter()
            .filter(|selected| selected.choice == MirrorChoice::Wanted)
            .map(|selected| selected.version.to_string())
            .collect();
        let is_open = |version: &Version| !self.decided.contains_key(&version.to_string());
        let [mut present, offered] =
            [self.present, self.offered].map(|list| list.iter().collect::<HashSet<&Version>>());
        present.retain(|version| is_open(version));
        let mirrored = self.sightings.mirrored();
        let (ours, gone): (Vec<Version>, Vec<Version>) = mirrored
            .into_iter()
            .filter(|version| present.contains(version))
            .partition(|version| offered.contains(version));
        let of = ours.len() + gone.len();
        let pruned = |version: &Version| self.prune == Prune::Withdraw && !wanted.contains(&version.to_string());
        let unlisted = || withdraw(&format!("{} {UNLISTED}", self.from), Withdrawer::Place);
        let kept = || MirrorAction::Gone { reason: None, decided: Withdrawer::Place };
        // A version that an interrupted run began to withdraw does not count towards the share.
        let halves = self
            .half_withdrawn
            .iter()
            .filter(|version| self.sightings.mark(version).is_some() && is_open(version))
            .cloned();
        let (halves, half_gone): (Vec<Version>, Vec<Version>) = halves.partition(|version| offered.contains(version));
        let ours: Vec<Version> = ours.into_iter().filter(pruned).collect();
        let is_much = gone.len() > of / MOST_GONE || ours.len() + gone.len() >= present.len();
        let too_many = (self.gone == DelistedPolicy::Withdraw && is_much && !gone.is_empty()).then(|| {
            let (address, from) = (self.address.to_string(), self.from.clone());
            MirrorError::AllGone { address, from, gone: gone.len(), of }
        });
        let ours = ours.into_iter().chain(halves.into_iter().filter(pruned));
        let mut actions: Vec<(Version, MirrorAction)> = self.decided.values().cloned().collect();
        actions.extend(ours.map(|version| (version, withdraw(UNNAMED, Withdrawer::Rules))));
        actions.extend(half_gone.into_iter().map(|version| match self.gone {
            DelistedPolicy::Report => (version, kept()),
            DelistedPolicy::Withdraw | DelistedPolicy::WithdrawAll => (version, unlisted()),
        }));
        actions.extend(gone.into_iter().map(|version| match (self.gone, &too_many) {
            (DelistedPolicy::Report, _) | (_, Some(_)) => (version, kept()),
            (DelistedPolicy::Withdraw | DelistedPolicy::WithdrawAll, None) => (version, unlisted()),
        }));
        actions.sort_by(|(one, _), (other, _)| one.precedence(other));
        (actions, too_many)
    }
}

/// What the list of a place counts as that does not know the provider or module: as one that names whatever is there if the rules
/// name no version anyhow, and as an empty one if however many may go; `None` if it is an error.
pub(crate) fn listed_by_stranger(
    gone: DelistedPolicy,
    (prune, names_none): (Prune, bool),
    there: &[Version],
) -> Option<Vec<Version>> {
    match gone {
        _ if names_none && prune == Prune::Withdraw => Some(there.to_vec()),
        DelistedPolicy::WithdrawAll if !there.is_empty() => Some(Vec::new()),
        _ => None,
    }
}

fn withdraw(reason: &str, decided: Withdrawer) -> MirrorAction {
    let usual = || format!("its place {UNLISTED}").parse().expect("the text is one short line");
    MirrorAction::Withdraw { reason: reason.parse().unwrap_or_else(|_| usual()), decided }
}

/// What becomes of constraints that no listed version meets: a version that was withdrawn is named with the reason.
pub(crate) async fn unmet(
    (from, address): (&dyn Source, &ProviderAddr),
    versions: Constraints,
    listing: &Listing,
) -> (Option<Version>, Result<MirrorOutcome, MirrorError>) {
    if let Some(version) = listing.withdrawn.iter().rev().find(|version| versions.admits(version))
        && let Err(why) = from.release(address, version).await
    {
        return (Some(version.clone()), Err(why.into()));
    }
    let listed = listing.versions.iter().rev().take(MOST_LISTED).cloned().collect();
    (None, Ok(MirrorOutcome::still(MirrorAction::Unmet { versions, listed })))
}

#[cfg(test)]
mod tests;

//! What becomes of a version at the destination of a mirror: what the rules want against what is there.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;
use tofu_oci_source::{Listing, Source};
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{Constraints, Moment, Place, Platform, ProviderAddr, Version};

use crate::MirrorError;
use crate::destination::PlatformFill;
use crate::destination::sightings::{Sightings, VersionMark};
use crate::rules::DelistedPolicy;
use crate::select::{MirrorChoice, SelectedVersion};

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
    /// The destination has it for fewer platforms, and not from `mirror`: it stays as it is.
    NotOurs,
    /// Its place no longer lists it. It stays.
    Gone,
    /// It is taken away from clients.
    Withdraw {
        /// Why, as its notice says it.
        reason: NoticeReason,
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
}

impl MirrorOutcome {
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
        Self { action, platforms: Vec::new(), bytes: Some(0) }
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
    /// Whether `mirror` was interrupted when it withdrew it.
    pub(crate) is_interrupted: bool,
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
            (None, Some(_)) if self.is_interrupted => MirrorOutcome::still(MirrorAction::Reinstate),
            (None, _) if self.withdrawn => MirrorOutcome::still(MirrorAction::WithdrawnThere),
            (None, _) if wanted.is_empty() => MirrorOutcome::still(MirrorAction::NoPlatform),
            (None, _) => MirrorOutcome { action: MirrorAction::Add, platforms: wanted, bytes: None },
            (Some(there), mark) => {
                let missing: Vec<Platform> = wanted.iter().filter(|one| !there.contains(one)).cloned().collect();
                match (mark, self.platform_fill) {
                    _ if missing.is_empty() => MirrorOutcome::still(MirrorAction::Present),
                    (Some(VersionMark::Mirrored(_) | VersionMark::Whole(_)), _) | (_, PlatformFill::Any) => {
                        let kept = |one: &&Platform| wanted.contains(one) || there.contains(one);
                        let platforms = self.offered.unwrap_or_default().iter().filter(kept).cloned().collect();
                        MirrorOutcome { action: MirrorAction::Widen { missing }, platforms, bytes: None }
                    }
                    _ => MirrorOutcome::still(MirrorAction::NotOurs),
                }
            }
        }
    }
}

/// No more than one in so many mirrored versions may be gone: more look like a broken list.
const MOST_GONE: usize = 2;

/// How many of a provider's mirrored versions are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoneVersions {
    pub(crate) gone: usize,
    pub(crate) of: usize,
}

/// What is known of a provider's other versions at the destination.
pub(crate) struct OtherVersions<'a> {
    pub(crate) selected: &'a [SelectedVersion],
    pub(crate) present: &'a [Version],
    /// Those that are withdrawn, and whose own tag is still listed.
    pub(crate) half_withdrawn: &'a [Version],
    pub(crate) offered: &'a [Version],
    pub(crate) from: &'a Place,
    pub(crate) sightings: &'a Sightings,
    pub(crate) gone: DelistedPolicy,
    pub(crate) prune: Prune,
}

impl OtherVersions<'_> {
    /// What becomes of the versions that `mirror` put there and that are not wanted or no longer listed; and how many are gone, if
    /// they stay because they are too many: a broken list looks like this.
    pub(crate) fn actions(&self) -> (Vec<(Version, MirrorAction)>, Option<GoneVersions>) {
        let wanted: BTreeSet<String> = self
            .selected
            .iter()
            .filter(|selected| selected.choice == MirrorChoice::Wanted)
            .map(|selected| selected.version.to_string())
            .collect();
        let [present, offered] = [self.present, self.offered].map(|list| list.iter().collect::<HashSet<&Version>>());
        let mirrored = self.sightings.mirrored();
        let (ours, gone): (Vec<Version>, Vec<Version>) = mirrored
            .into_iter()
            .filter(|version| present.contains(version))
            .partition(|version| offered.contains(version));
        let of = ours.len() + gone.len();
        let pruned = |version: &Version| self.prune == Prune::Withdraw && !wanted.contains(&version.to_string());
        let unlisted = || withdraw(&format!("{} {UNLISTED}", self.from));
        // A version that an interrupted run began to withdraw does not count towards the share.
        let halves = self.half_withdrawn.iter().filter(|version| self.sightings.mark(version).is_some()).cloned();
        let (halves, half_gone): (Vec<Version>, Vec<Version>) = halves.partition(|version| offered.contains(version));
        let ours: Vec<Version> = ours.into_iter().filter(pruned).collect();
        let is_much = gone.len() > of / MOST_GONE || ours.len() + gone.len() >= present.len();
        let too_many = (self.gone == DelistedPolicy::Withdraw && is_much && !gone.is_empty())
            .then_some(GoneVersions { gone: gone.len(), of });
        let ours = ours.into_iter().chain(halves.into_iter().filter(pruned));
        let mut actions: Vec<(Version, MirrorAction)> = ours.map(|version| (version, withdraw(UNNAMED))).collect();
        actions.extend(half_gone.into_iter().map(|version| match self.gone {
            DelistedPolicy::Report => (version, MirrorAction::Gone),
            DelistedPolicy::Withdraw | DelistedPolicy::WithdrawAll => (version, unlisted()),
        }));
        actions.extend(gone.into_iter().map(|version| match (self.gone, &too_many) {
            (DelistedPolicy::Report, _) | (_, Some(_)) => (version, MirrorAction::Gone),
            (DelistedPolicy::Withdraw | DelistedPolicy::WithdrawAll, None) => (version, unlisted()),
        }));
        actions.sort_by(|(one, _), (other, _)| one.precedence(other));
        (actions, too_many)
    }
}

/// Whether the reason of a withdrawal is one that `mirror` gives.
pub(crate) fn is_of_mirror(reason: &NoticeReason) -> bool {
    reason.as_str() == UNNAMED || reason.as_str().ends_with(UNLISTED)
}

fn withdraw(reason: &str) -> MirrorAction {
    let usual = || format!("its place {UNLISTED}").parse().expect("the text is one short line");
    MirrorAction::Withdraw { reason: reason.parse().unwrap_or_else(|_| usual()) }
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
mod tests {
    use super::*;

    fn platforms(text: &str) -> Vec<Platform> {
        text.split_whitespace().map(|one| one.parse().unwrap()).collect()
    }

    struct Wanted {
        asked: &'static str,
        offered: Option<&'static str>,
        there: Option<&'static str>,
        withdrawn: bool,
        is_interrupted: bool,
        mark: Option<VersionMark>,
        platform_fill: PlatformFill,
    }

    impl Wanted {
        fn new(offered: &'static str) -> Self {
            Self {
                asked: "",
                offered: Some(offered),
                there: None,
                withdrawn: false,
                is_interrupted: false,
                mark: None,
                platform_fill: PlatformFill::Mirrored,
            }
        }

        #[track_caller]
        fn check(self, want: &str) {
            let selected = SelectedVersion {
                version: "1.0.0".parse().unwrap(),
                platforms: platforms(self.asked).into_iter().collect(),
                choice: MirrorChoice::Wanted,
            };
            let (offered, there) = (self.offered.map(platforms), self.there.map(platforms));
            let wanted = WantedVersion {
                selected: &selected,
                offered: offered.as_deref(),
                there: there.as_deref(),
                withdrawn: self.withdrawn,
                is_interrupted: self.is_interrupted,
                mark: self.mark.as_ref(),
                platform_fill: self.platform_fill,
            };
            let outcome = wanted.outcome();
            let action = serde_json::to_value(&outcome).unwrap();
            let moving: Vec<String> = outcome.platforms.iter().map(ToString::to_string).collect();
            assert_eq!(format!("{} {}", action["action"].as_str().unwrap(), moving.join(" ")).trim_end(), want);
        }
    }

    fn ours() -> VersionMark {
        VersionMark::Mirrored(tofu_oci_types::Digest::sha256(b""))
    }

    fn taken_away() -> VersionMark {
        VersionMark::Withdrawn(tofu_oci_types::Digest::sha256(b""))
    }

    #[test]
    fn a_wanted_version_is_added_widened_or_there() {
        Wanted::new("linux_amd64 darwin_arm64").check("add linux_amd64 darwin_arm64");
        Wanted { asked: "linux_amd64 windows_386", ..Wanted::new("linux_amd64 darwin_arm64") }.check("add linux_amd64");
        Wanted { asked: "windows_386", ..Wanted::new("linux_amd64") }.check("no-platform");
        Wanted { there: Some("linux_amd64"), ..Wanted::new("linux_amd64") }.check("present");
        Wanted { there: Some("linux_amd64 darwin_arm64"), ..Wanted::new("linux_amd64") }.check("present");
        Wanted { asked: "linux_amd64", offered: None, there: Some("linux_amd64"), ..Wanted::new("") }.check("present");
        Wanted { there: Some("linux_amd64"), mark: Some(ours()), ..Wanted::new("linux_amd64 darwin_arm64") }
            .check("widen linux_amd64 darwin_arm64");
    }

    #[test]
    fn a_tree_of_files_gets_the_platforms_that_it_lacks_whoever_wrote_it() {
        let in_tree = || Wanted { platform_fill: PlatformFill::Any, ..Wanted::new("darwin_arm64 linux_amd64") };
        Wanted { there: Some("linux_amd64"), ..in_tree() }.check("widen darwin_arm64 linux_amd64");
        Wanted { there: Some("linux_amd64"), asked: "linux_amd64", ..in_tree() }.check("present");
    }

    #[test]
    fn what_people_did_at_the_destination_stays() {
        Wanted { there: Some("linux_amd64"), ..Wanted::new("linux_amd64 darwin_arm64") }.check("not-ours");
        Wanted { withdrawn: true, ..Wanted::new("linux_amd64") }.check("withdrawn-there");
        Wanted { withdrawn: true, mark: Some(ours()), ..Wanted::new("linux_amd64") }.check("withdrawn-there");
        Wanted { withdrawn: true, mark: Some(taken_away()), ..Wanted::new("linux_amd64") }.check("reinstate");
        let half = || Wanted { withdrawn: true, is_interrupted: true, ..Wanted::new("linux_amd64") };
        half().check("withdrawn-there");
        Wanted { mark: Some(ours()), ..half() }.check("reinstate");
    }

    #[track_caller]
    fn check_others(gone: DelistedPolicy, prune: Prune, want: &str) {
        let versions = |text: &str| text.split_whitespace().map(|one| one.parse().unwrap()).collect::<Vec<Version>>();
        let now: Moment = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut sightings = Sightings::default();
        for version in versions("1.0.0 1.1.0 1.2.0 1.4.0 1.5.0") {
            sightings.set_mark(&version, ours(), now);
        }
        let selected = |version: &str, choice| SelectedVersion {
            version: version.parse().unwrap(),
            platforms: BTreeSet::new(),
            choice,
        };
        let others = OtherVersions {
            selected: &[selected("1.2.0", MirrorChoice::Wanted), selected("1.5.0", MirrorChoice::Denied { by: None })],
            // 1.3.0 was pushed by hand, and 1.4.0 is withdrawn already.
            present: &versions("1.0.0 1.1.0 1.2.0 1.3.0 1.5.0"),
            half_withdrawn: &[],
            offered: &versions("1.1.0 1.2.0 1.4.0 1.5.0"),
            from: &Place::Host("registry.example.com".to_owned()),
            sightings: &sightings,
            gone,
            prune,
        };
        let shown = |(version, action): (Version, MirrorAction)| match action {
            MirrorAction::Withdraw { reason } => format!("{version}: {reason}"),
            MirrorAction::Gone => format!("{version} gone"),
            other => format!("{version} {other:?}"),
        };
        assert_eq!(others.actions().0.into_iter().map(shown).collect::<Vec<_>>().join("; "), want);
    }

    /// Versions that `mirror` put there: what is done with those that are not listed.
    #[track_caller]
    fn check_gone(present: &str, offered: &str, gone: DelistedPolicy, want: &str) {
        let versions = |text: &str| text.split_whitespace().map(|one| one.parse().unwrap()).collect::<Vec<Version>>();
        let mut sightings = Sightings::default();
        for version in versions(present) {
            sightings.set_mark(&version, ours(), "2026-01-01T00:00:00Z".parse().unwrap());
        }
        let others = OtherVersions {
            selected: &[],
            present: &versions(present),
            half_withdrawn: &[],
            offered: &versions(offered),
            from: &Place::Host("registry.example.com".to_owned()),
            sightings: &sightings,
            gone,
            prune: Prune::Keep,
        };
        let (actions, too_many) = others.actions();
        let withdrawn = actions.iter().filter(|(_, action)| matches!(action, MirrorAction::Withdraw { .. })).count();
        let refused = too_many.map_or_else(String::new, |GoneVersions { gone, of }| format!(", {gone} of {of} stay"));
        assert_eq!(format!("{withdrawn} withdrawn{refused}"), want, "{present} | {offered}");
    }

    #[test]
    fn an_empty_answer_withdrew_every_mirrored_version() {
        check_gone("1.0.0 1.1.0 1.2.0 1.3.0", "", DelistedPolicy::Withdraw, "0 withdrawn, 4 of 4 stay");
        check_gone("1.0.0 1.1.0 1.2.0 1.3.0", "", DelistedPolicy::WithdrawAll, "4 withdrawn");
        check_gone("1.0.0 1.1.0 1.2.0 1.3.0", "1.3.0", DelistedPolicy::Withdraw, "0 withdrawn, 3 of 4 stay");
        check_gone("1.0.0 1.1.0 1.2.0 1.3.0", "1.2.0 1.3.0", DelistedPolicy::Withdraw, "2 withdrawn");
        check_gone("1.0.0", "2.0.0", DelistedPolicy::Withdraw, "0 withdrawn, 1 of 1 stay");
        check_gone("1.0.0 1.1.0 1.2.0", "1.1.0 1.2.0", DelistedPolicy::Withdraw, "1 withdrawn");
        check_gone("1.0.0", "1.0.0", DelistedPolicy::Withdraw, "0 withdrawn");
        check_gone("1.0.0 1.1.0", "", DelistedPolicy::Report, "0 withdrawn");
    }

    #[test]
    fn only_what_the_mirror_put_there_is_withdrawn() {
        check_others(DelistedPolicy::Report, Prune::Keep, "1.0.0 gone");
        check_others(DelistedPolicy::Withdraw, Prune::Keep, "1.0.0: registry.example.com no longer lists this version");
        check_others(
            DelistedPolicy::Report,
            Prune::Withdraw,
            "1.0.0 gone; 1.1.0: the rules of the mirror no longer name this version; \
             1.5.0: the rules of the mirror no longer name this version",
        );
    }
}

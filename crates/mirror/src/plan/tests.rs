//! What becomes of single versions.

use super::*;

fn platforms(text: &str) -> Vec<Platform> {
    text.split_whitespace().map(|one| one.parse().unwrap()).collect()
}

struct Wanted {
    asked: &'static str,
    offered: Option<&'static str>,
    there: Option<&'static str>,
    withdrawn: bool,
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
        address: &"acme/zap",
        selected: &[selected("1.2.0", MirrorChoice::Wanted), selected("1.5.0", MirrorChoice::Denied { by: None })],
        // 1.3.0 was pushed by hand, and 1.4.0 is withdrawn already.
        present: &versions("1.0.0 1.1.0 1.2.0 1.3.0 1.5.0"),
        half_withdrawn: &[],
        offered: &versions("1.1.0 1.2.0 1.4.0 1.5.0"),
        from: &Place::Host("registry.example.com".to_owned()),
        sightings: &sightings,
        gone,
        prune,
        decided: &BTreeMap::new(),
    };
    let shown = |(version, action): (Version, MirrorAction)| match action {
        MirrorAction::Withdraw { reason, .. } => format!("{version}: {reason}"),
        MirrorAction::Gone { .. } => format!("{version} gone"),
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
        address: &"acme/zap",
        selected: &[],
        present: &versions(present),
        half_withdrawn: &[],
        offered: &versions(offered),
        from: &Place::Host("registry.example.com".to_owned()),
        sightings: &sightings,
        gone,
        prune: Prune::Keep,
        decided: &BTreeMap::new(),
    };
    let (actions, too_many) = others.actions();
    let withdrawn = actions.iter().filter(|(_, action)| matches!(action, MirrorAction::Withdraw { .. })).count();
    let refused = match too_many {
        Some(MirrorError::AllGone { gone, of, .. }) => format!(", {gone} of {of} stay"),
        _ => String::new(),
    };
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

use std::path::PathBuf;

use tofu_oci_types::TextPosition;

use super::*;

fn demand(constraints: &str) -> ModuleDemand {
    let at = TextPosition { line: 3, column: 7 };
    let declared = Declared { path: PathBuf::from("versions.tf"), at };
    ModuleDemand {
        module: String::new(),
        path: String::new(),
        constraints: constraints.parse().expect("constraints"),
        declared,
    }
}

/// `demands` are separated by `;`, one a module. What is locked and admitted and newest, the state, and who holds it.
#[track_caller]
fn check(demands: &str, locked: Option<&str>, offered: &str, want: (&str, &str, UpgradeState, &str)) {
    let demands: Vec<ModuleDemand> = demands.split(';').filter(|text| !text.is_empty()).map(demand).collect();
    let all = demands.iter().fold(Constraints::any(), |all, demand| all.and(&demand.constraints));
    let locked: Option<Version> = locked.map(|text| text.parse().expect("a version"));
    let mut offered: Vec<Version> = offered.split_whitespace().map(|text| text.parse().expect("a version")).collect();
    offered.sort_by(Version::precedence);
    let got = compare(&all, &demands, locked.as_ref(), &offered);
    let shown = |version: &Option<Version>| version.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let held: Vec<String> = got.held_back_by.iter().map(|demand| demand.constraints.to_string()).collect();
    let got = (shown(&got.admitted), shown(&got.newest), got.state.unwrap(), held.join("; "));
    assert_eq!((got.0.as_str(), got.1.as_str(), got.2, got.3.as_str()), want);
}

#[test]
fn an_upgrade_goes_to_the_newest_that_all_modules_admit() {
    check("~> 1.4", Some("1.4.0"), "1.4.0 1.5.0", ("1.5.0", "1.5.0", UpgradeState::Upgrade, ""));
    check("~> 1.4", Some("1.4.0"), "1.4.0 1.5.0 2.0.0", ("1.5.0", "2.0.0", UpgradeState::Upgrade, "~> 1.4"));
    check("~> 1.4", Some("1.5.0"), "1.5.0 2.0.0", ("1.5.0", "2.0.0", UpgradeState::HeldBack, "~> 1.4"));
    check(">= 1.0;< 1.5", Some("1.4.0"), "1.4.0 1.5.0", ("1.4.0", "1.5.0", UpgradeState::HeldBack, "< 1.5.0"));
    check("", Some("1.5.0"), "1.4.0 1.5.0", ("1.5.0", "1.5.0", UpgradeState::UpToDate, ""));
}

#[test]
fn a_pre_release_counts_only_if_it_is_named() {
    check("", Some("1.4.0"), "1.4.0 2.0.0-rc.1", ("1.4.0", "1.4.0", UpgradeState::UpToDate, ""));
    let named = "2.0.0-rc.1";
    check(named, Some(named), "1.4.0 2.0.0-rc.1", (named, named, UpgradeState::UpToDate, ""));
    check(named, Some(named), "1.4.0 2.0.0-rc.1 2.0.0", (named, "2.0.0", UpgradeState::HeldBack, named));
    check("", None, "2.0.0-rc.1", ("-", "-", UpgradeState::NoMatch, ""));
}

#[test]
fn what_is_not_locked_or_not_offered_has_a_state_of_its_own() {
    check("~> 1.4", None, "1.4.0 2.0.0", ("1.4.0", "2.0.0", UpgradeState::NotLocked, "~> 1.4"));
    check("~> 1.4", Some("1.9.0"), "1.4.0 1.5.0", ("1.5.0", "1.5.0", UpgradeState::GoesBack, ""));
    check("~> 3.0", Some("1.4.0"), "1.4.0 2.0.0", ("-", "2.0.0", UpgradeState::NoMatch, "~> 3.0"));
    check("", Some("1.4.0"), "", ("-", "-", UpgradeState::NoMatch, ""));
}

#[test]
fn build_metadata_alone_is_no_upgrade() {
    check("", Some("1.4.0+a"), "1.4.0+a 1.4.0+b", ("1.4.0+b", "1.4.0+b", UpgradeState::UpToDate, ""));
}

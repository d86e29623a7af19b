//! Which crate may use which.

use super::table::{HouseFloor, HousePosition, position};
use super::workspace::{CratePackage, role};

/// The uses of a crate that lead beside or above it.
pub(super) fn findings(package: &CratePackage) -> Vec<String> {
    let user = package.role();
    let Some(here) = position(user) else {
        return vec![format!("{user}: has no floor yet; give it one in xtask/src/floors/table.rs and ARCHITECTURE.md")];
    };
    let ours = package.normal().filter_map(|dependency| role(&dependency.name));
    ours.filter_map(|used| wrong_use(user, here, used)).collect()
}

/// What is wrong with the crate `name` using the crate `used`, or `None` if it may.
fn wrong_use(name: &str, here: HousePosition, used: &str) -> Option<String> {
    match (here, position(used)?) {
        (HousePosition::Chores, _) => None,
        (_, HousePosition::Chores) => Some(format!("{name} uses {used}: no crate may use the chores")),
        (_, HousePosition::TestsOnly) => Some(format!("{name} uses {used}: it may only be a dev-dependency")),
        (HousePosition::TestsOnly, HousePosition::On(below)) if below <= HouseFloor::Rules => None,
        (HousePosition::TestsOnly, HousePosition::On(above)) => {
            Some(format!("{name} uses {used} on {above}: test support may use floors 0 and 1"))
        }
        (HousePosition::On(here), HousePosition::On(below)) if below < here => None,
        (HousePosition::On(here), HousePosition::On(other)) => {
            let relation = if here == other { "beside it" } else { "above it" };
            Some(format!("{name} ({here}) uses {used} ({other}): {relation}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::workspace::Dependency;
    use super::*;

    #[track_caller]
    fn check(role: &str, kind: Option<&str>, used: &str, want: &[&str]) {
        let dependency = Dependency { name: format!("tofu-oci-{used}"), kind: kind.map(str::to_owned) };
        assert_eq!(findings(&CratePackage::with(role, dependency)), want);
    }

    #[test]
    fn below_is_fine() {
        check("archive", None, "types", &[]);
        check("remote", None, "http", &[]);
        check("http", None, "store", &[]);
        check("source", None, "remote", &[]);
        check("fetch", None, "source", &[]);
        check("cli", None, "explain", &[]);
        check("testkit", None, "store", &[]);
    }

    #[test]
    fn beside_and_above_are_findings() {
        check("layout", None, "store", &["layout (floor 1) uses store (floor 1): beside it"]);
        check("packer", None, "installer", &["packer (floor 3) uses installer (floor 3): beside it"]);
        check("http", None, "remote", &["http (floor 1b) uses remote (floor 1c): above it"]);
        check("types", Some("build"), "cli", &["types (floor 0) uses cli (floor 4): above it"]);
    }

    #[test]
    fn test_support_is_a_dev_dependency() {
        check("remote", Some("dev"), "testkit", &[]);
        check("remote", None, "testkit", &["remote uses testkit: it may only be a dev-dependency"]);
        check("testkit", None, "source", &["testkit uses source on floor 2: test support may use floors 0 and 1"]);
    }

    #[test]
    fn dev_dependencies_may_go_up() {
        check("store", Some("dev"), "source", &[]);
    }

    #[test]
    fn a_new_crate_needs_a_floor() {
        let want = "attic: has no floor yet; give it one in xtask/src/floors/table.rs and ARCHITECTURE.md";
        check("attic", None, "types", &[want]);
    }
}

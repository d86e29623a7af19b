//! The floors of the house: which crate may use which, and which crates stay pure.
//!
//! ```text
//! floor 4   cli
//! floor 3   packer  installer  mirror  bridge  checker
//! floor 2   source
//! floor 1c  remote
//! floor 1b  http
//! floor 1   store  mapper  credentials  layout  archive  lockfile  trust
//! floor 0   types  hcl  disk
//! ```
//!
//! A crate uses crates on floors below it: never beside, never above. Dev-dependencies are free, except that `testkit`
//! is one everywhere but here. See ARCHITECTURE.md.

mod purity;
mod source_text;

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;

use crate::failure::{Doing, Failure, Outcome};
use crate::paths;

/// A storey of the house; the order of the variants is the order of the floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Floor {
    Words,
    Rules,
    Http,
    Network,
    Places,
    Jobs,
    People,
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Words => "floor 0",
            Self::Rules => "floor 1",
            Self::Http => "floor 1b",
            Self::Network => "floor 1c",
            Self::Places => "floor 2",
            Self::Jobs => "floor 3",
            Self::People => "floor 4",
        })
    }
}

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// On a floor.
    On(Floor),
    /// Beside the house: only tests use it, and it uses floors 0 and 1.
    TestsOnly,
    /// The chores: nobody uses them, they may use everything.
    Chores,
}

/// The table. A crate that is not in it has no place yet, which is a finding.
fn standing(role: &str) -> Option<Standing> {
    let floor = match role {
        "types" | "hcl" | "disk" => Floor::Words,
        "store" | "mapper" | "credentials" | "layout" | "archive" | "lockfile" | "trust" => Floor::Rules,
        "http" => Floor::Http,
        "remote" => Floor::Network,
        "source" => Floor::Places,
        "packer" | "installer" | "mirror" | "bridge" | "checker" => Floor::Jobs,
        "cli" => Floor::People,
        "testkit" => return Some(Standing::TestsOnly),
        "xtask" => return Some(Standing::Chores),
        _ => return None,
    };
    Some(Standing::On(floor))
}

/// A crate of the workspace.
#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

/// A line of a crate's dependency tables.
#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

impl Package {
    fn role(&self) -> &str {
        role(&self.name).unwrap_or(&self.name)
    }

    /// The dependencies that end up in the product.
    fn normal(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"))
    }
}

/// The role of a crate of ours; `None` for everybody else's.
fn role(name: &str) -> Option<&str> {
    name.strip_prefix("tofu-oci-").or((name == "xtask").then_some("xtask"))
}

/// Prints what stands where it must not; a failure when there is anything.
pub(crate) fn run() -> Outcome {
    let packages = packages()?;
    let mut findings: Vec<String> = packages.iter().flat_map(order_findings).collect();
    for package in &packages {
        findings.extend(purity::findings(package)?);
    }
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("floors: {} crates, each uses only crates below it; pure crates are pure", packages.len());
            Ok(())
        }
        count => Err(Failure::new(format!("{count} things stand on the wrong floor (ARCHITECTURE.md, floors)"))),
    }
}

fn packages() -> Outcome<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(paths::root())
        .output()
        .doing(|| "starting cargo metadata".to_owned())?;
    if !output.status.success() {
        return Err(Failure::new(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr))));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).doing(|| "reading cargo metadata".to_owned())?;
    Ok(metadata.packages)
}

fn order_findings(package: &Package) -> Vec<String> {
    let role_of_user = package.role();
    let Some(user) = standing(role_of_user) else {
        return vec![format!(
            "{role_of_user}: has no floor yet; give it one in xtask/src/floors.rs and ARCHITECTURE.md"
        )];
    };
    let ours = package.normal().filter_map(|dependency| role(&dependency.name));
    ours.filter_map(|used| wrong_use(role_of_user, user, used)).collect()
}

/// What is wrong with the crate `name` depending on the crate `used`, if anything is.
fn wrong_use(name: &str, place: Standing, used: &str) -> Option<String> {
    match (place, standing(used)?) {
        (Standing::Chores, _) => None,
        (_, Standing::Chores) => Some(format!("{name} uses {used}: chores are nobody's dependency")),
        (_, Standing::TestsOnly) => Some(format!("{name} uses {used}: it may only be a dev-dependency")),
        (Standing::TestsOnly, Standing::On(below)) if below <= Floor::Rules => None,
        (Standing::TestsOnly, Standing::On(above)) => {
            Some(format!("{name} uses {used} on {above}: test support may use floors 0 and 1"))
        }
        (Standing::On(here), Standing::On(below)) if below < here => None,
        (Standing::On(here), Standing::On(other)) => {
            let relation = if here == other { "beside it" } else { "above it" };
            Some(format!("{name} ({here}) uses {used} ({other}): {relation}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(role: &str, kind: Option<&str>, used: &str, want: &[&str]) {
        let dependency = Dependency { name: format!("tofu-oci-{used}"), kind: kind.map(str::to_owned) };
        let name = format!("tofu-oci-{role}");
        let package = Package { name, manifest_path: PathBuf::new(), dependencies: vec![dependency] };
        assert_eq!(order_findings(&package), want);
    }

    #[test]
    fn below_is_fine() {
        check("archive", None, "types", &[]);
        check("remote", None, "store", &[]);
        check("remote", None, "http", &[]);
        check("remote", None, "credentials", &[]);
        check("source", None, "remote", &[]);
        check("cli", None, "installer", &[]);
        check("testkit", None, "store", &[]);
    }

    #[test]
    fn beside_and_above_are_findings() {
        check("layout", None, "store", &["layout (floor 1) uses store (floor 1): beside it"]);
        check("packer", None, "installer", &["packer (floor 3) uses installer (floor 3): beside it"]);
        check("store", None, "remote", &["store (floor 1) uses remote (floor 1c): above it"]);
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
        let want = "attic: has no floor yet; give it one in xtask/src/floors.rs and ARCHITECTURE.md";
        check("attic", None, "types", &[want]);
    }
}

//! The crates of the workspace and everything that they reach, as cargo reports them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;

/// A crate's name and version.
pub(crate) type CrateVersion = (String, String);

/// What `cargo metadata` prints.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    packages: Vec<CratePackage>,
    resolve: Resolve,
}

/// A crate, of the workspace or from elsewhere.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct CratePackage {
    pub(super) id: String,
    pub(super) name: String,
    version: String,
    /// `None` for a crate of the workspace.
    source: Option<String>,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

/// A line of a crate's dependency tables.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Option<String>,
}

/// Which crate uses which, features and platforms considered.
#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<ResolveNode>,
}

#[derive(Debug, Deserialize)]
struct ResolveNode {
    id: String,
    deps: Vec<ResolvedUse>,
}

#[derive(Debug, Deserialize)]
struct ResolvedUse {
    pkg: String,
    dep_kinds: Vec<UseKind>,
}

#[derive(Debug, Deserialize)]
struct UseKind {
    kind: Option<String>,
}

impl CratePackage {
    /// The name in the table of floors: without the prefix of ours.
    pub(super) fn role(&self) -> &str {
        role(&self.name).unwrap_or(&self.name)
    }

    /// The folder of its sources.
    pub(super) fn sources(&self) -> PathBuf {
        self.manifest_path.with_file_name("src")
    }

    /// The dependencies that end up in the product.
    pub(super) fn normal(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"))
    }
}

/// The role of a crate of the workspace, or `None` for any other name.
pub(super) fn role(name: &str) -> Option<&str> {
    name.strip_prefix("tofu-oci-").or((name == "xtask").then_some("xtask"))
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read() -> ChoreResult<Self> {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--format-version", "1"])
            .current_dir(paths::root())
            .output()
            .doing(|| "starting cargo metadata".to_owned())?;
        if !output.status.success() {
            return Err(ChoreFailure::new(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr))));
        }
        serde_json::from_slice(&output.stdout).doing(|| "reading cargo metadata".to_owned())
    }

    /// Where the sources of a crate lie, also of one from elsewhere.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        let package = self.packages.iter().find(|package| package.name == name)?;
        package.manifest_path.parent().map(Path::to_owned)
    }

    /// The crates of the workspace.
    pub(super) fn crates(&self) -> impl Iterator<Item = &CratePackage> {
        self.packages.iter().filter(|package| package.source.is_none())
    }

    /// The shortest ways from a crate to the crates named in `to`, past those in `around`, as the names on the way.
    pub(super) fn ways<'a>(&'a self, from: &'a CratePackage, to: &[&str], around: &[&str]) -> Vec<Vec<&'a str>> {
        let uses: BTreeMap<&str, &ResolveNode> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let names: BTreeMap<&str, &str> =
            self.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
        let mut met = BTreeSet::from([from.id.as_str()]);
        let mut open = VecDeque::from([(from.id.as_str(), vec![from.role()])]);
        let mut ways = Vec::new();
        while let Some((here, way)) = open.pop_front() {
            for next in uses.get(here).iter().flat_map(|node| &node.deps) {
                let name = names.get(next.pkg.as_str()).map_or("", |name| role(name).unwrap_or(name));
                let in_product = next.dep_kinds.iter().any(|kind| kind.kind.is_none());
                if !in_product || around.contains(&name) || !met.insert(&next.pkg) {
                    continue;
                }
                let way: Vec<&str> = way.iter().copied().chain([name]).collect();
                if to.contains(&name) {
                    ways.push(way);
                } else {
                    open.push_back((&next.pkg, way));
                }
            }
        }
        ways
    }

    /// The crates from elsewhere among those in `built`, each with the dependencies of ours that reach it; build scripts count.
    pub(crate) fn brought(
        &self,
        program: &str,
        built: &BTreeSet<CrateVersion>,
    ) -> BTreeMap<CrateVersion, BTreeSet<&str>> {
        let packages: BTreeMap<&str, &CratePackage> =
            self.packages.iter().map(|package| (package.id.as_str(), package)).collect();
        let uses: BTreeMap<&str, &ResolveNode> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let start = packages.values().find(|package| package.name == program);
        let mut open: Vec<(&str, Option<&str>)> = start.iter().map(|package| (package.id.as_str(), None)).collect();
        let mut met = BTreeSet::new();
        let mut brought = BTreeMap::<CrateVersion, BTreeSet<&str>>::new();
        while let Some((here, by)) = open.pop() {
            for next in uses.get(here).iter().flat_map(|node| &node.deps) {
                let Some(package) = packages.get(next.pkg.as_str()) else { continue };
                let one = (package.name.clone(), package.version.clone());
                let in_build = next.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"));
                if !in_build || !built.contains(&one) {
                    continue;
                }
                let by = package.source.as_ref().map(|_| by.unwrap_or(&package.name));
                if let Some(by) = by {
                    brought.entry(one).or_default().insert(by);
                }
                if met.insert((package.id.as_str(), by)) {
                    open.push((&package.id, by));
                }
            }
        }
        brought
    }
}

#[cfg(test)]
impl CratePackage {
    /// A made-up crate with one dependency.
    pub(super) fn with(role: &str, dependency: Dependency) -> Self {
        let name = format!("tofu-oci-{role}");
        Self {
            id: name.clone(),
            name,
            version: String::new(),
            source: None,
            manifest_path: PathBuf::new(),
            dependencies: vec![dependency],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace in which each crate uses those after it: `a > b dev:c`.
    fn workspace(lines: &[&str]) -> Workspace {
        let mut packages = Vec::new();
        let mut nodes = Vec::new();
        for line in lines {
            let (name, below) = line.split_once(" >").unwrap();
            let uses = |word: &str| {
                let (kind, pkg) =
                    word.split_once(':').map_or((None, word), |(kind, name)| (Some(kind.to_owned()), name));
                ResolvedUse { pkg: pkg.to_owned(), dep_kinds: vec![UseKind { kind }] }
            };
            nodes.push(ResolveNode { id: name.to_owned(), deps: below.split_whitespace().map(uses).collect() });
            let name = name.to_owned();
            let manifest_path = PathBuf::new();
            let version = "1".to_owned();
            let source = (!name.starts_with("tofu-oci")).then(|| "elsewhere".to_owned());
            packages.push(CratePackage {
                id: name.clone(),
                name,
                version,
                source,
                manifest_path,
                dependencies: vec![],
            });
        }
        Workspace { packages, resolve: Resolve { nodes } }
    }

    #[track_caller]
    fn check(lines: &[&str], around: &[&str], want: &[&[&str]]) {
        let workspace = workspace(lines);
        assert_eq!(workspace.ways(&workspace.packages[0], &["tokio"], around), want);
    }

    #[test]
    fn a_way_through_another_crate_is_found() {
        let lines = ["tofu-oci-lockfile > tofu-oci-disk", "tofu-oci-disk > tokio", "tokio >"];
        check(&lines, &[], &[&["lockfile", "disk", "tokio"]]);
        check(&lines, &["disk"], &[]);
        check(&["trust > tokio ring", "tokio >", "ring > tokio"], &[], &[&["trust", "tokio"]]);
    }

    #[test]
    fn a_way_past_an_allowed_crate_is_found() {
        let lines = ["archive > tofu-oci-disk tar", "tofu-oci-disk > tokio", "tar > tokio", "tokio >"];
        check(&lines, &["disk"], &[&["archive", "tar", "tokio"]]);
    }

    #[test]
    fn a_crate_is_brought_by_each_dependency_of_ours_that_reaches_it() {
        let lines = ["tofu-oci-cli > tofu-oci-http dev:tempfile", "tofu-oci-http > tokio tar", "tokio > libc build:cc"];
        let workspace = workspace(&[&lines[..], &["tar > libc", "libc >", "cc >", "tempfile >"]].concat());
        let one = |name: &str| (name.to_owned(), "1".to_owned());
        let all = ["tofu-oci-http", "tokio", "tar", "libc", "cc", "tempfile"].map(one).into();
        let brought = workspace.brought("tofu-oci-cli", &all);
        let by = |name: &str| brought.get(&one(name)).map(|by| by.iter().copied().collect::<Vec<_>>());
        assert_eq!(by("libc"), Some(vec!["tar", "tokio"]));
        assert_eq!(by("cc"), Some(vec!["tokio"]));
        assert_eq!(by("tofu-oci-http").or(by("tempfile")), None);
    }

    #[test]
    fn what_only_tests_and_build_scripts_use_is_not_reached() {
        check(&["trust > dev:tokio build:tokio", "tokio >"], &[], &[]);
    }
}

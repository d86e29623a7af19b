//! The crates that are part of the program, with their licences: from cargo's own metadata, for one target.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::process::ProgramRun;

/// A crate of the program.
#[derive(Debug, Deserialize)]
pub(super) struct DistCrate {
    id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    #[serde(default)]
    pub(super) authors: Vec<String>,
    pub(super) repository: Option<String>,
    pub(super) source: Option<String>,
    manifest_path: PathBuf,
    /// The crates that it uses, by their references in a bill of materials.
    #[serde(skip)]
    pub(super) uses: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<DistCrate>,
    resolve: DependencyGraph,
}

#[derive(Deserialize)]
struct DependencyGraph {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<NodeDependency>,
}

#[derive(Deserialize)]
struct NodeDependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

impl DistCrate {
    /// Its package URL, which is its reference.
    pub(super) fn purl(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }

    /// The texts of licences and notices that lie in it, sorted by name.
    pub(super) fn texts(&self) -> ChoreResult<Vec<String>> {
        let folder = self.manifest_path.parent().unwrap_or(Path::new(""));
        let entries = fs::read_dir(folder).doing(|| format!("reading {}", folder.display()))?;
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<ChoreResult<Vec<_>>>()?;
        files.retain(|file| file.is_file() && is_licence(file));
        files.sort();
        files.iter().map(|file| Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())).collect()
    }
}

fn is_licence(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"].iter().any(|begin| name.starts_with(begin))
}

/// The program's crate first, then all that it is made of for this target, sorted by name and version.
pub(super) fn of_program(root: &Path, triple: &str) -> ChoreResult<Vec<DistCrate>> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", triple];
    let bytes = ProgramRun::inheriting(env!("CARGO")).args(arguments).directory(root).bytes()?;
    let metadata: Metadata = serde_json::from_slice(&bytes)?;
    linked(metadata, "tofu-oci-cli")
}

/// What a crate is made of: its dependencies, those of these, and so on, without those of builds and tests.
fn linked(metadata: Metadata, name: &str) -> ChoreResult<Vec<DistCrate>> {
    let uses: BTreeMap<String, Vec<String>> = metadata.resolve.nodes.into_iter().map(uses).collect();
    let mut crates: BTreeMap<String, DistCrate> =
        metadata.packages.into_iter().map(|package| (package.id.clone(), package)).collect();
    let first = crates.values().find(|package| package.name == name).map(|package| package.id.clone());
    let first = first.ok_or_else(|| ChoreFailure::new(format!("the workspace has no crate {name}")))?;
    let purls: BTreeMap<String, String> = crates.iter().map(|(id, package)| (id.clone(), package.purl())).collect();
    let (mut found, mut open) = (Vec::new(), vec![first]);
    while let Some(id) = open.pop() {
        let Some(mut package) = crates.remove(&id) else { continue };
        let below = uses.get(&id).into_iter().flatten();
        package.uses = below.clone().filter_map(|id| purls.get(id).cloned()).collect();
        open.extend(below.cloned());
        found.push(package);
    }
    found[1..].sort_by(|left, right| (&left.name, &left.version).cmp(&(&right.name, &right.version)));
    Ok(found)
}

fn uses(node: Node) -> (String, Vec<String>) {
    let linked = |dependency: &NodeDependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
    (node.id, node.deps.into_iter().filter(linked).map(|dependency| dependency.pkg).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    impl DistCrate {
        pub(in super::super) fn lies_in(&mut self, folder: &Path) {
            self.manifest_path = folder.join("Cargo.toml");
        }
    }

    /// A program that uses `b`, which uses `a`; `t` is for tests.
    pub(in super::super) fn sample() -> Vec<DistCrate> {
        let package = |name: &str, source: Value| {
            json!({
                "id": name, "name": name, "version": "1.0.0", "license": "MIT", "authors": ["Ann"], "repository": null,
                "source": source, "manifest_path": "/nowhere/Cargo.toml"
            })
        };
        let node = |name: &str, deps: &[(&str, Value)]| {
            let deps = deps.iter().map(|(name, kind)| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] }));
            json!({ "id": name, "deps": deps.collect::<Vec<_>>() })
        };
        let registry = || json!("registry+https://example.com/index");
        let metadata = json!({
            "packages": [
                package("a", registry()), package("p", Value::Null), package("t", registry()), package("b", registry())
            ],
            "resolve": { "nodes": [
                node("p", &[("b", Value::Null), ("t", json!("dev"))]), node("b", &[("a", Value::Null)]), node("a", &[])
            ]},
        });
        linked(serde_json::from_value(metadata).unwrap(), "p").unwrap()
    }

    #[test]
    fn what_only_tests_use_is_no_part() {
        let names = sample().iter().map(|package| package.name.clone()).collect::<Vec<_>>();
        assert_eq!(names, ["p", "a", "b"]);
        assert_eq!(sample()[2].uses, BTreeSet::from(["pkg:cargo/a@1.0.0".to_owned()]));
    }

    #[test]
    fn licences_are_known_by_their_names() {
        let is = |name: &str| is_licence(Path::new(name));
        assert!(is("LICENSE-MIT") && is("licence.txt") && is("COPYING") && is("UNLICENSE"));
        assert!(!is("README.md") && !is("Cargo.toml"));
    }
}

//! The prediction against what the real programs did: the 39 repositories of `testdata/testrepos`, and the cases of
//! `testdata/checker/repositories.json`, each built from its description and measured with `OpenTofu` itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on")]

mod build;
mod modules;
mod registry;
mod zip;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tofu_oci_checker::Rejection;
use tofu_oci_checker::facts::{Depth, RepositoryFacts, Versions, What, read};
use tofu_oci_checker::opentofu::{AskedProvider, PredictionRequest, RepositoryPrediction, Request, predict};
use tofu_oci_store::DirStore;
use tofu_oci_types::{NoReporter, Platform, ProviderAddr, Version};

/// When set, the repositories of the cases are left in this folder, to be put before the real program.
const KEEP: &str = "TOFU_OCI_KEEP_REPOSITORIES";

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn cases(file: &Path) -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// What is asked: the newest version, or the one of a constraint.
fn question(constraint: Option<&str>) -> Option<Version> {
    constraint.map(|text| text.parse().unwrap())
}

fn rows(facts: &RepositoryFacts, version: Option<&Version>) -> Vec<RepositoryPrediction> {
    let address: ProviderAddr = "registry.example.test/acme/widget".parse().unwrap();
    let request = version.map_or(Request::Newest, Request::Exactly);
    let platforms: [Platform; 1] = ["linux_amd64".parse().unwrap()];
    predict(facts, &PredictionRequest { provider: AskedProvider::Named(&address), request, platforms: &platforms })
}

async fn predicted(folder: &Path, constraint: Option<&str>) -> Vec<RepositoryPrediction> {
    let store = DirStore::open(folder).unwrap();
    let what = What { versions: Versions::All, depth: Depth::Packages, work_dir: std::env::temp_dir() };
    rows(&read(&store, &what, &NoReporter).await.unwrap(), question(constraint).as_ref())
}

fn reported(verdict: &str, version: Option<&str>, because: Option<&str>) -> String {
    match verdict {
        "installs" => format!("installs {}", version.unwrap_or("?")),
        _ => format!("refuses: {}", because.unwrap_or("?")),
    }
}

/// Measured cases with another code here. Those that are malformed are not predicted; of damaged archives two codes tell
/// less than Go's messages.
const OTHER_CODES: [(&str, &str); 21] = [
    ("entry-data-bad", "malformed"),
    ("index-manifests-twice", "malformed"),
    ("index-manifests-twice-empty", "malformed"),
    ("index-platform-twice", "malformed"),
    ("index-platform-twice-null", "malformed"),
    ("layer-platform-twice", "malformed"),
    ("leaf-duplicate-layers-null", "malformed"),
    ("leaf-layers-twice", "malformed"),
    ("leaf-layers-twice-platform", "malformed"),
    ("zip-compressed-beyond", "damaged-archive"),
    ("zip-compressed-huge", "damaged-archive"),
    ("zip-compressed-more", "damaged-archive"),
    ("zip-conflict-after-fault", "entry-not-writable"),
    ("zip-local-bad", "damaged-archive"),
    ("zip-local-bad-other", "damaged-archive"),
    ("zip-offset-one", "damaged-archive"),
    ("zip-records-more", "not-a-zip"),
    ("zip-records-none", "not-a-zip"),
    ("zip-size-less", "damaged-archive"),
    ("zip-stored-deflate-data", "damaged-archive"),
    ("zip-zip64-lost", "not-a-zip"),
];

async fn check(folder: &Path, case: &Value) -> Option<String> {
    let other = OTHER_CODES.iter().find(|(name, _)| case["case"] == *name).map(|(_, code)| *code);
    let rows = predicted(folder, case["constraint"].as_str()).await;
    assert_eq!(rows.len(), 1);
    let measured = case["opentofu"].as_str().unwrap_or("not measured");
    if let Some(code) = other {
        assert!(code == "malformed" || measured == "refuses", "{case}");
    }
    let want = match other {
        Some(code) => reported("refuses", None, Some(code)),
        None => reported(measured, case["version"].as_str(), case["because"].as_str()),
    };
    for row in rows {
        let version = row.version.as_ref().map(ToString::to_string);
        let verdict = if row.installs { "installs" } else { "refuses" };
        let got = reported(verdict, version.as_deref(), row.because.as_ref().map(Rejection::code));
        if got != want || row.unread != (other == Some("malformed")) {
            return Some(format!(
                "{} ({}), {}: predicted {got}, measured {want}",
                case["case"], case["what"], row.releases
            ));
        }
    }
    None
}

#[tokio::test]
async fn the_shared_repositories_are_predicted() {
    let cases = cases(&testdata("testrepos/expected.json"));
    assert_eq!(cases.len(), 39);
    let mut wrong = Vec::new();
    for case in &cases {
        wrong.extend(check(&testdata("testrepos").join(case["case"].as_str().unwrap()), case).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_measured_repository_is_predicted() {
    let cases = cases(&testdata("checker/repositories.json"));
    let temporary = tempfile::tempdir().unwrap();
    let root = std::env::var_os(KEEP).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let mut wrong = Vec::new();
    for case in &cases {
        let folder = root.join(case["case"].as_str().unwrap());
        build::repository(case, &folder);
        wrong.extend(check(&folder, case).await);
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

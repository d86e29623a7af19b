//! What an installation records, for every measured case.

use tofu_oci_layout::PackageLayout;
use tofu_oci_lockfile::WriteOutcome;
use tofu_oci_testkit::Vectors;

use super::fixture::{PLATFORM, Workspace, store};
use crate::InstallOutcome;

/// Sources of the kinds that [`tofu_oci_source::NotRead`] refuses, so that nothing is recorded.
const NOT_READ: &[&str] = &[
    "registry, host registry.opentofu.org, keys present, signature valid, no packages field",
    "same, with packages field (>=1.12)",
    "registry, other host, keys valid",
    "registry, other host, no keys",
    "network mirror, hashes given for the platform",
    "network mirror, trust_all_hashes=true, provider on registry.opentofu.org",
    "network mirror, trust_all_hashes=true, provider on another host",
];

#[test]
fn what_is_recorded() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    Vectors::open("lock_hash_recording.json").each("cases", |case| match case["source"].as_str().unwrap() {
        "oci_mirror" => runtime.block_on(from_a_repository(case)),
        "already installed and matches lock" => runtime.block_on(already_installed(case)),
        source => assert!(NOT_READ.contains(&source), "no test has been written for {source}"),
    });
}

/// The same two lines as `OpenTofu`, and the leaf's own.
async fn from_a_repository(case: &serde_json::Value) {
    assert_eq!(case["recorded"], serde_json::json!(["h1(local)", "zh:<hex of blob sha256>"]));
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.install(store).await.unwrap();
    let own = &published[PLATFORM];
    let mut want = vec![own.h1.to_string(), own.zh.to_string()];
    want.extend(own.ch.values().map(ToString::to_string));
    want.sort();
    assert_eq!(workspace.locked(), want);
}

async fn already_installed(case: &serde_json::Value) {
    let want = "lock entry rewritten with all previous hashes incl. unknown schemes, new constraints";
    assert_eq!(case["recorded"], want);
    let (store, published) = store(PackageLayout::Artifact).await;
    let workspace = Workspace::new();
    workspace.install(store.clone()).await.unwrap();
    let (own, other) = (&published[PLATFORM], "x9:other".parse().unwrap());
    let ch = own.ch.values().next().unwrap();
    workspace.lock("1.0.0", &[&own.h1, &own.zh, ch, &other]);
    let mut job = workspace.job(store);
    job.constraints = "~> 1.0".parse().unwrap();
    let (installed, written) = workspace.run(vec![job]).await.unwrap();
    assert_eq!((installed[0].outcome, written), (InstallOutcome::AlreadyInstalled, WriteOutcome::Updated));
    assert_eq!(workspace.locked().len(), 4, "every line is there");
    let text = std::fs::read_to_string(workspace.lock_path()).unwrap();
    assert!(text.contains("constraints = \"~> 1.0\"") && text.contains("x9:other"), "{text}");
}

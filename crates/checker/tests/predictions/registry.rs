//! The same repositories in a registry: what is predicted from there, looked into and not.

use std::sync::Arc;

use tofu_oci_checker::Rejection;
use tofu_oci_checker::facts::{Depth, Versions, What, read};
use tofu_oci_remote::{ClientOptions, NoCredentials, RegistryClient};
use tofu_oci_testkit::Registry;
use tofu_oci_types::NoReporter;

use crate::{cases, rows, testdata};

/// Refused for what lies inside a layer, or differs from what its descriptor says: not seen from outside.
const INSIDE: [&str; 7] = [
    "digest-mismatch",
    "size-mismatch",
    "not-a-zip",
    "executable-not-found",
    "unsafe-entry",
    "empty-archive",
    "installs",
];

#[tokio::test]
async fn a_registry_is_predicted_as_the_folder_is_and_what_was_not_read_is_said() {
    let registry = Registry::start();
    let client = RegistryClient::new(ClientOptions::default(), Arc::new(NoCredentials), Arc::new(NoReporter)).unwrap();
    let cases = cases(&testdata("testrepos/expected.json"));
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case["case"].as_str().unwrap();
        registry.put_layout(name, &testdata("testrepos").join(name));
        let store = client.store(format!("{}/{name}", registry.address()).parse().unwrap());
        let want = case["because"].as_str().unwrap_or("installs");
        for depth in [Depth::Packages, Depth::Manifests] {
            let what = What { versions: Versions::All, depth, work_dir: std::env::temp_dir() };
            let facts = match read(&store, &what, &NoReporter).await {
                Ok(facts) => facts,
                // A registry that was never pushed to knows no such repository.
                Err(error) => {
                    assert!(error.is_not_found() && want == "no-versions", "{name}: {error}");
                    continue;
                }
            };
            let unread = depth == Depth::Manifests && INSIDE.contains(&want);
            let want = if unread { "installs" } else { want };
            for row in rows(&facts, None) {
                let got = row.because.as_ref().map_or("installs", Rejection::code);
                if got != want || row.unread != unread {
                    wrong.push(format!("{name}, {depth:?}: {got}, unread: {}", row.unread));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

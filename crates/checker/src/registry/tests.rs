use std::fmt::Write as _;
use std::sync::Arc;

use tofu_oci_remote::{ClientOptions, NoCredentials, RegistryClient};
use tofu_oci_testkit::{Behaviour, Check, Deletion, Location, Mounting, Paging, Referrers, Registry};
use tofu_oci_types::NoReporter;

use super::{ProbeError, ProbeReport, ProbeRequest, State, probe};

fn client() -> Arc<RegistryClient> {
    RegistryClient::new(ClientOptions::default(), Arc::new(NoCredentials), Arc::new(NoReporter)).unwrap()
}

async fn run(registry: &Registry) -> Result<ProbeReport, ProbeError> {
    let client = client();
    let raw = |name: &str| client.raw(format!("{}/{name}", registry.address()).parse().unwrap());
    let (scratch, other) = (raw("acme/scratch"), raw("acme/scratch-mount"));
    probe(&ProbeRequest { scratch: &scratch, mount_from: Some(&other), seed: "1" }).await
}

fn rows(report: &ProbeReport) -> String {
    let mut text = String::new();
    for row in &report.capabilities {
        let _ = writeln!(text, "{:<24} {:<9} {}", row.name, row.state.word(), row.detail);
    }
    text
}

/// A registry that can do everything the specification says.
fn able() -> Behaviour {
    Behaviour {
        referrers: Referrers::Supported,
        paging: Paging::Relative(100),
        content_range: Check::On,
        single_post: Check::On,
        deletion: Deletion::Enabled,
        ..Behaviour::default()
    }
}

#[tokio::test]
async fn a_registry_like_registry_2() {
    let registry = Registry::start();
    let report = run(&registry).await.unwrap();
    insta::assert_snapshot!(rows(&report), @"");
    insta::assert_snapshot!(report.meaning.join("\n"), @"");
    assert!(!report.left.is_empty());
}

#[tokio::test]
async fn a_registry_that_can_do_more() {
    let registry = Registry::builder().behaviour(able()).start();
    let report = run(&registry).await.unwrap();
    insta::assert_snapshot!(rows(&report), @"");
    assert_eq!(report.left, Vec::<String>::new());
    assert_eq!(registry.digests("acme/scratch"), Vec::<String>::new());
    assert_eq!(registry.tags("acme/scratch"), Vec::new());
    assert_eq!(registry.digests("acme/scratch-mount"), Vec::<String>::new());
}

#[track_caller]
fn check(report: &ProbeReport, name: &str, state: State, rule: &str) {
    assert_eq!(report.state(name), state, "{name}");
    assert!(report.findings.iter().any(|finding| finding.rule.id == rule), "{rule}");
}

#[tokio::test]
async fn what_registries_get_wrong_is_found() {
    let odd = Behaviour {
        referrers: Referrers::SubjectHeaderOnly,
        mounting: Mounting::StartsUpload,
        manifest_check: Check::Off,
        ..able()
    };
    let registry = Registry::builder().behaviour(odd).start();
    let report = run(&registry).await.unwrap();
    check(&report, "mount-own", State::Missing, "registry-mount");
    check(&report, "oci-subject", State::Differs, "registry-referrers");
    check(&report, "index-checked", State::Differs, "registry-index-check");
    assert_eq!(report.state("referrers-tag"), State::Works);
    let other = Registry::start();
    let elsewhere = Behaviour { location: Location::Elsewhere(other.url().to_owned()), ..able() };
    let registry = Registry::builder().behaviour(elsewhere).start();
    // Nothing of that name is at the other origin.
    assert!(matches!(run(&registry).await, Err(ProbeError::NoUpload { .. })));
}

#[tokio::test]
async fn a_repository_in_use_is_left_alone() {
    let registry = Registry::start();
    let digest = registry.put_manifest("acme/scratch", "application/vnd.oci.image.index.v1+json", "{}");
    registry.put_tag("acme/scratch", "1.0.0", &digest);
    let error = run(&registry).await.expect_err("it must refuse");
    assert!(error.to_string().ends_with("is no scratch repository: it has the tags 1.0.0"), "{error}");
    assert_eq!(registry.requests_to("POST", "*").len(), 0);
    assert_eq!(registry.requests_to("PUT", "*").len(), 0);
}

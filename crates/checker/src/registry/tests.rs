use std::fmt::Write as _;
use std::sync::Arc;

use tofu_oci_remote::{ClientOptions, NoCredentials, RegistryClient};
use tofu_oci_testkit::{
    Answer, Behaviour, Deletion, Fault, Location, Mounting, Paging, ReferrersSupport, Registry, Rule, Switch,
};
use tofu_oci_types::NoReporter;

use super::{CapabilityState, ProbeError, ProbeReport, ProbeRequest, probe};

fn client() -> Arc<RegistryClient> {
    RegistryClient::new(ClientOptions::default(), Arc::new(NoCredentials), Arc::new(NoReporter)).unwrap()
}

async fn run(registry: &Registry) -> Result<ProbeReport, ProbeError> {
    let client = client();
    let raw = |name: &str| client.raw(format!("{}/{name}", registry.address()).parse().unwrap());
    let (scratch, other) = (raw("acme/scratch"), raw("acme/scratch-mount"));
    probe(&ProbeRequest { scratch: &scratch, mount_from: Some(&other), seed: "1" }, std::future::pending()).await
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
        referrers: ReferrersSupport::Supported,
        paging: Paging::Relative(100),
        content_range: Switch::On,
        single_post: Switch::On,
        deletion: Deletion::Enabled,
        ..Behaviour::default()
    }
}

#[tokio::test]
async fn a_registry_like_registry_2() {
    let registry = Registry::start();
    let report = run(&registry).await.unwrap();
    insta::assert_snapshot!(rows(&report), @r#"
    upload-post-put          works     POST 202, PUT 201
    upload-location          works     on the registry's own origin
    empty-config             works     PUT 201
    upload-one-post          missing   POST 202: it opens an upload instead, as it may
    upload-chunked           works     PATCH 202, PATCH 202, PUT 201
    chunk-out-of-order       differs   PATCH 202: it takes the chunk as if it were the first
    upload-streamed          works     PATCH 202, PUT 201
    mount-own                works     POST 201
    mount-other              works     POST 201
    mount-anonymous          missing   POST 202: it opens an upload instead, as it may
    blob-ranges              works     GET 206
    digest-checked           works     PUT 400 DIGEST_INVALID
    sha512                   works     PUT 201
    image                    works     PUT 201
    layer-type               works     PUT 201
    artifact-type            works     PUT 201
    config-type              works     PUT 201
    index                    works     PUT 201
    index-checked            works     PUT 400 MANIFEST_BLOB_UNKNOWN
    head-tag                 works     HEAD 200
    head-digest              works     HEAD 200
    manifest-by-digest       works     GET 200
    manifest-4-mib           works     PUT 201
    tags                     works     GET 200, sorted
    tags-n                   missing   `n` is ignored: 4 tags at once
    tags-last                missing   `last` is ignored
    tag-again                works     PUT 201
    tag-moved                works     PUT 201
    referrer                 works     PUT 201
    referrers-api            missing   GET 404
    oci-subject              missing   not sent
    referrers-tag            works     PUT 201, and it comes back
    referrer-before-subject  works     PUT 201
    delete-tag               missing   DELETE 405 UNSUPPORTED
    delete-manifest          missing   DELETE 405 UNSUPPORTED
    delete-blob              missing   DELETE 405 UNSUPPORTED
    "#);
    insta::assert_snapshot!(report.meaning.join("\n"), @r#"
    tofu-oci push: every layout (artifact, image, both)
    OpenTofu 1.10 to 1.13: do not install from here, since it answers plain HTTP; over HTTPS they would, through an oci_mirror
    signatures: as referrers, listed under a tag sha256-HEX; one more request to find them
    tags: can be moved and not deleted; a wrong tag such as `2` stays
    "#);
    assert!(!report.left.is_empty());
}

#[tokio::test]
async fn a_registry_that_can_do_more() {
    let registry = Registry::builder().behaviour(able()).start();
    let report = run(&registry).await.unwrap();
    insta::assert_snapshot!(rows(&report), @r#"
    upload-post-put          works     POST 202, PUT 201
    upload-location          works     on the registry's own origin
    empty-config             works     PUT 201
    upload-one-post          works     POST 201
    upload-chunked           works     PATCH 202, PATCH 202, PUT 201
    chunk-out-of-order       works     PATCH 416
    upload-streamed          works     PATCH 202, PUT 201
    mount-own                works     POST 201
    mount-other              works     POST 201
    mount-anonymous          missing   POST 202: it opens an upload instead, as it may
    blob-ranges              works     GET 206
    digest-checked           works     PUT 400 DIGEST_INVALID
    sha512                   works     PUT 201
    image                    works     PUT 201
    layer-type               works     PUT 201
    artifact-type            works     PUT 201
    config-type              works     PUT 201
    index                    works     PUT 201
    index-checked            works     PUT 400 MANIFEST_BLOB_UNKNOWN
    head-tag                 works     HEAD 200
    head-digest              works     HEAD 200
    manifest-by-digest       works     GET 200
    manifest-4-mib           works     PUT 201
    tags                     works     GET 200, sorted
    tags-n                   works     two tags and a Link to the next page
    tags-last                works     GET 200
    tag-again                works     PUT 201
    tag-moved                works     PUT 201
    referrer                 works     PUT 201
    referrers-api            works     GET 200, and the referrer is listed
    referrers-filter         works     other types are left out
    oci-subject              works     it names the subject
    referrers-tag            works     PUT 201, and it comes back
    referrer-before-subject  works     PUT 201
    delete-tag               missing   DELETE 400 DIGEST_INVALID
    delete-manifest          works     DELETE 202
    delete-blob              works     DELETE 202
    "#);
    assert_eq!(report.left, Vec::<String>::new());
    assert_eq!(registry.digests("acme/scratch"), Vec::<String>::new());
    assert_eq!(registry.tags("acme/scratch"), Vec::new());
    assert_eq!(registry.digests("acme/scratch-mount"), Vec::<String>::new());
}

#[track_caller]
fn check(report: &ProbeReport, name: &str, state: CapabilityState, rule: &str) {
    assert_eq!(report.state(name), state, "{name}");
    assert!(report.findings.iter().any(|finding| finding.rule.id == rule), "{rule}");
}

#[tokio::test]
async fn what_registries_get_wrong_is_found() {
    let odd = Behaviour {
        referrers: ReferrersSupport::SubjectHeaderOnly,
        mounting: Mounting::StartsUpload,
        manifest_check: Switch::Off,
        ..able()
    };
    let registry = Registry::builder().behaviour(odd).start();
    let report = run(&registry).await.unwrap();
    check(&report, "mount-own", CapabilityState::Missing, "registry-mount");
    check(&report, "oci-subject", CapabilityState::Differs, "registry-referrers");
    check(&report, "index-checked", CapabilityState::Differs, "registry-index-check");
    assert_eq!(report.state("referrers-tag"), CapabilityState::Works);
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
    assert!(error.to_string().ends_with("is not a scratch repository: it has the tags 1.0.0"), "{error}");
    assert_eq!(registry.requests_to("POST", "*").len(), 0);
    assert_eq!(registry.requests_to("PUT", "*").len(), 0);
}

#[tokio::test]
async fn a_repository_whose_tags_cannot_be_seen_is_not_written_to() {
    for status in [401, 403, 405, 500] {
        let registry = Registry::start();
        registry.fault(Rule::on("GET", "/v2/acme/scratch/tags/list*").then(Fault::Answer(Answer::new(status))));
        assert!(run(&registry).await.is_err(), "{status}");
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            assert_eq!(registry.requests_to(method, "*").len(), 0, "{status} {method}");
        }
    }
}

#[tokio::test]
async fn a_foreign_tag_on_the_second_page_and_a_signature_are_seen() {
    for foreign in
        ["z", "tofu-oci-probe-z", "sha256-0000000000000000000000000000000000000000000000000000000000000000.sig"]
    {
        let registry = Registry::builder().behaviour(Behaviour { paging: Paging::Relative(1), ..able() }).start();
        let digest = registry.put_manifest("acme/scratch", "application/vnd.oci.image.index.v1+json", "{}");
        for tag in ["tofu-oci-probe-a", foreign] {
            registry.put_tag("acme/scratch", tag, &digest);
        }
        assert!(matches!(run(&registry).await, Err(ProbeError::InUse { .. })), "{foreign}");
        assert_eq!(registry.requests_to("DELETE", "*").len(), 0);
    }
}

#[tokio::test]
async fn an_empty_config_that_was_there_before_stays() {
    let registry = Registry::builder().behaviour(able()).start();
    let digest = registry.put_blob("acme/scratch", "{}");
    let report = run(&registry).await.unwrap();
    assert_eq!(report.left, Vec::<String>::new());
    assert_eq!(registry.digests("acme/scratch"), [digest.to_string()]);
}

#[tokio::test]
async fn a_deletion_without_an_answer_keeps_no_other_from_being_made() {
    let registry = Registry::builder().behaviour(able()).start();
    registry.fault(Rule::on("DELETE", "/v2/acme/scratch/manifests/tofu-oci-probe-*").then(Fault::Disconnect));
    let report = run(&registry).await.unwrap();
    assert_eq!(report.left, Vec::<String>::new(), "a tag goes with its manifest");
    assert_eq!(registry.digests("acme/scratch"), Vec::<String>::new());
}

//! Attestations of what a bridge fetches, given as files: judged, carried and kept.

use std::time::SystemTime;

use serde_json::{Value, json};
use tofu_oci_testkit::{Answer, BuiltBy, Fault, LocalSigstore, Rule, Upstream};
use tofu_oci_types::Digest;

use super::Serving;
use super::upstreams::{prepared, settings};
use crate::setup::Scene;

const ARCHIVE: &str = "/mirror/registry.example.test/acme/zap/terraform-provider-zap_1.0.0_linux_amd64.zip";
const RELEASE: &str = "/mirror/registry.example.test/acme/zap/1.0.0.json";
const POLICY: &str = r#"
[[identity]]
name = "acme release"
repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
root = "root.json"

[[rule]]
providers = ["registry.example.test/acme/zap"]
keys = ["acme release"]
"#;

/// An upstream whose release must be attested, and the instance that attests it.
fn demanding() -> (Scene, Upstream, LocalSigstore) {
    let (scene, upstream) = prepared();
    let sigstore = LocalSigstore::generate(SystemTime::now());
    scene.context.write("root.json", sigstore.root());
    scene.context.write("trust.toml", POLICY);
    scene.context.write("attestations/README", "of upstream releases");
    (scene, upstream, sigstore)
}

fn attest(scene: &Scene, upstream: &Upstream, sigstore: &LocalSigstore) {
    let subject = |platform: &&str| {
        let digest = Digest::sha256(&upstream.zip("acme/zap", "1.0.0", platform));
        json!({ "name": format!("terraform-provider-zap_1.0.0_{platform}.zip"), "digest": { "sha256": digest.encoded() } })
    };
    let subjects: Vec<Value> = ["darwin_arm64", "linux_amd64"].iter().map(subject).collect();
    let bundle = sigstore.attest(&BuiltBy::RELEASE, "https://slsa.dev/provenance/v1", &subjects);
    scene.context.write("attestations/zap/1.0.0.json", bundle);
}

#[test]
fn a_bridge_fetched_releases_without_their_attestations() {
    let (scene, upstream, sigstore) = demanding();
    attest(&scene, &upstream, &sigstore);
    let attestations = "attestations = \"attestations/${type}/${version}.json\"";
    let serving = Serving::with(&scene, &settings("[\"direct\"]", "", attestations));
    assert!(serving.json(RELEASE)["archives"].get("linux_amd64").is_some(), "{}", serving.log());
    let got = serving.get(ARCHIVE);
    assert!(got.is_whole && got.body == upstream.zip("acme/zap", "1.0.0", "linux_amd64"), "{}", serving.log());
    let said = scene.run("verify registry.example.test/acme/zap@1.0.0 --from REGISTRY/m/acme/zap").success();
    assert!(said.stdout.contains("built by"), "{}", said.text);
}

#[test]
fn a_release_without_the_attestation_that_a_rule_demands_is_not_fetched() {
    let (scene, _upstream, _) = demanding();
    let attestations = "attestations = \"attestations/${type}/${version}.json\"";
    let serving = Serving::with(&scene, &settings("[\"direct\"]", "", attestations));
    let got = serving.get(ARCHIVE);
    assert_ne!(got.status, 200, "{}", serving.log());
    assert!(scene.registry.tags("m/acme/zap").iter().all(|(tag, _)| tag != "1.0.0"));
}

#[test]
fn a_folder_of_attestations_that_does_not_exist_ends_the_start() {
    let (scene, _upstream, _) = demanding();
    let text = settings("[\"direct\"]", "", "attestations = \"atestations/${version}\"");
    scene.context.write("serve.toml", text.replace("REGISTRY", scene.registry.address()));
    let said = scene.refuse("serve --config serve.toml --check-config");
    assert!(said.contains("`attestations` names atestations/, which does not exist"), "{said}");
    let text = settings("[\"direct\"]", "", "attestations = \"{version}\"");
    scene.context.write("serve.toml", text.replace("REGISTRY", scene.registry.address()));
    let said = scene.refuse("serve --config serve.toml --check-config");
    assert!(said.contains("must be a path with a `/` or `.`"), "{said}");
}

#[test]
fn an_address_of_attestations_that_does_not_answer_kept_releases_that_no_rule_is_for() {
    let (scene, upstream, _) = demanding();
    let at = format!("attestations = \"{}/attest/${{version}}\"", upstream.origin());
    upstream.fault(Rule::on("GET", "/attest/*").then(Fault::SetStatus(500)));
    let serving = Serving::with(&scene, &settings("[\"direct\"]", "", &at));
    assert_ne!(serving.get(ARCHIVE).status, 200, "{}", serving.log());
    drop(serving);
    scene.context.write("trust.toml", "");
    let serving = Serving::with(&scene, &settings("[\"direct\"]", "", &at));
    assert_eq!(serving.get(ARCHIVE).status, 200, "{}", serving.log());
    assert!(serving.log().contains("is offered without its attestations"), "{}", serving.log());
}

#[test]
fn attestations_were_asked_for_twice_for_one_release() {
    let (scene, upstream, sigstore) = demanding();
    attest(&scene, &upstream, &sigstore);
    let bundle = std::fs::read(scene.path("attestations/zap/1.0.0.json")).expect("it is there");
    upstream.fault(Rule::on("GET", "/attest/1.0.0").then(Fault::Answer(Answer::new(200).body(bundle))));
    let at = format!("attestations = \"{}/attest/${{version}}\"", upstream.origin());
    let serving = Serving::with(&scene, &settings("[\"direct\"]", "", &at));
    assert_eq!(serving.get(ARCHIVE).status, 200, "{}", serving.log());
    let asked = upstream.conversation().into_iter().filter(|line| line.contains("/attest/"));
    assert_eq!(asked.count(), 1, "{:?}", upstream.conversation());
}

/// The notice is about an index, so the upstream is a repository.
#[test]
fn a_notice_among_attestations_was_not_heeded_without_a_policy() {
    let (scene, upstream, sigstore) = demanding();
    scene.context.write("trust.toml", "");
    let direct = Serving::with(&scene, &settings("[\"direct\"]", "", ""));
    assert_eq!(direct.get(ARCHIVE).status, 200, "{}", direct.log());
    drop(direct);
    let subject = json!({
        "digest": { "sha256": scene.tag("m/acme/zap", "1.0.0").trim_start_matches("sha256:") },
        "annotations": {
            "org.opentofu.provider.address": "registry.example.test/acme/zap",
            "org.opentofu.provider.version": "1.0.0",
        },
    });
    let predicate = json!({ "state": "withdrawn", "reason": "it deletes state", "supersedes": [] });
    let notice = sigstore.attest_with(&BuiltBy::RELEASE, tofu_oci_trust::NOTICE_PREDICATE, &[subject], &predicate);
    scene.context.write("attestations/zap/1.0.0.json", notice);
    let on = settings(
        "[\"REGISTRY/m/${namespace}/${type}\"]",
        "",
        "attestations = \"attestations/${type}/${version}.json\"",
    );
    let serving = Serving::with(&scene, &on.replacen("REGISTRY/m/", "REGISTRY/n/", 1));
    assert_ne!(serving.get(ARCHIVE).status, 200, "{}", serving.log());
    assert!(scene.registry.tags("n/acme/zap").is_empty(), "{}", serving.log());
    drop(upstream);
}

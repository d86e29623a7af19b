//! Attestations of upstream releases, given as files: judged, carried and kept.

use std::time::SystemTime;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{Answer, BuiltBy, Fault, LocalSigstore, Rule};
use tofu_oci_types::Digest;

use super::{HOST, Mirrored, PLATFORMS, TO, actions, summary};
use crate::setup::{Said, Scene};

pub(super) const RULES: &str = r#"
[[provider]]
address = "HOST/acme/zap"

[[source]]
attestations = "attestations/${type}/${version}"
providers = ["HOST/acme/*"]
"#;

const POLICY: &str = r#"
[[identity]]
name = "acme release"
repository = "github.com/acme/zap"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
root = "root.json"

[[rule]]
providers = ["HOST/acme/zap"]
keys = ["acme release"]
"#;

pub(super) const ZAP: BuiltBy<'_> = BuiltBy {
    repository: "github.com/acme/zap",
    workflow: "github.com/acme/zap/.github/workflows/release.yml",
    reference: "refs/tags/v1.0.0",
    ..BuiltBy::RELEASE
};

/// An upstream with acme/zap 1.0.0, rules and a policy that demands an attestation.
pub(super) fn demanding() -> (Mirrored, LocalSigstore) {
    let mirrored = Mirrored::new();
    mirrored.upstream.release("acme/zap", "1.0.0", &PLATFORMS[..2]);
    mirrored.rules(RULES);
    let sigstore = LocalSigstore::generate(SystemTime::now());
    mirrored.scene.context.write("root.json", sigstore.root());
    mirrored.scene.context.write("trust.toml", POLICY.replace("HOST", HOST));
    mirrored.scene.context.write("attestations/README", "of upstream releases");
    (mirrored, sigstore)
}

/// A bundle about the zips of acme/zap 1.0.0, as `actions/attest-build-provenance` writes it.
pub(super) fn provenance(mirrored: &Mirrored, sigstore: &LocalSigstore, by: &BuiltBy<'_>) -> Vec<u8> {
    let subject = |platform: &&str| {
        let digest = Digest::sha256(&mirrored.upstream.zip("acme/zap", "1.0.0", platform));
        json!({ "name": format!("terraform-provider-zap_1.0.0_{platform}.zip"), "digest": { "sha256": digest.encoded() } })
    };
    let subjects: Vec<Value> = PLATFORMS[..2].iter().map(subject).collect();
    sigstore.attest(by, "https://slsa.dev/provenance/v1", &subjects)
}

pub(super) fn write(mirrored: &Mirrored, name: &str, bundle: &[u8]) {
    mirrored.scene.context.write(&format!("attestations/zap/1.0.0/{name}"), bundle);
}

#[track_caller]
pub(super) fn verified(mirrored: &Mirrored, place: &str) -> Said {
    mirrored.scene.run(&format!("verify {HOST}/acme/zap@1.0.0 --from {place}")).success()
}

#[test]
fn an_attestation_that_a_rule_demands_is_carried_and_kept() {
    let (mirrored, sigstore) = demanding();
    let said = mirrored.mirror("");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.text.contains("is not trusted"), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["first-seen"]);

    write(&mirrored, "provenance.jsonl", &provenance(&mirrored, &sigstore, &ZAP));
    let first = mirrored.mirror("--json").success();
    assert_eq!(actions(&first)["zap 1.0.0"], "add", "{}", first.text);
    let said = verified(&mirrored, "REGISTRY/m/acme/zap");
    assert!(said.stdout.contains("built by"), "{}", said.text);
    mirrored.scene.run(&format!("install {HOST}/acme/zap --from REGISTRY/m/acme/zap --platform linux_amd64")).success();

    mirrored.scene.registry.clear_requests();
    let second = mirrored.mirror("--json").success();
    assert_eq!((&summary(&second)["present"], &summary(&second)["bytes"]), (&json!(1), &json!(0)), "{}", second.text);
    let asked = mirrored.scene.conversation();
    assert!(asked.iter().all(|line| line.starts_with("GET ") || line.starts_with("HEAD ")), "{asked:#?}");

    // What else carries a release takes it along.
    mirrored.scene.run("copy REGISTRY/m/acme/zap oci:layout --version 1.0.0").success();
    verified(&mirrored, "oci:layout");
    let create = format!("bundle create zap.tar {HOST}/acme/zap --from 'REGISTRY/m/${{namespace}}/${{type}}'");
    mirrored.scene.run(&create).success();
    mirrored.scene.run("bundle load zap.tar 'REGISTRY/air/${namespace}/${type}'").success();
    verified(&mirrored, "REGISTRY/air/acme/zap");
}

#[test]
fn an_attestation_by_another_is_reported_and_not_carried() {
    let (mirrored, sigstore) = demanding();
    let ci = BuiltBy { workflow: "github.com/acme/zap/.github/workflows/ci.yml", ..ZAP };
    write(&mirrored, "ci.json", &provenance(&mirrored, &sigstore, &ci));
    write(&mirrored, "broken.json", b"{}");
    write(&mirrored, "readme.txt", b"not read");
    let said = mirrored.mirror("");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert_eq!(said.text.matches(" is not carried: ").count(), 2, "{}", said.text);
    // A rule that accepts unsigned releases carries it without them.
    let policy = POLICY.replace("HOST", HOST) + "unsigned = \"allow\"\n";
    mirrored.scene.context.write("trust.toml", policy);
    write(&mirrored, "good.json", &provenance(&mirrored, &sigstore, &ZAP));
    // The lengths of signatures differ.
    assert_snapshot!(mirrored.mirror("").text.replace("19.3 kB", "19.4 kB").replace("19.5 kB", "19.4 kB"), @"
    exit code: 0
    ----- stdout -----
    provider                        version  report
    registry.example.test/acme/zap  1.0.0    added for darwin_arm64 linux_amd64, 19.4 kB

    1 added; 19.4 kB sent

    ----- stderr -----
    warning: an attestation of registry.example.test/acme/zap 1.0.0 in attestations/zap/1.0.0/broken.json is not carried: the signature is malformed: `mediaType` is missing
      hint: only what counts by the rules of trust.toml goes along
    warning: an attestation of registry.example.test/acme/zap 1.0.0 in attestations/zap/1.0.0/ci.json is not carried: it is not by acme release: its workflow is https://github.com/acme/zap/.github/workflows/ci.yml@refs/tags/v1.0.0
      hint: only what counts by the rules of trust.toml goes along
    zap 1.0.0 darwin_arm64: pushed (315 B)
    zap 1.0.0 linux_amd64: pushed (314 B)
    ");
    let said = verified(&mirrored, "REGISTRY/m/acme/zap");
    assert_eq!(said.stdout.matches("found ").count(), 2, "{}", said.text);
}

#[test]
fn an_attestation_that_comes_later_is_put_beside_what_is_there() {
    let (mirrored, sigstore) = demanding();
    let policy = POLICY.replace("HOST", HOST);
    mirrored.scene.context.write("trust.toml", format!("{policy}unsigned = \"allow\"\n"));
    mirrored.mirror("").success();
    write(&mirrored, "good.json", &provenance(&mirrored, &sigstore, &ZAP));
    mirrored.scene.context.write("trust.toml", policy);
    let said = mirrored.mirror("--plan").success();
    assert!(said.stdout.contains("there already; it would get https://slsa.dev/provenance/v1\n"), "{}", said.text);
    let said = mirrored.mirror("--json").success();
    assert_eq!(actions(&said)["zap 1.0.0"], "present", "{}", said.text);
    let line = said.json().into_iter().find(|line| line["event"] == "mirror").expect("a line");
    assert_eq!(line["attestations"][0]["predicate_type"], "https://slsa.dev/provenance/v1", "{}", said.text);
    verified(&mirrored, "REGISTRY/m/acme/zap");
    let again = mirrored.mirror("--json").success();
    assert_eq!(summary(&again)["bytes"], 0, "{}", again.text);
}

#[test]
fn attestations_at_an_address_are_asked_for_by_version() {
    let (mirrored, sigstore) = demanding();
    let at = format!("{}/attest/${{namespace}}/${{type}}-${{version}}.jsonl", mirrored.upstream.origin());
    mirrored.rules(&RULES.replace("attestations/${type}/${version}", &at));
    let path = "/attest/acme/zap-1.0.0.jsonl";
    mirrored.upstream.fault(Rule::on("GET", path).then(Fault::Answer(Answer::new(403))));
    let said = mirrored.mirror("");
    assert!(said.text.contains("cannot be read: it answered 403"), "{}", said.text);
    mirrored.upstream.clear_faults();
    // The server answers 404: this release has no attestation.
    let said = mirrored.mirror("");
    assert!(said.text.contains("is not trusted"), "{}", said.text);
    let bundle = provenance(&mirrored, &sigstore, &ZAP);
    mirrored.upstream.fault(Rule::on("GET", path).then(Fault::Answer(Answer::new(200).body(bundle))));
    mirrored.mirror("").success();
    verified(&mirrored, "REGISTRY/m/acme/zap");
}

#[test]
fn the_secrets_of_an_address_of_attestations_were_printed() {
    let (mirrored, sigstore) = demanding();
    let origin = mirrored.upstream.origin();
    let rules = |at: &str| mirrored.rules(&RULES.replace("attestations/${type}/${version}", at));
    rules(&format!("{origin}/attest/${{version}}.jsonl?token=hunter2"));
    let path = "/attest/1.0.0.jsonl";
    mirrored.upstream.fault(Rule::on("GET", path).then(Fault::Answer(Answer::new(403))));
    let said = mirrored.mirror("");
    assert!(said.text.contains("/attest/1.0.0.jsonl cannot be read: it answered 403"), "{}", said.text);
    assert!(!said.text.contains("hunter2"), "{}", said.text);
    mirrored.upstream.clear_faults();
    let ci = BuiltBy { workflow: "github.com/acme/zap/.github/workflows/ci.yml", ..ZAP };
    let bundle = provenance(&mirrored, &sigstore, &ci);
    mirrored.upstream.fault(Rule::on("GET", path).then(Fault::Answer(Answer::new(200).body(bundle))));
    mirrored.scene.context.write("trust.toml", POLICY.replace("HOST", HOST) + "unsigned = \"allow\"\n");
    for arguments in ["", "--json", "-vv"] {
        let said = mirrored.mirror(arguments);
        assert!(said.text.contains("/attest/1.0.0.jsonl is not carried"), "{}", said.text);
        assert!(!said.text.contains("hunter2"), "{}", said.text);
    }
    rules("https://u:hunter2@example.com/x/${version}?token=hunter2");
    let said = mirrored.mirror("");
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert!(said.text.contains("holds a user or a password"), "{}", said.text);
    assert!(said.text.contains("--> mirror.toml:6:16") && !said.text.contains("hunter2"), "{}", said.text);
}

#[test]
fn a_place_of_attestations_with_another_placeholder_is_a_mistake_in_the_rules() {
    let (mirrored, _) = demanding();
    for wrong in ["attestations/${name}", "http://example.com/${type}", ""] {
        mirrored.rules(&RULES.replace("attestations/${type}/${version}", wrong));
        let said = mirrored.mirror("");
        assert_eq!(said.code, Some(2), "{}", said.text);
    }
    mirrored.rules(&RULES.replace("attestations/${type}/${version}", "attestations/${name}"));
    assert_snapshot!(mirrored.mirror("").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `attestations` is "attestations/${name}", and must be a path with a `/` or `.`, or an https:// address, with no other placeholders than ${hostname}, ${namespace}, ${type} and ${version}
      --> mirror.toml:6:16
      |
    6 | attestations = "attestations/${name}"
      |                ^^^^^^^^^^^^^^^^^^^^^^

    hint: every member of the file: tofu-oci help mirroring
    "#);
}

#[test]
fn an_attestation_about_other_files_was_called_the_signature_of_the_release() {
    let (mirrored, sigstore) = demanding();
    let other = json!({ "name": "other.zip", "digest": { "sha256": Digest::sha256(b"other").encoded() } });
    write(&mirrored, "other.json", &sigstore.attest(&ZAP, "https://slsa.dev/provenance/v1", &[other]));
    write(&mirrored, "empty.json", b"\n");
    write(&mirrored, "sbom.json", br#"{"spdxVersion":"SPDX-2.3"}"#);
    let said = mirrored.mirror("");
    assert_eq!(said.code, Some(1), "{}", said.text);
    let why = format!(
        "other.json is not carried: it is not about this release: it is about other.zip {}",
        Digest::sha256(b"other")
    );
    assert!(said.stderr.contains(&why), "{}", said.text);
    assert!(said.stderr.contains("empty.json is not carried: it is empty"), "{}", said.text);
    let kind = "sbom.json is not carried: it is not a Sigstore bundle but application/spdx+json";
    assert!(said.stderr.contains(kind), "{}", said.text);
    let hint = "the rule names identities alone: its publisher signs it with `tofu-oci sign`";
    assert!(said.stdout.contains(hint) && !said.text.contains("add a [["), "{}", said.text);
    assert!(!said.text.contains("\\n"), "{}", said.text);
}

#[test]
fn an_attestation_of_a_zip_by_a_key_was_said_to_be_of_another_release() {
    let (mirrored, _) = demanding();
    mirrored.scene.trust("");
    let policy = std::fs::read_to_string(mirrored.scene.path("trust.toml")).expect("a policy");
    mirrored.scene.context.write("trust.toml", policy.replace("registry.example.com", HOST));
    let name = "terraform-provider-zap_1.0.0_linux_amd64.zip";
    let zip = Digest::sha256(&mirrored.upstream.zip("acme/zap", "1.0.0", "linux_amd64"));
    let subject = json!({ "name": name, "digest": { "sha256": zip.encoded() } });
    write(&mirrored, "zip.json", &Scene::attested_by_key(&[subject]));
    let said = mirrored.mirror("");
    assert_eq!(said.code, Some(1), "{}", said.text);
    let why = format!("zip.json is not carried: it is of {name} alone, and a key must sign the index");
    assert!(said.stderr.contains(&why), "{}", said.text);
}

#[test]
fn a_mistyped_folder_of_attestations_was_silent() {
    let (mirrored, sigstore) = demanding();
    write(&mirrored, "provenance.json", &provenance(&mirrored, &sigstore, &ZAP));
    for arguments in ["", "--plan"] {
        mirrored.rules(&RULES.replace("attestations/", "atestations/"));
        let said = mirrored.mirror(arguments);
        assert_eq!(said.code, Some(2), "{}", said.text);
        insta::allow_duplicates! {
            assert_snapshot!(said.stderr, @"
            error: `attestations` names atestations/, which does not exist

            hint: make the folder if no release has attestations yet: a release without a file is no error
            ");
        }
    }
    assert_eq!(mirrored.tags("m/acme/zap"), [""; 0]);
}

#[test]
fn a_plan_did_not_judge_what_the_run_refuses() {
    let (mirrored, sigstore) = demanding();
    let said = mirrored.mirror("--plan");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains("is not trusted"), "{}", said.text);
    let ci = BuiltBy { workflow: "github.com/acme/zap/.github/workflows/ci.yml", ..ZAP };
    write(&mirrored, "ci.json", &provenance(&mirrored, &sigstore, &ci));
    let said = mirrored.mirror("--plan");
    assert_eq!(said.code, Some(1), "{}", said.text);
    write(&mirrored, "provenance.json", &provenance(&mirrored, &sigstore, &ZAP));
    let said = mirrored.mirror("--plan --json").success();
    assert_eq!(actions(&said)["zap 1.0.0"], "add", "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), [""; 0]);
}

#[test]
fn the_hint_for_a_source_of_the_rules_was_a_command_that_fails() {
    let scene = crate::setup::Scene::with_dist();
    scene.publish("1.4.0");
    scene.key("p256.pub");
    scene.context.write(
        "trust.toml",
        format!(
            "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n[[rule]]\nproviders = [\"{}\"]\nkeys = [\"acme\"]\n",
            crate::setup::WIDGET
        ),
    );
    let registry = scene.registry.address();
    let rules = format!(
        "to = \"oci:out\"\nsources = [\"{registry}/acme/widget\"]\n\n[[provider]]\naddress = \"{}\"\n",
        crate::setup::WIDGET
    );
    scene.context.write("mirror.toml", rules);
    let said = scene.run("mirror");
    let hint = "`tofu-oci verify registry.example.com/acme/widget@1.4.0 --from [REGISTRY]/acme/widget` shows every signature at its";
    assert!(said.code == Some(1) && said.text.contains(hint), "{}", said.text);
    let said = scene.run(&format!("verify {}@1.4.0 --from REGISTRY/acme/widget", crate::setup::WIDGET));
    assert!(said.text.contains("no signature"), "{}", said.text);
}

/// The connection to the destination ends after each write in turn: the tag is there only with the attestation.
#[test]
fn a_mirror_that_breaks_off_publishes_no_release_without_its_attestation() {
    for at in 0.. {
        let (mirrored, sigstore) = demanding();
        write(&mirrored, "provenance.json", &provenance(&mirrored, &sigstore, &ZAP));
        mirrored.scene.break_off_after(at);
        let code = mirrored.scene.run(&format!("mirror {TO} --attempts 1 --jobs 1")).code;
        mirrored.scene.registry.clear_faults();
        if mirrored.tags("m/acme/zap").contains(&"1.0.0".to_owned()) {
            verified(&mirrored, "REGISTRY/m/acme/zap");
        }
        mirrored.mirror("").success();
        verified(&mirrored, "REGISTRY/m/acme/zap");
        if code == Some(0) {
            assert!(at > 8, "{at}: there are more writes");
            break;
        }
    }
}

//! Two approvers: a note in a signature, and who has still to sign.

use insta::assert_snapshot;

use crate::setup::{Said, Scene, WIDGET};

const VERIFY: &str = "verify REGISTRY/acme/widget:1.4.0";
const QA: &str = "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --note";

/// A release without an approval, and a policy that asks for two of three.
fn scene() -> Scene {
    let scene = Scene::published();
    for key in ["p256.pem", "p256.pub", "p384.pem", "p384.pub", "ed25519.pem", "ed25519.pub"] {
        scene.key(key);
    }
    let key = |(name, file)| format!("[[key]]\nname = \"{name}\"\nfile = \"{file}.pub\"\n\n");
    let keys: String = [("qa", "p256"), ("security", "p384"), ("owner", "ed25519")].map(key).concat();
    let rule = "[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"qa\", \"security\", \"owner\"]\nthreshold = 2\n";
    scene.context.write("trust.toml", keys + rule);
    scene
}

/// The names in `missing`.
fn missing(scene: &Scene) -> Vec<String> {
    let line = verified(scene);
    line["missing"].as_array().expect("a list").iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn verify_says_who_has_still_to_sign_and_what_the_others_note() {
    let scene = scene();
    assert_eq!(missing(&scene), ["qa", "security", "owner"]);
    signed(&scene, QA, "tested: QA-218").success();
    assert_eq!(missing(&scene), ["security", "owner"]);
    assert_snapshot!(scene.refuse(VERIFY), @r#"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:13: 2 of qa, security, owner; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     bundle by qa (sha256:[DIGEST])
                counts; it names registry.example.com/acme/widget 1.4.0; it notes "tested: QA-218"; it
                says https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      missing   1 more of security, owner
      result    refused (threshold): it is signed by 1 key (qa), and 2 are asked for

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is signed by 1 key (qa), and 2 are asked for
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:13, the rule for */*/*, demands signatures by 2 of qa, security, owner

    hint: the owners of the other keys sign it too: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --key KEY
    "#);
    let install = format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget");
    assert!(scene.refuse(&install).contains("2 are asked for"));
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p384.pem").success();
    assert!(missing(&scene).is_empty());
    scene.run(&install).success();
}

fn verified(scene: &Scene) -> serde_json::Value {
    let said = scene.run(&format!("{VERIFY} --json"));
    said.json().into_iter().find(|line| line["event"] == "verified").expect("a report")
}

/// One key under two names was named twice, although it can sign once, and the count was in the text alone.
#[test]
fn a_key_with_two_names_was_missing_twice() {
    let scene = scene();
    let key = |(name, file)| format!("[[key]]\nname = \"{name}\"\nfile = \"{file}.pub\"\n\n");
    let keys: String = [("qa", "p256"), ("tester", "p256"), ("security", "p384"), ("backup", "p384")].map(key).concat();
    let rule =
        "[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"qa\", \"tester\", \"security\", \"backup\"]\nthreshold = 2\n";
    scene.context.write("trust.toml", keys + rule);
    let line = verified(&scene);
    assert_eq!((&line["missing"], &line["missing_count"]), (&serde_json::json!(["qa", "security"]), &2.into()));
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    let line = verified(&scene);
    assert_eq!((&line["missing"], &line["missing_count"]), (&serde_json::json!(["security"]), &1.into()));
    let said = scene.refuse(VERIFY);
    assert!(said.contains("missing   1 more of security or backup\n"), "{said}");
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p384.pem").success();
    assert_eq!((missing(&scene), &verified(&scene)["missing_count"]), (vec![], &0.into()));
}

/// The signature of a stranger is why it is refused, and those of the rule have still to sign.
#[test]
fn a_release_that_a_stranger_has_signed_lacked_the_names_of_those_who_have_still_to_sign() {
    let scene = scene();
    scene.key("rsa-2048.pem");
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key rsa-2048.pem").success();
    let said = scene.refuse(VERIFY);
    assert!(said.contains("missing   2 more of qa, security, owner\n"), "{said}");
}

#[test]
fn another_note_is_another_signature_and_the_key_counts_once() {
    let scene = scene();
    for (note, attached) in [("one", true), ("one", false), ("two", true)] {
        let said = signed(&scene, QA, note).success();
        assert_eq!(said.text.contains("attached signature"), attached, "{note}: {}", said.text);
    }
    // Without a note, any signature of the key will do.
    let said = scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    assert!(said.text.contains("signed by this key already"), "{}", said.text);
    assert_eq!(missing(&scene), ["security", "owner"]);
}

#[test]
fn a_note_travels_in_both_forms_and_is_inert() {
    let scene = scene();
    signed(&scene, "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --format both --note", "a \"b\" \u{202e}c")
        .success();
    scene.run("copy REGISTRY/acme/widget:1.4.0 oci:layout").success();
    let said = scene.refuse("verify oci:layout:1.4.0");
    assert_eq!(said.matches("it notes").count(), 2, "{said}");
    assert!(!said.contains('\u{202e}'), "{said}");
}

#[test]
fn a_note_is_one_short_line() {
    let scene = scene();
    for (note, why) in [("", "it is empty"), ("a\nb", "no line break"), (&"x".repeat(501), "it has 501 characters")] {
        let said = signed(&scene, QA, note);
        assert!(said.text.starts_with("exit code: 2") && said.text.contains(why), "{}", said.text);
    }
}

#[test]
fn an_approval_that_is_deleted_no_longer_counts() {
    let scene = scene();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    let second = scene.run("sign REGISTRY/acme/widget:1.4.0 --key p384.pem --json").success().json();
    let digest = second.iter().find_map(|line| line["attachments"][0]["manifest"].as_str()).expect("a manifest");
    scene.run(VERIFY).success();
    scene.registry.remove("acme/widget", &digest.parse().expect("a digest"));
    assert_eq!(missing(&scene), ["security", "owner"]);
}

fn signed(scene: &Scene, line: &str, note: &str) -> Said {
    scene.output(scene.command(line).arg(note))
}

/// Some registries go on to list a referrer that was deleted. The release could then neither be copied nor approved again.
#[test]
fn an_approval_that_was_deleted_stood_in_the_way_of_copies_and_of_new_ones() {
    let scene = scene();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p384.pem").success();
    assert!(missing(&scene).is_empty());
    let listed = scene.registry.tags("acme/widget").into_iter().find(|(tag, _)| tag.starts_with("sha256-"));
    let (_, list) =
        scene.registry.manifest("acme/widget", &listed.expect("a list of referrers").1).expect("it is there");
    let list: serde_json::Value = serde_json::from_slice(&list).expect("an index");
    let first = list["manifests"][0]["digest"].as_str().expect("a digest").parse().expect("a digest");
    scene.registry.remove("acme/widget", &first);
    assert_eq!(missing(&scene).len(), 2, "one of three has signed");
    scene.run("copy REGISTRY/acme/widget:1.4.0 REGISTRY/copied/widget:1.4.0").success();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key ed25519.pem").success();
    assert!(missing(&scene).is_empty());
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message 'it is old'").success();
}

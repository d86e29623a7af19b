//! What was signed before is counted by the rule as it is now.

use super::sums::{scene as pgp, sums};
use super::*;
use crate::testing::{bundle, named, names, signed, statement, statement_with};

const SCAN: &str = "https://example.com/scan/v1";

fn scanned(number: u8) -> Evidence {
    statement(number, SCAN, &[named(&index("1.4.0"), &names("example.com/acme/widget", "1.4.0"))])
}

#[test]
fn a_pin_says_no_more_than_its_signers_did() {
    let before = Scene::with_policy(&[1], "").found([bundle(1)]).remembered().found([]);
    let scan = format!("predicate_types = [\"{SCAN}\"]");
    check(&before.clone().policy(&[1], &scan), "refused was-signed");
    let both = format!("predicate_types = [\"{}\", \"{SCAN}\"]", crate::SIGN_PREDICATE);
    check(&before.clone().policy(&[1], &both), "refused was-signed");
    check(&before.policy(&[1], ""), "pinned [] index; Note signature-gone");
}

#[test]
fn two_pinned_keys_that_said_different_things_do_not_make_two() {
    let both = format!("predicate_types = [\"{}\", \"{SCAN}\"]", crate::SIGN_PREDICATE);
    let before = Scene::with_policy(&[1, 2], &both).found([bundle(1), scanned(2)]).remembered().found([]);
    check(&before, "pinned [] index; Note signature-gone");
    check(&before.clone().policy(&[1, 2], &format!("{both}\nthreshold = 2")), "refused was-signed");
    check(&before.clone().policy(&[1, 2], "threshold = 2"), "refused was-signed");
    check(&before.without_policy(), "pinned [] index; Note signature-gone");
}

#[test]
fn what_had_to_be_said_stays_where_the_rule_is_gone() {
    let scan = format!("predicate_types = [\"{SCAN}\"]");
    let before = Scene::with_policy(&[1], &scan).found([scanned(1)]).remembered().without_policy();
    check(&before, "signed [a] index");
    check(&before.clone().found([]), "pinned [] index; Note signature-gone");
    let usual = named(&index("1.5.0"), &names("example.com/acme/widget", "1.5.0"));
    check(&before.offers("1.5.0", "1.5.0").found([signed(1, &[usual])]), "refused predicate-type");
}

/// Provenance of a release, which names this source.
fn built(release: &str, source: &str) -> Evidence {
    let subject = named(&index(release), &names("example.com/acme/widget", release));
    let parameters = serde_json::json!({ "workflow": { "repository": source } });
    let predicate = serde_json::json!({ "buildDefinition": { "externalParameters": parameters } });
    statement_with(1, PROVENANCE_PREDICATE, &[subject], &predicate)
}

#[test]
fn deleting_the_rule_lowered_what_was_demanded_of_a_build() {
    let slsa = |source: &str| format!("slsa.source = \"github.com/acme/{source}\"");
    let (widget, other) = ("https://github.com/acme/widget", "https://github.com/acme/other");
    let before = Scene::with_policy(&[1], &slsa("widget")).found([built("1.4.0", widget)]);
    check(&before, "signed [a] index");
    let before = before.remembered();
    // The pin of this index is compared with the rule of today.
    check(&before.clone().found([]), "pinned [] index; Note signature-gone");
    check(&before.clone().found([]).policy(&[1], &slsa("*")), "pinned [] index; Note signature-gone");
    check(&before.clone().found([]).policy(&[1], &slsa("other")), "refused was-signed");
    let text = before.pins.to_text();
    assert!(text.contains("\"slsa\": {\n        \"source\": \"github.com/acme/widget\"\n      }"), "{text}");
    let pins = Pins::parse(&text).expect("pins");
    assert_eq!(pins.to_text(), text);
    let next = |pins: &Pins, source: &str| {
        let next = Scene { pins: pins.clone(), ..Scene::new() }.offers("1.5.0", "1.5.0");
        next.found([built("1.5.0", source)])
    };
    check(&next(&pins, widget), "signed [a] index");
    check(&next(&pins, other), "refused other-build");
    // An earlier program did not write it.
    let mut old: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    old["signed"][0].as_object_mut().expect("an object").remove("slsa").expect("it is there");
    let statement = &mut old["providers"][0]["signers"][0]["statements"][0];
    statement.as_object_mut().expect("an object").remove("build").expect("it is there");
    let old = Pins::parse(&old.to_string()).expect("pins");
    check(&next(&old, other), "signed [a] index");
    let pinned = Scene { pins: old, ..before.found([]) };
    check(&pinned.clone().without_policy(), "pinned [] index; Note signature-gone");
    check(&pinned, "refused was-signed");
    let wide = text.replace("github.com/acme/widget\"\n      }", "github.com/*/*\"\n      }");
    let error = Pins::parse(&wide).expect_err("it protects nothing").to_string();
    assert_eq!(error, "`slsa.source` of example.com/acme/widget must name one host and one owner");
}

#[test]
fn a_pinned_signature_without_names_does_not_count_where_names_are_asked_for() {
    let unnamed = signed(1, &[named(&index("1.4.0"), &serde_json::json!({}))]);
    let before = Scene::with_policy(&[1], "unnamed = \"allow\"").found([unnamed]).remembered().found([]);
    check(&before, "pinned [] index; Note signature-gone");
    check(&before.policy(&[1], ""), "refused was-signed");
}

/// The pins of a signed list, with the key of another file in the signer's place.
fn pinned_as(name: &str) -> Scene {
    let signed = pgp(&["rsa.pgp"], "").found([sums(&["rsa.sig"])]).remembered();
    let id = |scene: &Scene, name: &str| {
        let rule = scene.policy.rule(&scene.address);
        rule.keys.iter().find(|key| key.name == name).expect("the key").material.ids()[0].to_string()
    };
    let scene = pgp(&[name], "");
    let text = signed.pins.to_text().replace(&id(&signed, "rsa.pgp"), &id(&scene, name)).replace("rsa.pgp", name);
    Scene { pins: Pins::parse(&text).unwrap(), ..scene }
}

#[test]
fn a_key_that_was_revoked_since_vouches_for_nothing_pinned() {
    let revoked = pinned_as("revoked-compromised.pgp");
    check(&revoked, "refused was-signed");
    check(&revoked.clone().found([sums(&["revoked-compromised.sig"])]), "refused revoked-key");

    let retired = pinned_as("revoked-retired.pgp");
    check(&retired, "pinned [] 2 zips; Note signature-gone");
    check(&retired.clone().found([sums(&["revoked-retired-late.sig"])]), "refused revoked-key");
    let strict = pgp(&["revoked-retired.pgp"], "expired_keys = \"refuse\"");
    check(&Scene { pins: retired.pins, ..strict }, "refused was-signed");
}

/// A list that a subkey signed before it was revoked for this reason, pinned; the rule has the revoked key now, and the
/// signature is gone.
fn pinned_before_its_subkey_was_revoked(reason: &str, rule: &str) -> Scene {
    let (before, since) = (format!("subkey-{reason}-before.pgp"), format!("subkey-{reason}.pgp"));
    let signed = pgp(&[&before], "").found([sums(&[&format!("subkey-{reason}.sig")])]);
    Scene { pins: signed.remembered().pins, ..pgp(&[&since], rule) }
}

#[test]
fn a_subkey_that_was_revoked_since_vouches_for_nothing_pinned() {
    for reason in ["compromised", "unknown"] {
        let revoked = pinned_before_its_subkey_was_revoked(reason, "");
        check(&revoked, "refused was-signed");
        check(&revoked.found([sums(&[&format!("subkey-{reason}.sig")])]), "refused revoked-key");
    }
    for reason in ["superseded", "retired"] {
        let lenient = pinned_before_its_subkey_was_revoked(reason, "");
        check(&lenient, "pinned [] 2 zips; Note signature-gone");
        check(&pinned_before_its_subkey_was_revoked(reason, "expired_keys = \"refuse\""), "refused was-signed");
    }
}

#[test]
fn a_key_whose_evidence_has_expired_by_the_rule_vouches_for_nothing_pinned() {
    let expired = pinned_as("expired-key.pgp");
    check(&expired, "pinned [] 2 zips; Note signature-gone");
    let strict = pgp(&["expired-key.pgp"], "expired_keys = \"refuse\"").found([sums(&["expired-key.sig"])]);
    check(&Scene { pins: expired.pins, ..strict }, "refused expired-key");
}

#[test]
fn a_signature_that_is_there_is_not_told_to_be_gone() {
    let before = Scene::with_policy(&[1], "").found([bundle(1)]).remembered();
    check(&before.found([crate::testing::damaged(1)]), "pinned [] index");
}

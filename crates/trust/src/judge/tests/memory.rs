//! What was trusted before.

use insta::assert_snapshot;

use super::*;
use crate::testing::{bundle, named, names, signed};

/// Signed by key 1, let in by a rule, and remembered.
fn once_signed() -> Scene {
    Scene::with_policy(&[1], "").found([bundle(1)]).remembered()
}

#[test]
fn deleting_the_signature_makes_nothing_unsigned() {
    let gone = once_signed().found([]);
    check(&gone, "pinned [] index; Note signature-gone");
    check(&gone.clone().without_policy(), "pinned [] index; Note signature-gone");
    check(&gone.clone().without_policy().offers("1.5.0", "1.5.0"), "refused was-signed");
    check(&gone.offers("1.5.0", "1.5.0"), "refused was-signed");
}

#[test]
fn deleting_the_rule_makes_nothing_unsigned() {
    let scene = once_signed().without_policy();
    check(&scene, "signed [a] index");
    let next = |number| {
        let subject = named(&index("1.5.0"), &names("example.com/acme/widget", "1.5.0"));
        scene.clone().offers("1.5.0", "1.5.0").found([signed(number, &[subject])])
    };
    check(&next(1), "signed [a] index");
    check(&next(2), "refused unknown-key");
    let mut elsewhere = scene.clone().found([]).offers("1.5.0", "1.5.0");
    elsewhere.place = "mirror.example.com/acme/widget".parse().unwrap();
    check(&elsewhere, "refused was-signed");
    assert_snapshot!(elsewhere.judge().refusal.unwrap(), @"it is not signed, and this provider was signed by a before");
    let mut other = elsewhere;
    other.address = address("example.com/acme/other");
    check(&other, "unsigned []");
}

#[test]
fn only_a_rule_that_says_so_lets_a_signed_provider_be_unsigned_again() {
    let next = |rule: &str| once_signed().policy(&[], rule).found([]).offers("1.5.0", "1.5.0");
    check(&next(""), "refused was-signed");
    check(&next("unsigned = \"allow\""), "unsigned []");
    check(&next("unsigned = \"warn\""), "unsigned []; Warning was-signed");
}

#[test]
fn what_was_signed_is_remembered_wherever_it_was() {
    let mut mirrored = once_signed().found([]);
    mirrored.place = "mirror.example.com/acme/widget".parse().unwrap();
    check(&mirrored, "pinned [] index; Note signature-gone");
    let mirrored = mirrored.remembered();
    assert_eq!(mirrored.pins.iter().map(|pin| pin.signers.len()).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_key_that_the_rule_no_longer_names_vouches_for_nothing() {
    check(&once_signed().policy(&[2], "").found([]), "refused was-signed");
    check(&once_signed().policy(&[2], ""), "refused unknown-key");
    check(&once_signed().policy(&[1, 2], "threshold = 2").found([]), "refused was-signed");
}

#[test]
fn a_moved_tag_is_refused_until_it_is_accepted() {
    let before = Scene::new().remembered();
    let moved = before.clone().offers("1.4.0", "another index");
    check(&moved, "refused moved-tag");
    check(&before, "unsigned []");
    check(&before.clone().offers("1.5.0", "another index"), "unsigned []");
    check(&moved.clone().policy(&[], "moved_tags = \"warn\""), "unsigned []; Warning moved-tag");
    check(&moved.clone().policy(&[], "moved_tags = \"allow\""), "unsigned []");
    check(&moved.clone().accepted(), "unsigned []; Note accepted");
    let back = moved.accepted().offers("1.4.0", "1.4.0");
    check(&back, "refused moved-tag");
}

#[test]
fn a_trusted_signature_does_not_make_a_moved_tag_right() {
    let scene = Scene::with_policy(&[1], "unsigned = \"allow\"").offers("1.4.0", "before").remembered();
    let moved = scene.offers("1.4.0", "1.4.0").found([bundle(1)]);
    check(&moved, "refused moved-tag index; Note moved-and-signed");
    check(&moved.clone().accepted(), "signed [a] index");
    check(&moved.found([]).policy(&[1], ""), "refused moved-tag; Warning unsigned");
}

#[test]
fn accepting_by_hand_ends_what_was_remembered_and_not_what_the_rule_demands() {
    let next = once_signed().without_policy().found([]).offers("1.5.0", "1.5.0");
    check(&next, "refused was-signed");
    let accepted = next.accepted();
    check(&accepted, "unsigned []; Note accepted");
    check(&accepted.clone().policy(&[1], ""), "refused was-signed");
    check(&accepted.clone().policy(&[], "unsigned = \"refuse\""), "refused was-signed");
    check(&accepted.clone().offers("1.6.0", "1.6.0"), "refused was-signed");
    check(&accepted.offers("1.5.0", "moved again"), "refused moved-tag; Warning was-signed");
}

#[test]
fn a_refused_release_is_not_remembered() {
    let scene = Scene::with_policy(&[1], "");
    let mut pins = Pins::default();
    pins.remember(&scene.facts(), &scene.judge());
    assert!(pins.is_empty() && !pins.is_changed());
}

#[test]
fn evidence_is_wanted_where_it_can_matter() {
    let wants = |scene: &Scene| scene.policy.wants_evidence(&scene.pins, &scene.address);
    assert!(!wants(&Scene::new()));
    assert!(!wants(&Scene::new().remembered()));
    assert!(wants(&once_signed().without_policy()));
    assert!(wants(&Scene::with_policy(&[1], "")));
    assert!(!wants(&Scene::with_policy(&[], "unsigned = \"refuse\"")));
}

//! What is known of a provider stays known, whatever becomes of a version of it.

use super::*;
use crate::testing::{bundle, cosign_tag, damaged, named, names, signed};

/// Signed by key 1, let in by a rule, and remembered.
fn once_signed() -> Scene {
    Scene::with_policy(&[1], "").found([bundle(1)]).remembered()
}

fn next(scene: &Scene) -> Scene {
    scene.clone().without_policy().found([]).offers("1.5.0", "1.5.0")
}

#[test]
fn an_accepted_unsigned_release_does_not_free_later_ones() {
    let moved = once_signed().without_policy().found([]).offers("1.4.0", "unsigned");
    check(&moved, "refused moved-tag; Warning was-signed");
    let accepted = moved.accepted();
    check(&accepted, "unsigned []; Note accepted");
    check(&next(&accepted), "refused was-signed");
    check(&accepted.clone().offers("1.4.0", "again"), "refused moved-tag; Warning was-signed");
    let mut elsewhere = accepted.clone();
    elsewhere.place = "mirror.example.com/acme/widget".parse().unwrap();
    check(&elsewhere, "refused was-signed");
    let read = Scene { pins: Pins::parse(&accepted.pins.to_text()).unwrap(), ..accepted };
    check(&next(&read), "refused was-signed");
    check(&read, "unsigned []; Note accepted");
}

#[test]
fn one_lax_rule_does_not_free_a_provider_once_it_is_gone() {
    let lax = once_signed().policy(&[], "unsigned = \"warn\"\nmoved_tags = \"warn\"").found([]);
    let let_in = lax.offers("1.4.0", "unsigned").remembered();
    check(&next(&let_in), "refused was-signed");
    check(&let_in.without_policy(), "refused was-signed");
}

#[test]
fn what_nobody_can_accept_is_not_remembered() {
    let subject = named(&index("1.4.0"), &names("example.com/acme/other", "1.4.0"));
    let contradicted = once_signed().without_policy().found([signed(1, &[subject])]).offers("1.4.0", "1.4.0");
    let fresh = |found: Vec<Evidence>| Scene::with_policy(&[1, 2], "threshold = 2").found(found);
    assert_eq!(fresh(vec![bundle(1)]).not_accepted(), "threshold");
    assert_eq!(fresh(vec![damaged(1)]).not_accepted(), "bad-signature");
    let moved = |scene: Scene| {
        let subject = named(&index("moved"), &names("example.com/acme/other", "1.4.0"));
        scene.without_policy().offers("1.4.0", "moved").found([signed(1, &[subject])])
    };
    check(&moved(once_signed()), "refused moved-tag; Warning other-provider");
    assert_eq!(moved(once_signed()).not_accepted(), "other-provider");
    check(&contradicted, "pinned [] index; Warning other-provider");
}

#[test]
fn a_threshold_that_was_reached_stays_where_the_rule_is_gone() {
    let two = Scene::with_policy(&[1, 2], "threshold = 2").found([bundle(1), cosign_tag(2)]).remembered();
    let subject = || named(&index("1.5.0"), &names("example.com/acme/widget", "1.5.0"));
    let next = |numbers: &[u8]| {
        let found: Vec<_> = numbers.iter().map(|number| signed(*number, &[subject()])).collect();
        two.clone().without_policy().offers("1.5.0", "1.5.0").found(found)
    };
    check(&next(&[1]), "refused threshold");
    check(&next(&[1, 2]), "signed [b a] index");
    check(&next(&[1]).policy(&[1], ""), "signed [a] index");
    check(&two.clone().without_policy().found([]), "pinned [] index; Note signature-gone");
    // A lower threshold that a rule says meanwhile does not lower what was reached.
    let lower = next(&[1]).policy(&[1, 2], "").remembered();
    check(&lower.clone().without_policy().offers("1.6.0", "1.6.0").found([]), "refused was-signed");
    assert_eq!(lower.pins.signed(&lower.address).map(|signed| signed.threshold), Some(2));
}

#[test]
fn two_programs_at_once_forget_no_signer_of_each_other() {
    let disk = Pins::default();
    let one = Scene::with_policy(&[1], "").found([bundle(1)]).remembered();
    let mut other = Scene::with_policy(&[2], "").found([bundle(2)]);
    other.place = "mirror.example.com/acme/widget".parse().unwrap();
    let other = other.remembered();
    let both = one.pins.onto(&other.pins.onto(&disk).unwrap()).unwrap();
    assert_eq!(both.signers(&one.address).count(), 2);
    assert_eq!(both.to_text(), other.pins.onto(&one.pins.onto(&disk).unwrap()).unwrap().to_text());
}

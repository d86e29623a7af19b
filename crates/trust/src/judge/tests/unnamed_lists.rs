//! A `SHA256SUMS` names no host and no namespace: what its pin is worth once the rule has changed.

use super::sums::{file, scene, sums};
use super::*;

/// The key file `rsa.pgp` in a rule for each of these patterns.
fn shared(patterns: &[&str], rule: &str) -> Scene {
    let mut text = "[[key]]\nname = \"rsa\"\nfile = \"rsa.pgp\"\n".to_owned();
    for pattern in patterns {
        text.push_str(&format!("[[rule]]\nproviders = [\"{pattern}\"]\nkeys = [\"rsa\"]\n{rule}\n"));
    }
    let mut scene = scene(&[], "").found([sums(&["rsa.sig"])]);
    scene.policy = Policy::parse(&text).unwrap().resolve(|path| Ok(file(path.to_str().unwrap()))).unwrap();
    scene
}

impl Scene {
    /// The pins of this scene, judged by another policy, with the signature gone.
    fn then(&self, other: Scene) -> Scene {
        let pins = Pins::parse(&self.pins.to_text()).unwrap();
        Scene { pins, ..other }.found([])
    }

    /// The pins as a program wrote them that did not write down what a list does not name.
    fn written_earlier(mut self) -> Self {
        let mut pins: serde_json::Value = serde_json::from_str(&self.pins.to_text()).unwrap();
        for statement in pins["providers"][0]["signers"][0]["statements"].as_array_mut().unwrap() {
            statement.as_object_mut().unwrap().remove("unnamed");
        }
        self.pins = Pins::parse(&pins.to_string()).unwrap();
        self
    }
}

const ANY: &[&str] = &["*/*/*"];
const ONE: &[&str] = &["example.com/acme/*"];

#[test]
fn what_was_let_in_as_unnamed_is_refused_after_the_rule_refuses_unnamed_lists() {
    for action in ["allow", "warn"] {
        let before = shared(ANY, &format!("unnamed = \"{action}\"")).remembered();
        let text = before.pins.to_text();
        assert!(text.contains("\"unnamed\": \"address\""), "{text}");
        check(&before.then(shared(ANY, "unnamed = \"allow\"")), "pinned [] 2 zips; Note signature-gone");
        check(&before.then(shared(ANY, "")), "refused was-signed");
        check(&before.then(shared(ANY, "unnamed = \"refuse\"")), "refused was-signed");
        check(&before.then(Scene { policy: Policy::default(), ..shared(ANY, "") }), "refused was-signed");
    }
}

#[test]
fn the_pin_of_an_unnamed_list_counts_if_its_key_speaks_for_one_namespace_by_now() {
    let before = shared(ANY, "unnamed = \"allow\"").remembered();
    check(&before.then(shared(ONE, "")), "pinned [] 2 zips; Note signature-gone");
}

#[test]
fn the_pin_of_a_list_does_not_count_once_its_key_speaks_for_two_namespaces() {
    let before = shared(ONE, "").remembered();
    let text = before.pins.to_text();
    assert!(text.contains("\"unnamed\": \"nothing\""), "{text}");
    check(&before.then(shared(ONE, "")), "pinned [] 2 zips; Note signature-gone");
    check(&before.then(shared(&["example.com/acme/*", "example.com/beta/*"], "")), "refused was-signed");
    check(&before.then(shared(ANY, "unnamed = \"warn\"")), "pinned [] 2 zips; Note signature-gone");
    check(
        &before.then(Scene { policy: Policy::default(), ..shared(ONE, "") }),
        "pinned [] 2 zips; Note signature-gone",
    );
}

#[test]
fn the_pin_of_a_list_by_an_earlier_program_is_unnamed_unless_the_rule_speaks_for_one_namespace() {
    for before in [shared(ANY, "unnamed = \"allow\"").remembered(), shared(ONE, "").remembered()] {
        let earlier = before.written_earlier();
        check(&earlier.then(shared(ONE, "")), "pinned [] 2 zips; Note signature-gone");
        check(&earlier.then(shared(ANY, "")), "refused was-signed");
        check(&earlier.then(shared(ANY, "unnamed = \"allow\"")), "pinned [] 2 zips; Note signature-gone");
        check(&earlier.then(Scene { policy: Policy::default(), ..shared(ONE, "") }), "refused was-signed");
    }
}

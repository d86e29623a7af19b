//! `verify --accept`: what it remembers, and what it does not.

use crate::verify::{PINS, VERIFY, policy, signed};

/// `--key` judges instead of `trust.toml`; what it accepts would count where `trust.toml` does.
#[test]
fn a_key_of_the_command_line_accepts_nothing_that_a_rule_refuses() {
    let scene = signed();
    let accept = format!("{VERIFY} --key p256.pub --accept");
    // By another key, and by the pinned keys alone, of which there are none.
    let pinned_only = "[[rule]]\nproviders = [\"*/*/*\"]\nunsigned = \"refuse\"\n";
    policy(&scene, "p384.pub", "");
    let other_key = scene.context.read("trust.toml");
    for rules in [pinned_only, &other_key] {
        scene.context.write("trust.toml", rules);
        let text = scene.refuse(&accept);
        assert!(text.contains("exit code: 1") && text.contains("nothing is remembered"), "{text}");
        assert!(text.contains("is not accepted: ") && text.contains("cause: trust.toml:"), "{text}");
        assert!(!scene.path(PINS).exists(), "{text}");
    }
    // What the rule lets in is remembered with the key that has signed it.
    policy(&scene, "p384.pub", "unsigned = \"allow\"\n");
    scene.run(&accept).success();
    assert!(scene.context.read(PINS).contains("p256.pub"));
}

//! `verify`: who has signed a release, and what that is worth.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

const VERIFY: &str = "verify registry.example.com/acme/widget@1.4.0 --from REGISTRY/acme/widget";
const PINS: &str = ".tofu-oci.pins.json";

/// Widget 1.4.0, published and not signed, and a private key.
fn unsigned() -> Scene {
    let scene = Scene::published();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.key("p384.pub");
    scene
}

/// The same, signed by `p256.pem`.
fn signed() -> Scene {
    let scene = unsigned();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    scene.registry.clear_requests();
    scene
}

/// A policy whose only key is called `acme`.
fn policy(scene: &Scene, file: &str, rule: &str) {
    let text = format!(
        "[[key]]\nname = \"acme\"\nfile = \"{file}\"\n\n\
         [[rule]]\nproviders = [\"registry.example.com/*/*\"]\nkeys = [\"acme\"]\n{rule}"
    );
    scene.context.write("trust.toml", text);
}

#[test]
fn a_signature_by_a_key_of_the_policy_is_told_with_all_it_says() {
    let scene = signed();
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.run(VERIFY).text, @"");
    assert!(!scene.path(PINS).exists(), "nothing is remembered without --accept");
}

#[test]
fn a_key_of_the_command_line_stands_for_the_policy() {
    let scene = signed();
    let said = scene.run(&format!("{VERIFY} --key p256.pub"));
    assert!(said.success().stdout.contains("signed by p256.pub"));
    assert_snapshot!(scene.refuse(&format!("{VERIFY} --key p384.pub")), @"");
}

#[test]
fn an_unsigned_release_is_no_success_also_where_the_policy_lets_it_in() {
    let scene = unsigned();
    assert_snapshot!(scene.refuse(VERIFY), @"");
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.refuse(VERIFY), @"");
}

#[test]
fn a_good_signature_of_another_provider_is_refused() {
    let scene = signed();
    policy(&scene, "p256.pub", "unsigned = \"allow\"\n");
    let other = VERIFY.replace("acme/widget@", "evil/widget@");
    let text = scene.refuse(&other);
    assert!(text.contains("refused (other-provider)"), "{text}");
}

#[test]
fn a_moved_tag_is_refused_until_it_is_accepted() {
    let scene = unsigned();
    scene.run(&format!("{VERIFY} --accept")).success();
    scene.dist("next", "1.5.0");
    scene.run(&format!("push next REGISTRY/acme/next --address {WIDGET}")).success();
    let pins = scene.context.read(PINS);
    let index = pins.find("sha256:").expect("an index");
    let moved = pins.replace(&pins[index..index + 71], &format!("sha256:{}", "0".repeat(64)));
    scene.context.write(PINS, moved);
    assert_snapshot!(scene.refuse(VERIFY), @"");
    scene.run(&format!("{VERIFY} --accept")).success();
    assert_eq!(scene.context.read(PINS), pins);
}

#[test]
fn what_was_signed_stays_signed_when_signature_and_policy_are_gone() {
    let scene = signed();
    policy(&scene, "p256.pub", "");
    scene.run(&format!("{VERIFY} --accept")).success();
    std::fs::remove_file(scene.path("trust.toml")).expect("the policy");
    assert!(scene.run(VERIFY).success().stdout.contains("signed by acme"));
    let elsewhere = VERIFY.replace("REGISTRY/acme/widget", "REGISTRY/mirror/widget");
    scene.dist("again", "1.4.0");
    scene.run(&format!("push again REGISTRY/mirror/widget --address {WIDGET}")).success();
    assert!(scene.run(&elsewhere).success().stdout.contains("trusted as before"));
    scene.publish("1.5.0");
    let text = scene.refuse(&VERIFY.replace("1.4.0", "1.5.0"));
    assert!(text.contains("refused (was-signed)"), "{text}");
}

#[test]
fn a_policy_that_is_wrong_is_shown_with_its_line_before_any_request() {
    let scene = signed();
    policy(&scene, "p256.pub", "unsignd = \"allow\"\n");
    assert_snapshot!(scene.refuse(VERIFY), @"");
    policy(&scene, "lost.pub", "");
    assert_snapshot!(scene.refuse(VERIFY), @"");
    policy(&scene, "p256.pem", "");
    assert!(scene.refuse(VERIFY).contains("private key"));
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn a_broken_pin_file_is_never_passed_over() {
    let scene = signed();
    scene.context.write(PINS, "{}");
    assert_snapshot!(scene.refuse(&format!("{VERIFY} --key p256.pub")), @"");
    assert!(scene.refuse(&format!("{VERIFY} --key p256.pub --accept")).contains("exit code: 2"));
}

#[test]
fn without_a_version_the_locked_one_is_meant() {
    let scene = signed();
    let line = VERIFY.replace("@1.4.0", "");
    assert_snapshot!(scene.refuse(&format!("{line} --key p256.pub")), @"");
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    assert!(scene.run(&format!("{line} --key p256.pub")).success().stdout.contains("widget 1.4.0\n"));
    assert_snapshot!(scene.refuse(&VERIFY.replace("@1.4.0", "@~>1.4")), @"");
}

#[test]
fn one_line_has_everything_for_programs() {
    let scene = signed();
    policy(&scene, "p256.pub", "");
    assert_snapshot!(scene.run(&format!("{VERIFY} --json")).text, @"");
}

//! What arguments name: one grammar in every verb, and one exit code for what is missing.

use crate::setup::{Scene, WIDGET};

/// A scene with widget 1.4.0 and 1.5.0 at `REGISTRY/acme/widget`, and a key.
fn two_versions() -> Scene {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene
}

#[test]
fn a_version_is_written_after_a_repository_in_every_verb() {
    let scene = two_versions();
    for line in [
        "sign REGISTRY/acme/widget:1.4.0 --key p256.pem",
        "verify REGISTRY/acme/widget:1.4.0 --key p256.pub",
        "versions REGISTRY/acme/widget:1.4.0",
        "check REGISTRY/acme/widget:1.4.0",
        "auth explain REGISTRY/acme/widget:1.4.0",
        "copy REGISTRY/acme/widget:1.4.0 oci:copied",
        "copy REGISTRY/acme/widget oci:copied:1.5.0",
        "check oci:copied:1.4.0 --against REGISTRY/acme/widget:1.4.0",
        "verify oci:copied:1.4.0 --key p256.pub",
    ] {
        let said = scene.run(line).success();
        assert!(!said.text.contains("error:"), "{line}: {}", said.text);
    }
    assert_eq!(scene.run("versions oci:copied:1.5.0").success().stdout, "1.5.0\n");
    scene.dist("other", "2.0.0");
    scene.run(&format!("push other REGISTRY/acme/other:2.0.0 --address {WIDGET}")).success();
    scene.run(&format!("pack other oci:packed:2.0.0 --address {WIDGET}")).success();
    assert_eq!(scene.run("versions oci:packed").success().stdout, "2.0.0\n", "the directory is `packed`");
}

#[test]
fn a_version_is_written_after_an_address_in_every_verb() {
    let scene = two_versions();
    for line in [
        format!("sign {WIDGET}@1.4.0 --from REGISTRY/acme/widget --key p256.pem"),
        format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget --key p256.pub"),
        format!("resolve {WIDGET}@1.4.0 --from REGISTRY/acme/widget"),
        format!("lock {WIDGET}@1.4.0 --from REGISTRY/acme/widget"),
        format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64"),
    ] {
        scene.run(&line).success();
    }
    let said = scene.run(&format!("versions '{WIDGET}@~> 1.4.0' --from REGISTRY/acme/widget")).success();
    assert_eq!(said.stdout, "1.4.0\n");
}

/// Asserts the exit code of a command, and that its standard error has all these parts.
#[track_caller]
fn check(scene: &Scene, line: &str, code: i32, parts: &[&str]) {
    let said = scene.run(line);
    assert_eq!(said.code, Some(code), "{line}: {}", said.text);
    for part in parts {
        assert!(said.text.contains(part), "{line}: {part:?} is missing in\n{}", said.text);
    }
}

#[test]
fn an_error_has_the_right_form_with_the_words_of_the_user() {
    let scene = two_versions();
    let key = "--key p256.pem";
    let form =
        "write tofu-oci sign acme/widget@1.0.0 --key p256.pem --from REPOSITORY, or tofu-oci sign REPOSITORY:1.0.0";
    check(&scene, &format!("sign acme/widget@1.0.0 {key}"), 2, &[form]);
    check(&scene, "copy acme/widget@1.0.0 oci:x", 2, &["`copy` takes a repository", "REPOSITORY:1.0.0"]);
    check(
        &scene,
        &format!("lock {WIDGET}:1.4.0"),
        2,
        &[&format!("hint: write a provider's version after an @: {WIDGET}@1.4.0")],
    );
    check(
        &scene,
        "install REGISTRY/acme/widget:1.4.0",
        2,
        &["install HOST/NAMESPACE/TYPE@1.4.0 --from [REGISTRY]/acme/widget"],
    );
    check(&scene, "verify REGISTRY/acme/opentofu-provider-widget", 2, &["names no version", ":VERSION"]);
    check(&scene, "copy REGISTRY/acme/widget@1.4.0 oci:x", 2, &["is a repository, write [REGISTRY]/acme/widget:1.4.0"]);
    check(&scene, "copy REGISTRY/acme/widget:v1.4.0 oci:x", 2, &["hint: write [REGISTRY]/acme/widget:1.4.0"]);
    check(&scene, "copy REGISTRY/acme/widget:1.4.0 oci:x:1.5.0", 2, &["`copy` keeps the version"]);
    check(&scene, "copy REGISTRY/acme/widget/ oci:x", 2, &["hint: write [REGISTRY]/acme/widget\n"]);
    check(&scene, "copy REGISTRY/Acme/widget oci:x", 2, &["hint: write [REGISTRY]/acme/widget\n"]);
    check(&scene, &format!("install {WIDGET}/ --from REGISTRY/acme/widget"), 2, &[&format!("hint: write {WIDGET}\n")]);
    check(&scene, &format!("install {WIDGET}@v1.4.0"), 2, &[&format!("hint: write {WIDGET}@1.4.0\n")]);
    check(&scene, "versions REGISTRY/acme/widget:9.9.9", 1, &["has no version 9.9.9", "hint: it has 1.5.0, 1.4.0"]);
}

#[test]
fn swapped_arguments_are_put_in_order() {
    let scene = two_versions();
    let swapped = format!("push REGISTRY/acme/widget dist --address {WIDGET}");
    let hint = format!("hint: tofu-oci push dist [REGISTRY]/acme/widget --address {WIDGET}\n");
    check(&scene, &swapped, 2, &["`push` takes the folder first, and then where it goes", &hint]);
    check(
        &scene,
        &format!("pack oci:new dist --address {WIDGET}"),
        2,
        &[&format!("tofu-oci pack dist oci:new --address {WIDGET}")],
    );
    check(&scene, "copy oci:new REGISTRY/acme/widget", 1, &["there is no repository oci:new"]);
}

#[test]
fn what_a_verb_works_on_and_is_missing_is_exit_code_1_and_a_wrong_option_2() {
    let scene = two_versions();
    let from = "--from REGISTRY/acme/widget";
    for line in [
        format!("install {WIDGET} --from oci:nope"),
        format!("install {WIDGET} --from REGISTRY/acme/nope"),
        "versions oci:nope".to_owned(),
        "versions REGISTRY/acme/nope".to_owned(),
        "copy oci:nope REGISTRY/acme/x".to_owned(),
        "sign oci:nope:1.4.0 --key p256.pem".to_owned(),
        format!("push nope REGISTRY/acme/x --address {WIDGET}"),
    ] {
        check(&scene, &line, 1, &["error:", "hint:"]);
    }
    for line in [
        format!("install {WIDGET} --chdir nope {from}"),
        format!("lock {WIDGET} --chdir nope {from}"),
        format!("resolve {WIDGET} --chdir nope {from}"),
        format!("verify {WIDGET}@1.4.0 --chdir nope {from}"),
        format!("verify {WIDGET}@1.4.0 {from} --key nope.pub"),
        format!("verify {WIDGET}@1.4.0 {from} --trust-policy nope.toml"),
        format!("install {WIDGET} {from} --ca-file nope.pem"),
        "sign REGISTRY/acme/widget:1.4.0 --key nope.pem".to_owned(),
        format!("push dist REGISTRY/acme/x --address {WIDGET} --sign-key nope.pem"),
    ] {
        check(&scene, &line, 2, &["error:", "hint:"]);
    }
    // Exit code 1 of these means findings.
    for line in ["check oci:nope", "check REGISTRY/acme/nope", "config check --chdir nope", "providers --chdir nope"] {
        check(&scene, line, 2, &["error:", "hint:"]);
    }
}

#[test]
fn a_wrong_value_is_answered_with_what_to_write() {
    let scene = two_versions();
    let copy = "copy REGISTRY/acme/widget:1.4.0 oci:x";
    for wrong in ["x", "0", "-1", "33"] {
        check(&scene, &format!("{copy} --jobs {wrong}"), 2, &["write a whole number, 1 to 32"]);
    }
    check(&scene, &format!("{copy} --attempts many"), 2, &["write a whole number, 1 to 20"]);
    check(
        &scene,
        &format!("{copy} --max-wait -1"),
        2,
        &["it is not a length of time; write seconds, or a number with ms, s, m or h"],
    );
    check(&scene, &format!("{copy} --timeout -5s"), 2, &["'-5s'", "it is not a length of time"]);
    check(&scene, "list", 2, &["`tofu-oci` has no verb `list`", "hint: `tofu-oci versions`: List"]);
    let platforms = "hint: write --platform linux_amd64 --platform darwin_arm64";
    check(&scene, "install a/b --platform linux_amd64,darwin_arm64", 2, &[platforms]);
    let address = "such as registry.example.com/NAMESPACE/acme";
    check(&scene, "push dist REGISTRY/acme/x --address acme", 2, &[address]);
    check(
        &scene,
        "sign REGISTRY/acme/widget:1.4.0 --key p256.pub",
        2,
        &["this is a public key", "name the private key"],
    );
    check(&scene, "verify REGISTRY/acme/widget:1.4.0 --key p256.pem", 2, &["this is a private key"]);
}

#[test]
fn a_wrong_variable_is_named() {
    let mut scene = two_versions();
    scene.context.env("TOFU_OCI_TIMEOUT", "soon");
    check(&scene, "versions REGISTRY/acme/widget", 2, &["'soon'", "the variable TOFU_OCI_TIMEOUT says so"]);
    let mut scene = two_versions();
    scene.context.env("TOFU_OCI_LOG", "=;;");
    check(&scene, "versions REGISTRY/acme/widget", 2, &["TOFU_OCI_LOG cannot be `=;;`", "such as debug"]);
}

#[test]
fn the_address_of_a_provider_is_recognised_if_its_host_is_unknown() {
    let scene = Scene::new();
    let copy =
        "hint: if provider.invalid/acme/widget is a provider's address, `tofu-oci resolve provider.invalid/acme/widget";
    check(&scene, "copy provider.invalid/acme/widget oci:x --attempts 1", 3, &[copy]);
    let verify = "hint: write a provider's version after an @: provider.invalid/acme/widget@1.4.0";
    check(&scene, "verify provider.invalid/acme/widget:1.4.0 --attempts 1", 3, &[verify]);
}

#[test]
fn a_broken_pin_file_is_described_without_names_of_the_program() {
    let scene = two_versions();
    scene.context.write(".tofu-oci.pins.json", "[]");
    let said = scene.run(&format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget"));
    assert!(!said.text.contains("PinsDocument"), "{}", said.text);
    assert!(said.text.contains("an object with version and providers"), "{}", said.text);
}

#[test]
fn a_providers_version_after_a_colon_beside_from_is_answered_with_the_at() {
    let scene = Scene::new();
    for verb in ["verify", "sign --key p256.pem"] {
        let said = scene.refuse(&format!("{verb} registry.example.com/acme/widget:1.4.0 --from REGISTRY/acme/widget"));
        let hint = "hint: write a provider's version after an @: registry.example.com/acme/widget@1.4.0\n";
        assert!(said.contains(hint), "{said}");
    }
}

#[test]
fn latest_and_a_template_in_double_quotes_are_answered_with_what_to_write() {
    let scene = Scene::new();
    let said = scene.refuse("install registry.example.com/acme/widget@latest");
    assert!(said.contains("hint: for the newest version, omit the @: registry.example.com/acme/widget\n"), "{said}");
    for left in ["//", "/widget-"] {
        let said = scene.refuse(&format!("versions REGISTRY{left}"));
        assert!(said.contains("hint: quote a template with ' for your shell: 'ghcr.io/acme/${type}'\n"), "{said}");
    }
}

#[test]
fn sign_takes_the_key_under_the_name_that_push_has_for_it() {
    let scene = Scene::published();
    scene.key("p256.pem");
    let said = scene.run("sign REGISTRY/acme/widget:1.4.0 --sign-key p256.pem");
    assert!(said.text.starts_with("exit code: 0"), "{}", said.text);
}

#[test]
fn an_option_or_argument_that_a_verb_does_not_have_is_answered_with_what_to_type() {
    let scene = Scene::new();
    for (line, want) in [
        (
            "install -lockfile=readonly",
            "hint: options have two dashes, and follow the verb: tofu-oci install --lockfile=readonly\n",
        ),
        ("-chdir=x install", "hint: options have two dashes, and follow the verb: tofu-oci install --chdir=x\n"),
        ("push dist REGISTRY/acme/widget --force", "hint: `push` has --replace-tag for it\n"),
        ("outdated .", "hint: name the directory with --chdir: tofu-oci outdated --chdir .\n"),
        ("versions REGISTRY/acme/widget --limit 0", "write a whole number, 1 to 65535\n"),
    ] {
        let said = scene.refuse(line);
        assert!(said.contains(want) && said.starts_with("exit code: 2"), "{line}\n{said}");
    }
}

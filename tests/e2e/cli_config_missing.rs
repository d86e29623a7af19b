//! `TF_CLI_CONFIG_FILE` names a file that is not there: who needs places stops, who needs credentials alone warns.

use insta::assert_snapshot;

use crate::setup::keys::KEY_PASSWORD;
use crate::setup::{Scene, WIDGET};

const NAMED: &str = "TF_CLI_CONFIG_FILE names [WORK]/missing.tofurc, which is not there";

/// Widget 1.4.0 is published and locked, a configuration requires it, and then the variable names a missing file.
fn scene() -> Scene {
    let mut scene = Scene::published();
    scene.key("p256.pem");
    let block = format!("widget = {{\n      source = \"{WIDGET}\"\n    }}");
    scene.context.write("main.tf", format!("terraform {{\n  required_providers {{\n    {block}\n  }}\n}}\n"));
    scene.run(&format!("lock {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    scene.run("pack dist oci:packed --address registry.example.com/acme/widget").success();
    scene.context.env("TF_CLI_CONFIG_FILE", "missing.tofurc");
    scene.context.env("TOFU_OCI_KEY_PASSWORD", KEY_PASSWORD);
    scene
}

#[test]
fn verbs_that_look_for_places_stop_at_a_named_file_that_is_missing() {
    let scene = scene();
    for line in [
        "install --platform linux_amd64",
        &format!("install {WIDGET} --platform linux_amd64"),
        &format!("resolve {WIDGET}"),
        &format!("resolve {WIDGET} --explain"),
        &format!("versions {WIDGET} --provider"),
        "versions ghcr.io.oci.opentofu.org/acme/widget",
        &format!("lock {WIDGET} --platform linux_amd64"),
        "providers",
        &format!("verify {WIDGET}"),
    ] {
        let text = scene.refuse(line);
        assert!(text.starts_with("exit code: 2") && text.contains(NAMED), "{line}: {text}");
        assert!(text.contains("(cli-config-missing)"), "{line}: {text}");
    }
}

#[test]
fn verbs_whose_places_are_named_warn_of_a_named_file_that_is_missing() {
    let scene = scene();
    for line in [
        "push dist REGISTRY/second/widget --address registry.example.com/acme/widget",
        "copy REGISTRY/acme/widget REGISTRY/third/widget --all",
        "copy oci:packed REGISTRY/fourth/widget --all",
        "sign REGISTRY/acme/widget:1.4.0 --key p256.pem",
        "versions REGISTRY/acme/widget",
        "auth explain REGISTRY/acme/widget",
        &format!("versions {WIDGET} --from REGISTRY/acme/widget"),
        &format!("lock {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64"),
        &format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64"),
        "install --from REGISTRY/acme/widget --platform linux_amd64",
    ] {
        let said = scene.run(line).success();
        assert!(said.text.contains(NAMED), "{line}: {}", said.text);
    }
    for line in [&format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget"), "check REGISTRY/acme/widget"] {
        // What they find is another matter.
        let said = scene.run(line);
        assert_ne!(said.code, Some(2), "{line}: {}", said.text);
        assert!(said.text.contains(&format!("warning: {NAMED}")), "{line}: {}", said.text);
    }
}

#[test]
fn a_file_that_nobody_needs_is_not_worth_a_word() {
    let scene = scene();
    for line in [
        "pack dist oci:other --address registry.example.com/acme/widget",
        "copy oci:packed oci:copied --all",
        "versions REGISTRY/acme/widget --anonymous",
        &format!("install {WIDGET} --from oci:packed --platform linux_amd64"),
        &format!("resolve {WIDGET} --from REGISTRY/acme/widget"),
    ] {
        let said = scene.run(line).success();
        assert!(!said.text.contains("missing.tofurc"), "{line}: {}", said.text);
    }
}

#[test]
fn the_warning_says_what_to_do() {
    let scene = scene();
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    warning: TF_CLI_CONFIG_FILE names [WORK]/missing.tofurc, which is not there
      hint: name a file that is there, or unset TF_CLI_CONFIG_FILE to have the usual files read
    ");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_there_and_wrong_stops_whoever_needs_credentials() {
    let scene = scene();
    // It may hold blocks of credentials.
    scene.context.write("missing.tofurc", "oci_credentials {");
    for line in
        ["versions REGISTRY/acme/widget", "push dist REGISTRY/second/widget --address registry.example.com/acme/widget"]
    {
        let text = scene.refuse(line);
        assert!(text.starts_with("exit code: 2") && text.contains("(hcl1-parse)"), "{line}: {text}");
    }
    // So may a folder in its place, for all that is known.
    std::fs::remove_file(scene.path("missing.tofurc")).expect("it was written");
    std::fs::create_dir(scene.path("missing.tofurc")).expect("a folder in the work folder");
    let text = scene.refuse("versions REGISTRY/acme/widget");
    assert!(text.starts_with("exit code: 2") && text.contains("(cli-config-unreadable)"), "{text}");
}

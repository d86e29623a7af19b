//! What is wrong with credentials in the CLI configuration ends every verb before its first request.

use insta::assert_snapshot;
use serde_json::json;

use crate::setup::Scene;

/// A registry that lets everybody in.
fn open() -> Scene {
    Scene::published()
}

/// What is said about a wrong CLI configuration, without a request.
#[track_caller]
fn with_config(text: &str) -> String {
    let scene = open();
    scene.home_file(".tofurc", text);
    let said = scene.refuse("copy REGISTRY/acme/widget oci:layout");
    assert!(said.starts_with("exit code: 2"), "{said}");
    assert_eq!(scene.conversation(), Vec::<String>::new());
    said
}

#[test]
fn a_wrong_block_ends_every_verb_before_the_first_request() {
    assert_snapshot!(with_config("# ours\noci_credentials \"REGISTRY\" {\n  username = \"ada\"\n}\n"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: username and password belong together (block-basic-needs-both)
      --> [HOME]/.tofurc:2:1
      |
    2 | oci_credentials "[REGISTRY]" {
      | ^^^^^^^^^^^^^^^
      = instead: write both
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this block

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    hint: OpenTofu goes on, and may show other credentials than were meant, or none
    hint: with --anonymous, or with --username and --password-stdin, nothing of this is read
    "#);
    let block = |body: &str| format!("oci_credentials \"REGISTRY\" {{\n  {body}\n}}\n");
    let style = "docker_credentials_helper = \"vault\"";
    for (text, code) in [
        ("oci_credentials {\n", "hcl1-parse"),
        (&block(""), "block-no-style"),
        (&block(&format!("{style}\n  username = \"a\"")), "block-two-styles"),
        (&block("access_token = \"hunter2\""), "block-oauth-needs-both"),
        (&block("docker_credentials_helper = \"a/b\""), "invalid-helper-name"),
        (&block("docker_credentials_helper = \"a b\""), "invalid-helper-name"),
        (&block(style).replace("\" {", "/acme\" {"), "helper-with-path"),
        (&block(style).replace("\" {", "/ACME\" {"), "block-invalid-label"),
        (&block(style).repeat(2), "duplicate-block"),
        (&block(style).replace(" \"REGISTRY\"", ""), "block-label-count"),
        ("oci_default_credentials \"x\" {\n}\n", "block-label-count"),
        ("oci_default_credentials {\n}\noci_default_credentials {\n}\n", "duplicate-block"),
        ("oci_default_credentials {\n  discover_ambient_credentials = \"false\"\n}\n", "block-argument-type"),
        ("oci_default_credentials {\n  docker_credentials_helper = \"\"\n}\n", "invalid-helper-name"),
        (
            "oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = []\n}\n",
            "block-files-without-discovery",
        ),
    ] {
        let said = with_config(text);
        assert!(said.contains(code) && !said.contains("hunter2"), "{text}: {said}");
    }
}

#[test]
fn what_is_wrong_elsewhere_does_not_matter_to_credentials() {
    let scene = open();
    scene.home_file(".tofurc", "provider_installation = {\n}\n");
    scene.run("copy REGISTRY/acme/widget oci:layout").success();
}

#[test]
fn a_listed_file_that_is_missing_or_broken() {
    let list = |names: &str| format!("oci_default_credentials {{\n  docker_style_config_files = [{names}]\n}}\n");
    assert_snapshot!(with_config(&list("\"none.json\"")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: docker_style_config_files names ~/none.json, which is not there
      cause: it is written in ~/.tofurc:2

    hint: correct the file, or take it out of the list; relative names count from the folder of the CLI configuration
    ");
    assert_snapshot!(with_config(&list("\"~/mine.json\"")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: docker_style_config_files names ~/~/mine.json, which is not there
      cause: it is written in ~/.tofurc:2

    hint: ~ is not expanded there: write [HOME]/mine.json
    ");
    let scene = open();
    scene.home_file(".tofurc", &list("\"mine.json\", \"broken.json\""));
    scene.context.write_home("mine.json", scene.auths().to_string());
    for (broken, said) in [
        ("{", "is not JSON"),
        ("[]", "is not a credential file"),
        ("{\"auths\": {\"x.example\": {\"auth\": \"hunter2!\"}}}", "mine.json"),
    ] {
        scene.context.write_home("broken.json", broken);
        let text = scene.refuse("copy REGISTRY/acme/widget oci:layout");
        assert!(text.starts_with("exit code: 2") && !text.contains("hunter2"), "{broken}: {text}");
        assert!(text.contains(said) || text.contains("broken.json"), "{broken}: {text}");
    }
    assert_eq!(scene.conversation(), Vec::<String>::new());
    let said = scene.run("copy REGISTRY/acme/widget oci:layout --json");
    assert_eq!(said.json().last().map(|line| line["code"].clone()), Some(json!("config-file-error")));
}

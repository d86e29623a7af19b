//! What else than the login that was just stored decides, and what is said about it.
#![cfg(unix)]

use insta::assert_snapshot;

use crate::setup::Scene;
use crate::setup::logins::basic;

#[test]
fn a_file_that_nothing_looks_at_is_told_and_so_is_one_that_tofu_does_not_know() {
    let mut scene = Scene::with(basic());
    assert_snapshot!(scene.log_in("--auth-file mine.json --quiet").text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      stored in [WORK]/mine.json as "[REGISTRY]"

    ----- stderr -----
    warning: the password is not encrypted in [WORK]/mine.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    warning: nothing looks for logins in [WORK]/mine.json
      hint: REGISTRY_AUTH_FILE=[WORK]/mine.json makes tofu-oci and podman look there; for tofu, name it in docker_style_config_files of oci_default_credentials
    "#);
    scene.context.env("DOCKER_CONFIG", scene.path("docker").display().to_string());
    assert_snapshot!(scene.log_in("").text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      stored in [WORK]/docker/config.json as "[REGISTRY]"

    ----- stderr -----
    warning: the password is not encrypted in [WORK]/docker/config.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    note: tofu does not look at [WORK]/docker/config.json: it does not know $DOCKER_CONFIG
    "#);
    assert_eq!(scene.context.files(), ["docker/config.json", "mine.json"]);
}

#[test]
fn a_source_that_comes_first_is_told() {
    let scene = Scene::with(basic());
    let other = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"Ym9iOmh1bnRlcjI=\"}}}}}}", scene.registry.address());
    scene.context.write_home(".config/containers/auth.json", other);
    assert_snapshot!(scene.log_in("").text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      stored in ~/.docker/config.json as "[REGISTRY]"

    ----- stderr -----
    warning: the password is not encrypted in ~/.docker/config.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    warning: another login is used for [REGISTRY]: that of auths "[REGISTRY]" in ~/.config/containers/auth.json:1 comes first
      hint: remove it with `tofu-oci logout [REGISTRY] --auth-file ~/.config/containers/auth.json`, or log in there
    "#);
    std::fs::remove_file(scene.context.home().join(".config/containers/auth.json")).expect("it is ours");
    let block = format!(
        "oci_credentials \"{}\" {{\n  username = \"bob\"\n  password = \"hunter2\"\n}}\n",
        scene.registry.address()
    );
    scene.context.write_home(".tofurc", block);
    assert_snapshot!(scene.log_in("").text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      stored in ~/.docker/config.json as "[REGISTRY]"

    ----- stderr -----
    warning: the password is not encrypted in ~/.docker/config.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    warning: another login is used for [REGISTRY]: that of oci_credentials "[REGISTRY]" in ~/.tofurc:1 comes first
      hint: it stands in the CLI configuration, ~/.tofurc:1, which is yours to edit
    "#);
}

#[test]
fn repositories_with_a_login_of_their_own_are_told() {
    let scene = Scene::with(basic());
    let own = format!("{{\"auths\": {{\"{}/acme\": {{\"auth\": \"Ym9iOmh1bnRlcjI=\"}}}}}}", scene.registry.address());
    scene.context.write_home(".config/containers/auth.json", own);
    let said = scene.log_in("").success();
    let note = "note: for the repositories that it names, auths \"[REGISTRY]/acme\" in ~/.config/containers/auth.json:1 still comes first\n";
    assert!(said.text.contains(note), "{}", said.text);
}

#[test]
fn a_wrong_block_is_told_and_does_not_stop_a_login() {
    let scene = Scene::with(basic());
    scene.context.write_home(".tofurc", "oci_credentials \"ghcr.io\" {\n}\n");
    assert_snapshot!(scene.log_in("").text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      stored in ~/.docker/config.json as "[REGISTRY]"

    ----- stderr -----
    warning: the password is not encrypted in ~/.docker/config.json
      hint: a credential helper keeps it safer: name one as "credsStore" in the file, and log in again
    warning: other commands stop at the CLI configuration: oci_credentials holds no credentials (block-no-style)
      hint: `tofu-oci config check` says more
    "#);
    scene.run("logout REGISTRY").success();
}

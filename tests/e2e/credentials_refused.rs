//! Credentials that cannot be had: one error each, which says whose fault it is, and nothing else is tried.

use insta::assert_snapshot;
use serde_json::json;

use crate::credentials::{auth, basic};
use crate::setup::Scene;

/// A registry that asks for a password.
fn scene() -> Scene {
    Scene::with(basic())
}

/// What is said where this helper is configured for every registry.
#[track_caller]
fn with_helper(name: &str, script: Option<&str>) -> String {
    let mut scene = scene();
    if let Some(script) = script {
        scene.helper(name, script);
    }
    scene.context.write_home(".docker/config.json", json!({"credsStore": name}).to_string());
    scene.refuse("versions REGISTRY/acme/widget")
}

#[test]
fn a_helper_that_is_missing() {
    assert_snapshot!(with_helper("vault", None), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: docker-credential-vault is not on the PATH; it is named by credsStore "vault" in ~/.docker/config.json:1

    hint: install the helper in a folder of the PATH, or take its name out of ~/.docker/config.json:1 and log in again
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn the_helper_of_docker_desktop_is_missing() {
    assert_snapshot!(with_helper("desktop.exe", None), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: docker-credential-desktop.exe, the helper of Docker Desktop, is not on the PATH; it is named by credsStore "desktop.exe" in ~/.docker/config.json:1

    hint: start Docker Desktop and switch on its integration with this WSL distribution, or take its name out of ~/.docker/config.json:1 and log in again
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn a_helper_that_may_not_be_run_or_lies_in_a_relative_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut scene = scene();
    scene.helper_with("vault", "ada", "secret");
    scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
    let path = scene.context.home().join("bin/docker-credential-vault");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: [HOME]/bin/docker-credential-vault is not executable; it is named by credsStore "vault" in ~/.docker/config.json:1

    hint: make it executable: chmod +x [HOME]/bin/docker-credential-vault, or take its name out of ~/.docker/config.json:1 and log in again
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    std::fs::rename(&path, scene.path("docker-credential-vault")).expect("both are ours");
    scene.context.env("PATH", "relative::.:/usr/bin:/bin");
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: docker-credential-vault was found in `.`, a relative entry of the PATH, and is not run from there; it is named by credsStore "vault" in ~/.docker/config.json:1

    hint: install the helper in a folder of the PATH, or take its name out of ~/.docker/config.json:1 and log in again
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    assert_eq!(scene.helper_calls(), Vec::<String>::new());
}

#[test]
fn a_helper_that_fails_is_not_quoted_but_for_known_phrases() {
    for (script, said) in [
        ("echo 'the keyring is locked'; echo more; exit 1", "exit status 1; what it wrote"),
        ("echo 'debug: hunter2' >&2; exit 1", "exit status 1"),
        (
            "echo 'Credentials not found in native keychain'; exit 1",
            "exit status 1: credentials not found in native keychain",
        ),
        ("echo 'credentials not found in native keychain' >&2; exit 1", "exit status 1"),
        ("exit 7", "exit status 7"),
        ("echo '{\"Secret\": \"hunter2\"}'; exit 1", "exit status 1"),
        ("echo '{\"Secret\": \"hunter2\"}' >&2; exit 1", "exit status 1"),
    ] {
        let text = with_helper("vault", Some(script));
        assert!(text.contains(said) && !text.contains("hunter2"), "{script}: {text}");
        assert!(text.contains("credsStore \"vault\" in ~/.docker/config.json:1"), "{script}: {text}");
    }
    assert_snapshot!(with_helper("vault", Some("echo 'the keyring is locked'; exit 1")), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: credential helper vault failed: exit status 1; what it wrote may hold a secret and is not repeated; it is named by credsStore "vault" in ~/.docker/config.json:1

    hint: run the helper by hand to see what is wrong with it: printf %s https://[REGISTRY] | docker-credential-vault get
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn a_helper_that_answers_rubbish() {
    for script in [
        "echo rubbish hunter2",
        "true",
        "echo 'credentials not found in native keychain'",
        "echo '{\"Username\": \"ada\", \"Secret\": \"hunter2\"} more'",
        "echo '[\"hunter2\"]'",
    ] {
        let text = with_helper("vault", Some(script));
        assert!(text.contains("vault") && !text.contains("hunter2"), "{script}: {text}");
    }
    assert_snapshot!(with_helper("vault", Some("echo rubbish")), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: the answer of credential helper vault is not an object with Username and Secret; it is named by credsStore "vault" in ~/.docker/config.json:1

    hint: run the helper by hand to see what is wrong with it: printf %s https://[REGISTRY] | docker-credential-vault get
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn a_helper_that_knows_nothing_is_final() {
    let mut scene = scene();
    scene.helper("vault", "echo credentials not found in native keychain; exit 1");
    let host = scene.registry.address();
    let file = json!({"auths": {"x.example": {}}, "credHelpers": {host: "vault"}, "credsStore": "other"});
    scene.context.write_home(".docker/config.json", file.to_string());
    scene.context.write_home(".dockercfg", scene.auths().to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: docker-credential-vault, named by credHelpers "[REGISTRY]": "vault" in ~/.docker/config.json:1, knows no credentials for https://[REGISTRY]

    hint: log in with `tofu-oci login [REGISTRY] --username USER`: docker-credential-vault keeps it
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    assert_eq!(scene.helper_calls(), ["vault get [https://REGISTRY]"]);
}

#[test]
fn a_name_of_a_helper_that_is_a_path_is_not_run() {
    let scene = scene();
    scene.context.write_home(".docker/config.json", json!({"credsStore": "x/evil"}).to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: `x/evil` cannot be the name of a credential helper: credsStore "x/evil" in ~/.docker/config.json:1

    hint: write the part after docker-credential-, such as "pass", in ~/.docker/config.json:1
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn a_login_without_a_colon_stands_in_the_way() {
    let scene = scene();
    let host = scene.registry.address();
    let file = json!({"auths": {host: {"auth": "YWRh"}}});
    scene.context.write_home(".docker/config.json", file.to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: the `auth` of [REGISTRY] in ~/.docker/config.json:1 has no colon between username and password

    hint: log in to [REGISTRY] again, or take the entry out of ~/.docker/config.json:1: `auth` is NAME:PASSWORD in base64
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
    scene.home_file(".tofurc", "oci_credentials \"REGISTRY\" {\n  username = \"ada\"\n  password = \"secret\"\n}\n");
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: the `auth` of [REGISTRY] in ~/.docker/config.json:1 has no colon between username and password

    hint: log in to [REGISTRY] again, or take the entry out of ~/.docker/config.json:1: `auth` is NAME:PASSWORD in base64
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
}

#[test]
fn a_block_with_an_empty_name() {
    let scene = scene();
    scene.home_file(".tofurc", "oci_credentials \"REGISTRY\" {\n  username = \"\"\n  password = \"secret\"\n}\n");
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: oci_credentials "[REGISTRY]" in ~/.tofurc:1 has an empty username

    hint: fill in username in ~/.tofurc:1, or take the block out
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn a_login_without_a_password_is_not_sent() {
    let scene = scene();
    let host = scene.registry.address();
    let file = json!({"auths": {host: {"auth": "YWRhOg=="}}});
    scene.context.write_home(".docker/config.json", file.to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: the registry asks for a name and a password, and there is only a name
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1

    hint: log in again with `tofu-oci login [REGISTRY] --username ada`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    assert!(scene.registry.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_wrong_password_is_told_with_its_source() {
    let mut scene = scene();
    let host = scene.registry.address().to_owned();
    let file = json!({"auths": {host: {"auth": "YWRhOndyb25n"}}});
    scene.context.write_home(".docker/config.json", file.to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the given credentials are refused: authentication required (UNAUTHORIZED)
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1

    hint: log in again with `tofu-oci login [REGISTRY] --username ada`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    scene.helper_with("vault", "ada", "wrong");
    scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the given credentials are refused: authentication required (UNAUTHORIZED)
      cause: the credentials, of ada, came from docker-credential-vault, named by credsStore "vault" in ~/.docker/config.json:1

    hint: log in again with `tofu-oci login [REGISTRY] --username ada`: docker-credential-vault keeps it
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn no_credentials_at_all_and_where_they_were_looked_for() {
    let scene = scene();
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (not there), ~/.dockercfg (not there)

    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
    let host = format!("https://{}", scene.registry.address());
    let file = json!({"auths": {host: {"auth": auth()}}});
    scene.context.write_home(".docker/config.json", file.to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (nothing for it), ~/.dockercfg (not there)

    hint: auths "https://[REGISTRY]" in ~/.docker/config.json:1 does not serve: a key is no URL: write [REGISTRY]
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

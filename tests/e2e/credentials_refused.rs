//! Credentials that cannot be had: one error each, which says whose fault it is, and nothing else is tried.

use insta::assert_snapshot;
use serde_json::json;

use crate::credentials::{auth, basic};
use crate::setup::Scene;

/// A registry that asks for a password.
fn scene() -> Scene {
    Scene::with(basic())
}

/// A registry that lets everybody in.
fn open() -> Scene {
    Scene::published()
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
    error: no credentials for [REGISTRY]/acme/widget: docker-credential-vault is in `.` alone, a relative entry of the PATH, and these are passed over; it is named by credsStore "vault" in ~/.docker/config.json:1

    hint: install the helper in a folder of the PATH, or take its name out of ~/.docker/config.json:1 and log in again
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    assert_eq!(scene.helper_calls(), Vec::<String>::new());
}

#[test]
fn a_helper_that_fails_is_quoted_unless_it_may_be_an_answer() {
    for (script, said) in [
        ("echo 'the keyring is locked'; echo more; exit 1", "the keyring is locked"),
        ("echo 'debug: hunter2' >&2; exit 1", "exit status 1"),
        ("echo 'Credentials not found in native keychain'; exit 1", "Credentials not found in native keychain"),
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
    error: no credentials for [REGISTRY]/acme/widget: credential helper vault failed: the keyring is locked; it is named by credsStore "vault" in ~/.docker/config.json:1

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

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
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

    hint: write the part behind docker-credential-, such as "pass", in ~/.docker/config.json:1
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

    hint: log in with a name and a password: `tofu-oci login [REGISTRY]`
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
    error: [REGISTRY]/acme/widget needs credentials: the given ones are refused: authentication required (UNAUTHORIZED)
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    scene.helper_with("vault", "ada", "wrong");
    scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the given ones are refused: authentication required (UNAUTHORIZED)
      cause: the credentials, of ada, came from docker-credential-vault, named by credsStore "vault" in ~/.docker/config.json:1

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
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

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
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
    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
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

    hint: mend the file, or take it out of the list; relative names count from the folder of the CLI configuration
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

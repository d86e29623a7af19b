//! What to do about a refusal, by the source that counts: a login kept elsewhere would have no effect.

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Answer, Auth, Bearer, Fault, Login, Registry, Rights, Rule};

use crate::credentials::basic;
use crate::setup::Scene;
use crate::setup::logins::{ada, encoded};

const VERSIONS: &str = "versions REGISTRY/acme/widget";

/// The lines that tell what to do, of `versions` and of `auth explain`.
#[track_caller]
fn hints(scene: &Scene) -> String {
    let of = |line: &str| {
        let said = scene.run(line);
        assert_ne!(said.stderr, "", "{}", said.text);
        let told = |line: &&str| ["error:", "  cause:", "hint:"].iter().any(|start| line.starts_with(start));
        let lines: Vec<&str> = said.text.lines().filter(told).collect();
        lines.join("\n")
    };
    format!("{}\n--\n{}", of(VERSIONS), of("auth explain REGISTRY/acme/widget"))
}

/// A registry that knows none of these logins.
fn scene(file: &str, content: &serde_json::Value) -> Scene {
    let scene = Scene::with(basic());
    let text = serde_json::to_string_pretty(content).expect("plain").replace("REGISTRY", scene.registry.address());
    scene.context.write_home(file, text);
    scene
}

fn wrong() -> String {
    encoded(&Login::new("ada", "wrong-horse"))
}

#[test]
fn a_refused_entry_of_a_path_is_named_to_be_changed() {
    let file = json!({"auths": {"REGISTRY/acme": {"auth": wrong()}}});
    assert_snapshot!(hints(&scene(".docker/config.json", &file)), @r#"
    error: [REGISTRY]/acme/widget needs credentials: the given credentials are refused: authentication required (UNAUTHORIZED)
      cause: the credentials are those of auths "[REGISTRY]/acme" in ~/.docker/config.json:3
    hint: change or remove auths "[REGISTRY]/acme" in ~/.docker/config.json:3: `tofu-oci login` writes the registry's own entry, and this one is more specific
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry refuses the login of ada
    hint: the login is that of auths "[REGISTRY]/acme" of ~/.docker/config.json:3
    hint: change or remove auths "[REGISTRY]/acme" in ~/.docker/config.json:3: `tofu-oci login` writes the registry's own entry, and this one is more specific
    "#);
}

#[test]
fn a_refused_entry_of_podman_is_changed_in_its_own_file() {
    let file = json!({"auths": {"REGISTRY": {"auth": wrong()}}});
    assert_snapshot!(hints(&scene(".config/containers/auth.json", &file)), @r#"
    error: [REGISTRY]/acme/widget needs credentials: the given credentials are refused: authentication required (UNAUTHORIZED)
      cause: the credentials are those of auths "[REGISTRY]" in ~/.config/containers/auth.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username ada --auth-file ~/.config/containers/auth.json`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry refuses the login of ada
    hint: the login is that of auths "[REGISTRY]" of ~/.config/containers/auth.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username ada --auth-file ~/.config/containers/auth.json`
    "#);
}

#[test]
fn a_refused_block_is_changed_where_it_stands() {
    let scene = Scene::with(basic());
    scene.home_file(".tofurc", "oci_credentials \"REGISTRY\" {\n  username = \"ada\"\n  password = \"wrong\"\n}\n");
    assert_snapshot!(hints(&scene), @r#"
    error: [REGISTRY]/acme/widget needs credentials: the given credentials are refused: authentication required (UNAUTHORIZED)
      cause: the credentials are those of oci_credentials "[REGISTRY]" in ~/.tofurc:1
    hint: change the block in ~/.tofurc:1: it counts more than what `tofu-oci login` writes
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry refuses the login of ada
    hint: the login is that of oci_credentials "[REGISTRY]" of ~/.tofurc:1
    hint: change the block in ~/.tofurc:1: it counts more than what `tofu-oci login` writes
    "#);
}

#[test]
fn a_helper_whose_login_is_refused_is_named() {
    let mut scene = scene(".config/containers/auth.json", &json!({"credHelpers": {"REGISTRY": "vault"}}));
    scene.helper_with("vault", "ada", "wrong");
    assert_snapshot!(hints(&scene), @r#"
    error: [REGISTRY]/acme/widget needs credentials: the given credentials are refused: authentication required (UNAUTHORIZED)
      cause: the credentials, of ada, came from docker-credential-vault, named by credHelpers "[REGISTRY]": "vault" in ~/.config/containers/auth.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username ada --auth-file ~/.config/containers/auth.json`: docker-credential-vault keeps it
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry refuses the login of ada
    hint: the login is that of credHelpers "[REGISTRY]": "vault" of ~/.config/containers/auth.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username ada --auth-file ~/.config/containers/auth.json`: docker-credential-vault keeps it
    "#);
}

#[test]
fn a_login_in_files_that_are_turned_off_has_no_effect() {
    let scene = Scene::with(basic());
    scene.home_file(".tofurc", "oci_default_credentials {\n  discover_ambient_credentials = false\n}\n");
    assert_snapshot!(hints(&scene), @r#"
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: the CLI configuration has the files left out
    hint: discover_ambient_credentials = false in ~/.tofurc:2 has no other file read, so that a login there has no effect: write a block oci_credentials "[REGISTRY]", or take that line out
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry wants a name and a password, and there are no credentials for it
    hint: discover_ambient_credentials = false in ~/.tofurc:2 has no other file read, so that a login there has no effect: write a block oci_credentials "[REGISTRY]", or take that line out
    "#);
    scene.home_file("auth.json", "{}");
    scene.home_file(".tofurc", "oci_default_credentials {\n  docker_style_config_files = [\"auth.json\"]\n}\n");
    assert_snapshot!(hints(&scene), @"
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/auth.json (nothing for it)
    hint: docker_style_config_files in ~/.tofurc:2 lists all files that are read, so that a login elsewhere has no effect: log in with `tofu-oci login [REGISTRY] --username USER --auth-file ~/auth.json`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry wants a name and a password, and there are no credentials for it
    hint: docker_style_config_files in ~/.tofurc:2 lists all files that are read, so that a login elsewhere has no effect: log in with `tofu-oci login [REGISTRY] --username USER --auth-file ~/auth.json`
    ");
}

#[test]
fn a_malformed_file_that_may_hold_the_login_is_to_be_corrected() {
    let scene = Scene::with(basic());
    scene.context.write_home(".docker/config.json", "{\n  \"auths\": oops\n");
    assert_snapshot!(hints(&scene), @"
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (cannot be understood), ~/.dockercfg (not there)
    hint: correct ~/.docker/config.json:2: it is not JSON: this is no value at column 12; the login may be there
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry wants a name and a password, and there are no credentials for it
    hint: correct ~/.docker/config.json:2: it is not JSON: this is no value at column 12; the login may be there
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    ");
}

#[test]
fn an_identity_token_where_a_password_is_wanted() {
    let file = json!({"auths": {"REGISTRY": {"identitytoken": "secret-token"}}});
    assert_snapshot!(hints(&scene(".docker/config.json", &file)), @r#"
    error: no credentials for [REGISTRY]/acme/widget: the registry asks for a name and a password, and there is only an identity token
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry asks for a name and a password, and there is only an identity token
    hint: the login is that of auths "[REGISTRY]" of ~/.docker/config.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username USER`
    "#);
}

#[test]
fn a_variable_that_nobody_reads_is_told_of() {
    let mut scene = Scene::with(basic());
    scene.context.env("DOCKER_AUTH_CONFIG", "{\"auths\":{}}");
    assert_snapshot!(hints(&scene), @"
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (not there), ~/.dockercfg (not there)
    hint: $DOCKER_AUTH_CONFIG: it is there and is not read, as in OpenTofu: write what it holds to a file, and set REGISTRY_AUTH_FILE=FILE, or log in with `tofu-oci login`
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry wants a name and a password, and there are no credentials for it
    hint: $DOCKER_AUTH_CONFIG: it is there and is not read, as in OpenTofu: write what it holds to a file, and set REGISTRY_AUTH_FILE=FILE, or log in with `tofu-oci login`
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    ");
    let said = scene.run("auth explain REGISTRY/acme/widget");
    assert!(said.text.contains("$DOCKER_AUTH_CONFIG             not read"), "{}", said.text);
}

#[test]
fn near_misses_beyond_the_third_are_counted() {
    let entry = || json!({"auth": encoded(&ada())});
    let file = json!({"auths": {
        "https://REGISTRY": entry(), "http://REGISTRY": entry(), "https://REGISTRY/": entry(), "REGISTRY/": entry(),
        "https://REGISTRY/v2/": entry(),
    }});
    assert_snapshot!(hints(&scene(".docker/config.json", &file)), @r#"
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (nothing for it), ~/.dockercfg (not there)
    hint: auths "https://[REGISTRY]" in ~/.docker/config.json:3 does not serve: a key is no URL: write [REGISTRY]
    hint: auths "http://[REGISTRY]" in ~/.docker/config.json:6 does not serve: a key is no URL: write [REGISTRY]
    hint: auths "https://[REGISTRY]/" in ~/.docker/config.json:9 does not serve: a key is no URL: write [REGISTRY]; and 2 more
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the registry wants a name and a password, and there are no credentials for it
    hint: auths "https://[REGISTRY]" in ~/.docker/config.json:3 does not serve: a key is no URL: write [REGISTRY]
    hint: auths "http://[REGISTRY]" in ~/.docker/config.json:6 does not serve: a key is no URL: write [REGISTRY]
    hint: auths "https://[REGISTRY]/" in ~/.docker/config.json:9 does not serve: a key is no URL: write [REGISTRY]; and 2 more
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    "#);
}

/// A registry that answers like this, and a login for it.
fn answering(answer: Answer) -> Scene {
    let scene = scene(".docker/config.json", &json!({"auths": {"REGISTRY": {"auth": encoded(&ada())}}}));
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/tags/list").then(Fault::Answer(answer)));
    scene
}

#[test]
fn a_scheme_that_is_not_spoken_brings_no_advice_to_log_in() {
    let negotiate = Answer::text(401, "who are you?").header("www-authenticate", "Negotiate");
    assert_snapshot!(hints(&answering(negotiate)), @"
    error: [REGISTRY]/acme/widget denied access: it wants Negotiate, which tofu-oci does not speak, so nothing was shown: unauthorized
    hint: no login helps there; check that this is the registry you mean, or ask its operator
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: it wants Negotiate, which tofu-oci does not speak, so nothing was shown: unauthorized
    hint: no login helps there; check that this is the registry you mean, or ask its operator
    ");
    assert_snapshot!(hints(&answering(Answer::text(401, "who are you?"))), @"
    error: [REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was shown: unauthorized
    hint: no login helps there; check that this is the registry you mean, or ask its operator
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: it names no way to log in, so nothing was shown: unauthorized
    hint: no login helps there; check that this is the registry you mean, or ask its operator
    ");
    assert_snapshot!(hints(&answering(Answer::text(403, "no"))), @"
    error: [REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was shown: forbidden
    hint: no login helps there; check that this is the registry you mean, or ask its operator
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: it names no way to log in, so nothing was shown: forbidden
    hint: no login helps there; check that this is the registry you mean, or ask its operator
    ");
}

/// The same with a token server.
fn with_tokens(login: &Login) -> Scene {
    let scene = Scene::with(Registry::builder().auth(Auth::Bearer(Bearer::new(login.clone()))));
    scene.dist("dist", "1.4.0");
    let file = json!({"auths": {scene.registry.address(): {"auth": encoded(login)}}});
    scene.context.write_home(".docker/config.json", file.to_string());
    scene
}

#[test]
fn a_push_without_the_right_is_no_wrong_password() {
    let scene = with_tokens(&Login { rights: Rights::Pull, ..ada() });
    assert_snapshot!(scene.run(&format!("push dist REGISTRY/acme/widget --address {}", crate::setup::WIDGET)).text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget denied access: the login is right, and lacks the right to do this: authentication required (UNAUTHORIZED)
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1

    hint: ask the owner of [REGISTRY]/acme/widget for the right to read, and for a push to write; another login may have it
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn what_the_token_server_says_is_told() {
    let scene = with_tokens(&ada());
    let says = |status: u16, body: serde_json::Value| {
        scene.registry.fault(Rule::on("GET", "/token").then(Fault::Answer(Answer::text(status, &body.to_string()))));
    };
    says(401, json!({"details": "incorrect username\u{1b}[2J or password"}));
    assert_snapshot!(hints(&scene), @r#"
    error: [REGISTRY]/acme/widget needs credentials: the token server [REGISTRY] refused the credentials (status 401): incorrect username [2J or password
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1
    hint: log in again with `tofu-oci login [REGISTRY] --username ada`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the token server http://[REGISTRY]/token refuses the login of ada: incorrect username [2J or password
    hint: the login is that of auths "[REGISTRY]" of ~/.docker/config.json:1
    hint: log in again with `tofu-oci login [REGISTRY] --username ada`
    "#);
    let scene = with_tokens(&ada());
    let body = json!({"errors": [{"code": "DENIED", "message": "ada may not do this"}]});
    scene.registry.fault(Rule::on("GET", "/token").then(Fault::Answer(Answer::text(403, &body.to_string()))));
    assert_snapshot!(hints(&scene), @r#"
    error: [REGISTRY]/acme/widget denied access: the token server [REGISTRY] does not allow this to the login (status 403): ada may not do this (DENIED)
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1
    hint: ask the owner of [REGISTRY]/acme/widget for the right to read, and for a push to write; another login may have it
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    --
    error: [REGISTRY]/acme/widget: the token server http://[REGISTRY]/token does not allow ada to pull: ada may not do this (DENIED)
    hint: the login is that of auths "[REGISTRY]" of ~/.docker/config.json:1
    hint: ask the owner of the repository to let ada pull, or log in as somebody else
    "#);
    let said = scene.run("auth explain REGISTRY/acme/widget --json");
    let auth = said.json().into_iter().find(|line| line["event"] == "auth").expect("one");
    let problem = auth["exchanges"].as_array().expect("a list").iter().find(|step| step["kind"] == "token");
    assert_eq!(problem.expect("one")["problem"], "ada may not do this (DENIED)");
}

#[test]
fn a_limit_of_requests_without_another_attempt_names_attempts() {
    let scene = Scene::published();
    let busy = Answer::text(429, "slow down").header("retry-after", "1");
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/tags/list").then(Fault::Answer(busy)));
    assert_snapshot!(scene.refuse(&format!("{VERSIONS} --attempts 1")), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget asks to wait 1 s before trying again

    hint: try again in 1 s, or have it tried more often with --attempts N
    ");
}

#[test]
fn a_wrong_block_has_its_code_in_the_event_too() {
    let scene = Scene::with(basic());
    scene.home_file(".tofurc", "oci_credentials \"REGISTRY\" {\n}\n");
    let lines = scene.run("auth explain REGISTRY/acme/widget --json").json();
    let code = |event: &str| lines.iter().find(|line| line["event"] == event).map(|line| line["code"].clone());
    assert_eq!(code("auth"), code("error"));
    assert!(code("auth").is_some_and(|code| code.is_string()), "{lines:?}");
}

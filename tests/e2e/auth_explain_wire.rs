//! `auth explain`: it shows every request, also the failed ones, and what OpenTofu does at mistakes.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{Answer, Fault, Rule};

use crate::auth_explain::{EXPLAIN, explain, scene};
use crate::setup::logins::{ada, basic, bearer};
use crate::setup::{Said, Scene};

/// The line of each request: method, path, and the status.
fn exchanges(said: &Said) -> Vec<String> {
    let told = said.json().swap_remove(0);
    let requests = told["exchanges"].as_array().expect("a list").iter();
    let requests = requests.filter(|one| one["kind"] == "registry" || one["kind"] == "token");
    let path = |url: &Value| {
        let url = url.as_str().expect("an address");
        format!("/{}", url.split('/').skip(3).collect::<Vec<_>>().join("/"))
    };
    requests
        .map(|one| format!("{} {} -> {}", one["method"].as_str().unwrap_or("?"), path(&one["url"]), one["status"]))
        .collect()
}

/// What the registry and its token server, which are one server, were asked.
fn asked(scene: &Scene) -> Vec<String> {
    let all = scene.registry.requests();
    let line = |line: String| match line.split_once('?') {
        Some((path, rest)) => format!("{path} -> {}", rest.rsplit(" -> ").next().unwrap_or_default()),
        None => line,
    };
    all.iter().map(|request| line(request.line())).collect()
}

#[test]
fn every_request_is_listed_in_the_order_of_the_servers_log() {
    for registry in [basic(), bearer()] {
        let scene = scene(registry, Some(&ada()));
        let said = scene.run(&format!("{EXPLAIN} --json"));
        let without_tokens: Vec<String> =
            exchanges(&said).into_iter().filter(|line| !line.starts_with("GET /token")).collect();
        let log: Vec<String> = asked(&scene).into_iter().filter(|line| !line.starts_with("GET /token")).collect();
        assert_eq!(without_tokens, log);
        assert_eq!(without_tokens.last().map(String::as_str), Some("GET /v2/ -> 401"));
        let tokens = exchanges(&said).len() - without_tokens.len();
        assert_eq!(tokens, scene.registry.token_requests().len(), "{}", said.text);
        assert!(tokens <= 1, "the root costs no token: {}", said.text);
    }
}

#[test]
fn an_identity_token_is_shown_once() {
    let scene = scene(bearer(), None);
    let entry = json!({"auths": {scene.registry.address(): {"identitytoken": "a-refresh-token"}}});
    scene.context.write_home(".docker/config.json", entry.to_string());
    let said = scene.run(&format!("{EXPLAIN} --json"));
    let tokens = exchanges(&said).into_iter().filter(|line| line.contains(" /token ")).count();
    assert_eq!(tokens, scene.registry.token_requests().len(), "{}", said.text);
    assert!(tokens <= 2, "POST, and GET where that is not known: {}", said.text);
}

#[test]
fn a_login_that_is_sent_on_was_sent() {
    let scene = scene(bearer(), Some(&ada()));
    let away = Answer::text(307, "").header("Location", "https://elsewhere.example/token?x=1");
    scene.registry.fault(Rule::on("GET", "/token").then(Fault::Answer(away)));
    let said = explain(&scene, EXPLAIN);
    assert!(said.stdout.contains("asked     a token for repository:acme/widget:pull\n"), "{}", said.text);
    assert!(said.stdout.contains("/token, as ada: 307\n"), "{}", said.text);
    let words = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let opentofu = "follows the token server's redirect to https://elsewhere.example without the credential and uses \
                    the anonymous token silently";
    assert!(words.contains(opentofu), "{}", said.text);
    assert!(words.contains("a pull fails, token-redirect"), "{}", said.text);
}

#[test]
fn a_request_that_fails_is_told_with_what_the_network_said() {
    let scene = scene(bearer(), None);
    let said = scene.run("auth explain nobody.invalid/acme/widget --attempts 1");
    let answered = "answered  GET https://nobody.invalid/v2/acme/widget/tags/list, showing nothing: no answer,";
    assert!(said.stdout.contains(answered), "{}", said.text);
    assert!(!said.stdout.contains("no request was made"), "{}", said.text);
}

/// A configuration that cannot be opened: OpenTofu warns, and reads the rest.
#[track_caller]
fn goes_on(scene: &Scene) {
    let said = scene.run(EXPLAIN);
    let words = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("OpenTofu: prints a warning, and goes on without the file"), "{}", said.text);
    assert!(!words.contains("config-dropped") && !words.contains("syntax error"), "{}", said.text);
}

#[test]
fn a_configuration_that_is_named_and_missing_stops_no_opentofu() {
    let mut scene = scene(bearer(), Some(&ada()));
    scene.context.env("TF_CLI_CONFIG_FILE", "missing.tofurc");
    goes_on(&scene);
}

#[cfg(unix)]
#[test]
fn a_configuration_below_a_file_stops_no_opentofu() {
    let mut scene = scene(bearer(), Some(&ada()));
    scene.context.write_home("file", "");
    let below = scene.context.home().join("file/tofurc");
    scene.context.env("TF_CLI_CONFIG_FILE", below.to_str().expect("a path"));
    goes_on(&scene);
}

#[test]
fn a_misspelt_argument_is_not_said_to_drop_the_block_in_opentofu() {
    let scene = scene(bearer(), Some(&ada()));
    let block = "oci_default_credentials {\n  discover_ambient_credential = false\n}\n";
    scene.context.write_home(".tofurc", block);
    let said = explain(&scene, EXPLAIN);
    assert_eq!(said.code, Some(2), "{}", said.text);
    let lines: Vec<&str> = said.text.lines().map(str::trim).filter(|line| line.starts_with("OpenTofu")).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    OpenTofu: passes it over without a word
    OpenTofu  1.10 to 1.13: says nothing of the error and goes on: shows the login of ada, from auths
    "#);
}

#[test]
fn two_blocks_of_defaults_are_said_to_crash_opentofu() {
    let scene = scene(bearer(), Some(&ada()));
    scene.context.write_home(".tofurc", "oci_default_credentials {\n}\noci_default_credentials {\n}\n");
    let said = explain(&scene, EXPLAIN);
    let lines: Vec<&str> = said.text.lines().map(str::trim).filter(|line| line.starts_with("OpenTofu")).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    OpenTofu: crashes at the first access to a registry
    OpenTofu  1.10 to 1.13: crashes: ~/.tofurc:3: a second oci_default_credentials block
    "#);
}

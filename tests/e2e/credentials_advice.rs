//! What to do about a refusal, by the source that counts: a login kept elsewhere would have no effect.

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Answer, Auth, Bearer, Fault, Login, Registry, Rights, Rule};

use crate::auth_explain::{ada, encoded};
use crate::credentials::basic;
use crate::setup::Scene;

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
    assert_snapshot!(hints(&scene(".docker/config.json", &file)), @"");
}

#[test]
fn a_refused_entry_of_podman_is_changed_in_its_own_file() {
    let file = json!({"auths": {"REGISTRY": {"auth": wrong()}}});
    assert_snapshot!(hints(&scene(".config/containers/auth.json", &file)), @"");
}

#[test]
fn a_refused_block_is_changed_where_it_stands() {
    let scene = Scene::with(basic());
    scene.home_file(".tofurc", "oci_credentials \"REGISTRY\" {\n  username = \"ada\"\n  password = \"wrong\"\n}\n");
    assert_snapshot!(hints(&scene), @"");
}

#[test]
fn a_helper_whose_login_is_refused_is_named() {
    let mut scene = scene(".config/containers/auth.json", &json!({"credHelpers": {"REGISTRY": "vault"}}));
    scene.helper_with("vault", "ada", "wrong");
    assert_snapshot!(hints(&scene), @"");
}

#[test]
fn a_login_in_files_that_are_turned_off_has_no_effect() {
    let scene = Scene::with(basic());
    scene.home_file(".tofurc", "oci_default_credentials {\n  discover_ambient_credentials = false\n}\n");
    assert_snapshot!(hints(&scene), @"");
    scene.home_file("auth.json", "{}");
    scene.home_file(".tofurc", "oci_default_credentials {\n  docker_style_config_files = [\"auth.json\"]\n}\n");
    assert_snapshot!(hints(&scene), @"");
}

#[test]
fn a_malformed_file_that_may_hold_the_login_is_to_be_mended() {
    let scene = Scene::with(basic());
    scene.context.write_home(".docker/config.json", "{\n  \"auths\": oops\n");
    assert_snapshot!(hints(&scene), @"");
}

#[test]
fn an_identity_token_where_a_password_is_wanted() {
    let file = json!({"auths": {"REGISTRY": {"identitytoken": "secret-token"}}});
    assert_snapshot!(hints(&scene(".docker/config.json", &file)), @"");
}

#[test]
fn a_variable_that_nobody_reads_is_told_of() {
    let mut scene = Scene::with(basic());
    scene.context.env("DOCKER_AUTH_CONFIG", "{\"auths\":{}}");
    assert_snapshot!(hints(&scene), @"");
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
    assert_snapshot!(hints(&scene(".docker/config.json", &file)), @"");
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
    assert_snapshot!(hints(&answering(negotiate)), @"");
    assert_snapshot!(hints(&answering(Answer::text(401, "who are you?"))), @"");
    assert_snapshot!(hints(&answering(Answer::text(403, "no"))), @"");
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
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {}", crate::setup::WIDGET)), @"");
}

#[test]
fn what_the_token_server_says_is_told() {
    let scene = with_tokens(&ada());
    let says = |status: u16, body: serde_json::Value| {
        scene.registry.fault(Rule::on("GET", "/token").then(Fault::Answer(Answer::text(status, &body.to_string()))));
    };
    says(401, json!({"details": "incorrect username\u{1b}[2J or password"}));
    assert_snapshot!(hints(&scene), @"");
    let scene = with_tokens(&ada());
    let body = json!({"errors": [{"code": "DENIED", "message": "ada may not do this"}]});
    scene.registry.fault(Rule::on("GET", "/token").then(Fault::Answer(Answer::text(403, &body.to_string()))));
    assert_snapshot!(hints(&scene), @"");
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
    assert_snapshot!(scene.refuse(&format!("{VERSIONS} --attempts 1")), @"");
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

//! Registries that refuse, fail or cannot be reached, while something is published.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Auth, Fault, Login, Registry, Rights, Rule};

use crate::setup::{Scene, WIDGET};

/// Pushing is refused, and no tag is there afterwards.
#[track_caller]
fn refused(scene: &Scene, options: &str) -> String {
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} {options}"));
    assert_ne!(said.code, Some(0), "{}", said.text);
    assert_eq!(scene.registry.tags("acme/widget"), [], "{}", said.text);
    assert_eq!(crate::setup::State::of(scene).temp(), Vec::<&str>::new(), "{}", said.text);
    said.text
}

#[track_caller]
fn refused_by(rule: Rule, options: &str) -> String {
    let scene = Scene::with_dist();
    scene.registry.fault(rule);
    refused(&scene, options)
}

/// A port on which nothing listens.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
    listener.local_addr().expect("a bound socket has an address").port()
}

#[test]
fn an_unreachable_registry() {
    let scene = Scene::with_dist();
    let port = closed_port();
    let options = format!("--address {WIDGET} --attempts 1");
    assert_snapshot!(scene.refuse(&format!("push dist 127.0.0.1:{port}/acme/widget {options}")), @"");
    assert_snapshot!(scene.refuse(&format!("push dist registry.invalid/acme/widget {options}")), @"");
}

#[test]
fn a_registry_that_is_tried_again() {
    let scene = Scene::with_dist();
    scene.registry.fault(Rule::on("GET", "*").once().then(Fault::status(503, "UNAVAILABLE")));
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --attempts 2"));
    assert_snapshot!(said.text, @"");
}

#[test]
fn a_registry_that_wants_credentials() {
    let scene = Scene::with(Registry::builder().auth(Auth::Basic(Login::new("ada", "correct"))));
    scene.dist("dist", "1.4.0");
    assert_snapshot!(refused(&scene, ""), @"");
}

#[test]
fn a_registry_that_does_not_know_these_credentials() {
    let scene = Scene::with(Registry::builder().auth(Auth::Basic(Login::new("ada", "correct"))));
    scene.dist("dist", "1.4.0");
    let config = serde_json::json!({"auths": {scene.registry.address(): {"username": "ada", "password": "wrong-one"}}});
    scene.context.write_home(".docker/config.json", config.to_string());
    let text = refused(&scene, "");
    assert!(!text.contains("wrong-one"), "{text}");
    assert_snapshot!(text, @"");
}

#[test]
fn credentials_that_may_not_push() {
    let reader = Login { rights: Rights::Pull, ..Login::new("ada", "correct") };
    let scene = Scene::with(Registry::builder().auth(Auth::Basic(reader)));
    scene.dist("dist", "1.4.0");
    let config = serde_json::json!({"auths": {scene.registry.address(): {"username": "ada", "password": "correct"}}});
    scene.context.write_home(".docker/config.json", config.to_string());
    assert_snapshot!(refused(&scene, ""), @"");
}

#[test]
fn access_is_denied() {
    assert_snapshot!(refused_by(Rule::on("POST", "*").then(Fault::status(403, "DENIED")), ""), @"");
}

#[test]
fn the_repository_cannot_be_made() {
    assert_snapshot!(refused_by(Rule::on("POST", "*").then(Fault::status(404, "NAME_UNKNOWN")), ""), @"");
}

#[test]
fn too_many_requests() {
    let limited = || Answer::error(429, "TOOMANYREQUESTS", "slow down");
    let long = Rule::on("POST", "*").then(Fault::Answer(limited().header("Retry-After", "3600")));
    assert_snapshot!(refused_by(long, ""), @"");
    let plain = Rule::on("POST", "*").then(Fault::Answer(limited()));
    assert_snapshot!(refused_by(plain, "--attempts 1"), @"");
}

#[test]
fn a_registry_that_fails() {
    assert_snapshot!(refused_by(Rule::on("POST", "*").then(Fault::status(500, "UNKNOWN")), "--attempts 1"), @"");
    let page = Answer::text(502, "<html><body>Bad Gateway</body></html>");
    assert_snapshot!(refused_by(Rule::on("*", "*").then(Fault::Answer(page)), "--attempts 1"), @"");
}

#[test]
fn a_registry_that_fails_at_the_manifest_leaves_no_tag() {
    let rule = Rule::on("PUT", "/v2/*/manifests/1.4.0").then(Fault::status(500, "UNKNOWN"));
    assert_snapshot!(refused_by(rule, "--attempts 1"), @"");
    let rule = Rule::on("PUT", "/v2/*/manifests/*").then(Fault::status(400, "MANIFEST_INVALID"));
    assert_snapshot!(refused_by(rule, "--attempts 1"), @"");
}

#[test]
fn a_connection_that_breaks_while_a_blob_is_sent() {
    let rule = Rule::on("PUT", "/v2/*/blobs/uploads/*").then(Fault::RefuseUploadAfter { bytes: 10, answer: None });
    assert_snapshot!(refused_by(rule, "--attempts 1 --jobs 1"), @"");
}

#[test]
fn a_registry_that_speaks_tls_with_an_unknown_authority() {
    let scene = Scene::with(Registry::builder().tls(tofu_oci_testkit::ClientCertificate::NotAsked));
    scene.dist("dist", "1.4.0");
    assert_snapshot!(refused(&scene, "--attempts 1"), @"");
    scene.context.write("ca.pem", scene.registry.ca_pem().expect("it speaks TLS"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --ca-file ca.pem")).success();
}

#[test]
fn a_copy_of_damaged_content_is_refused() {
    let scene = Scene::published();
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(Fault::CorruptBody(0)));
    let said = scene.run("copy REGISTRY/acme/widget oci:layout --jobs 1");
    assert_snapshot!(said.text, @"");
    assert_snapshot!(scene.run("versions oci:layout").text, @"");
}

#[test]
fn a_missing_certificate_file_is_wrong_usage() {
    let scene = Scene::with_dist();
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --ca-file none.pem")), @"");
    scene.context.write("bad.pem", "no certificate");
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --ca-file bad.pem")), @"");
}

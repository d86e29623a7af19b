//! Registries that refuse, fail or cannot be reached, while something is published.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Auth, Bearer, Fault, Login, Registry, Rights, Rule};

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
    assert_snapshot!(scene.refuse(&format!("push dist 127.0.0.1:{port}/acme/widget {options}")), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach 127.0.0.1:[PORT]/acme/widget: Connection refused (os error [N])

    hint: check the port, and that a registry listens there on this machine
    ");
    assert_snapshot!(scene.refuse(&format!("push dist registry.invalid/acme/widget {options}")), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach registry.invalid/acme/widget: failed to lookup address information: [REASON]

    hint: check the host name and the network
    hint: if registry.invalid/acme/widget is a provider's address, `tofu-oci resolve registry.invalid/acme/widget --attempts 1` says which repository has it
    ");
}

#[test]
fn a_registry_that_is_tried_again() {
    let scene = Scene::with_dist();
    scene.registry.fault(Rule::on("GET", "*").once().then(Fault::status(503, "UNAVAILABLE")));
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --attempts 2"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    note: GET [REGISTRY]/v2/acme/widget/tags/list: status 503; attempt 2 in [WAIT]
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
}

#[test]
fn a_registry_that_wants_credentials() {
    let scene = Scene::with(Registry::builder().auth(Auth::Basic(Login::new("ada", "correct"))));
    scene.dist("dist", "1.4.0");
    assert_snapshot!(refused(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: unauthorized
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (not there), ~/.dockercfg (not there)

    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
}

#[test]
fn a_registry_that_does_not_know_these_credentials() {
    let scene = Scene::with(Registry::builder().auth(Auth::Basic(Login::new("ada", "correct"))));
    scene.dist("dist", "1.4.0");
    let config = serde_json::json!({"auths": {scene.registry.address(): {"username": "ada", "password": "wrong-one"}}});
    scene.context.write_home(".docker/config.json", config.to_string());
    let text = refused(&scene, "");
    assert!(!text.contains("wrong-one"), "{text}");
    assert_snapshot!(text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: unauthorized
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (an entry that does not count), ~/.dockercfg (not there)

    hint: auths "[REGISTRY]" in ~/.docker/config.json:1 is left out: its `username` and `password` count only as `auth`, the base64 of username:password
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn credentials_that_may_not_push() {
    let reader = Login { rights: Rights::Pull, ..Login::new("ada", "correct") };
    let scene = Scene::with(Registry::builder().auth(Auth::Bearer(Bearer::new(reader))));
    scene.dist("dist", "1.4.0");
    let config = serde_json::json!({"auths": {scene.registry.address(): {"username": "ada", "password": "correct"}}});
    scene.context.write_home(".docker/config.json", config.to_string());
    assert_snapshot!(refused(&scene, ""), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the token server [REGISTRY] gives nothing to anonymous callers (status 401): bad credentials (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (an entry that does not count), ~/.dockercfg (not there)

    hint: auths "[REGISTRY]" in ~/.docker/config.json:1 is left out: its `username` and `password` count only as `auth`, the base64 of username:password
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn access_is_denied() {
    assert_snapshot!(refused_by(Rule::on("POST", "*").then(Fault::status(403, "DENIED")), ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was shown: injected (DENIED)

    hint: no login helps there; check that this is the registry you mean, or ask its operator
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
}

#[test]
fn the_repository_cannot_be_made() {
    assert_snapshot!(refused_by(Rule::on("POST", "*").then(Fault::status(404, "NAME_UNKNOWN")), ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 404 to POST /v2/acme/widget/blobs/uploads/: injected (NAME_UNKNOWN); the repository does not exist and is not created by a push, or there is no right to push

    hint: create the repository first, or the project that it lies in; or log in with an account that may push
    ");
}

#[test]
fn too_many_requests() {
    let limited = || Answer::error(429, "TOOMANYREQUESTS", "slow down");
    let long = Rule::on("POST", "*").then(Fault::Answer(limited().header("Retry-After", "3600")));
    assert_snapshot!(refused_by(long, ""), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget asks to wait 3600 s before trying again

    hint: try again later, or wait longer with --max-wait 3600
    ");
    let plain = Rule::on("POST", "*").then(Fault::Answer(limited()));
    assert_snapshot!(refused_by(plain, "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 429 to POST /v2/acme/widget/blobs/uploads/: slow down (TOOMANYREQUESTS)

    hint: the registry wants fewer requests: try again later
    ");
}

#[test]
fn a_registry_that_fails() {
    assert_snapshot!(refused_by(Rule::on("POST", "*").then(Fault::status(500, "UNKNOWN")), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 500 to POST /v2/acme/widget/blobs/uploads/: injected (UNKNOWN)

    hint: the registry has a problem of its own; run the same command again later
    ");
    let page = Answer::text(502, "<html><body>Bad Gateway</body></html>");
    assert_snapshot!(refused_by(Rule::on("*", "*").then(Fault::Answer(page)), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 502 to GET /v2/acme/widget/tags/list: bad gateway

    hint: the registry has a problem of its own; run the same command again later
    ");
}

#[test]
fn a_registry_that_fails_at_the_manifest_leaves_no_tag() {
    let rule = Rule::on("PUT", "/v2/*/manifests/1.4.0").then(Fault::status(500, "UNKNOWN"));
    assert_snapshot!(refused_by(rule, "--attempts 1 --jobs 1 --quiet"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 500 to PUT /v2/acme/widget/manifests/1.4.0: injected (UNKNOWN)

    hint: the registry has a problem of its own; run the same command again later
    ");
    let rule = Rule::on("PUT", "/v2/*/manifests/*").then(Fault::status(400, "MANIFEST_INVALID"));
    assert_snapshot!(refused_by(rule, "--attempts 1 --jobs 1 --quiet"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 400 to PUT /v2/acme/widget/manifests/sha256:[DIGEST]: injected (MANIFEST_INVALID)

    hint: the registry does not take this; -vv shows every request
    ");
}

#[test]
fn a_connection_that_breaks_while_a_blob_is_sent() {
    let rule = Rule::on("PUT", "/v2/*/blobs/uploads/*").then(Fault::RefuseUploadAfter { bytes: 10, answer: None });
    assert_snapshot!(refused_by(rule, "--attempts 1 --jobs 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: the connection to [REGISTRY]/acme/widget broke: connection closed before the answer came

    hint: run the same command again: what has arrived whole is not sent again
    ");
}

#[test]
fn a_registry_that_speaks_tls_with_an_unknown_authority() {
    let scene = Scene::with(Registry::builder().tls(tofu_oci_testkit::ClientCertificate::NotAsked));
    scene.dist("dist", "1.4.0");
    assert_snapshot!(refused(&scene, "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach [REGISTRY]/acme/widget: invalid peer certificate: UnknownIssuer

    hint: trust a private certificate authority with --ca-file FILE
    ");
    scene.context.write("ca.pem", scene.registry.ca_pem().expect("it speaks TLS"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --ca-file ca.pem")).success();
}

#[test]
fn a_copy_of_damaged_content_is_refused() {
    let scene = Scene::published();
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(Fault::CorruptBody(0)));
    let said = scene.run("copy REGISTRY/acme/widget oci:layout --jobs 1");
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: blob sha256:[DIGEST] of [REGISTRY]/acme/widget is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]
      cause: it happened at the source of the copy

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
    assert_snapshot!(scene.run("versions oci:layout").text, @"
    exit code: 0
    ----- stdout -----

    ----- stderr -----
    oci:layout has no versions
    ");
}

#[test]
fn a_missing_certificate_file_is_wrong_usage() {
    let scene = Scene::with_dist();
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --ca-file none.pem")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read none.pem: No such file or directory (os error [N])

    hint: --ca-file, --client-cert and --client-key name PEM files
    ");
    scene.context.write("bad.pem", "no certificate");
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --ca-file bad.pem")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: bad.pem cannot be used: the file holds no PEM certificate

    hint: --ca-file, --client-cert and --client-key take PEM files
    ");
}

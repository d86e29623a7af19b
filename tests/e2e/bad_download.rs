//! Registries that fail, refuse or send something else, while something is installed: nothing becomes visible.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Auth, Fault, Login, Registry, Rule};

use crate::bad_package::{INSTALL, package};
use crate::setup::{Scene, WIDGET};

/// Installing a good release is refused because of what the registry does.
#[track_caller]
fn refused_by(rule: Rule, options: &str) -> String {
    let scene = Scene::published();
    scene.registry.fault(rule);
    scene.refuse(&format!("{INSTALL} {options}"))
}

fn blob() -> Rule {
    Rule::on("GET", "/v2/acme/widget/blobs/*")
}

#[test]
fn a_digest_that_does_not_match() {
    assert_snapshot!(refused_by(blob().then(Fault::CorruptBody(-1)), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: blob sha256:[DIGEST] of [REGISTRY]/acme/widget is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
    assert_snapshot!(refused_by(blob().then(Fault::CorruptBody(60)), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: blob sha256:[DIGEST] of [REGISTRY]/acme/widget is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
    let index = Rule::on("GET", "/v2/acme/widget/manifests/*").then(Fault::CorruptBody(30));
    assert_snapshot!(refused_by(index, "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: tag 1.4.0 of [REGISTRY]/acme/widget is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
}

#[test]
fn a_truncated_download() {
    assert_snapshot!(refused_by(blob().then(Fault::CutBody(100)), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: the connection to [REGISTRY]/acme/widget broke: connection closed before the end of the answer (after 100 of 323 bytes)

    hint: run the same command again, or have it tried more often with --attempts N
    ");
    assert_snapshot!(refused_by(blob().then(Fault::ShortenBody(100)), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: blob sha256:[DIGEST] of [REGISTRY]/acme/widget has the wrong size: expected 323 bytes, got 100

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
}

#[test]
fn a_download_that_breaks_once_is_resumed() {
    let scene = Scene::published();
    scene.registry.fault(blob().once().then(Fault::CutBody(100)));
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    note: GET [REGISTRY]/v2/acme/widget/blobs/sha256:[DIGEST]: connection closed before the end of the answer (after 100 of 323 bytes); attempt 2 in [WAIT]
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    ");
}

#[test]
fn a_blob_that_is_missing() {
    let scene = Scene::new();
    let forged = scene.forge(package().build());
    scene.registry.remove("acme/widget", &forged.package);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no blob sha256:[DIGEST]

    hint: the release is incomplete there; its publisher can push it again
    ");
}

#[test]
fn statuses_of_the_registry() {
    let every = |status: u16, code: &str| Rule::on("*", "*").then(Fault::status(status, code));
    assert_snapshot!(refused_by(every(401, "UNAUTHORIZED"), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was shown: injected (UNAUTHORIZED)

    hint: no login helps there; check that this is the registry you mean, or ask its operator
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget --attempts 1` shows every file, entry and helper, and what the registry answers
    ");
    assert_snapshot!(refused_by(every(403, "DENIED"), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was shown: injected (DENIED)

    hint: no login helps there; check that this is the registry you mean, or ask its operator
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget --attempts 1` shows every file, entry and helper, and what the registry answers
    ");
    assert_snapshot!(refused_by(every(404, "NAME_UNKNOWN"), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no provider registry.example.com/acme/widget at [REGISTRY]/acme/widget

    hint: check the name; `tofu-oci resolve registry.example.com/acme/widget --explain --from [REGISTRY]/acme/widget --platform linux_amd64 --attempts 1` says where it is looked for
    ");
    assert_snapshot!(refused_by(every(429, "TOOMANYREQUESTS"), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 429 to GET /v2/acme/widget/tags/list: injected (TOOMANYREQUESTS)

    hint: the registry wants fewer requests: try again later
    ");
    assert_snapshot!(refused_by(every(500, "UNKNOWN"), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 500 to GET /v2/acme/widget/tags/list: injected (UNKNOWN)

    hint: the registry has a problem of its own; run the same command again later
    ");
    let wait = Answer::error(429, "TOOMANYREQUESTS", "slow down").header("Retry-After", "3600");
    assert_snapshot!(refused_by(Rule::on("*", "*").then(Fault::Answer(wait)), ""), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget asks to wait 3600 s before trying again

    hint: try again later, or wait longer with --max-wait 3600
    ");
    assert_snapshot!(refused_by(blob().then(Fault::status(503, "UNAVAILABLE")), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 503 to GET /v2/acme/widget/blobs/sha256:[DIGEST]: injected (UNAVAILABLE)

    hint: the registry has a problem of its own; run the same command again later
    ");
}

#[test]
fn an_unreachable_registry() {
    let scene = Scene::new();
    let line = format!("install {WIDGET} --from registry.invalid/acme/widget --platform linux_amd64 --attempts 1");
    assert_snapshot!(scene.refuse(&line), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach registry.invalid/acme/widget: failed to lookup address information: [REASON]

    hint: check the host name and the network
    ");
}

#[test]
fn a_registry_that_wants_credentials() {
    let scene = Scene::with(Registry::builder().auth(Auth::Basic(Login::new("ada", "correct"))));
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)
      cause: there are no credentials for it: looked in ~/.config/containers/auth.json (not there), ~/.docker/config.json (not there), ~/.dockercfg (not there)

    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
}

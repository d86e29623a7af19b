//! Upstreams and registries that fail: one clear line each, and the rest of the run goes on.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Fault, RequestHead, Rule, ScratchOpenPgpKey};

use super::{HOST, Mirrored, PLATFORMS, actions};

/// acme/zap has a fault, acme/zip has none.
fn pair() -> Mirrored {
    let mirrored = Mirrored::new();
    for provider in ["acme/zap", "acme/zip"] {
        mirrored.upstream.release(provider, "1.0.0", &PLATFORMS[..2]);
    }
    mirrored
}

/// Mirrors both, checks that acme/zap fails in one line and that acme/zip is mirrored, and returns the code of that line.
#[track_caller]
fn failed(mirrored: &Mirrored) -> String {
    let line = format!("mirror {HOST}/acme/zap {HOST}/acme/zip --attempts 2 --max-wait 5s {}", super::TO);
    let said = mirrored.scene.run(&format!("{line} --json"));
    assert!([Some(1), Some(3)].contains(&said.code), "{}", said.text);
    assert_eq!(actions(&said)["zip 1.0.0"], "add", "{}", said.text);
    let lines = said.json();
    let failed: Vec<_> = lines.iter().filter(|line| line["action"] == "failed").collect();
    assert_eq!(failed.len(), 1, "{}", said.text);
    let code = failed[0]["code"].as_str().expect("a code").to_owned();
    assert!(!said.text.contains("SECRET"), "{}", said.text);
    let versions: Vec<String> = mirrored.tags("m/acme/zap").into_iter().filter(|tag| tag != "first-seen").collect();
    assert_eq!(versions, [""; 0], "nothing of it is visible");
    // The next run goes on, once the fault has passed.
    mirrored.upstream.clear_faults();
    mirrored.scene.registry.clear_faults();
    mirrored.mirror(&format!("{HOST}/acme/zap {HOST}/acme/zip")).success();
    code
}

#[track_caller]
fn failed_by(path: &str, answer: Answer) -> String {
    let mirrored = pair();
    mirrored.upstream.fault(Rule::on("GET", path).then(Fault::Answer(answer)));
    failed(&mirrored)
}

#[test]
fn an_upstream_that_refuses_or_fails_is_one_line() {
    let list = "/v1/providers/acme/zap/versions";
    let rubbish = serde_json::json!({"versions": [{"version": "not a version"}]});
    let answers = [
        ("404", Answer::new(404)),
        ("401", Answer::new(401)),
        ("500", Answer::new(500)),
        ("429", Answer::new(429)),
        ("429, in an hour", Answer::new(429).header("Retry-After", "3600")),
        ("HTML", Answer::text(200, "<html>login</html>")),
        ("rubbish in the list", Answer::json(&rubbish)),
        ("to plain HTTP", Answer::new(302).header("Location", "http://files.example.com/x?SECRET")),
    ];
    let codes = answers.map(|(name, answer)| format!("{name}: {}", failed_by(list, answer)));
    assert_snapshot!(codes.join("\n"), @"
    404: registry-provider-not-known
    401: unauthorized
    500: server-error
    429: too-many-requests
    429, in an hour: too-many-requests
    HTML: bad-body
    rubbish in the list: bad-body
    to plain HTTP: bad-redirect
    ");
}

#[test]
fn a_package_that_is_not_the_signed_one_is_one_line() {
    let zip = "/files/acme/zap/1.0.0/terraform-provider-zap_1.0.0_linux_amd64.zip";
    let answers = [
        ("another file", Answer::text(200, "another file")),
        ("404", Answer::new(404)),
        ("to plain HTTP", Answer::new(302).header("Location", "http://files.example.com/x?SECRET")),
    ];
    let codes = answers.map(|(name, answer)| format!("{name}: {}", failed_by(zip, answer)));
    assert_snapshot!(codes.join("\n"), @"
    another file: bad-body
    404: archive-not-found
    to plain HTTP: bad-redirect
    ");
}

#[test]
fn a_signature_by_another_key_is_one_line() {
    let mirrored = Mirrored::new();
    mirrored.upstream.release("acme/zip", "1.0.0", &PLATFORMS[..2]);
    mirrored.upstream.sign_with(&ScratchOpenPgpKey::of(2));
    mirrored.upstream.release("acme/zap", "1.0.0", &PLATFORMS[..2]);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --json"));
    assert_eq!((said.code, actions(&said)["zap 1.0.0"].as_str()), (Some(1), "failed"), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), [""; 0]);
}

#[test]
fn a_registry_that_takes_nothing_is_one_line() {
    let codes = [403, 413, 507].map(|status| {
        let mirrored = pair();
        let is_upload = |head: &RequestHead| head.method == "POST" && head.path.contains("/m/acme/zap/blobs");
        mirrored.scene.registry.fault(Rule::when(is_upload).then(Fault::Answer(Answer::new(status))));
        format!("{status}: {}", failed(&mirrored))
    });
    assert_snapshot!(codes.join("\n"), @"
    403: registry-status:403
    413: registry-status:413
    507: registry-status:507
    ");
}

//! Upstreams and registries that fail: one clear line each, and the rest of the run goes on.

use tofu_oci_testkit::{Answer, Fault, OpenPgpKey, Rule};

use super::{HOST, Mirrored, PLATFORMS, actions};

/// acme/zap has a fault, acme/zip has none.
fn pair() -> Mirrored {
    let mirrored = Mirrored::new();
    for provider in ["acme/zap", "acme/zip"] {
        mirrored.upstream.release(provider, "1.0.0", &PLATFORMS[..2]);
    }
    mirrored
}

/// Mirrors both, and checks that acme/zap fails with this code in one line, and that acme/zip is mirrored.
#[track_caller]
fn check(mirrored: &Mirrored, code: &str) {
    let line = format!("mirror {HOST}/acme/zap {HOST}/acme/zip --attempts 2 --max-wait 0 --timeout 5s {}", super::TO);
    let said = mirrored.scene.run(&format!("{line} --json"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert_eq!(actions(&said)["zip 1.0.0"], "add", "{}", said.text);
    let lines = said.json();
    let failed: Vec<_> = lines.iter().filter(|line| line["action"] == "failed").collect();
    assert_eq!(failed.len(), 1, "{}", said.text);
    assert_eq!(failed[0]["code"], code, "{}", said.text);
    assert!(!said.text.contains("SECRET"), "{}", said.text);
    let versions: Vec<String> = mirrored.tags("m/acme-zap").into_iter().filter(|tag| tag != "first-seen").collect();
    assert_eq!(versions, [""; 0], "nothing of it is visible");
    // The next run goes on, once the fault has passed.
    mirrored.upstream.clear_faults();
    mirrored.scene.registry.clear_faults();
}

#[track_caller]
fn check_upstream(path: &str, fault: Fault, code: &str) {
    let mirrored = pair();
    mirrored.upstream.fault(Rule::on("GET", path).then(fault));
    check(&mirrored, code);
    mirrored.mirror(&format!("{HOST}/acme/zap {HOST}/acme/zip")).success();
}

#[test]
fn an_upstream_that_refuses_or_fails_is_one_line() {
    let list = "/v1/providers/acme/zap/versions";
    check_upstream(list, Fault::Answer(Answer::new(404)), "registry-provider-not-known");
    check_upstream(list, Fault::Answer(Answer::new(401)), "x");
    check_upstream(list, Fault::Answer(Answer::new(500)), "x");
    check_upstream(list, Fault::Answer(Answer::new(429)), "x");
    check_upstream(list, Fault::Answer(Answer::new(429).header("Retry-After", "3600")), "x");
    check_upstream(list, Fault::Answer(Answer::text(200, "<html>login</html>")), "x");
    let rubbish = serde_json::json!({"versions": [{"version": "not a version"}]});
    check_upstream(list, Fault::Answer(Answer::json(&rubbish)), "x");
}

#[test]
fn a_package_that_is_not_the_signed_one_is_one_line() {
    let zip = "/files/acme/zap/1.0.0/terraform-provider-zap_1.0.0_linux_amd64.zip";
    check_upstream(zip, Fault::Answer(Answer::text(200, "another file")), "x");
    check_upstream(zip, Fault::Answer(Answer::new(302).header("Location", "http://files.example.com/x?SECRET")), "x");
}

#[test]
fn a_signature_by_another_key_is_one_line() {
    let mirrored = Mirrored::new();
    mirrored.upstream.release("acme/zip", "1.0.0", &PLATFORMS[..2]);
    mirrored.upstream.sign_with(&OpenPgpKey::of(2));
    mirrored.upstream.release("acme/zap", "1.0.0", &PLATFORMS[..2]);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --json"));
    assert_eq!((said.code, actions(&said)["zap 1.0.0"].as_str()), (Some(1), "failed"), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme-zap"), ["first-seen"]);
}

#[test]
fn a_registry_that_takes_nothing_is_one_line() {
    for (status, code) in [(403, "x"), (507, "x"), (413, "x")] {
        let mirrored = pair();
        mirrored.scene.registry.fault(
            Rule::when(|head| head.method == "POST" && head.path.contains("/m/acme-zap/blobs"))
                .then(Fault::Answer(Answer::new(status))),
        );
        let said = mirrored.mirror(&format!("{HOST}/acme/zap {HOST}/acme/zip --attempts 2 --json"));
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert_eq!(actions(&said)["zip 1.0.0"], "add", "{}", said.text);
        let lines = said.json();
        let failed: Vec<_> = lines.iter().filter(|line| line["action"] == "failed").collect();
        assert_eq!((failed.len(), &failed[0]["code"]), (1, &serde_json::json!(code)), "{status}: {}", said.text);
        mirrored.scene.registry.clear_faults();
        mirrored.mirror(&format!("{HOST}/acme/zap {HOST}/acme/zip")).success();
    }
}

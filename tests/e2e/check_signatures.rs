//! `check` of signatures, against the trust policy that `install` would use.

use crate::setup::{Said, Scene, WIDGET};

const POLICY: &str = r#"
[[key]]
name = "acme"
file = "acme.pub"

[[rule]]
providers = ["registry.example.com/acme/*"]
keys = ["acme"]
"#;

/// Rules and levels of the findings.
fn rules(said: &Said) -> Vec<String> {
    let lines = said.json();
    let findings = lines.iter().filter(|line| line["event"] == "finding");
    let name = |line: &serde_json::Value, member: &str| line[member].as_str().unwrap_or_default().to_owned();
    findings.map(|line| format!("{} {}", name(line, "level"), name(line, "rule"))).collect()
}

/// Widget 1.4.0, signed by one key, and a policy that names the public half of another or of the same.
fn signed(public: &str) -> Scene {
    let scene = Scene::published_over_tls();
    scene.key("p256.pem");
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --format both").success();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/cosign/test-keys");
    let key = std::fs::read(format!("{folder}/{public}")).expect("a key of the fixtures");
    scene.context.write("acme.pub", key);
    scene
}

#[test]
fn a_signature_that_the_policy_wants_is_no_finding() {
    let scene = signed("p256.pub");
    let line = format!("check REGISTRY/acme/widget --deep --address {WIDGET} --json");
    let said = scene.run(&line);
    assert_eq!(rules(&said), ["note signature-not-checked"; 2], "no policy names a key: {}", said.text);
    scene.context.write("trust.toml", POLICY);
    assert_eq!(rules(&scene.run(&line).success()), Vec::<String>::new());
    let unnamed = scene.run("check REGISTRY/acme/widget --deep --json").success();
    assert_eq!(rules(&unnamed), Vec::<String>::new(), "the index says who it is: {}", unnamed.text);
}

#[test]
fn a_signature_by_another_key_is_no_signature() {
    let scene = signed("p384.pub");
    scene.context.write("trust.toml", POLICY);
    let said = scene.run(&format!("check REGISTRY/acme/widget --deep --address {WIDGET} --json"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    let found = rules(&said);
    assert!(found.contains(&"error not-trusted".to_owned()), "{found:?}");
    assert!(found.contains(&"note signature-not-checked".to_owned()), "{found:?}");
}

#[test]
fn a_signature_for_another_provider_is_refused() {
    let scene = signed("p256.pub");
    let policy = POLICY.replace("registry.example.com/acme/*", "*/*/*");
    scene.context.write("trust.toml", policy);
    let said = scene.run("check REGISTRY/acme/widget --address registry.example.com/acme/other --json");
    let found = rules(&said);
    assert!(found.contains(&"error signature-refused".to_owned()), "{found:?}");
    assert!(found.contains(&"error annotation-address".to_owned()), "{found:?}");
    assert!(said.stdout.contains("other-provider"), "{}", said.text);
}

#[test]
fn a_release_without_the_signature_that_is_wanted() {
    let scene = Scene::published_over_tls();
    let signed = signed("p256.pub");
    let key = signed.context.read("acme.pub");
    scene.context.write("acme.pub", key);
    scene.context.write("trust.toml", POLICY);
    let said = scene.run(&format!("check REGISTRY/acme/widget --deep --address {WIDGET} --json"));
    assert_eq!((said.code, rules(&said)), (Some(1), vec!["note unsigned".to_owned(), "error not-trusted".to_owned()]));
    assert!(said.stdout.contains("unsigned: "), "{}", said.text);
}

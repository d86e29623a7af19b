//! One registry under several names, one host in several spellings, and one index under several digests.

use tofu_oci_testkit::{Fault, Rule};
use tofu_oci_types::DigestHasher;

use crate::setup::Scene;

const ADDRESS: &str = "registry.example.com/acme/widget";
const PINS: &str = ".tofu-oci.pins.json";

/// Widget 1.4.0, published and signed, with a policy that demands the signature.
fn signed() -> Scene {
    let scene = Scene::published();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    let rule = "[[rule]]\nproviders = [\"registry.example.com/*/*\"]\nkeys = [\"acme\"]\n";
    scene.context.write("trust.toml", format!("[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n{rule}"));
    scene
}

fn verify(place: &str) -> String {
    format!("verify {ADDRESS}@1.4.0 --from {place}/acme/widget")
}

#[test]
fn a_pin_made_at_localhost_holds_at_127_0_0_1() {
    let scene = signed();
    let port = scene.registry.address().rsplit_once(':').expect("a port").1.to_owned();
    let names = ["localhost", "127.0.0.1", "LOCALHOST"].map(|host| format!("{host}:{port}"));
    scene.run(&format!("{} --accept", verify(&names[0]))).success();
    let pins = scene.context.read(PINS);
    assert!(pins.contains(&format!("\"place\": \"localhost:{port}/acme/widget\"")), "{pins}");
    let index = pins.find("\"index\": \"sha256:").expect("an index") + 10;
    scene.context.write(PINS, pins.replace(&pins[index..index + 71], &format!("sha256:{}", "0".repeat(64))));
    for name in &names {
        let text = scene.refuse(&verify(name));
        assert!(text.contains("refused (moved-tag)"), "{name}: {text}");
    }
    scene.run(&format!("{} --accept", verify(&names[1]))).success();
    assert_eq!(scene.context.read(PINS), pins, "one pin, in one spelling");
}

/// What the registry names the index of 1.4.0 from now on: the SHA-512 of its bytes.
fn name_by_sha512(scene: &Scene) {
    let (_, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("the index");
    let mut hasher = DigestHasher::sha512();
    hasher.update(&bytes);
    let named = Fault::header("Docker-Content-Digest", hasher.finish().to_string());
    scene.registry.clear_faults();
    scene.registry.fault(Rule::on("*", "*/manifests/1.4.0").then(named));
}

#[test]
fn a_registry_that_answers_with_sha512_is_compared_by_content() {
    let scene = signed();
    scene.run(&format!("{} --accept", verify("REGISTRY"))).success();
    let pins = scene.context.read(PINS);
    name_by_sha512(&scene);
    scene.run(&verify("REGISTRY")).success();
    scene.run(&format!("{} --accept", verify("REGISTRY"))).success();
    assert_eq!(scene.context.read(PINS), pins);

    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("the index");
    let other = scene.registry.put_manifest("acme/widget", &media_type, [bytes.as_ref(), b"\n"].concat());
    scene.registry.put_tag("acme/widget", "1.4.0", &other);
    name_by_sha512(&scene);
    let text = scene.refuse(&verify("REGISTRY"));
    assert!(text.contains("refused (moved-tag)"), "{text}");
}

#[test]
fn a_signature_made_where_the_registry_answers_with_sha512_names_sha256() {
    let scene = Scene::published();
    scene.key("p256.pem");
    scene.key("p256.pub");
    name_by_sha512(&scene);
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success();
    scene.run(&format!("{} --key p256.pub", verify("REGISTRY"))).success();
    scene.registry.clear_faults();
    scene.run(&format!("{} --key p256.pub", verify("REGISTRY"))).success();
}

#[test]
fn a_dot_at_the_end_of_a_host_escapes_no_rule() {
    let scene = signed();
    let dotted = verify("REGISTRY").replace("registry.example.com/", "registry.example.com./");
    let output = scene.run(&dotted);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("it ends with a dot; write it without the dot"), "{}", output.stderr);
    let required = "terraform {\n  required_providers {\n    widget = {\n      source = \"registry.example.com./acme/widget\"\n    }\n  }\n}\n";
    scene.context.write("main.tf", required);
    for verb in ["install --from REGISTRY/acme/widget", "lock --from REGISTRY/acme/widget"] {
        let output = scene.run(verb);
        assert_ne!(output.code, Some(0));
        assert!(output.stderr.contains("it ends with a dot; write it without the dot"), "{verb}: {}", output.stderr);
    }
    let text = scene.context.read("trust.toml").replace("registry.example.com/*", "registry.example.com./*");
    scene.context.write("trust.toml", text);
    let output = scene.run(&verify("REGISTRY"));
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("it ends with a dot; write it without the dot"), "{}", output.stderr);
}

//! What is not signed, and registries that do not take signatures.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Behaviour, Fault, Referrers, Registry, Rule};

use crate::setup::{Scene, WIDGET};

/// A scene with widget 1.4.0 published, and a key.
fn published() -> Scene {
    let scene = Scene::published();
    scene.key("p256.pem");
    scene
}

#[test]
fn wrong_usage() {
    let scene = published();
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget --key p256.pem"), @"");
    assert_snapshot!(scene.refuse("sign oci:missing:1.4.0 --key p256.pem"), @"");
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key missing.pem"), @"");
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key env://NO_SUCH_KEY"), @"");
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --key-password-stdin"), @"");
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-format both")), @"");
    let line = "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --username ada --password-stdin --key-password-stdin";
    assert_snapshot!(scene.refuse(line), @"");
    let public = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/cosign/test-keys/p256.pub");
    scene.context.write("p256.pub", std::fs::read(public).expect("a public key"));
    assert!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key p256.pub").contains("hint: name the private key"));
}

#[cfg(unix)]
#[test]
fn a_key_that_others_may_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = published();
    std::fs::set_permissions(scene.path("p256.pem"), std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success().stderr, @"");
}

#[test]
fn only_releases_are_signed() {
    let scene = published();
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.5.0 --key p256.pem"), @"");
    let other = "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --address registry.example.com/acme/other";
    assert_snapshot!(scene.refuse(other), @"");
    let index = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/widget", "2.0.0", &index);
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:2.0.0 --key p256.pem"), @"");
    let image = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}"#;
    let image = scene.registry.put_manifest("acme/widget", "application/vnd.oci.image.manifest.v1+json", image);
    scene.registry.put_tag("acme/widget", "3.0.0", &image);
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:3.0.0 --key p256.pem"), @"");
}

#[test]
fn another_namespace_is_signed_for_when_it_is_said() {
    let scene = published();
    let line = "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --address mirror.example.com/acme/widget";
    assert_snapshot!(scene.run(line).text, @"");
}

/// GitLab's answer to an artifact type that it does not know.
#[test]
fn a_registry_that_refuses_the_referrer() {
    let scene = published();
    let refusal = Answer::error(400, "MANIFEST_INVALID", "unknown media type");
    scene.registry.fault(Rule::on("PUT", "*/manifests/sha256:*").then(Fault::Answer(refusal)));
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"");
    scene.registry.clear_faults();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --format cosign-tag").success();
}

#[test]
fn a_registry_that_takes_the_referrer_and_does_not_list_it() {
    let referrers = Referrers::SubjectHeaderOnly;
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
    scene.dist("dist", "1.4.0");
    scene.key("p256.pem");
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-key p256.pem");
    assert_snapshot!(scene.run(&line).text, @"");
    assert_eq!(scene.registry.tags("acme/widget"), [], "nothing is released without its signature");
    scene.run(&format!("{line} --sign-format cosign-tag")).success();
}

#[test]
fn a_registry_whose_tags_cannot_be_changed() {
    let scene = published();
    let refusal = || Fault::Answer(Answer::error(412, "PRECONDITION", "the tag is immutable"));
    scene
        .registry
        .fault(Rule::when(|head| head.method == "PUT" && head.path.contains("/manifests/sha256-")).then(refusal()));
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"");
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --format cosign-tag").text, @"");
}

//! `sign`, and what `push`, `pack` and `copy` do with signatures.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{Behaviour, Referrers, Registry};

use crate::setup::keys::KEY_PASSWORD;
use crate::setup::{Scene, WIDGET};

/// Registries with the referrers API, and without.
fn registries() -> [Referrers; 3] {
    [Referrers::Unsupported, Referrers::Supported, Referrers::WithoutSubjectHeader]
}

/// A scene with widget 1.4.0 published, and keys.
fn published(referrers: Referrers) -> Scene {
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
    scene.publish("1.4.0");
    for key in ["p256.pem", "p384.pem", "ed25519.pem", "rsa-2048.pem", "p256-cosign.key"] {
        scene.key(key);
    }
    scene.registry.clear_requests();
    scene
}

/// The layers under the tag `sha256-HEX.sig` of a release.
fn layers(scene: &Scene, repository: &str) -> usize {
    let index = scene.tag(repository, "1.4.0").replace(':', "-");
    let (_, image) = scene.registry.manifest(repository, &format!("{index}.sig")).expect("signatures");
    serde_json::from_slice::<Value>(&image).expect("a manifest")["layers"].as_array().expect("layers").len()
}

#[test]
fn a_release_is_signed_where_it_is() {
    for referrers in registries() {
        let scene = published(referrers);
        insta::allow_duplicates! {
            assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"");
            assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"");
            assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p384.pem --format both").text, @"");
        }
        scene.run("sign REGISTRY/acme/widget --version 1.4.0 --key ed25519.pem --format cosign-tag").success();
        scene.run("sign REGISTRY/acme/widget:1.4.0 --key rsa-2048.pem --format cosign-tag").success();
        assert_eq!(layers(&scene, "acme/widget"), 3);
    }
}

#[test]
fn a_directory_is_signed_and_copied_with_its_signatures() {
    let scene = Scene::with_dist();
    scene.key("p256.pem");
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    assert_snapshot!(scene.run("sign oci:layout:1.4.0 --key p256.pem --format both").text, @"");
    assert_snapshot!(scene.run("copy oci:layout REGISTRY/mirror/widget").text, @"");
    let again = scene.run("sign REGISTRY/mirror/widget:1.4.0 --key p256.pem --format both").success();
    assert!(again.stdout.contains("is signed by this key already"), "{}", again.text);
    assert_snapshot!(scene.run("copy REGISTRY/mirror/widget oci:layout").text, @"");
}

#[test]
fn a_push_signs_before_it_writes_the_tag() {
    for referrers in registries() {
        let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
        scene.dist("dist", "1.4.0");
        scene.key("p256.pem");
        let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-key p256.pem --sign-format both");
        insta::allow_duplicates! {
            assert_snapshot!(scene.run(&format!("{line} --dry-run")).text, @"");
            assert_eq!(scene.registry.tags("acme/widget"), []);
            assert_snapshot!(scene.run(&line).text, @"");
            assert_snapshot!(scene.run(&line).text, @"");
        }
        let writes: Vec<String> = scene.conversation().into_iter().filter(|line| line.starts_with("PUT")).collect();
        let last = writes.last().map(String::as_str);
        assert_eq!(last, Some("PUT /v2/acme/widget/manifests/1.4.0 -> 201"), "the tag is written last, and once");
        // What was published without a signature gets one from another push.
        scene.run(&format!("push dist REGISTRY/acme/later --address {WIDGET}")).success();
        let line = format!("push dist REGISTRY/acme/later --address {WIDGET} --sign-key p256.pem");
        let later = scene.run(&line).success();
        assert!(
            later.stdout.contains("is at [REGISTRY]") || later.text.contains("what it lacked was attached"),
            "{}",
            later.text
        );
    }
}

#[test]
fn the_signed_checksum_file_travels_with_the_release() {
    let scene = Scene::new();
    tofu_oci_testkit::Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    // A packet of type 2, as every signature begins, and one of type 6, as every public key does.
    scene.context.write("dist/terraform-provider-widget_1.4.0_SHA256SUMS.sig", [0xc2, 0x01, b'x']);
    scene.context.write("dist/acme.gpg", [0xc6, 0x01, b'k']);
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET}");
    assert_snapshot!(scene.run(&line).text, @"");
    assert_snapshot!(scene.run("copy REGISTRY/acme/widget oci:layout").text, @"");
    scene.context.write("dist/secret.gpg", [0xc5, 0x01, b'k']);
    assert_snapshot!(scene.refuse(&line), @"");
    scene.run(&format!("{line} --sums skip")).success();
}

#[test]
fn a_password_comes_from_the_variable_or_from_standard_input() {
    let scene = published(Referrers::Supported);
    let line = "sign REGISTRY/acme/widget:1.4.0 --key p256-cosign.key";
    assert_snapshot!(scene.refuse(line), @"");
    assert_snapshot!(scene.refuse_with(scene.command(line).env("COSIGN_PASSWORD", "other")), @"");
    let said = scene.output(scene.command(line).env("COSIGN_PASSWORD", KEY_PASSWORD)).success();
    assert!(said.stdout.starts_with("signed "), "{}", said.text);
    scene.context.write("password", format!("{KEY_PASSWORD}\n"));
    let file = std::fs::File::open(scene.path("password")).expect("it was written");
    let said = scene.output(scene.command(&format!("{line} --key-password-stdin")).stdin(file)).success();
    assert!(said.stdout.contains("is signed by this key already"), "{}", said.text);
    let pem = scene.context.read("p256.pem");
    let line = "sign REGISTRY/acme/widget:1.4.0 --key env://SIGNING_KEY";
    scene.output(scene.command(line).env("SIGNING_KEY", pem)).success();
}

//! `sign`, and what `push`, `pack` and `copy` do with signatures.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{Behaviour, ReferrersSupport, Registry};

use crate::setup::keys::KEY_PASSWORD;
use crate::setup::{Scene, WIDGET};

/// Registries with the referrers API, and without.
fn registries() -> [ReferrersSupport; 3] {
    [ReferrersSupport::Unsupported, ReferrersSupport::Supported, ReferrersSupport::WithoutSubjectHeader]
}

/// A scene with widget 1.4.0 published, and keys.
fn published(referrers: ReferrersSupport) -> Scene {
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
            assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"
            exit code: 0
            ----- stdout -----
            signed registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0
              index sha256:[DIGEST]
              key sha256:[DIGEST]
              attached signature sha256:[DIGEST]

            ----- stderr -----
            ");
            assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"
            exit code: 0
            ----- stdout -----
            registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0 is signed by this key already
              index sha256:[DIGEST]
              key sha256:[DIGEST]
              present  signature sha256:[DIGEST]

            ----- stderr -----
            ");
            assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p384.pem --format both").text, @"
            exit code: 0
            ----- stdout -----
            signed registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0
              index sha256:[DIGEST]
              key sha256:[DIGEST]
              attached signature sha256:[DIGEST]
              attached signature at the tag sha256-[DIGEST].sig

            ----- stderr -----
            ");
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
    assert_snapshot!(scene.run("sign oci:layout:1.4.0 --key p256.pem --format both").text, @"
    exit code: 0
    ----- stdout -----
    signed registry.example.com/acme/widget 1.4.0 at oci:layout (tag 1.4.0)
      index sha256:[DIGEST]
      key sha256:[DIGEST]
      attached signature sha256:[DIGEST]
      attached signature at the tag sha256-[DIGEST].sig

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("copy oci:layout REGISTRY/mirror/widget").text, @"
    exit code: 0
    ----- stdout -----
    copied [REGISTRY]/mirror/widget:1.4.0, sent 7.4 kB (13 new, 0 mounted, 0 present)
      index sha256:[DIGEST]
      with the tag sha256-[DIGEST].sig

    ----- stderr -----
    signature ([HEX]): pushed (352 B)
    signature ([HEX]): pushed (799 B)
    zip of darwin_arm64 ([HEX]): pushed (324 B)
    zip of linux_amd64 ([HEX]): pushed (323 B)
    ");
    let again = scene.run("sign REGISTRY/mirror/widget:1.4.0 --key p256.pem --format both").success();
    assert!(again.stdout.contains("is signed by this key already"), "{}", again.text);
    assert_snapshot!(scene.run("copy REGISTRY/mirror/widget oci:layout").text, @"
    exit code: 0
    ----- stdout -----
    oci:layout (tag 1.4.0) is there already
      index sha256:[DIGEST]
      with the tag sha256-[DIGEST].sig

    ----- stderr -----
    ");
}

#[test]
fn a_push_signs_before_it_writes_the_tag() {
    for referrers in registries() {
        let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
        scene.dist("dist", "1.4.0");
        scene.key("p256.pem");
        let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-key p256.pem --sign-format both");
        insta::allow_duplicates! {
            assert_snapshot!(scene.run(&format!("{line} --dry-run")).text, @"
            exit code: 0
            ----- stdout -----
            would push registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
              index sha256:[DIGEST]
              darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
              linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
              new      package   darwin_arm64     sha256:[DIGEST]     324 B
              new      config    darwin_arm64     sha256:[DIGEST]     220 B
              new      manifest  darwin_arm64     sha256:[DIGEST]     527 B
              new      package   linux_amd64      sha256:[DIGEST]     323 B
              new      config    linux_amd64      sha256:[DIGEST]     219 B
              new      manifest  linux_amd64      sha256:[DIGEST]     526 B
              new      index                      sha256:[DIGEST]    1.5 kB
              key sha256:[DIGEST]
              would attach signature sha256:[DIGEST]
              would attach signature at the tag sha256-[DIGEST].sig
              would send 7.4 kB

            ----- stderr -----
            ");
            assert_eq!(scene.registry.tags("acme/widget"), []);
            assert_snapshot!(scene.run(&line).text, @"
            exit code: 0
            ----- stdout -----
            pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
              index sha256:[DIGEST]
              darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
              linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
              key sha256:[DIGEST]
              attached signature sha256:[DIGEST]
              attached signature at the tag sha256-[DIGEST].sig
              sent 7.4 kB (13 new, 0 present)

            ----- stderr -----
            widget 1.4.0 darwin_arm64: pushed (324 B)
            widget 1.4.0 linux_amd64: pushed (323 B)
            ");
            assert_snapshot!(scene.run(&line).text, @"
            exit code: 0
            ----- stdout -----
            registry.example.com/acme/widget 1.4.0 is at [REGISTRY]/acme/widget:1.4.0 already; nothing was sent
              index sha256:[DIGEST]
              darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
              linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
              key sha256:[DIGEST]
              present  signature sha256:[DIGEST]
              present  signature at the tag sha256-[DIGEST].sig

            ----- stderr -----
            ");
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
    tofu_oci_testkit::ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    let signature = include_bytes!("../../testdata/trust/gpg/ed25519.sig");
    scene.context.write("dist/terraform-provider-widget_1.4.0_SHA256SUMS.sig", signature);
    // A packet of type 6, as every public key begins.
    scene.context.write("dist/acme.gpg", [0xc6, 0x01, b'k']);
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET}");
    assert_snapshot!(scene.run(&line).text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      attached terraform-provider-widget_1.4.0_SHA256SUMS, terraform-provider-widget_1.4.0_SHA256SUMS.sig, acme.gpg as sha256:[DIGEST]
      sent 4.2 kB (9 new, 0 present)

    ----- stderr -----
    note: terraform-provider-widget_1.4.0_SHA256SUMS.sig is by the key AAB811346BF3A951042D8D75D0131A0CDFA25C96, which is not beside it: it was not verified
      hint: put the public key beside it: gpg --armor --export AAB811346BF3A951042D8D75D0131A0CDFA25C96 > dist/key.asc
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
    assert_snapshot!(scene.run("copy REGISTRY/acme/widget oci:layout").text, @"
    exit code: 0
    ----- stdout -----
    copied oci:layout (tag 1.4.0), sent 4.2 kB (9 new, 0 mounted, 0 present)
      index sha256:[DIGEST]

    ----- stderr -----
    acme.gpg ([HEX]): copied (84 B)
    terraform-provider-widget_1.4.0_SHA256SUMS ([HEX]): copied (226 B)
    terraform-provider-widget_1.4.0_SHA256SUMS.sig ([HEX]): copied (140 B)
    zip of linux_amd64 ([HEX]): copied (323 B)
    ");
    scene.context.write("dist/secret.gpg", [0xc5, 0x01, b'k']);
    assert_snapshot!(scene.refuse(&line), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/secret.gpg holds a private key

    hint: nothing was sent; move it out of the folder, and check where the folder has been before
    ");
    scene.run(&format!("{line} --sums skip")).success();
}

#[test]
fn a_password_comes_from_the_variable_or_from_standard_input() {
    let scene = published(ReferrersSupport::Supported);
    let line = "sign REGISTRY/acme/widget:1.4.0 --key p256-cosign.key";
    assert_snapshot!(scene.refuse(line), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the key p256-cosign.key is encrypted, and there is no password

    hint: set COSIGN_PASSWORD, or give the password on standard input with --key-password-stdin
    ");
    assert_snapshot!(scene.refuse_with(scene.command(line).env("COSIGN_PASSWORD", "other")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the key p256-cosign.key cannot be used
      cause: the password of the private key is wrong

    hint: check COSIGN_PASSWORD, or the password that you gave
    ");
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

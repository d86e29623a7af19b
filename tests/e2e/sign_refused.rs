//! What is not signed, and registries that do not take signatures.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Behaviour, Fault, ReferrersSupport, Registry, Rule};

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
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget --key p256.pem"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]/acme/widget` names no version

    hint: write [REGISTRY]/acme/widget:VERSION, such as [REGISTRY]/acme/widget:1.4.0
    hint: `tofu-oci versions [REGISTRY]/acme/widget` lists what is there
    hint: `tofu-oci module versions oci://[REGISTRY]/acme/widget` lists those of a module
    ");
    assert_snapshot!(scene.refuse("sign oci:missing:1.4.0 --key p256.pem"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no repository oci:missing

    hint: check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci pack DIST oci:DIR` makes one
    ");
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key missing.pem"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: cannot read the key missing.pem: there is no such file

    hint: name the file of a private key, such as cosign.key, or env://NAME
    ");
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key env://NO_SUCH_KEY"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the variable NO_SUCH_KEY holds no key

    hint: set it to the PEM text of the private key
    ");
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --key-password-stdin"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: p256.pem needs no password, and --key-password-stdin gives one

    hint: leave --key-password-stdin out
    ");
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-format both")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the following required arguments were not provided:
      --sign-key <KEY>

    Usage: tofu-oci push --sign-key <KEY> --address <ADDR> --sign-format <FORMAT> <DIST> <DEST>

    For more information, try '--help'.
    ");
    let line = "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --username ada --password-stdin --key-password-stdin";
    assert_snapshot!(scene.refuse(line), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --password-stdin and --key-password-stdin both read standard input

    hint: give the password of the key in COSIGN_PASSWORD
    ");
    let public = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/cosign/test-keys/p256.pub");
    scene.context.write("p256.pub", std::fs::read(public).expect("a public key"));
    assert!(scene.refuse("sign REGISTRY/acme/widget:1.4.0 --key p256.pub").contains("hint: name the private key"));
}

#[cfg(unix)]
#[test]
fn a_private_key_as_an_argument_is_not_repeated() {
    let scene = published();
    for line in [
        "sign REGISTRY/acme/widget:1.4.0 '--key=-----BEGIN PRIVATE KEY----- MIGHc2VjcmV0'",
        "sign REGISTRY/acme/widget:1.4.0 --key '-----BEGIN PRIVATE KEY----- MIGHc2VjcmV0'",
        "push dist REGISTRY/acme/widget --json --sign-key '-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY----- MIGHc2VjcmV0'",
    ] {
        let said = scene.run(line);
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(!said.text.contains("MIGH") && said.text.contains("env://COSIGN_KEY"), "{}", said.text);
    }
}

#[test]
fn a_key_that_others_may_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = published();
    std::fs::set_permissions(scene.path("p256.pem"), std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").success().stderr, @"
    warning: others than its owner may read the private key p256.pem
      hint: chmod 600 p256.pem
    ");
}

#[test]
fn only_releases_are_signed() {
    let scene = published();
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.5.0 --key p256.pem"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no version 1.5.0

    hint: it has 1.4.0
    ");
    let other = "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --address registry.example.com/acme/other";
    assert_snapshot!(scene.refuse(other), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the release 1.4.0 in [REGISTRY]/acme/widget says that it is registry.example.com/acme/widget, which is another provider than registry.example.com/acme/other

    hint: omit --address: the release says registry.example.com/acme/widget
    ");
    let index = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/widget", "2.0.0", &index);
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:2.0.0 --key p256.pem"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the tag 2.0.0 in [REGISTRY]/acme/widget points at a release that says it is version 1.4.0

    hint: the tag was moved or written by hand: sign 1.4.0 under its own tag
    ");
    let image = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}"#;
    let image = scene.registry.put_manifest("acme/widget", "application/vnd.oci.image.manifest.v1+json", image);
    scene.registry.put_tag("acme/widget", "3.0.0", &image);
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:3.0.0 --key p256.pem"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no release under the tag 3.0.0
      cause: this is a container image, not a provider release: expected an image index with a package for each platform

    hint: name the tag of a provider release; `tofu-oci push` and `tofu-oci pack` write them
    hint: or that of a module; `tofu-oci module push` writes them
    ");
}

#[test]
fn another_namespace_is_signed_for_when_it_is_said() {
    let scene = published();
    let line = "sign REGISTRY/acme/widget:1.4.0 --key p256.pem --address mirror.example.com/acme/widget";
    assert_snapshot!(scene.run(line).text, @"
    exit code: 0
    ----- stdout -----
    signed mirror.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      key sha256:[DIGEST]
      attached signature sha256:[DIGEST]

    ----- stderr -----
    warning: the release says that it is registry.example.com/acme/widget, and is taken as mirror.example.com/acme/widget
    ");
}

/// GitLab's answer to an artifact type that it does not know.
#[test]
fn a_registry_that_refuses_the_referrer() {
    let scene = published();
    let refusal = Answer::error(400, "MANIFEST_INVALID", "unknown media type");
    scene.registry.fault(Rule::on("PUT", "*/manifests/sha256:*").then(Fault::Answer(refusal)));
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget does not take the signature (a referrer)
      cause: [REGISTRY]/acme/widget answered 400 to PUT /v2/acme/widget/manifests/sha256:[DIGEST]: unknown media type (MANIFEST_INVALID)

    hint: sign in the form that needs no referrers: --sign-format cosign-tag
    ");
    scene.registry.clear_faults();
    scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --format cosign-tag").success();
}

/// Its numbers do not belong together, which a key shows only when it signs.
#[test]
fn a_damaged_rsa_key_is_refused_before_anything_is_packed() {
    let scene = Scene::new();
    scene.dist("dist", "1.4.0");
    let key = include_bytes!("../../testdata/fuzz/key_files/damaged-rsa-key");
    std::fs::write(scene.path("damaged.pem"), key).expect("a file is written");
    assert_snapshot!(scene.refuse(&format!("pack dist oci:packed --address {WIDGET} --sign-key damaged.pem")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the key damaged.pem cannot be used
      cause: the key is malformed: its numbers do not belong together

    hint: `cosign generate-key-pair` makes one, and so does `openssl ecparam -name prime256v1 -genkey -noout`
    ");
    assert!(!scene.path("packed").exists(), "something was packed");
}

#[test]
fn a_registry_that_takes_the_referrer_and_does_not_list_it() {
    let referrers = ReferrersSupport::Losing;
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
    scene.dist("dist", "1.4.0");
    scene.key("p256.pem");
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-key p256.pem");
    assert_snapshot!(scene.run(&line).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    error: [REGISTRY]/acme/widget took the signature (a referrer), sha256:[DIGEST], and does not list it among the referrers of sha256:[DIGEST]

    hint: sign in the form that needs no referrers: --sign-format cosign-tag
    ");
    assert_eq!(scene.registry.tags("acme/widget"), [], "nothing is released without its signature");
    scene.run(&format!("{line} --sign-format cosign-tag")).success();
}

/// Its answer to the `PUT` says that it lists referrers, but it has no list: the tag replaces it.
#[test]
fn a_registry_that_only_claims_to_list_referrers() {
    let referrers = ReferrersSupport::SubjectHeaderOnly;
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
    scene.dist("dist", "1.4.0");
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-key p256.pem")).success();
    scene.run(&format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget --key p256.pub")).success();
}

#[test]
fn a_registry_whose_tags_cannot_be_changed() {
    let scene = published();
    let refusal = || Fault::Answer(Answer::error(412, "PRECONDITION", "the tag is immutable"));
    scene
        .registry
        .fault(Rule::when(|head| head.method == "PUT" && head.path.contains("/manifests/sha256-")).then(refusal()));
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget does not let the tag sha256-[DIGEST] be written, which the signature (a referrer) needs
      cause: [REGISTRY]/acme/widget answered 412 to PUT /v2/acme/widget/manifests/sha256-[DIGEST]: the tag is immutable (PRECONDITION)

    hint: if tags are immutable there, allow changes of those that begin with `sha256-`, such as sha256-[DIGEST]
    hint: sign in the form that needs no referrers: --sign-format cosign-tag
    ");
    assert_snapshot!(scene.run("sign REGISTRY/acme/widget:1.4.0 --key p256.pem --format cosign-tag").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget does not let the tag sha256-[DIGEST].sig be written, which the signature (a tag) needs
      cause: [REGISTRY]/acme/widget answered 412 to PUT /v2/acme/widget/manifests/sha256-[DIGEST].sig: the tag is immutable (PRECONDITION)

    hint: if tags are immutable there, allow changes of those that begin with `sha256-`, such as sha256-[DIGEST].sig
    ");
}

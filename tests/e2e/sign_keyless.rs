//! `sign --keyless` and `push --sign-keyless`, with a `cosign` on the PATH that a script plays.

use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{Behaviour, BuiltBy, LocalSigstore, ReferrersSupport, Registry};

use crate::setup::{Scene, WIDGET};

const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjQxMDI0NDQ4MDB9.secret-token";
const SIGN: &str = "sign REGISTRY/acme/widget:1.4.0 --keyless";
const POLICY: &str = r#"
[[identity]]
name = "acme release"
repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
root = "root.json"

[[rule]]
providers = ["registry.example.com/acme/widget"]
keys = ["acme release"]
"#;

/// Widget 1.4.0 in `dist`, a policy, and an identity token.
fn scene() -> Scene {
    let behaviour = Behaviour { referrers: ReferrersSupport::Unsupported, ..Behaviour::default() };
    let mut scene = Scene::with(Registry::builder().behaviour(behaviour));
    scene.dist("dist", "1.4.0");
    scene.context.env("SIGSTORE_ID_TOKEN", TOKEN.to_owned());
    scene
}

/// Puts this script on the PATH as `cosign`. Its arguments and the token that it sees are in `called`.
fn cosign(scene: &mut Scene, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let record = "echo \"$@\" >> \"$HOME/called\"\nwhile [ $# -gt 0 ]; do case $1 in --statement) statement=$2;; --bundle) bundle=$2;; esac; shift; done\n";
    let path = scene.context.write_home("bin/cosign", format!("#!/bin/sh\n{record}{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let outside = std::env::var("PATH").unwrap_or_default();
    let folder = scene.context.home().join("bin");
    scene.context.env("PATH", format!("{}:{outside}", folder.display()));
}

/// A `cosign` that signs the release at this digest as the release workflow.
fn signs(scene: &mut Scene, digest: &str, names: bool) {
    signs_at(scene, digest, names, SystemTime::now());
}

/// The same at another time.
fn signs_at(scene: &mut Scene, digest: &str, names: bool, now: SystemTime) {
    let sigstore = LocalSigstore::generate(now);
    scene.context.write("root.json", sigstore.root());
    scene.context.write("trust.toml", POLICY);
    let mut subject = json!({ "digest": { "sha256": digest.trim_start_matches("sha256:") } });
    if names {
        subject["annotations"] =
            json!({ "org.opentofu.provider.address": WIDGET, "org.opentofu.provider.version": "1.4.0" });
    }
    let bundle = sigstore.attest(&BuiltBy::RELEASE, "https://sigstore.dev/cosign/sign/v1", &[subject]);
    let bundle = scene.context.write_home("signed.json", bundle);
    cosign(scene, &format!("cp \"$statement\" \"$HOME/statement.json\"; cp {} \"$bundle\"", bundle.display()));
}

/// The index that the files of `dist` give.
fn packed(scene: &Scene) -> String {
    let said = scene.run(&format!("pack dist oci:layout --address {WIDGET} --json")).success();
    let line = said.json().into_iter().find(|line| line["event"] == "pushed").expect("a report");
    line["index"].as_str().expect("a digest").to_owned()
}

fn called(scene: &Scene) -> String {
    std::fs::read_to_string(scene.context.home().join("called")).unwrap_or_default()
}

#[test]
fn a_release_is_signed_without_a_key_and_the_token_is_in_no_argument() {
    let mut scene = scene();
    scene.publish("1.4.0");
    let index = scene.tag("acme/widget", "1.4.0");
    signs(&mut scene, &index, true);
    assert_snapshot!(scene.run(SIGN).text, @"
    exit code: 0
    ----- stdout -----
    signed registry.example.com/acme/widget 1.4.0 at [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      attached signature sha256:[DIGEST]

    ----- stderr -----
    ");
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    let arguments = called(&scene);
    assert!(arguments.starts_with("attest-blob --yes --statement ") && !arguments.contains(TOKEN), "{arguments}");
    let statement = std::fs::read(scene.context.home().join("statement.json")).expect("cosign got it");
    let statement: Value = serde_json::from_slice(&statement).expect("JSON");
    assert_eq!(statement["subject"][0]["annotations"]["org.opentofu.provider.version"], "1.4.0");
    assert_eq!(statement["predicateType"], "https://sigstore.dev/cosign/sign/v1");
    // The same bundle again is there already.
    let said = scene.run(&format!("{SIGN} --json")).success();
    let line = &said.json()[0];
    assert_eq!((&line["key"], &line["unchanged"]), (&Value::Null, &json!(true)), "{}", said.text);
    assert!(!scene.run(&format!("{SIGN} -vv")).text.contains(TOKEN));
}

#[test]
fn a_push_signs_before_the_tag_and_no_signature_that_is_there_stops_it() {
    let mut scene = scene();
    // The same files give the same index.
    let index = packed(&scene);
    signs(&mut scene, &index, true);
    let push = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-keyless");
    let said = scene.run(&format!("{push} --dry-run")).success();
    assert_eq!(called(&scene), "", "{}", said.text);
    assert!(said.stdout.contains("\n  would sign it without a key, by cosign\n"), "{}", said.text);
    scene.run(&push).success();
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
    let said = scene.run(&format!("{push} --json")).success();
    let line = said.json().into_iter().find(|line| line["event"] == "pushed").expect("a report");
    assert_eq!(line["attachments"][0]["state"], "present", "{}", said.text);
    assert_eq!(called(&scene).lines().count(), 2);
}

#[test]
fn without_a_token_or_cosign_nothing_is_sent() {
    let mut scene = scene();
    scene.publish("1.4.0");
    scene.registry.clear_requests();
    scene.context.env("PATH", "/nowhere".to_owned());
    assert_snapshot!(scene.refuse(SIGN), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: to sign without a key tofu-oci runs cosign: cosign is not on the PATH

    hint: install cosign 3, on GitHub Actions with sigstore/cosign-installer
    ");
    // What is no token cannot sign, and a plan says so.
    scene.context.env("SIGSTORE_ID_TOKEN", "abc".to_owned());
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-keyless --dry-run")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: SIGSTORE_ID_TOKEN is not a token to sign with: it is not a JWT

    hint: put a token into it that the CI platform has just issued for the audience sigstore
    ");
    scene.context.env("SIGSTORE_ID_TOKEN", String::new());
    assert_snapshot!(scene.refuse(SIGN), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no identity token to sign with, and no key

    hint: GitHub Actions: give the job `permissions: {id-token: write}`
    hint: GitLab CI: give the job `id_tokens: {SIGSTORE_ID_TOKEN: {aud: sigstore}}`
    hint: elsewhere: put a token for the audience sigstore into SIGSTORE_ID_TOKEN, or sign with a key
    ");
    scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-keyless"));
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/widget:1.4.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `sign` needs --key KEY or --keyless

    hint: `tofu-oci help keyless` says how to sign without a key
    ");
    assert_snapshot!(scene.refuse(&format!("{SIGN} --key p256.pem")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the argument '--keyless' cannot be used with '--key <KEY>'

    hint: omit --keyless or --key
    hint: `tofu-oci help sign` says what each is for
    ");
    assert!(scene.conversation().iter().all(|line| !line.starts_with("PUT ") && !line.starts_with("POST ")));
    // GitHub's two variables are a token as well.
    scene.context.env("ACTIONS_ID_TOKEN_REQUEST_URL", "https://token.example/?a=b".to_owned());
    scene.context.env("ACTIONS_ID_TOKEN_REQUEST_TOKEN", TOKEN.to_owned());
    assert!(scene.refuse(SIGN).contains("cosign is not on the PATH"));
}

#[test]
fn a_cosign_that_fails_or_lies_leaves_a_push_without_its_tag() {
    let mut scene = scene();
    let push = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-keyless");
    cosign(&mut scene, "echo \"no certificate for $SIGSTORE_ID_TOKEN\" >&2; exit 1");
    assert_snapshot!(scene.run(&push).text, @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    error: cosign did not sign the version: exit status 1: no certificate for ***

    hint: read what cosign says, and run the command again
    hint: the version's tag is as it was before this command
    ");
    cosign(&mut scene, "exit 0");
    assert!(scene.run(&push).text.contains("it wrote no bundle"));
    cosign(&mut scene, "echo '{}' > \"$bundle\"");
    assert!(scene.run(&push).text.contains("it wrote a bundle that is not proven: the bundle is malformed"));
    signs(&mut scene, &tofu_oci_types::Digest::sha256(b"other").to_string(), true);
    assert!(scene.run(&push).text.contains("the bundle says something else"));
    let index = packed(&scene);
    signs(&mut scene, &index, false);
    assert!(scene.run(&push).text.contains("the bundle says something else"));
    assert!(scene.registry.tags("acme/widget").iter().all(|(tag, _)| tag.starts_with("sha256-")));
}

#[test]
fn a_bundle_whose_certificate_is_over_or_whose_signature_is_another_was_attached() {
    let mut scene = scene();
    scene.publish("1.4.0");
    let index = scene.tag("acme/widget", "1.4.0");
    signs_at(&mut scene, &index, true, SystemTime::now() - Duration::from_hours(24));
    let said = scene.run(SIGN);
    assert!(said.code == Some(3) && said.text.contains("its certificate is not valid any more"), "{}", said.text);
    signs(&mut scene, &index, true);
    let bundle = scene.context.home().join("signed.json");
    let mut spoilt: Value = serde_json::from_slice(&std::fs::read(&bundle).expect("it is there")).expect("JSON");
    let other = LocalSigstore::generate(SystemTime::now()).attest(&BuiltBy::RELEASE, "https://example.com/x", &[]);
    let other: Value = serde_json::from_slice(&other).expect("JSON");
    spoilt["dsseEnvelope"]["signatures"] = other["dsseEnvelope"]["signatures"].clone();
    std::fs::write(&bundle, spoilt.to_string()).expect("it is ours");
    let said = scene.run(SIGN);
    assert!(said.text.contains("the signature does not verify with the key of its certificate"), "{}", said.text);
    assert!(scene.registry.tags("acme/widget").iter().all(|(tag, _)| !tag.starts_with("sha256-")));
}

#[test]
fn a_dry_run_checked_no_token_and_no_cosign() {
    let mut scene = scene();
    scene.context.env("PATH", "/nowhere".to_owned());
    let push = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-keyless --dry-run");
    assert!(scene.refuse(&push).contains("cosign is not on the PATH"));
    scene.context.env("SIGSTORE_ID_TOKEN", String::new());
    assert!(scene.refuse(&push).contains("there is no identity token"));
}

#[test]
fn variables_of_cosign_in_the_environment_changed_what_is_signed() {
    let mut scene = scene();
    scene.publish("1.4.0");
    let index = scene.tag("acme/widget", "1.4.0");
    signs(&mut scene, &index, true);
    let bundle = scene.context.home().join("signed.json");
    cosign(&mut scene, &format!("env > \"$HOME/environment\"; cp {} \"$bundle\"", bundle.display()));
    scene.context.env("COSIGN_KEY", "other.key".to_owned());
    scene.context.env("HTTPS_PROXY", "http://127.0.0.1:9".to_owned());
    scene.context.env("NO_PROXY", "*".to_owned());
    scene.run(SIGN).success();
    let seen = std::fs::read_to_string(scene.context.home().join("environment")).expect("cosign ran");
    assert!(!seen.contains("COSIGN_KEY"), "{seen}");
    for kept in ["SIGSTORE_ID_TOKEN=", "HOME=", "PATH=", "HTTPS_PROXY="] {
        assert!(seen.lines().any(|line| line.starts_with(kept)), "{kept}: {seen}");
    }
}

#[test]
fn a_module_could_not_be_signed_without_a_key_when_it_is_pushed() {
    let mut scene = scene();
    scene.context.write("module/main.tf", "variable \"name\" {}\n");
    let push = "module push module REGISTRY/acme/network --version 1.0.0";
    // The same files give the same manifest.
    let planned = scene.run(&format!("{push} --dry-run --json")).success();
    let line = planned.json().into_iter().find(|line| line["event"] == "module-push-plan").expect("a plan");
    signs(&mut scene, line["manifest"].as_str().expect("a digest"), false);
    let said = scene.run(&format!("{push} --sign-keyless --dry-run")).success();
    assert!(said.stdout.contains("\n  would sign it without a key, by cosign\n"), "{}", said.text);
    scene.run(&format!("{push} --sign-keyless")).success();
    let said = scene.run("verify REGISTRY/acme/network:1.0.0");
    assert!(said.stdout.contains("bundle was made with a certificate"), "{}", said.text);
    // `show` says what lies beside a module.
    let said = scene.run("show REGISTRY/acme/network:1.0.0").success();
    assert!(said.stdout.contains("  attached  application/vnd.dev.sigstore.bundle.v0.3+json, "), "{}", said.text);
}

/// The connection ends after each write in turn: the tag is there only with the signature.
#[test]
fn a_keyless_push_that_breaks_off_is_done_by_the_next_one() {
    for at in 0.. {
        let mut scene = scene();
        let index = packed(&scene);
        signs(&mut scene, &index, true);
        scene.break_off_after(at);
        let push = format!("push dist REGISTRY/acme/widget --address {WIDGET} --sign-keyless");
        let code = scene.run(&format!("{push} --attempts 1 --jobs 1")).code;
        scene.registry.clear_faults();
        let verify = format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget");
        if scene.registry.tags("acme/widget").iter().any(|(tag, _)| tag == "1.4.0") {
            scene.run(&verify).success();
        }
        scene.run(&push).success();
        scene.run(&verify).success();
        if code == Some(0) {
            assert!(at > 8, "{at}: there are more writes");
            break;
        }
    }
}

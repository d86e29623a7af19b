//! `sign` and `verify` of modules.

use insta::assert_snapshot;
use serde_json::Value;

use crate::json::check;
use crate::setup::Scene;

const AT: &str = "REGISTRY/acme/network";

#[test]
fn a_module_is_signed_as_a_push_signs_it() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    assert_snapshot!(scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem").text, @"
    exit code: 0
    ----- stdout -----
    signed the module 1.4.0 at [REGISTRY]/acme/network:1.4.0
      manifest sha256:[DIGEST]
      key sha256:[DIGEST]
      attached signature sha256:[DIGEST]

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem").text, @"
    exit code: 0
    ----- stdout -----
    the module 1.4.0 at [REGISTRY]/acme/network:1.4.0 is signed by this key already
      manifest sha256:[DIGEST]
      key sha256:[DIGEST]
      present  signature sha256:[DIGEST]

    ----- stderr -----
    ");
    let signed = scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem --json").success();
    assert_eq!(check(&signed), ["signed"]);
    // A push of the same files with the key finds nothing to do: the bytes are the same.
    let again = scene.push_module(AT, "1.4.0", "--sign-key p256.pem --json").json().pop().expect("the report");
    assert_eq!((&again["unchanged"], &again["attachments"][0]["state"]), (&Value::from(true), &Value::from("present")));
    let tag = scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem --sign-format cosign-tag").success();
    assert!(tag.stdout.contains("attached signature at the tag sha256-"), "{}", tag.text);
    assert_snapshot!(
        scene.refuse("sign REGISTRY/acme/network:1.4.0 --key p256.pem --address example.com/acme/network"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: 1.4.0 in [REGISTRY]/acme/network is a module, which is no release of example.com/acme/network

    hint: omit --address, and name the place alone: REPOSITORY:VERSION
    "
    );
    assert_snapshot!(scene.refuse("sign REGISTRY/acme/network:1.6.0 --key p256.pem"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network has no version 1.6.0

    hint: it has 1.4.0, 1.5.0
    ");
}

#[test]
fn a_module_is_verified_by_the_key_or_by_the_rules() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    scene.key("p256.pub");
    assert_snapshot!(scene.run("verify REGISTRY/acme/network:1.4.0").text, @"
    exit code: 1
    ----- stdout -----
    the module 1.4.0
      place     [REGISTRY]/acme/network:1.4.0
      manifest  sha256:[DIGEST]
      rule      the default, as there is no trust.toml: no keys but those that are pinned; unsigned =
                allow; must say https://sigstore.dev/cosign/sign/v1
      found     no signature
      result    not signed; the policy demands no signature

    ----- stderr -----
    error: the module 1.4.0 is not signed by a key of yours
      cause: the policy demands no signature, so `module pull` takes it

    hint: name its publisher's public key: --key FILE, or a [[key]] and a [[rule]] in trust.toml
    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/network:1.4.0 --key KEY
    ");
    scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem").success();
    assert_snapshot!(scene.run("verify REGISTRY/acme/network:1.4.0 --key p256.pub").text, @"
    exit code: 0
    ----- stdout -----
    the module 1.4.0
      place     [REGISTRY]/acme/network:1.4.0
      manifest  sha256:[DIGEST]
      rule      the keys of the command line: one of p256.pub; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     bundle by p256.pub
                (sha256:[DIGEST]) counts; it
                says https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      result    signed by p256.pub

    ----- stderr -----
    ");
    let json = scene.run("verify REGISTRY/acme/network:1.4.0 --key p256.pub --json").success();
    assert_eq!(check(&json), ["verified"]);
    assert_eq!(json.json()[0]["kind"], "module");
    scene.run("verify 'oci://REGISTRY/acme/network?tag=1.4.0' --key p256.pub").success();
    scene.demand_module_key("p256.pub");
    let json = scene.run("verify REGISTRY/acme/network:1.4.0 --json").success();
    assert_eq!(json.json()[0]["policy"]["unnamed"], "allow", "signatures of modules name nothing, and count");
    assert_snapshot!(scene.run("verify REGISTRY/acme/network:1.5.0").text, @"
    exit code: 1
    ----- stdout -----
    the module 1.5.0
      place     [REGISTRY]/acme/network:1.5.0
      manifest  sha256:[DIGEST]
      rule      trust.toml:5: one of acme; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     no signature
      result    refused (unsigned): it is not signed

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: it is not signed
      cause: trust.toml:5, the rule for *, demands a signature by acme

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/network:1.5.0 --key KEY
    ");
    assert_snapshot!(scene.refuse("verify REGISTRY/acme/network:1.4.0 --accept"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --accept has no meaning for a module: no pin remembers modules

    hint: a rule for `modules` in trust.toml says what is accepted: `tofu-oci help trust-policy`
    ");
    assert_snapshot!(scene.run("verify REGISTRY/acme/network:1.6.0").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network has no tag 1.6.0

    hint: it has the versions 1.5.0, 1.4.0
    hint: name one in the source, such as ?tag=1.5.0
    ");
}

#[test]
fn a_signed_old_version_under_a_new_tag_is_not_verified() {
    let scene = Scene::with_network();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("sign REGISTRY/acme/network:1.4.0 --key p256.pem").success();
    let old = scene.tag("acme/network", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/network", "1.5.0", &old);
    assert_snapshot!(scene.run("verify REGISTRY/acme/network:1.5.0 --key p256.pub").text, @"
    exit code: 1
    ----- stdout -----
    the module 1.5.0
      place     [REGISTRY]/acme/network:1.5.0
      manifest  sha256:[DIGEST]
      rule      the keys of the command line: one of p256.pub; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     bundle by p256.pub
                (sha256:[DIGEST]) counts; it
                says https://sigstore.dev/cosign/sign/v1; in
                sha256:[DIGEST]
      result    refused (other-version): the signature by p256.pub says that this is version 1.4.0, not
                1.5.0

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: the signature by p256.pub says that this is version 1.4.0, not 1.5.0

    hint: the tag has moved to another version; ask its publisher why, or name the digest you mean
    ");
    // The signature of another module says nothing of this one.
    scene.push_module("REGISTRY/acme/other", "1.4.0", "--annotation a=b");
    let found = scene.run("verify REGISTRY/acme/other:1.4.0 --key p256.pub");
    assert!(found.stderr.contains("it is not signed"), "{}", found.text);
}

#[test]
fn four_parts_with_a_digest_may_be_meant_as_a_repository() {
    let scene = Scene::new();
    let said = scene.run(&format!("verify REGISTRY/a/b/c@sha256:{}", "0".repeat(64)));
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert!(said.text.contains("hint: if it is a repository: [REGISTRY]/a/b/c:1.4.0"), "{}", said.text);
}

#[test]
fn options_for_providers_are_refused_for_a_module() {
    let scene = Scene::new();
    for option in ["--plugin-dir plugins", "--magic-suffix example.com", "--from oci:lay"] {
        let said = scene.run(&format!("verify oci://REGISTRY/acme/network?tag=1.0.0 {option}"));
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(said.stderr.contains("is for providers, and `oci://"), "{}", said.text);
    }
}

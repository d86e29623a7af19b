//! Releases that a workflow has signed with a certificate, of a Sigstore instance of one's own.

use std::time::SystemTime;

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{BuiltBy, Inline, LocalSigstore, Referrer};
use tofu_oci_types::Descriptor;

use crate::serve::Serving;
use crate::setup::{Scene, WIDGET};

const POLICY: &str = r#"
[[identity]]
name = "acme release"
repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
root = "sigstore/root.json"

[[rule]]
providers = ["registry.example.com/acme/widget"]
keys = ["acme release"]
"#;

const INSTALL: &str = "--from REGISTRY/acme/widget --platform linux_amd64";

/// Widget 1.4.0 with provenance by a workflow, and a policy.
fn built(by: &BuiltBy<'_>) -> Scene {
    let scene = Scene::published();
    scene.context.write("trust.toml", POLICY);
    let sigstore = LocalSigstore::generate(SystemTime::now());
    scene.context.write("sigstore/root.json", sigstore.root());
    scene.attest(&sigstore, by, "acme/widget", "1.4.0");
    scene
}

#[test]
fn install_accepts_a_release_by_the_workflow_of_the_rule_and_pins_it() {
    let scene = built(&BuiltBy::RELEASE);
    scene.run(&format!("install {WIDGET} {INSTALL}")).success();
    let pins: serde_json::Value = serde_json::from_str(&scene.context.read(".tofu-oci.pins.json")).expect("JSON");
    let signer = &pins["providers"][0]["signers"][0];
    assert_eq!(signer["name"], "acme release");
    assert_eq!(signer["identity"]["repository"], "github.com/acme/widget");
    assert!(signer["key"].as_str().is_some_and(|key| key.starts_with("identity:")));
    let said = scene.run(&format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget --json")).success();
    let line = &said.json()[0];
    assert_eq!((&line["standing"], &line["trusted"]), (&json!("signed"), &json!(true)), "{}", said.text);
    assert_eq!(
        line["evidence"][0]["identity"],
        json!({
            "issuer": "https://token.actions.githubusercontent.com",
            "subject": "https://github.com/acme/widget/.github/workflows/release.yml@refs/tags/v1.4.0",
            "repository": "github.com/acme/widget",
            "workflow": "github.com/acme/widget/.github/workflows/release.yml",
            "workflow_ref": "refs/tags/v1.4.0",
            "ref": "refs/tags/v1.4.0",
            "commit": "0123456789abcdef0123456789abcdef01234567",
            "run": "https://github.com/acme/widget/actions/runs/7/attempts/1",
            "environment": null,
            "runner": "github-hosted",
        })
    );
    // Without the rule the pin vouches for this very index.
    std::fs::remove_file(scene.path("trust.toml")).expect("the policy");
    scene.run(&format!("lock {WIDGET}@1.4.0 --from REGISTRY/acme/widget")).success();
}

#[test]
fn a_signature_of_the_manifest_of_a_platform_is_for_that_platform() {
    let scene = Scene::published();
    scene.context.write("trust.toml", POLICY);
    let sigstore = LocalSigstore::generate(SystemTime::now());
    scene.context.write("sigstore/root.json", sigstore.root());
    let (_, index) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is published");
    let index: serde_json::Value = serde_json::from_slice(&index).expect("JSON");
    let is_linux = |leaf: &&serde_json::Value| leaf["platform"] == json!({ "os": "linux", "architecture": "amd64" });
    let leaf = index["manifests"].as_array().expect("leaves").iter().find(is_linux).expect("it is published");
    let (media_type, bytes) =
        scene.registry.manifest("acme/widget", leaf["digest"].as_str().expect("a digest")).expect("it is published");
    let leaf = Descriptor::of(&media_type, &bytes);
    let subject = json!({ "name": "acme/widget", "digest": { "sha256": leaf.digest.encoded() } });
    let bundle = sigstore.attest(&BuiltBy::RELEASE, "https://slsa.dev/provenance/v1", &[subject]);
    scene.registry.put_referrer("acme/widget", &Referrer::bundle(&leaf, &bundle, Inline::No));
    let said = scene.run(&format!("install {WIDGET} {INSTALL} --json")).success();
    assert!(said.text.contains(r#""name":"acme release""#), "{}", said.text);
    let other = scene.refuse(&format!("install {WIDGET} {}", INSTALL.replace("linux_amd64", "darwin_arm64")));
    assert!(other.contains("is not trusted"), "{other}");
    // `verify` said that it is trusted, and named one of the platforms that are not covered.
    let verify = format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget");
    let said = scene.run(&format!("{verify} --json"));
    assert_eq!((said.code, &said.json()[0]["trusted"]), (Some(1), &json!(false)), "{}", said.text);
    assert_snapshot!(scene.refuse(&verify), @"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:9: one of acme release; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1 or, by an identity, https://slsa.dev/provenance/v1
      pinned    sha256:[DIGEST], signed by acme
                release
      found     bundle by acme release
                (identity:c7f539c6c6faaab904d3c646caedd72f656f5e4e591369e43d4e4a2d936c86ce) counts; it
                says https://slsa.dev/provenance/v1; in
                sha256:[DIGEST]
      built by  github.com/acme/widget/.github/workflows/release.yml@refs/tags/v1.4.0, from
                github.com/acme/widget at refs/tags/v1.4.0, commit
                0123456789abcdef0123456789abcdef01234567, run
                https://github.com/acme/widget/actions/runs/7/attempts/1, github-hosted
      covered   the archives of linux_amd64, by the statement of acme release; not those of darwin_arm64
      result    signed by acme release; not for darwin_arm64

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted for darwin_arm64: it is not signed, and this provider was signed by acme release before
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:9, the rule for registry.example.com/acme/widget, demands a signature by acme release

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --keyless, or tofu-oci attach BUNDLE [REGISTRY]/acme/widget:1.4.0
    ");
    // The pin remembers what was signed.
    scene.run(&format!("install {WIDGET} {INSTALL} --locked")).success();
    let found = scene.run("check REGISTRY/acme/widget --address registry.example.com/acme/widget --json");
    assert!(!found.text.contains("linux_amd64: "), "{}", found.text);
}

#[test]
fn install_refuses_a_release_by_another_workflow() {
    let ci = BuiltBy { workflow: "github.com/acme/widget/.github/workflows/ci.yml", ..BuiltBy::RELEASE };
    assert_snapshot!(built(&ci).refuse(&format!("install {WIDGET} {INSTALL}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: its signature is not by acme release: its workflow is https://github.com/acme/widget/.github/workflows/ci.yml@refs/tags/v1.4.0
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:9, the rule for registry.example.com/acme/widget, demands a signature by acme release

    hint: if its publisher releases so now, correct workflow of the [[identity]] in trust.toml
    hint: `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from [REGISTRY]/acme/widget` shows every signature, and why it does not count
    ");
}

#[test]
fn install_refuses_a_release_that_was_built_from_another_tag() {
    let old = BuiltBy { reference: "refs/tags/v1.3.0", ..BuiltBy::RELEASE };
    assert_snapshot!(built(&old).refuse(&format!("install {WIDGET} {INSTALL}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: the signature by acme release says that this is version 1.3.0, not 1.4.0
      cause: it came from [REGISTRY]/acme/widget

    hint: this is not what it is offered as: check the address and the repository
    hint: `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from [REGISTRY]/acme/widget` shows every signature, and why it does not count
    ");
}

#[test]
fn verify_says_how_to_trust_an_identity() {
    let other = BuiltBy {
        repository: "github.com/other/widget",
        workflow: "github.com/other/widget/.github/workflows/release.yml",
        ..BuiltBy::RELEASE
    };
    let scene = built(&other);
    assert_snapshot!(scene.refuse(&format!("verify {WIDGET}@1.4.0 --from REGISTRY/acme/widget")), @r#"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:9: one of acme release; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1 or, by an identity, https://slsa.dev/provenance/v1
      found     bundle is by
                https://github.com/other/widget/.github/workflows/release.yml@refs/tags/v1.4.0 (by
                https://token.actions.githubusercontent.com), which no rule names; it says
                https://slsa.dev/provenance/v1; ref refs/tags/v1.4.0; commit
                0123456789abcdef0123456789abcdef01234567; run
                https://github.com/other/widget/actions/runs/7/attempts/1; in
                sha256:[DIGEST]
      result    refused (unknown-key): it is signed by
                https://github.com/other/widget/.github/workflows/release.yml@refs/tags/v1.4.0 (by
                https://token.actions.githubusercontent.com), which no rule names

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is signed by https://github.com/other/widget/.github/workflows/release.yml@refs/tags/v1.4.0 (by https://token.actions.githubusercontent.com), which no rule names
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:9, the rule for registry.example.com/acme/widget, demands a signature by acme release

    hint: if that is its publisher, add this to trust.toml, and its name to `keys` of the rule; in ref, {version} stands for the version:
          [[identity]]
          name = "other/widget"
          repository = "github.com/other/widget"
          workflow = ".github/workflows/release.yml"
          ref = "refs/tags/v1.4.0"
          root = "sigstore/root.json"
    "#);
}

/// `sign --key` cannot satisfy a rule without keys.
#[test]
fn an_unsigned_release_under_identities_was_to_be_signed_with_a_key() {
    let scene = Scene::published();
    scene.context.write("trust.toml", POLICY);
    scene.context.write("sigstore/root.json", LocalSigstore::generate(SystemTime::now()).root());
    let said = scene.refuse(&format!("install {WIDGET} {INSTALL}"));
    let release = "[REGISTRY]/acme/widget:1.4.0";
    let want =
        format!("its publisher signs it: tofu-oci sign {release} --keyless, or tofu-oci attach BUNDLE {release}\n");
    assert!(said.contains(&want), "{said}");
    scene.context.write("trust.toml", format!("{POLICY}slsa.builder = \"https://example.com/builder\"\n"));
    let said = scene.refuse(&format!("install {WIDGET} {INSTALL}"));
    assert!(said.contains(&format!("its publisher signs it: tofu-oci attach BUNDLE {release}\n")), "{said}");
}

#[test]
fn a_policy_without_its_root_is_broken() {
    let scene = built(&BuiltBy::RELEASE);
    scene.context.write("sigstore/root.json", "{}");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} {INSTALL}")), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the trusted root sigstore/root.json cannot be used: it is not a trusted root of Sigstore
      --> trust.toml:7:8
      |
    7 | root = "sigstore/root.json"
      |        ^^^^^^^^^^^^^^^^^^^^

    hint: `root` names the trusted_root.json of a Sigstore instance of your own; omit it for the public one
    hint: every member of the file: tofu-oci help trust-policy
    "#);
}

#[test]
fn verify_show_and_check_say_who_built_a_release() {
    let scene = built(&BuiltBy::RELEASE);
    let from = format!("{WIDGET}@1.4.0 --from REGISTRY/acme/widget");
    assert_snapshot!(scene.run(&format!("verify {from}")).success().text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0
      place     [REGISTRY]/acme/widget:1.4.0
      index     sha256:[DIGEST]
      rule      trust.toml:9: one of acme release; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1 or, by an identity, https://slsa.dev/provenance/v1
      found     bundle by acme release
                (identity:c7f539c6c6faaab904d3c646caedd72f656f5e4e591369e43d4e4a2d936c86ce) counts; it
                says https://slsa.dev/provenance/v1; in
                sha256:[DIGEST]
      built by  github.com/acme/widget/.github/workflows/release.yml@refs/tags/v1.4.0, from
                github.com/acme/widget at refs/tags/v1.4.0, commit
                0123456789abcdef0123456789abcdef01234567, run
                https://github.com/acme/widget/actions/runs/7/attempts/1, github-hosted
      result    signed by acme release

    ----- stderr -----
    ");
    let said = scene.run(&format!("show {from}")).success();
    assert!(said.stdout.contains("  built by "), "{}", said.text);
    let said = scene.run(&format!("check REGISTRY/acme/widget --address {WIDGET}"));
    assert!(
        said.stdout.contains("built by github.com/acme/widget/.github/workflows/release.yml@refs/tags/v1.4.0"),
        "{}",
        said.text
    );
    let said = scene.run(&format!("check REGISTRY/acme/widget --address {WIDGET} --json"));
    let lines = said.json();
    let checked = lines.iter().find(|line| line["event"] == "checked").expect("a summary");
    assert_eq!(checked["built"][0]["version"], "1.4.0");
    assert_eq!(checked["built"][0]["identity"]["commit"], "0123456789abcdef0123456789abcdef01234567");
    // A signature that does not count says nothing here.
    let ci = BuiltBy { workflow: "github.com/acme/widget/.github/workflows/ci.yml", ..BuiltBy::RELEASE };
    let said = built(&ci).run(&format!("check REGISTRY/acme/widget --address {WIDGET}"));
    assert!(!said.stdout.contains("built by"), "{}", said.text);
}

#[test]
fn the_page_of_serve_says_who_built_a_release_and_escapes_it() {
    let page = |by: &BuiltBy<'_>, policy: &str| {
        let scene = built(by);
        scene.context.write("trust.toml", policy);
        let from = format!("{}/${{namespace}}/${{type}}", scene.registry.address());
        let provider = format!("[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"{from}\"\n");
        scene.context.write("serve.toml", format!("listen = [\"127.0.0.1:0\"]\ntrust = \"trust.toml\"\n{provider}"));
        let serving = Serving::spawn(scene.command("serve --config serve.toml"));
        serving.get(&format!("/providers/{WIDGET}/1.4.0")).text()
    };
    let seen = page(&BuiltBy::RELEASE, POLICY);
    for part in [
        "<dt>Built by</dt><dd><a href=\"https://github.com/acme/widget\" rel=\"noreferrer\">github.com/acme/widget</a>",
        ", workflow .github/workflows/release.yml at refs/tags/v1.4.0",
        "0123456789abcdef0123456789abcdef01234567",
        "<a href=\"https://github.com/acme/widget/actions/runs/7/attempts/1\" rel=\"noreferrer\">run</a>",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    // Another forge than that of the issuer, and text that a browser would obey.
    let evil = BuiltBy {
        issuer: "https://issuer.example",
        reference: "refs/heads/<script>alert(1)</script>",
        ..BuiltBy::RELEASE
    };
    let policy = POLICY.replace("ref = \"refs/tags/v{version}\"", "issuer = \"https://issuer.example\"");
    let seen = page(&evil, &policy.replace("[[rule]]", "[[rule]]\nunnamed = \"allow\""));
    assert!(seen.contains("<dd>github.com/acme/widget, workflow"), "{seen}");
    assert!(seen.contains("&lt;script&gt;"), "{seen}");
    assert!(!seen.contains("<script>") && !seen.contains("href=\"https://github.com"), "{seen}");
}

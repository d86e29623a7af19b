//! Providers from the registry of their host, by the provider registry protocol.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Fault, Rule, ScratchOpenPgpKey, Upstream};

use crate::setup::Scene;

const ZAP: &str = "registry.example.test/acme/zap";

/// A host whose registry has signed releases of `acme/zap` for these platforms.
struct Origin {
    scene: Scene,
    upstream: Upstream,
}

impl Origin {
    fn start(versions: &[&str], platforms: &[&str]) -> Self {
        let upstream = Upstream::start();
        for version in versions {
            upstream.release("acme/zap", version, platforms);
        }
        let mut scene = Scene::new();
        let authority = scene.context.write_home("ca.pem", upstream.ca_pem());
        scene.context.env("TOFU_OCI_CA_FILE", authority.display().to_string());
        scene.context.filters().literal(upstream.origin(), "[UPSTREAM]");
        scene.context.filters().literal(upstream.address(), "[UPSTREAM]");
        scene.home_file(".tofurc", &upstream.host_block("registry.example.test"));
        let requires =
            "terraform {\n  required_providers {\n    zap = { source = \"registry.example.test/acme/zap\" }\n  }\n}\n";
        scene.context.write("main.tf", requires);
        Self { scene, upstream }
    }

    /// The lines of the lock file, with the packages that they are of.
    fn locked(&self, version: &str, platforms: &[&str]) -> String {
        let mut text = self.scene.context.read(".terraform.lock.hcl");
        for platform in platforms {
            let (h1, zh) = self.upstream.hashes("acme/zap", version, platform);
            text = text.replace(&h1, &format!("h1 of {platform}")).replace(&zh, &format!("zh of {platform}"));
        }
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
        let first = lines.iter().position(|line| line.contains(" of ")).unwrap_or(0);
        let hashes = lines.iter().filter(|line| line.contains(" of ")).count();
        lines[first..first + hashes].sort_unstable();
        lines.join("\n")
    }
}

const BOTH: [&str; 2] = ["darwin_arm64", "linux_amd64"];

#[test]
fn a_provider_is_installed_from_the_registry_of_its_host() {
    let origin = Origin::start(&["1.0.0", "1.1.0"], &BOTH);
    assert_snapshot!(origin.scene.run("install --platform linux_amd64").text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.test/acme/zap 1.1.0 linux_amd64
      .terraform/providers/registry.example.test/acme/zap/1.1.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.test/acme/zap 1.1.0 linux_amd64: installed
    ");
    assert_snapshot!(origin.locked("1.1.0", &BOTH), @r#"
    provider "registry.example.test/acme/zap" {
      version = "1.1.0"
      hashes = [
        "h1 of linux_amd64",
        "zh of darwin_arm64",
        "zh of linux_amd64",
      ]
    }
    "#);
    let mut asked = origin.upstream.conversation();
    asked.sort();
    assert_snapshot!(asked.join("\n"), @"
    GET /files/acme/zap/1.1.0/terraform-provider-zap_1.1.0_SHA256SUMS -> 200
    GET /files/acme/zap/1.1.0/terraform-provider-zap_1.1.0_SHA256SUMS.sig -> 200
    GET /files/acme/zap/1.1.0/terraform-provider-zap_1.1.0_linux_amd64.zip -> 200
    GET /v1/providers/acme/zap/1.1.0/download/linux/amd64 -> 200
    GET /v1/providers/acme/zap/versions -> 200
    ");
    let fetched = || origin.upstream.conversation().iter().filter(|line| line.contains(".zip")).count();
    origin.scene.run("install --platform linux_amd64").success();
    assert_eq!(fetched(), 1, "it is there already");
    origin.scene.run("install --locked --platform darwin_arm64").success();
    assert_eq!(fetched(), 2, "what was signed is locked for every platform");
}

#[test]
fn every_platform_is_locked_by_what_was_signed() {
    let origin = Origin::start(&["1.0.0"], &["freebsd_386", "darwin_arm64"]);
    assert_snapshot!(origin.scene.run("lock").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/zap 1.0.0 from registry.example.test
      signed by a key that its registry names: darwin_arm64, freebsd_386
    lock file .terraform.lock.hcl created

    ----- stderr -----
    ");
    assert_snapshot!(origin.locked("1.0.0", &["freebsd_386", "darwin_arm64"]), @r#"
    provider "registry.example.test/acme/zap" {
      version = "1.0.0"
      hashes = [
        "zh of darwin_arm64",
        "zh of freebsd_386",
      ]
    }
    "#);
    assert!(!origin.upstream.conversation().iter().any(|line| line.contains(".zip")), "no package is fetched");
    origin.scene.run("lock --check").success();
    origin.scene.run("install --platform freebsd_386").success();
    origin.scene.run("lock --check").success();
}

#[test]
fn the_other_verbs_read_the_registry_too() {
    let origin = Origin::start(&["1.0.0", "1.1.0"], &BOTH);
    assert_snapshot!(origin.scene.run(&format!("resolve {ZAP}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.test

    ----- stderr -----
    registry.example.test/acme/zap by providers.v1 of registry.example.test
    ");
    assert_snapshot!(origin.scene.run(&format!("versions {ZAP} --provider")).text, @"
    exit code: 0
    ----- stdout -----
    1.1.0
    1.0.0

    ----- stderr -----
    ");
    assert_snapshot!(origin.scene.run(&format!("show {ZAP}@1.0.0")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/zap 1.0.0
      place     registry.example.test
      created   unknown: the release names no time (a reproducible one has none)
      index     none
      protocol  6.0
      signed    not checked: no key is known; name its publisher's with --key FILE, or in trust.toml
      found     sha256sums by 7F2B39720E5940CC244B2A2AB5EB077557F14FEF (as it says) is by a key that
                travels with it: 7F2B39720E5940CC244B2A2AB5EB077557F14FEF, not one of yours; it lists 2
                of this release's archives; in
                sha256:[DIGEST]

      darwin_arm64  -  zh:[ZIP]
      linux_amd64   -  zh:[ZIP]

    ----- stderr -----
    ");
    assert_snapshot!(origin.scene.run("outdated").text, @"
    exit code: 0
    ----- stdout -----
    provider                        locked  admitted  newest
    registry.example.test/acme/zap  -       1.1.0     1.1.0

    registry.example.test/acme/zap
      from      registry.example.test
      upgrade   no version is locked; 1.1.0 would be: tofu-oci install

    ----- stderr -----
    ");
    assert_snapshot!(origin.scene.run(&format!("verify {ZAP}@1.0.0")).text, @"
    exit code: 1
    ----- stdout -----
    registry.example.test/acme/zap 1.0.0
      place     registry.example.test
      index     none
      rule      the default, as there is no trust.toml: no keys but those that are pinned; unsigned =
                allow; must say https://sigstore.dev/cosign/sign/v1
      found     sha256sums by 7F2B39720E5940CC244B2A2AB5EB077557F14FEF (as it says) is by a key that
                travels with it: 7F2B39720E5940CC244B2A2AB5EB077557F14FEF, not one of yours; it lists 2
                of this release's archives; in
                sha256:[DIGEST]
      result    it is signed by openpgp:7F2B39720E5940CC244B2A2AB5EB077557F14FEF, which is not one of
                your keys; the policy demands no signature

    ----- stderr -----
    error: registry.example.test/acme/zap 1.0.0 is not trusted: it is signed by openpgp:7F2B39720E5940CC244B2A2AB5EB077557F14FEF, which is not one of your keys
      cause: the policy demands no signature, so `install` takes it

    hint: if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule
    hint: --key FILE judges by a public key without trust.toml
    ");
    origin.scene.context.write("key.asc", ScratchOpenPgpKey::of(1).armored());
    assert_snapshot!(origin.scene.run(&format!("verify {ZAP}@1.0.0 --key key.asc")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.test/acme/zap 1.0.0
      place     registry.example.test
      index     none
      rule      the keys of the command line: one of key.asc; unsigned = refuse; must say
                https://sigstore.dev/cosign/sign/v1
      found     sha256sums by key.asc (openpgp:7F2B39720E5940CC244B2A2AB5EB077557F14FEF) counts; it
                lists 2 of this release's archives; in
                sha256:[DIGEST]
      covered   the archives of darwin_arm64 linux_amd64, by SHA256SUMS
      result    signed by key.asc

    ----- stderr -----
    ");
}

#[test]
fn a_trust_policy_judges_what_the_registry_signed() {
    let origin = Origin::start(&["1.0.0"], &BOTH);
    let policy = "[[key]]\nname = \"acme\"\nfile = \"key.asc\"\n\n[[rule]]\nproviders = [\"registry.example.test/acme/*\"]\nkeys = [\"acme\"]\n";
    origin.scene.context.write("trust.toml", policy);
    origin.scene.context.write("key.asc", ScratchOpenPgpKey::of(2).armored());
    assert_snapshot!(origin.scene.run("install --platform linux_amd64").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/zap 1.0.0 is not trusted: it is signed by openpgp:7F2B39720E5940CC244B2A2AB5EB077557F14FEF, which is not one of your keys
      cause: it came from registry.example.test
      cause: trust.toml:5, the rule for registry.example.test/acme/*, demands a signature by acme

    hint: if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule
    hint: `tofu-oci verify registry.example.test/acme/zap@1.0.0` shows every signature, and why it does not count
    ");
    origin.scene.context.write("key.asc", ScratchOpenPgpKey::of(1).armored());
    assert_snapshot!(origin.scene.run("install --platform linux_amd64").text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.test/acme/zap 1.0.0 linux_amd64
      .terraform/providers/registry.example.test/acme/zap/1.0.0/linux_amd64
      signed by acme
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.test/acme/zap 1.0.0 linux_amd64: installed
    ");
    let pins = origin.scene.context.read(".tofu-oci.pins.json");
    assert!(pins.contains("\"name\": \"acme\"") && pins.contains("\"place\": \"registry.example.test\""), "{pins}");
    origin.scene.run("install --platform linux_amd64").success();
    origin.scene.run("lock").success();
}

#[test]
fn what_the_registry_cannot_prove_is_not_installed() {
    let origin = Origin::start(&["1.0.0"], &BOTH);
    origin.upstream.sign_with(&ScratchOpenPgpKey::of(2));
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/zap: nothing can be installed from registry.example.test
      cause: the signature of [UPSTREAM]/files/acme/zap/1.0.0/terraform-provider-zap_1.0.0_SHA256SUMS: the OpenPGP signature was made by BB966A2E4A1B813D8E83B394CB07F108E6D3F02A, which is not one of the keys that registry.example.test names
      cause: by direct (implicit)

    hint: do not install it before the owner of the registry says which key signs, and why it was not this one
    hint: where the packages are published unsigned on purpose, name a mirror of them with --from
    ");
    origin.upstream.sign_with(&ScratchOpenPgpKey::of(1));
    origin.upstream.fault(Rule::on("GET", "*.zip").then(Fault::CorruptBody(40)));
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: blob sha256:[DIGEST] of registry.example.test is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
    origin.upstream.clear_faults();
    origin.upstream.fault(Rule::on("GET", "*/versions").then(Fault::Answer(Answer::new(401))));
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/zap: nothing can be installed from registry.example.test
      cause: [UPSTREAM]/v1/providers/acme/zap/versions answered 401
      cause: by direct (implicit)

    hint: the token of a host is in TF_TOKEN_HOST, with _ for each dot, or in a `credentials` block
    ");
    origin.upstream.clear_faults();
    origin.upstream.protocols(&["4.0"]);
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/zap: nothing can be installed from registry.example.test
      cause: [UPSTREAM]/v1/providers/acme/zap/1.0.0/download/linux/amd64: the package speaks the plugin protocols 4.0, and OpenTofu and Terraform speak 5 and 6
      cause: by direct (implicit)

    hint: choose a version that speaks protocol 5 or 6, or ask the publisher for one
    ");
}

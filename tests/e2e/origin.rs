//! Providers from the registry of their host, by the provider registry protocol.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Fault, OpenPgpKey, Rule, Upstream};

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
    assert_snapshot!(origin.scene.run("install --platform linux_amd64").text, @"");
    assert_snapshot!(origin.locked("1.1.0", &BOTH), @"");
    let mut asked = origin.upstream.conversation();
    asked.sort();
    assert_snapshot!(asked.join("\n"), @"");
    assert!(origin.scene.run("install --platform linux_amd64").success().stderr.contains("already"));
    assert!(origin.scene.run("install --locked --platform darwin_arm64").success().stderr.contains("installed"));
}

#[test]
fn every_platform_is_locked_by_what_was_signed() {
    let origin = Origin::start(&["1.0.0"], &["freebsd_386", "darwin_arm64"]);
    assert_snapshot!(origin.scene.run("lock").text, @"");
    assert_snapshot!(origin.locked("1.0.0", &["freebsd_386", "darwin_arm64"]), @"");
    assert!(!origin.upstream.conversation().iter().any(|line| line.contains(".zip")), "no package is fetched");
    origin.scene.run("lock --check").success();
    origin.scene.run("install --platform freebsd_386").success();
    origin.scene.run("lock --check").success();
}

#[test]
fn the_other_verbs_read_the_registry_too() {
    let origin = Origin::start(&["1.0.0", "1.1.0"], &BOTH);
    assert_snapshot!(origin.scene.run(&format!("resolve {ZAP}")).text, @"");
    assert_snapshot!(origin.scene.run(&format!("versions {ZAP}")).text, @"");
    assert_snapshot!(origin.scene.run(&format!("show {ZAP}@1.0.0")).text, @"");
    assert_snapshot!(origin.scene.run("outdated").text, @"");
    assert_snapshot!(origin.scene.run(&format!("verify {ZAP}@1.0.0")).text, @"");
    origin.scene.context.write("key.asc", OpenPgpKey::of(1).armored());
    assert_snapshot!(origin.scene.run(&format!("verify {ZAP}@1.0.0 --key key.asc")).text, @"");
}

#[test]
fn a_trust_policy_judges_what_the_registry_signed() {
    let origin = Origin::start(&["1.0.0"], &BOTH);
    let policy = "[[key]]\nname = \"acme\"\nfile = \"key.asc\"\n\n[[rule]]\nmatch = \"registry.example.test/acme/*\"\nrequire = [\"acme\"]\n";
    origin.scene.context.write("trust.toml", policy);
    origin.scene.context.write("key.asc", OpenPgpKey::of(2).armored());
    assert_snapshot!(origin.scene.run("install --platform linux_amd64").text, @"");
    origin.scene.context.write("key.asc", OpenPgpKey::of(1).armored());
    assert_snapshot!(origin.scene.run("install --platform linux_amd64").text, @"");
    assert_snapshot!(origin.scene.context.read(".tofu-oci.pins.json"), @"");
    origin.scene.run("install --platform linux_amd64").success();
    origin.scene.run("lock").success();
}

#[test]
fn what_the_registry_cannot_prove_is_not_installed() {
    let origin = Origin::start(&["1.0.0"], &BOTH);
    origin.upstream.sign_with(&OpenPgpKey::of(2));
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"");
    origin.upstream.sign_with(&OpenPgpKey::of(1));
    origin.upstream.fault(Rule::on("GET", "*.zip").then(Fault::CorruptBody(40)));
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"");
    origin.upstream.clear_faults();
    origin.upstream.fault(Rule::on("GET", "*/versions").then(Fault::Answer(Answer::new(401))));
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"");
    origin.upstream.clear_faults();
    origin.upstream.protocols(&["4.0"]);
    assert_snapshot!(origin.scene.refuse("install --platform linux_amd64"), @"");
}

//! `module pull` and `module versions`: repositories, registries of modules, and what is in the way.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, WebServer};

use crate::setup::{Said, Scene};

const NETWORK: &str = "registry.example.test/acme/network/aws";
const BASE: &str = "/v1/modules/acme/network/aws";

impl Scene {
    /// Publishes a module of these files at `REGISTRY/acme/network`.
    fn module(&self, version: &str, files: &[(&str, &str)]) {
        let folder = format!("network-{version}");
        for (name, content) in files {
            self.context.write(&format!("{folder}/{name}"), content);
        }
        self.run(&format!("module push {folder} REGISTRY/acme/network --version {version}")).success();
    }

    /// With two versions of a module.
    fn with_modules() -> Self {
        let scene = Self::new();
        scene.module("1.4.0", &[("main.tf", "# 1.4.0\n"), ("dns/main.tf", "# dns\n")]);
        scene.module("1.10.0", &[("main.tf", "# 1.10.0\n")]);
        scene
    }

    /// A registry of modules at the host of [`NETWORK`], by a `host` block.
    fn module_registry(&mut self) -> WebServer {
        let web = WebServer::start(&[]);
        self.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
        self.context.env("TOFU_OCI_CA_FILE", "ca.pem");
        let services = format!("{{ \"modules.v1\" = \"{}/v1/modules/\" }}", web.origin());
        let block = format!("host \"registry.example.test\" {{\n  services = {services}\n}}\n");
        self.context.write_home(".tofurc", block);
        let versions =
            r#"{"modules":[{"versions":[{"version":"1.4.0"},{"version":"v1.10.0"},{"version":"2.0.0-rc.1"}]}]}"#;
        web.page(&format!("{BASE}/versions"), Answer::new(200).body(versions));
        web
    }

    fn pull(&self, source: &str) -> Said {
        self.run(&format!("module pull '{source}' out"))
    }
}

#[test]
fn a_module_is_pulled_once_and_other_files_stay() {
    let scene = Scene::with_modules();
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").text, @"");
    assert_eq!(scene.context.read("out/main.tf"), "# 1.4.0\n");
    assert_eq!(scene.context.read("out/dns/main.tf"), "# dns\n");
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").text, @"");
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.10.0").text, @"");
    assert_eq!(scene.context.read("out/main.tf"), "# 1.4.0\n");
    scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.10.0' out --force").success();
    assert_eq!(scene.context.read("out/main.tf"), "# 1.10.0\n");
    assert!(!scene.path("out/dns").exists());
}

#[test]
fn a_tag_that_is_missing_is_named_with_the_versions_that_are_there() {
    let scene = Scene::with_modules();
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network").text, @"");
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network//nope?tag=1.4.0").text, @"");
    assert_snapshot!(scene.pull("REGISTRY/acme/network").text, @"");
    assert!(!scene.path("out").exists());
}

#[test]
fn the_versions_of_a_module_are_its_canonical_tags() {
    let scene = Scene::with_modules();
    let digest = scene.tag("acme/network", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/network", "main", &digest);
    assert_snapshot!(scene.run("module versions oci://REGISTRY/acme/network").text, @"");
    assert_snapshot!(scene.run("module versions oci://REGISTRY/acme/network --json --limit 1").text, @"");
}

#[test]
fn a_registry_of_modules_leads_to_a_repository_or_an_archive() {
    let mut scene = Scene::with_modules();
    let web = scene.module_registry();
    let at = scene.registry.address().to_owned();
    web.page(
        &format!("{BASE}/1.10.0/download"),
        Answer::new(200).body(format!(r#"{{"location":"oci://{at}/acme/network?tag=1.10.0"}}"#)),
    );
    scene.run("module push network-1.4.0 oci:lay --version 1.4.0").success();
    let zip = std::fs::read_dir(scene.path("lay/blobs/sha256"))
        .expect("blobs")
        .map(|blob| std::fs::read(blob.expect("a blob").path()).expect("a blob"))
        .find(|bytes| bytes.starts_with(b"PK"))
        .expect("a zip");
    web.page("/network.zip", Answer::new(200).body(zip));
    web.page(&format!("{BASE}/1.4.0/download"), Answer::new(204).header("X-Terraform-Get", "/network.zip//dns"));
    assert_snapshot!(scene.run(&format!("module versions {NETWORK}")).text, @"");
    scene.pull(&format!("{NETWORK}@~> 1.4")).success();
    assert_eq!(scene.context.read("out/main.tf"), "# 1.10.0\n");
    let said = scene.run(&format!("module pull {NETWORK}@1.4.0 dns --json"));
    assert_eq!(scene.context.read("dns/main.tf"), "# dns\n");
    assert_eq!(said.json().last().map(|line| line["folder"].clone()), Some("dns".into()));
    web.page(
        &format!("{BASE}/2.0.0-rc.1/download"),
        Answer::new(204).header("X-Terraform-Get", "git::https://x.example/a.git?ref=v2"),
    );
    assert_snapshot!(scene.run(&format!("module pull {NETWORK}@2.0.0-rc.1 git")).text, @"");
    assert_snapshot!(scene.run(&format!("module pull {NETWORK}@'>= 3' git")).text, @"");
    assert!(!scene.path("git").exists());
}

#[test]
fn a_rule_for_modules_refuses_what_is_not_signed() {
    let scene = Scene::with_modules();
    let rule = format!("[[rule]]\nmodules = [\"{}/acme/*\"]\nunsigned = \"refuse\"\n", scene.registry.address());
    scene.context.write("trust.toml", rule);
    scene.registry.clear_requests();
    let said = scene.pull("oci://REGISTRY/acme/network?tag=1.4.0");
    assert_snapshot!(said.text, @"");
    assert!(!scene.path("out").exists());
    // Nothing of the package was fetched.
    assert!(!scene.conversation().iter().any(|line| line.contains("/blobs/")));
    scene.context.write("trust.toml", "[[rule]]\nmodules = [\"ghcr.io/acme/*\"]\nunsigned = \"refuse\"\n");
    scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").success();
}

#[test]
fn a_signed_module_is_pulled_and_an_old_one_under_a_new_tag_is_not() {
    let scene = Scene::with_modules();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("module push network-1.4.0 REGISTRY/acme/network --version 1.4.0 --sign-key p256.pem").success();
    let at = scene.registry.address();
    let policy = format!(
        "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n[[rule]]\nmodules = [\"{at}/acme/*\"]\nkeys = [\"acme\"]\n"
    );
    scene.context.write("trust.toml", policy);
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").text, @"");
    let unsigned = scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.10.0' new --json").json();
    assert_eq!(unsigned.last().map(|line| line["code"].clone()), Some("unsigned".into()));
    let old = scene.tag("acme/network", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/network", "2.0.0", &old);
    assert_snapshot!(scene.run("module pull 'oci://REGISTRY/acme/network?tag=2.0.0' new").text, @"");
    assert!(!scene.path("new").exists());
    scene.context.write("none.toml", "");
    scene.run("module pull 'oci://REGISTRY/acme/network?tag=2.0.0' new --trust-policy none.toml").success();
}

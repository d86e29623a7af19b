//! `serve` by a rule with an identity: what the workflow of the rule has built is served, anything else is refused with the reason.

use std::time::SystemTime;

use tofu_oci_testkit::{BuiltBy, LocalSigstore};

use super::{Serving, WIDGET_PATH};
use crate::setup::Scene;

const IDENTITY: &str = r#"
[[identity]]
name = "acme release"
repository = "github.com/acme/widget"
workflow = ".github/workflows/release.yml"
ref = "refs/tags/v{version}"
root = "root.json"
"#;
const CI: BuiltBy<'static> = BuiltBy {
    workflow: "github.com/acme/widget/.github/workflows/ci.yml",
    reference: "refs/tags/v1.6.0",
    ..BuiltBy::RELEASE
};

/// A scene with a policy of this rule, and the instance that it trusts.
fn ruled(scene: &Scene, rule: &str) -> LocalSigstore {
    let sigstore = LocalSigstore::generate(SystemTime::now());
    scene.context.write("root.json", sigstore.root());
    scene.context.write("trust.toml", format!("{IDENTITY}\n[[rule]]\n{rule}\nkeys = [\"acme release\"]\n"));
    sigstore
}

#[test]
fn both_protocols_serve_what_the_workflow_has_built_and_refuse_the_rest_with_the_reason() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.publish("1.6.0");
    scene.publish("1.7.0");
    let sigstore = ruled(&scene, "providers = [\"registry.example.com/acme/widget\"]");
    scene.attest(&sigstore, &BuiltBy::RELEASE, "acme/widget", "1.4.0");
    scene.attest(&sigstore, &CI, "acme/widget", "1.6.0");
    // The right workflow, from the tag of another version.
    scene.attest(&sigstore, &BuiltBy::RELEASE, "acme/widget", "1.7.0");
    scene.run("serve --new-key bridge.asc").success();
    let top = "trust = \"trust.toml\"\nhosts = [\"registry.example.com\"]\nsigning_key = \"bridge.asc\"";
    let serving = Serving::start(&scene, top, "");
    let paths = |version: &str| {
        [
            format!("{WIDGET_PATH}/{version}.json"),
            format!("{WIDGET_PATH}/terraform-provider-widget_{version}_linux_amd64.zip"),
            format!("/registry/registry.example.com/acme/widget/{version}/download/linux/amd64"),
        ]
    };
    for path in paths("1.4.0") {
        let got = serving.get(&path);
        assert_eq!(got.status, 200, "{path}: {}", got.text());
    }
    for (version, reason) in [
        ("1.5.0", "it is not signed"),
        ("1.6.0", "its workflow is https://github.com/acme/widget/.github/workflows/ci.yml@refs/tags/v1.6.0"),
        ("1.7.0", "says that this is version 1.4.0, not 1.7.0"),
    ] {
        for path in paths(version) {
            let got = serving.get(&path);
            assert_eq!(got.status, 409, "{path}: {}", got.text());
            assert!(got.text().contains("is not trusted") && got.text().contains(reason), "{path}: {}", got.text());
        }
    }
}

#[test]
fn modules_are_served_if_the_workflow_has_built_them() {
    let scene = Scene::new();
    for version in ["1.4.0", "1.5.0", "1.6.0"] {
        scene.push_module("REGISTRY/acme/network-aws", version, "");
    }
    let sigstore = ruled(&scene, &format!("modules = [\"{}/acme/*\"]", scene.registry.address()));
    scene.attest(&sigstore, &BuiltBy::RELEASE, "acme/network-aws", "1.4.0");
    scene.attest(&sigstore, &CI, "acme/network-aws", "1.6.0");
    let from = "REGISTRY/${namespace}/${name}-${target_system}";
    let module = format!("[[module]]\ninclude = [\"registry.example.com/*/*/*\"]\nfrom = \"{from}\"\n");
    let serving = Serving::with(&scene, &format!("trust = \"trust.toml\"\n{module}"));
    let download =
        |version: &str| serving.get(&format!("/modules/registry.example.com/acme/network/aws/{version}/download"));
    let got = download("1.4.0");
    assert_eq!(got.status, 200, "{}", got.text());
    let location = got.header("X-Terraform-Get").to_owned();
    let path =
        location.split_once("://").map_or(location.as_str(), |(_, rest)| &rest[rest.find('/').expect("a path")..]);
    assert_eq!(serving.get(path).status, 200, "{location}");
    for (version, reason) in [
        ("1.5.0", "it is not signed"),
        ("1.6.0", "its workflow is https://github.com/acme/widget/.github/workflows/ci.yml@refs/tags/v1.6.0"),
    ] {
        let got = download(version);
        assert_eq!(got.status, 409, "{version}: {}", got.text());
        assert!(got.text().contains(reason), "{version}: {}", got.text());
    }
    // What was refused is not listed.
    let listed = serving.get("/modules/registry.example.com/acme/network/aws/versions").text();
    assert!(listed.contains("1.4.0") && !listed.contains("1.5.0") && !listed.contains("1.6.0"), "{listed}");
}

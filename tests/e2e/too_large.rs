//! What is larger than anything that is read, or goes on for longer.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{Fault, Rule};
use tofu_oci_types::Digest;

use crate::setup::{Scene, WIDGET};

/// A release of one platform whose package has this many bytes by its manifest.
fn declaring(size: &Value) -> Scene {
    let scene = Scene::new();
    let config = json!({
        "os": "linux", "architecture": "amd64",
        "config": {"Labels": {"org.opentofu.package-type": "provider_binary"}},
        "rootfs": {"type": "layers", "diff_ids": []},
    });
    let package = scene.registry.put_blob("acme/widget", "<html>");
    let layer = json!({"mediaType": "archive/zip", "digest": package, "size": size});
    scene.forge_leaf(package, &config, &layer, Some("application/vnd.opentofu.provider-target"));
    scene
}

/// The requests for the package itself.
fn downloads(scene: &Scene) -> usize {
    let blob = format!("GET /v2/acme/widget/blobs/{}", Digest::sha256(b"<html>"));
    scene.conversation().iter().filter(|line| line.starts_with(&blob)).count()
}

#[test]
fn a_package_declared_as_a_pebibyte_is_not_fetched() {
    let scene = declaring(&json!(1_u64 << 50));
    let from = format!("{WIDGET} --from REGISTRY/acme/widget --platform linux_amd64");
    assert_snapshot!(scene.refuse(&format!("install {from}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has 1125899906842624 bytes or more, and the limit is 2147483648
      cause: it came from [REGISTRY]/acme/widget

    hint: this is far more than a provider or a module needs; check what it holds
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
    for line in [format!("install {from} --into mirror --packed"), format!("lock {from}")] {
        let said = scene.refuse(&line);
        let want = "cause: the archive has 1125899906842624 bytes or more, and the limit is 2147483648\n";
        assert!(said.contains(want), "{line}: {said}");
    }
    let said = scene.run("check REGISTRY/acme/widget --deep");
    assert!(said.text.contains("it was not read: the archive has 1125899906842624 bytes or more"), "{}", said.text);
    assert_eq!(downloads(&scene), 0);
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:layout --version 1.4.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: blob sha256:[DIGEST] of [REGISTRY]/acme/widget is larger than 10737418240 bytes
      cause: it happened at the source of the copy

    hint: this is no provider release
    ");
    assert_eq!(downloads(&scene), 0);
}

#[test]
fn a_size_that_is_no_size_is_refused() {
    for size in [json!(-1), json!(1e30), json!("6"), json!(null), json!(18_446_744_073_709_551_615_u64)] {
        let scene = declaring(&size);
        let said = scene.refuse(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64"));
        assert!(said.starts_with("exit code: 1\n"), "{size}: {said}");
        assert_eq!(downloads(&scene), 0, "{size}: {said}");
    }
}

#[test]
fn an_endless_package_ends_at_its_declared_size() {
    let scene = declaring(&json!(6));
    let length = tofu_oci_testkit::Length::Chunked;
    let blob = Rule::on("GET", "*/blobs/sha256:*").then(Fault::Flood { bytes: 1 << 40, length });
    scene.registry.fault(blob);
    let said = scene.refuse(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64"));
    assert!(said.contains("has the wrong size"), "{said}");
}

/// Manifests that each refer to the one before, with the youngest first in the index: it must wait for all others.
#[test]
fn a_chain_of_subjects_is_not_copied() {
    const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
    const INDEX: &str = "application/vnd.oci.image.index.v1+json";
    let scene = Scene::new();
    let config = scene.registry.put_blob("acme/widget", "{}");
    let config = json!({"mediaType": "application/vnd.oci.empty.v1+json", "digest": config, "size": 2});
    let mut chain: Vec<Value> = Vec::new();
    for _ in 0..20 {
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [], "subject": chain.last(),
        });
        let text = manifest.to_string();
        let size = text.len();
        let digest = scene.registry.put_manifest("acme/widget", MANIFEST, text);
        chain.push(json!({"mediaType": MANIFEST, "digest": digest, "size": size}));
    }
    chain.reverse();
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": chain});
    let index = scene.registry.put_manifest("acme/widget", INDEX, index.to_string());
    scene.registry.put_tag("acme/widget", "1.4.0", &index);
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:layout --version 1.4.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: manifests of [REGISTRY]/acme/widget need each other over more than 16 levels
      cause: it happened at the source of the copy

    hint: a release needs two levels; check who wrote these manifests
    ");
    let said = scene.run("copy REGISTRY/acme/widget REGISTRY/acme/copy --version 1.4.0");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(!scene.conversation().iter().any(|line| line.starts_with("PUT ")), "nothing is sent");
}

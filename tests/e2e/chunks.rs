//! Uploads that something between here and the registry does not let through in one piece.

use tofu_oci_testkit::{Answer, Fault, ProviderZip, Registry, ReleaseFolder, RequestHead, Rule};

use crate::setup::{Scene, WIDGET};

/// A whole blob in one request: it has a body, and it ends its upload.
fn is_whole(head: &RequestHead) -> bool {
    let length = head.headers.get("content-length").and_then(|length| length.to_str().ok()).unwrap_or("0");
    head.method == "PUT" && head.path.contains("/blobs/uploads/") && length != "0"
}

fn too_large() -> Rule {
    Rule::when(is_whole).then(Fault::Answer(Answer::text(413, "request entity too large")))
}

fn breaks() -> Rule {
    Rule::when(is_whole).then(Fault::RefuseUploadAfter { bytes: 100, answer: None })
}

/// With `dist/` whose packages are too long for a chunk of the smallest length.
fn scene() -> Scene {
    let scene = Scene::with(Registry::builder());
    let package = |platform| ProviderZip::new("widget", "1.4.0", platform).random_file("data", 200_000);
    let dist = ReleaseFolder::new("widget", "1.4.0", &[]);
    dist.package(package("darwin_arm64")).package(package("linux_amd64")).write_zips(&scene.path("dist"));
    scene
}

#[track_caller]
fn check(scene: &Scene, line: &str) {
    let said = scene.run(line).success();
    assert!(!said.stderr.contains("a bug"), "{}", said.text);
    let chunks = scene.registry.requests().iter().filter(|request| request.method == "PATCH").count();
    assert!(chunks > 1, "nothing was sent in chunks");
    scene.registry.clear_faults();
    let install = format!("install {WIDGET} --from REGISTRY/acme/widget --into mirror --platform linux_amd64");
    scene.run(&install).success();
}

#[test]
fn a_push_through_a_proxy_that_limits_requests_does_not_panic() {
    for layout in ["artifact", "image", "both"] {
        let scene = scene();
        scene.registry.fault(too_large());
        check(&scene, &format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout {layout}"));
    }
}

#[test]
fn a_push_whose_uploads_break_twice_does_not_panic() {
    let scene = scene();
    scene.registry.fault(breaks());
    check(&scene, &format!("push dist REGISTRY/acme/widget --address {WIDGET} --timeout 20s --attempts 9"));
}

#[test]
fn a_copy_from_a_directory_through_such_a_proxy_goes_well() {
    for rule in [too_large(), breaks()] {
        let scene = scene();
        scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
        scene.registry.fault(rule);
        check(&scene, "copy oci:layout REGISTRY/acme/widget --timeout 20s --attempts 9");
    }
}

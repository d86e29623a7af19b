//! `pack` and `copy`.

use insta::assert_snapshot;
use tofu_oci_testkit::Dist;

use crate::setup::state::tree;
use crate::setup::{PLATFORMS, Scene, State, WIDGET};

#[test]
fn packing_writes_an_image_layout_directory() {
    let scene = Scene::with_dist();
    let said = scene.run(&format!("pack dist oci:layout --address {WIDGET}"));
    assert_snapshot!(said.text, @"");
    assert!(scene.context.files().contains(&"layout/oci-layout".to_owned()));
    let again = scene.run(&format!("pack dist oci:layout --address {WIDGET}"));
    assert_snapshot!(again.text, @"");
}

#[test]
fn packing_to_a_registry_is_wrong_usage() {
    let scene = Scene::with_dist();
    assert_snapshot!(scene.refuse(&format!("pack dist ghcr.io/acme/widget --address {WIDGET}")), @"");
    assert_snapshot!(scene.refuse(&format!("pack dist layout --address {WIDGET}")), @"");
}

#[test]
fn a_directory_and_a_push_hold_the_same_digests() {
    let scene = Scene::with_dist();
    for layout in ["artifact", "image", "both"] {
        scene.run(&format!("pack dist oci:{layout} --address {WIDGET} --layout {layout}")).success();
        scene.run(&format!("push dist REGISTRY/acme/{layout} --address {WIDGET} --layout {layout}")).success();
        let files: Vec<String> = scene.context.files();
        let prefix = format!("{layout}/blobs/sha256/");
        let mut packed: Vec<String> =
            files.iter().filter_map(|name| name.strip_prefix(&prefix)).map(|hex| format!("sha256:{hex}")).collect();
        packed.sort();
        assert_eq!(packed, scene.registry.digests(&format!("acme/{layout}")), "{layout}");
    }
}

#[test]
fn copies_keep_every_byte() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &PLATFORMS).write_goreleaser(&scene.path("dist"));
    scene.run(&format!("pack dist oci:first --address {WIDGET} --layout both")).success();
    let said = scene.run("copy oci:first REGISTRY/mirror/widget");
    assert_snapshot!(said.text, @"");
    let said = scene.run("copy REGISTRY/mirror/widget oci:second");
    assert_snapshot!(said.text, @"");
    assert_eq!(tree(&scene.path("second/blobs")), tree(&scene.path("first/blobs")));
    let said = scene.run("copy REGISTRY/mirror/widget oci:second");
    assert_snapshot!(said.text, @"");
}

#[test]
fn one_of_several_versions_must_be_named() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.publish("2.0.0-rc1");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:some"), @"");
    let said = scene.run("copy REGISTRY/acme/widget oci:some --version 1.5.0");
    assert_snapshot!(said.text, @"");
    assert_snapshot!(scene.run("versions oci:some").text, @"");
    let said = scene.run("copy REGISTRY/acme/widget oci:all --all");
    assert_snapshot!(said.text, @"");
    assert_snapshot!(scene.run("versions oci:all").text, @"");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:none --version 9.9.9"), @"");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:none --version 1.5.0 --all"), @"");
}

#[test]
fn a_dry_run_copies_nothing() {
    let scene = Scene::published();
    let before = State::of(&scene);
    let said = scene.run("copy REGISTRY/acme/widget oci:layout --dry-run");
    assert_snapshot!(said.text, @"");
    assert_eq!(State::of(&scene), before);
}

#[test]
fn a_copy_onto_a_taken_tag_is_refused() {
    let scene = Scene::published();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("other"));
    scene.run(&format!("pack other oci:other --address {WIDGET}")).success();
    assert_snapshot!(scene.refuse("copy oci:other REGISTRY/acme/widget"), @"");
    let said = scene.run("copy oci:other REGISTRY/acme/widget --replace-tag");
    assert_snapshot!(said.text, @"");
}

#[test]
fn both_ends_must_differ_and_the_source_must_be_there() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("copy oci:a oci:a"), @"");
    assert_snapshot!(scene.refuse("copy oci:missing oci:b"), @"");
    scene.context.write("folder/file", "");
    assert_snapshot!(scene.refuse("copy oci:folder oci:b"), @"");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:b"), @"");
}

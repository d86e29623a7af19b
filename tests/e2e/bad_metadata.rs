//! A release folder of `GoReleaser` that contradicts itself: nothing is published.

use insta::assert_snapshot;
use tofu_oci_testkit::ReleaseFolder;

use crate::bad_dist::{ZIP, package, refused_dist};
use crate::setup::Scene;

#[test]
fn two_archives_for_one_platform() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    let mut artifacts: serde_json::Value =
        serde_json::from_str(&scene.context.read("dist/artifacts.json")).expect("written as JSON");
    let list = artifacts.as_array_mut().expect("a list");
    let mut second = list.iter().find(|item| item["type"] == "Archive").expect("one archive").clone();
    second["path"] = "dist/terraform-provider-widget_1.4.0_linux_amd64_v3.zip".into();
    second["name"] = "terraform-provider-widget_1.4.0_linux_amd64_v3.zip".into();
    list.push(second);
    scene.context.write("dist/artifacts.json", artifacts.to_string());
    scene.context.write("dist/terraform-provider-widget_1.4.0_linux_amd64_v3.zip", package().build());
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: linux_amd64 has two packages: dist/terraform-provider-widget_1.4.0_linux_amd64.zip and dist/terraform-provider-widget_1.4.0_linux_amd64_v3.zip

    hint: a release has one package for each platform: let `archives`, `builds` or `ignore` of .goreleaser.yaml make one, and build again
    ");
}

#[test]
fn a_wrong_line_of_the_checksum_file() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    let sums = "dist/terraform-provider-widget_1.4.0_SHA256SUMS";
    let right = scene.context.read(sums);
    let (_, rest) = right.split_once("  ").expect("a line of a checksum file");
    scene.context.write(sums, format!("{}  {rest}", "0".repeat(64)));
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    warning: terraform-provider-widget_1.4.0_SHA256SUMS.sig is not an OpenPGP signature, so it does not go with the release
      hint: sign terraform-provider-widget_1.4.0_SHA256SUMS with OpenPGP: gpg --detach-sign; or sign the release: --sign-key KEY
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip does not match line 1 of dist/terraform-provider-widget_1.4.0_SHA256SUMS: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the file or the checksum file is not the one of the release; build the release again
    ");
    scene.context.write(sums, format!("nonsense\n{right}"));
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot understand dist/terraform-provider-widget_1.4.0_SHA256SUMS: line 1: it must read CHECKSUM  FILE

    hint: each line of it reads as `sha256sum` writes it; write it again, or remove it with its signatures
    ");
    let without: String =
        right.lines().filter(|line| !line.ends_with("_amd64.zip")).map(|line| format!("{line}\n")).collect();
    scene.context.write(sums, without);
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_SHA256SUMS has no line for dist/terraform-provider-widget_1.4.0_linux_amd64.zip

    hint: a checksum file must name every package, or not be there
    ");
}

#[test]
fn a_metadata_file_that_is_no_json() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    scene.context.write("dist/artifacts.json", "[{\n");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot understand dist/artifacts.json: EOF while parsing an object at line 2 column 0

    hint: the folder is not as the build left it; build the release again
    ");
}

#[test]
fn an_archive_that_the_metadata_names_is_missing() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    std::fs::remove_file(scene.path(ZIP)).expect("it was written");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/artifacts.json names dist/terraform-provider-widget_1.4.0_linux_amd64.zip, which is not in that folder

    hint: the folder is not as the build left it; build the release again
    ");
}

#[test]
fn a_signed_checksum_file_by_which_nobody_could_verify_the_release() {
    let scene = Scene::new();
    let zip = package().build();
    let write = |sum: &str| {
        let name = "terraform-provider-widget_Linux_x86_64.zip";
        scene.context.write(&format!("dist/{name}"), &zip);
        scene.context.write("dist/widget_checksums.txt", format!("{sum}  {name}\n"));
        scene.context.write("dist/widget_checksums.txt.sig", include_bytes!("../../testdata/trust/gpg/ed25519.sig"));
        let artifacts = serde_json::json!([
            { "name": name, "path": format!("dist/{name}"), "goos": "linux", "goarch": "amd64", "type": "Archive" },
            { "name": "widget_checksums.txt", "path": "dist/widget_checksums.txt", "type": "Checksum" },
        ]);
        scene.context.write("dist/artifacts.json", artifacts.to_string());
        scene
            .context
            .write("dist/metadata.json", r#"{"project_name": "terraform-provider-widget", "version": "1.4.0"}"#);
    };
    write(tofu_oci_types::Digest::sha256(&zip).encoded());
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the signed dist/widget_checksums.txt does not cover the release: it names terraform-provider-widget_Linux_x86_64.zip, and not terraform-provider-widget_1.4.0_linux_amd64.zip

    hint: in .goreleaser.yaml: `name_template: 'terraform-provider-widget_{{ .Version }}_{{ .Os }}_{{ .Arch }}'` in the archives; then build again
    hint: to publish the release without this signature: --sums skip
    ");
    write(&"0".repeat(128));
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    note: the checksums in widget_checksums.txt are not of SHA-256: no package was compared with them, and they do not go with the release
      hint: list SHA-256 checksums: `algorithm: sha256` in .goreleaser.yaml, or sha256sum *.zip > SHA256SUMS
    error: the signed dist/widget_checksums.txt does not cover the release: its checksums are not of SHA-256

    hint: sign SHA-256 checksums: `algorithm: sha256` in .goreleaser.yaml, or sha256sum *.zip > SHA256SUMS
    hint: to publish the release without this signature: --sums skip
    ");
}

//! Packages that cannot be trusted, while something is installed: nothing becomes visible.

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::ProviderZip;
use tofu_oci_types::Digest;

use crate::setup::Scene;
use crate::setup::zips::{renamed, with_mode};

pub(crate) const INSTALL: &str =
    "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";

pub(crate) fn package() -> ProviderZip {
    ProviderZip::new("widget", "1.4.0", "linux_amd64").file("abcd.txt", "text").file("wxyz.txt", "other")
}

/// Installing a release with this zip is refused, unpacked and packed alike.
#[track_caller]
fn refused(zip: impl AsRef<[u8]>) -> String {
    let scene = Scene::new();
    scene.forge(zip);
    let text = scene.refuse(INSTALL);
    assert_eq!(scene.refuse(&format!("{INSTALL} --into mirror --packed")), text);
    text
}

#[test]
fn a_good_forged_release_is_installed() {
    let scene = Scene::new();
    scene.forge(package().build());
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (420 B)
    ");
}

#[test]
fn a_package_that_is_no_zip() {
    assert_snapshot!(refused("no zip at all"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: this is not a zip archive
      cause: it came from [REGISTRY]/acme/widget

    hint: the file may be an interrupted download or build; make it again
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
}

#[test]
fn a_package_that_is_cut_short() {
    let zip = package().build();
    assert_snapshot!(refused(&zip[..zip.len() - 30]), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive is cut short
      cause: it came from [REGISTRY]/acme/widget

    hint: the file may be an interrupted download or build; make it again
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
}

#[test]
fn a_package_without_the_executable() {
    assert_snapshot!(refused(package().without_executable().build()), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the package has no executable `terraform-provider-widget`
      cause: it came from [REGISTRY]/acme/widget

    hint: the program lies in the package's root as terraform-provider-widget[_vVERSION]
    hint: the root holds abcd.txt, wxyz.txt
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
}

#[test]
fn a_package_with_unsafe_names() {
    assert_snapshot!(refused(renamed(package().build(), "abcd.txt", "../d.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has an entry with an unsafe name, `../d.txt`: it has a `..` part
      cause: it came from [REGISTRY]/acme/widget

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
    assert_snapshot!(refused(renamed(package().build(), "abcd.txt", "/bcd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has an entry with an unsafe name, `/bcd.txt`: it is absolute
      cause: it came from [REGISTRY]/acme/widget

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
    assert_snapshot!(refused(renamed(package().build(), "abcd.txt", r"..\d.txt")), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has an entry with an unsafe name, `..\\d.txt`: it has a `..` part
      cause: it came from [REGISTRY]/acme/widget

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    hint: nothing of it was installed; the publisher must correct the release itself
    "#);
}

#[test]
fn a_package_with_a_duplicate_entry() {
    assert_snapshot!(refused(renamed(package().build(), "wxyz.txt", "abcd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has two entries named `abcd.txt`
      cause: it came from [REGISTRY]/acme/widget

    hint: remove one of the two, so that the package is the same on every system
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
}

#[test]
fn a_package_with_a_symlink() {
    assert_snapshot!(refused(with_mode(package().build(), "abcd.txt", 0o120_777)), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: `abcd.txt` is a symbolic link, which a package must not contain
      cause: it came from [REGISTRY]/acme/widget

    hint: a package consists of plain files: put a copy of the file in its place, or leave it out
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
}

#[test]
fn a_package_with_contents_that_do_not_match_its_checksum() {
    let mut zip = package().build();
    zip[30 + "abcd.txt".len() + 1] ^= 0x10;
    assert!(refused(zip).contains("exit code: 1"));
}

#[test]
fn an_index_that_is_no_json() {
    let scene = Scene::new();
    let index = scene.registry.put_manifest("acme/widget", "application/vnd.oci.image.index.v1+json", "{no json");
    scene.registry.put_tag("acme/widget", "1.4.0", &index);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget is not usable: manifest of tag 1.4.0: it is not a JSON manifest

    hint: -vv shows every request; check that this is the registry you mean
    ");
}

#[test]
fn a_plain_container_image() {
    let scene = Scene::new();
    let layer = scene.registry.put_blob("acme/widget", "layer");
    let tar = json!({"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": layer, "size": 5});
    let config = json!({"os": "linux", "architecture": "amd64", "config": {},
        "rootfs": {"type": "layers", "diff_ids": [Digest::sha256(b"layer")]}});
    scene.forge_leaf(layer, &config, &tar, None);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 in [REGISTRY]/acme/widget cannot be installed
      cause: this is a plain container image, not a provider package: its config has no label org.opentofu.package-type=provider_binary

    hint: check the repository's name; a provider release is what `tofu-oci push` writes, or labelled images
    hint: nothing of it was installed
    ");
}

#[test]
fn a_module_package() {
    let scene = Scene::new();
    let zip = scene.registry.put_blob("acme/widget", "zip");
    let config = scene.registry.put_blob("acme/widget", "{}");
    let manifest = json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.opentofu.modulepkg",
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": config, "size": 2},
        "layers": [{"mediaType": "archive/zip", "digest": zip, "size": 3}],
    });
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = scene.registry.put_manifest("acme/widget", media_type, manifest.to_string());
    scene.registry.put_tag("acme/widget", "1.4.0", &manifest);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 in [REGISTRY]/acme/widget cannot be installed
      cause: this is a module package, not a provider release: expected an image index with a package for each platform

    hint: [REGISTRY]/acme/widget holds a module; to fetch it: tofu-oci module pull 'oci://[REGISTRY]/acme/widget?tag=1.4.0' DIR
    hint: nothing of it was installed
    ");
}

#[test]
fn a_stray_tag_that_is_the_newest_is_refused_with_the_reason() {
    let scene = Scene::published();
    let digest = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/widget", "2", &digest);
    let said = scene.run(INSTALL);
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    warning: [REGISTRY]/acme/widget has tags that OpenTofu takes for versions it cannot find, so that `tofu init` fails: 2
      hint: ask the publisher to delete these tags
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    ");
}

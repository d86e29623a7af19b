//! Release files that are not what they should be: nothing is published.

use insta::assert_snapshot;
use tofu_oci_testkit::{Dist, ProviderZip};

use crate::setup::zips::{renamed, with_mode};
use crate::setup::{Scene, WIDGET};

const ZIP: &str = "dist/terraform-provider-widget_1.4.0_linux_amd64.zip";

/// Publishing `dist/` with this file in it is refused, by a registry and by a directory alike.
#[track_caller]
fn refused(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let scene = Scene::new();
    scene.context.write(name, bytes);
    refused_dist(&scene, "")
}

#[track_caller]
fn refused_dist(scene: &Scene, options: &str) -> String {
    let text = scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} {options}"));
    for layout in ["artifact", "image"] {
        let to_directory =
            scene.refuse(&format!("pack dist oci:layout --address {WIDGET} --layout {layout} {options}"));
        assert_eq!(to_directory, text, "{layout}");
    }
    text
}

fn package() -> ProviderZip {
    ProviderZip::new("widget", "1.4.0", "linux_amd64").file("abcd.txt", "text").file("wxyz.txt", "other")
}

#[test]
fn a_file_that_is_no_zip() {
    assert_snapshot!(refused(ZIP, "no zip at all"), @"");
}

#[test]
fn an_empty_file() {
    assert_snapshot!(refused(ZIP, ""), @"");
}

#[test]
fn a_zip_that_is_cut_short() {
    let zip = package().build();
    assert_snapshot!(refused(ZIP, &zip[..zip.len() - 30]), @"");
}

#[test]
fn a_zip_without_the_executable() {
    assert_snapshot!(refused(ZIP, package().without_executable().build()), @"");
}

#[test]
fn a_zip_with_the_executable_of_another_provider() {
    assert_snapshot!(refused(ZIP, ProviderZip::new("gadget", "1.4.0", "linux_amd64").build()), @"");
}

#[test]
fn a_zip_with_a_parent_path() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", "../d.txt")), @"");
}

#[test]
fn a_zip_with_an_absolute_path() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", "/bcd.txt")), @"");
}

#[test]
fn a_zip_with_a_drive_letter() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", "c:cd.txt")), @"");
}

#[test]
fn a_zip_with_a_backslash() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", r"a\cd.txt")), @"");
}

#[test]
fn a_zip_with_a_duplicate_entry() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "wxyz.txt", "abcd.txt")), @"");
}

#[test]
fn a_zip_with_names_that_differ_in_case_only() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "wxyz.txt", "ABCD.txt")), @"");
}

#[test]
fn a_zip_with_a_symlink() {
    assert_snapshot!(refused(ZIP, with_mode(package().build(), "abcd.txt", 0o120_777)), @"");
}

#[test]
fn a_zip_with_contents_that_do_not_match_its_checksum() {
    let mut zip = package().build();
    let data = 30 + "abcd.txt".len();
    zip[data + 1] ^= 0x10;
    let text = refused(ZIP, zip);
    assert!(text.contains("exit code: 1"), "{text}");
    assert!(text.contains("hint: "), "{text}");
}

#[test]
#[cfg(unix)]
fn a_folder_with_a_symlink() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_directories(&scene.path("dist"));
    std::os::unix::fs::symlink("/etc/passwd", scene.path("dist/linux_amd64/link")).expect("a link can be made");
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn a_folder_without_the_executable() {
    let scene = Scene::new();
    scene.context.write("dist/linux_amd64/README.md", "text");
    assert_snapshot!(refused_dist(&scene, "--version 1.4.0"), @"");
}

#[test]
fn two_archives_for_one_platform() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    let mut artifacts: serde_json::Value =
        serde_json::from_str(&scene.context.read("dist/artifacts.json")).expect("written as JSON");
    let list = artifacts.as_array_mut().expect("a list");
    let mut second = list.iter().find(|item| item["type"] == "Archive").expect("one archive").clone();
    second["path"] = "dist/second.zip".into();
    second["name"] = "second.zip".into();
    list.push(second);
    scene.context.write("dist/artifacts.json", artifacts.to_string());
    scene.context.write("dist/second.zip", package().build());
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn an_archive_and_a_folder_for_one_platform() {
    let scene = Scene::new();
    let dist = Dist::new("widget", "1.4.0", &["linux_amd64"]);
    dist.write_zips(&scene.path("dist"));
    dist.write_directories(&scene.path("dist"));
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn an_unknown_platform_of_a_zip() {
    let zip = package().build();
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_linux_quantum.zip", &zip), @"");
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_macos_arm64.zip", &zip), @"");
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_linux_x86_64.zip", &zip), @"");
}

#[test]
fn an_unknown_platform_of_a_folder() {
    assert_snapshot!(refused("dist/linux_x64/terraform-provider-widget_v1.4.0", "program"), @"");
}

#[test]
fn a_version_that_is_none() {
    let zip = package().build();
    assert_snapshot!(refused("dist/terraform-provider-widget_latest_linux_amd64.zip", &zip), @"");
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4_linux_amd64.zip", &zip), @"");
    let scene = Scene::with_dist();
    assert_snapshot!(refused_dist(&scene, "--version latest"), @"");
    assert_snapshot!(refused_dist(&scene, "--version 1.4"), @"");
    assert_snapshot!(refused_dist(&scene, "--version 1.04.0"), @"");
}

#[test]
fn a_version_with_a_v() {
    assert_snapshot!(refused("dist/terraform-provider-widget_v1.4.0_linux_amd64.zip", package().build()), @"");
    let scene = Scene::with_dist();
    assert_snapshot!(refused_dist(&scene, "--version v1.4.0"), @"");
}

#[test]
fn another_version_than_the_files() {
    let scene = Scene::with_dist();
    assert_snapshot!(refused_dist(&scene, "--version 1.5.0"), @"");
}

#[test]
fn files_of_several_versions() {
    let scene = Scene::with_dist();
    scene.dist("dist", "1.5.0");
    assert_snapshot!(refused_dist(&scene, ""), @"");
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --version 1.5.0")).success();
}

#[test]
fn files_of_several_providers() {
    let scene = Scene::with_dist();
    Dist::new("gadget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("dist"));
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn folders_that_do_not_tell_the_version() {
    let scene = Scene::new();
    scene.context.write("dist/linux_amd64/terraform-provider-widget", "program");
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn an_address_of_another_provider() {
    let scene = Scene::with_dist();
    let text = scene.refuse("push dist REGISTRY/acme/widget --address registry.example.com/acme/gadget");
    assert_snapshot!(text, @"");
    assert_snapshot!(scene.refuse("push dist REGISTRY/acme/widget --address a/b/c/d"), @"");
}

#[test]
fn a_wrong_line_of_the_checksum_file() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    let sums = "dist/terraform-provider-widget_1.4.0_SHA256SUMS";
    let right = scene.context.read(sums);
    let (_, rest) = right.split_once("  ").expect("a line of a checksum file");
    scene.context.write(sums, format!("{}  {rest}", "0".repeat(64)));
    assert_snapshot!(refused_dist(&scene, ""), @"");
    scene.context.write(sums, format!("nonsense\n{right}"));
    assert_snapshot!(refused_dist(&scene, ""), @"");
    let without: String =
        right.lines().filter(|line| !line.ends_with(".zip")).map(|line| format!("{line}\n")).collect();
    scene.context.write(sums, without);
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn a_metadata_file_that_is_no_json() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    scene.context.write("dist/artifacts.json", "[{\n");
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn an_archive_that_the_metadata_names_is_missing() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    std::fs::remove_file(scene.path(ZIP)).expect("it was written");
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn a_folder_that_is_not_there_or_holds_nothing() {
    let scene = Scene::new();
    assert_snapshot!(refused_dist(&scene, ""), @"");
    std::fs::create_dir(scene.path("dist")).expect("it was not there");
    assert_snapshot!(refused_dist(&scene, ""), @"");
    scene.context.write("dist/README.md", "");
    scene.context.write("dist/widget.tar.gz", "");
    assert_snapshot!(refused_dist(&scene, ""), @"");
    std::fs::remove_dir_all(scene.path("dist")).expect("it was written");
    scene.context.write("dist", "a file");
    assert_snapshot!(refused_dist(&scene, ""), @"");
}

#[test]
fn a_destination_that_is_none() {
    let scene = Scene::with_dist();
    let refuse = |destination: &str| scene.refuse(&format!("push dist {destination} --address {WIDGET}"));
    assert_snapshot!(refuse("https://ghcr.io/acme/widget"), @"");
    assert_snapshot!(refuse("ghcr.io/acme/widget:1.4.0"), @"");
    assert_snapshot!(refuse("./layout"), @"");
    assert_snapshot!(refuse("ghcr.io/Acme/Widget"), @"");
    assert_snapshot!(refuse("widget"), @"");
    assert_snapshot!(refuse("oci:"), @"");
}

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
    assert_snapshot!(refused(ZIP, "no zip at all"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: this is not a zip archive

    hint: the file may be an interrupted download or build; make it again
    ");
}

#[test]
fn an_empty_file() {
    assert_snapshot!(refused(ZIP, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: this is not a zip archive

    hint: the file may be an interrupted download or build; make it again
    ");
}

#[test]
fn a_zip_that_is_cut_short() {
    let zip = package().build();
    assert_snapshot!(refused(ZIP, &zip[..zip.len() - 30]), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: the archive is cut short

    hint: the file may be an interrupted download or build; make it again
    ");
}

#[test]
fn a_zip_without_the_executable() {
    assert_snapshot!(refused(ZIP, package().without_executable().build()), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip holds no `terraform-provider-widget` executable

    hint: the program lies in the package's root as terraform-provider-widget[_vVERSION]
    hint: it holds abcd.txt, wxyz.txt
    ");
}

#[test]
fn a_zip_with_the_executable_of_another_provider() {
    assert_snapshot!(refused(ZIP, ProviderZip::new("gadget", "1.4.0", "linux_amd64").build()), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip holds no `terraform-provider-widget` executable

    hint: the program lies in the package's root as terraform-provider-widget[_vVERSION]
    hint: it holds terraform-provider-gadget_v1.4.0
    ");
}

#[test]
fn a_zip_with_a_parent_path() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", "../d.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: the archive has an entry with an unsafe name, `../d.txt`: it has a `..` part

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    ");
}

#[test]
fn a_zip_with_an_absolute_path() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", "/bcd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: the archive has an entry with an unsafe name, `/bcd.txt`: it is absolute

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    ");
}

#[test]
fn a_zip_with_a_drive_letter() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", "c:cd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: the archive has an entry with an unsafe name, `c:cd.txt`: it has a colon, which on Windows names a drive or a stream

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    ");
}

#[test]
fn a_zip_with_a_backslash() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "abcd.txt", r"a\cd.txt")), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: the archive has an entry with an unsafe name, `a\\cd.txt`: it has a backslash

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    "#);
}

#[test]
fn a_zip_with_a_duplicate_entry() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "wxyz.txt", "abcd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: the archive has two entries named `abcd.txt`

    hint: remove one of the two, so that the package is the same on every system
    ");
}

#[test]
fn a_zip_with_names_that_differ_in_case_only() {
    assert_snapshot!(refused(ZIP, renamed(package().build(), "wxyz.txt", "ABCD.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: the archive has the entries `abcd.txt` and `ABCD.txt`, which are one name on some systems

    hint: remove one of the two, so that the package is the same on every system
    ");
}

#[test]
fn a_zip_with_a_symlink() {
    assert_snapshot!(refused(ZIP, with_mode(package().build(), "abcd.txt", 0o120_777)), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: `abcd.txt` is a symbolic link, which a package must not contain

    hint: a package consists of plain files: put a copy of the file in its place, or leave it out
    ");
}

#[test]
fn a_zip_with_contents_that_do_not_match_its_checksum() {
    let scene = Scene::new();
    let mut zip = package().build();
    zip[30 + "abcd.txt".len() + 1] ^= 0x10;
    scene.context.write(ZIP, zip);
    // Contents are read while the upload runs, and before the index is sent: a blob may stay, a tag may not.
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip cannot be published
      cause: `abcd.txt` does not have the checksum that the archive records

    hint: `unzip -t` shows what is damaged; build the archive again, or fetch it again
    ");
    assert_eq!(scene.registry.tags("acme/widget"), []);
}

#[test]
#[cfg(unix)]
fn a_folder_with_a_symlink() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_directories(&scene.path("dist"));
    std::os::unix::fs::symlink("/etc/passwd", scene.path("dist/linux_amd64/link")).expect("a link can be made");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/linux_amd64 cannot be published
      cause: `link` is a symbolic link, which a package must not contain

    hint: a package consists of plain files: put a copy of the file in its place, or leave it out
    ");
}

#[test]
fn a_folder_without_the_executable() {
    let scene = Scene::new();
    scene.context.write("dist/linux_amd64/README.md", "text");
    assert_snapshot!(refused_dist(&scene, "--version 1.4.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/linux_amd64 holds no `terraform-provider-widget` executable

    hint: the program lies in the package's root as terraform-provider-widget[_vVERSION]
    hint: it holds README.md
    ");
}

#[test]
fn two_archives_for_one_platform() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
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

    hint: remove the one that does not belong to this release
    ");
}

#[test]
fn an_unknown_platform_of_a_zip() {
    let zip = package().build();
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_linux_quantum.zip", &zip), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_quantum.zip is for `linux_quantum`, which is no platform that Go knows

    hint: platforms are named OS_ARCH as Go names them, such as linux_amd64 or darwin_arm64
    ");
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_macos_arm64.zip", &zip), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_macos_arm64.zip is for `macos_arm64`, which is no platform that Go knows

    hint: did you mean darwin_arm64?
    ");
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_linux_x86_64.zip", &zip), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_x86_64.zip is for `linux_x86_64`, which is no platform that Go knows

    hint: did you mean linux_amd64?
    ");
}

#[test]
fn an_unknown_platform_of_a_folder() {
    assert_snapshot!(refused("dist/linux_x64/terraform-provider-widget_v1.4.0", "program"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/linux_x64 is for `linux_x64`, which is no platform that Go knows

    hint: did you mean linux_amd64?
    ");
}

#[test]
fn a_version_that_is_none() {
    let zip = package().build();
    assert_snapshot!(refused("dist/terraform-provider-widget_latest_linux_amd64.zip", &zip), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_latest_linux_amd64.zip names no usable version
      cause: `latest` is not a version: it must read MAJOR.MINOR.PATCH

    hint: versions read MAJOR.MINOR.PATCH, such as 1.4.0 or 2.0.0-beta.1
    ");
    let scene = Scene::with_dist();
    assert_snapshot!(refused_dist(&scene, "--version latest"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'latest' for '--version <V>': `latest` is not a version: it must read MAJOR.MINOR.PATCH

    For more information, try '--help'.
    ");
    assert_snapshot!(refused_dist(&scene, "--version 1.4"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '1.4' for '--version <V>': write it in full: 1.4.0

    For more information, try '--help'.
    ");
    assert_snapshot!(refused_dist(&scene, "--version 1.04.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '1.04.0' for '--version <V>': write it in full: 1.4.0

    For more information, try '--help'.
    ");
}

#[test]
fn a_version_with_a_v() {
    assert_snapshot!(refused("dist/terraform-provider-widget_v1.4.0_linux_amd64.zip", package().build()), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_v1.4.0_linux_amd64.zip names no usable version
      cause: `v1.4.0` is not a version: it is written without a v before it

    hint: write 1.4.0
    ");
    let scene = Scene::with_dist();
    assert_snapshot!(refused_dist(&scene, "--version v1.4.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'v1.4.0' for '--version <V>': write it without the v: 1.4.0

    For more information, try '--help'.
    ");
}

#[test]
fn another_version_than_the_files() {
    let scene = Scene::with_dist();
    assert_snapshot!(refused_dist(&scene, "--version 1.5.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: version 1.5.0 was asked for, but dist holds 1.4.0

    hint: leave --version away, or write --version 1.4.0
    ");
}

#[test]
fn files_of_several_versions() {
    let scene = Scene::with_dist();
    scene.dist("dist", "1.5.0");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist holds packages of several versions: 1.4.0, 1.5.0

    hint: choose one: --version 1.5.0
    ");
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --version 1.5.0")).success();
}

#[test]
fn files_of_several_providers() {
    let scene = Scene::with_dist();
    Dist::new("gadget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("dist"));
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist holds packages of several providers: gadget, widget

    hint: publish each provider from a folder of its own
    ");
}

#[test]
fn folders_that_do_not_tell_the_version() {
    let scene = Scene::new();
    scene.context.write("dist/linux_amd64/terraform-provider-widget", "program");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: nothing in dist tells the version

    hint: say it: --version 1.4.0
    ");
}

#[test]
fn an_address_of_another_provider() {
    let scene = Scene::with_dist();
    let text = scene.refuse("push dist REGISTRY/acme/widget --address registry.example.com/acme/gadget");
    assert_snapshot!(text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the address names the provider `gadget`, but dist holds `widget`

    hint: the last part of --address is the provider's type: widget
    ");
    assert_snapshot!(scene.refuse("push dist REGISTRY/acme/widget --address a/b/c/d"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'a/b/c/d' for '--address <ADDR>': `a/b/c/d` is not a provider address: it must read [HOST/]NAMESPACE/TYPE

    For more information, try '--help'.
    ");
}

#[test]
fn a_wrong_line_of_the_checksum_file() {
    let scene = Scene::new();
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    let sums = "dist/terraform-provider-widget_1.4.0_SHA256SUMS";
    let right = scene.context.read(sums);
    let (_, rest) = right.split_once("  ").expect("a line of a checksum file");
    scene.context.write(sums, format!("{}  {rest}", "0".repeat(64)));
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip does not match line 1 of dist/terraform-provider-widget_1.4.0_SHA256SUMS: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the file or the checksum file is not the one of the release; build the release again
    ");
    scene.context.write(sums, format!("nonsense\n{right}"));
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot understand dist/terraform-provider-widget_1.4.0_SHA256SUMS: line 1: it must read CHECKSUM  FILE

    hint: the folder is not as the build left it; build the release again
    ");
    let without: String =
        right.lines().filter(|line| !line.ends_with(".zip")).map(|line| format!("{line}\n")).collect();
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
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
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
    Dist::new("widget", "1.4.0", &["linux_amd64"]).write_goreleaser(&scene.path("dist"));
    std::fs::remove_file(scene.path(ZIP)).expect("it was written");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/artifacts.json names dist/terraform-provider-widget_1.4.0_linux_amd64.zip, which is not there

    hint: the folder is not as the build left it; build the release again
    ");
}

#[test]
fn a_folder_that_is_not_there_or_holds_nothing() {
    let scene = Scene::new();
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no folder dist

    hint: name the folder that holds the release files, such as dist
    ");
    std::fs::create_dir(scene.path("dist")).expect("it was not there");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist holds no provider packages

    hint: looked for artifacts.json of GoReleaser; terraform-provider-TYPE_VERSION_OS_ARCH.zip files; OS_ARCH directories
    hint: the folder is empty
    ");
    scene.context.write("dist/README.md", "");
    scene.context.write("dist/widget.tar.gz", "");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist holds no provider packages

    hint: looked for artifacts.json of GoReleaser; terraform-provider-TYPE_VERSION_OS_ARCH.zip files; OS_ARCH directories
    hint: found README.md, widget.tar.gz
    ");
    std::fs::remove_dir_all(scene.path("dist")).expect("it was written");
    scene.context.write("dist", "a file");
    assert_snapshot!(refused_dist(&scene, ""), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist is not a folder

    hint: name the folder that holds the release files, such as dist
    ");
}

#[test]
fn a_destination_that_is_none() {
    let scene = Scene::with_dist();
    let refuse = |destination: &str| scene.refuse(&format!("push dist {destination} --address {WIDGET}"));
    assert_snapshot!(refuse("https://ghcr.io/acme/widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `https://ghcr.io/acme/widget` is not a repository address: it is written without a scheme such as https://

    hint: write it as ghcr.io/acme/widget
    ");
    assert_snapshot!(refuse("ghcr.io/acme/widget:1.4.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/acme/widget:1.4.0` is not a repository address: it must name no tag and no digest

    hint: name the repository alone, ghcr.io/acme/widget, and the version with --version
    ");
    assert_snapshot!(refuse("./layout"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `./layout` is not a repository address: the part before the first `/` is not a host with an optional port

    hint: a directory is written oci:./layout
    ");
    assert_snapshot!(refuse("ghcr.io/Acme/Widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/Acme/Widget` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`

    hint: write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR
    ");
    assert_snapshot!(refuse("widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `widget` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget

    hint: write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR
    ");
    assert_snapshot!(refuse("oci:"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `oci:` names no directory

    hint: write it as oci:DIR
    ");
}

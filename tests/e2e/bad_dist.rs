//! Release files that are not what they should be: nothing is published.

use insta::assert_snapshot;
use tofu_oci_testkit::{ProviderZip, ReleaseFolder};

use crate::setup::{Scene, WIDGET};

pub(crate) const ZIP: &str = "dist/terraform-provider-widget_1.4.0_linux_amd64.zip";

/// Publishing `dist/` with this file in it is refused, by a registry and by a directory alike.
#[track_caller]
pub(crate) fn refused(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let scene = Scene::new();
    scene.context.write(name, bytes);
    refused_dist(&scene, "")
}

#[track_caller]
pub(crate) fn refused_dist(scene: &Scene, options: &str) -> String {
    let text = scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} {options}"));
    for layout in ["artifact", "image"] {
        let to_directory =
            scene.refuse(&format!("pack dist oci:layout --address {WIDGET} --layout {layout} {options}"));
        assert_eq!(to_directory, text, "{layout}");
    }
    text
}

pub(crate) fn package() -> ProviderZip {
    ProviderZip::new("widget", "1.4.0", "linux_amd64").file("abcd.txt", "text").file("wxyz.txt", "other")
}

#[test]
#[cfg(unix)]
fn a_folder_with_a_symlink() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_directories(&scene.path("dist"));
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
fn an_unknown_platform_of_a_zip() {
    let zip = package().build();
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_linux_quantum.zip", &zip), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_quantum.zip is for `linux_quantum`, which is not a platform that Go knows

    hint: platforms are named OS_ARCH as Go names them, such as linux_amd64 or darwin_arm64
    ");
    assert_snapshot!(refused("dist/terraform-provider-widget_1.4.0_macos_arm64.zip", &zip), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_macos_arm64.zip is for `macos_arm64`, which is not a platform that Go knows

    hint: did you mean darwin_arm64?
    ");
}

#[test]
fn an_unknown_platform_of_a_folder() {
    assert_snapshot!(refused("dist/linux_x64/terraform-provider-widget_v1.4.0", "program"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/linux_x64 is for `linux_x64`, which is not a platform that Go knows

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

    hint: omit the version, or write 1.4.0
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
    ReleaseFolder::new("gadget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("dist"));
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
    exit code: 2
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

    hint: drop the scheme: ghcr.io/acme/widget
    ");
    assert_snapshot!(refuse("ghcr.io/acme/widget:v1.4.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/acme/widget:v1.4.0` names no version: write it without the v, 1.4.0

    hint: write ghcr.io/acme/widget:1.4.0
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

    hint: write ghcr.io/acme/widget
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

#[test]
fn a_push_without_its_folder_was_said_to_lack_the_destination() {
    let scene = Scene::new();
    let said = "hint: for the folder that you are in: tofu-oci push . --address registry.example.com/acme/widget [REGISTRY]/x\n";
    crate::words::refuse(&scene, "push --address registry.example.com/acme/widget REGISTRY/x", &[said]);
    crate::words::refuse(&scene, "pack oci:out --address a.b/c/d", &["tofu-oci pack . oci:out --address a.b/c/d\n"]);
}

//! Zips that are not what they should be: nothing is published.

use insta::assert_snapshot;
use tofu_oci_testkit::ProviderZip;

use crate::bad_dist::{ZIP, package, refused};
use crate::setup::zips::{renamed, with_mode};
use crate::setup::{Scene, WIDGET};

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
fn a_zip_for_windows_with_a_drive_letter() {
    let windows = ZIP.replace("linux", "windows");
    assert_snapshot!(refused(&windows, renamed(package().build(), "abcd.txt", "c:cd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_windows_amd64.zip cannot be published
      cause: the archive has an entry with an unsafe name, `c:cd.txt`: it has a colon, which on Windows names a drive or a stream

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    ");
}

#[test]
fn a_zip_for_windows_with_a_backslash() {
    let windows = ZIP.replace("linux", "windows");
    assert_snapshot!(refused(&windows, renamed(package().build(), "abcd.txt", r"a\cd.txt")), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_windows_amd64.zip cannot be published
      cause: the archive has an entry with an unsafe name, `a\\cd.txt`: it has a backslash, which Windows takes for a slash

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
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --quiet"));
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

//! The lock file: what binds, what is completed, and what is refused.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";
const LOCK: &str = ".terraform.lock.hcl";
/// Of widget 1.4.0 for `linux_amd64`, as the fixtures make it.
const H1: &str = "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=";
/// Of nothing.
const OTHER_H1: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn entry(version: &str, hashes: &[&str]) -> String {
    let hashes: String = hashes.iter().map(|hash| format!("    \"{hash}\",\n")).collect();
    format!("provider \"{WIDGET}\" {{\n  version = \"{version}\"\n  hashes = [\n{hashes}  ]\n}}\n")
}

#[test]
fn the_locked_version_is_kept_until_upgraded() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    scene.publish("1.5.0");
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    already installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    assert_snapshot!(scene.run(&format!("{INSTALL} --upgrade")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.5.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.5.0/linux_amd64
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/widget 1.4.0 -> 1.5.0

    ----- stderr -----
    registry.example.com/acme/widget 1.5.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.5.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    ");
    assert!(scene.context.read(LOCK).contains("\"1.5.0\""));
}

#[test]
fn a_locked_version_that_the_constraint_excludes_is_refused() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    scene.publish("1.5.0");
    let line = format!("install {WIDGET}@1.5.0 --from REGISTRY/acme/widget --platform linux_amd64");
    assert_snapshot!(scene.refuse(&line), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget is locked at 1.4.0, which does not meet `1.5.0`

    hint: choose a new version with --upgrade, or change the constraint
    ");
}

#[test]
fn a_locked_version_that_is_gone_is_refused() {
    let scene = Scene::published();
    scene.context.write(LOCK, entry("1.3.0", &[H1]));
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget is locked at 1.3.0, which [REGISTRY]/acme/widget does not have

    hint: it has 1.4.0
    hint: choose one of them with --upgrade
    ");
}

#[test]
fn a_lock_file_with_h1_alone_is_verified_and_completed() {
    let scene = Scene::published();
    scene.context.write(LOCK, entry("1.4.0", &[H1]));
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/widget 1.4.0: 2 checksums added

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    ");
    assert_snapshot!(scene.shown(LOCK), @r#"
    # This file is maintained automatically by "tofu init".
    # Manual edits may be lost in future updates.

    provider "registry.example.com/acme/widget" {
      version = "1.4.0"
      hashes = [
        "ch:sha256:[DIGEST]",
        "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
        "zh:[ZIP]",
      ]
    }
    "#);
}

#[test]
fn a_lock_file_of_another_package_is_refused() {
    let scene = Scene::published();
    scene.context.write(LOCK, entry("1.4.0", &[OTHER_H1]));
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 for linux_amd64 is not the package that was locked: the one checksum in the lock file is not this package's
      cause: the lock file has h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
      cause: the package has  ch:sha256:[DIGEST]
      cause: the package has  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      cause: the package has  zh:[ZIP]
      cause: it came from [REGISTRY]/acme/widget

    hint: nothing of it was installed: either the repository or the lock file is not what it was
    hint: if the package was replaced on purpose, remove the provider's block from the lock file
    ");
    let zh = format!("zh:{}", "0".repeat(64));
    scene.context.write(LOCK, entry("1.4.0", &[&zh]));
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 for linux_amd64 is not the package that was locked: the one checksum in the lock file is not this package's
      cause: the lock file has zh:[ZIP]
      cause: the package has  ch:sha256:[DIGEST]
      cause: the package has  zh:[ZIP]
      cause: it came from [REGISTRY]/acme/widget

    hint: nothing of it was installed: either the repository or the lock file is not what it was
    hint: if the package was replaced on purpose, remove the provider's block from the lock file
    ");
    let ch = format!("ch:sha256:{}", "0".repeat(64));
    scene.context.write(LOCK, entry("1.4.0", &[&ch]));
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 for linux_amd64 is not the package that was locked: the lock file names the manifest ch:sha256:[DIGEST], but the release has ch:sha256:[DIGEST]
      cause: it came from [REGISTRY]/acme/widget

    hint: nothing of it was installed: either the repository or the lock file is not what it was
    hint: if the package was replaced on purpose, remove the provider's block from the lock file
    ");
}

#[test]
fn a_wrong_line_beside_a_right_one_is_reported() {
    let scene = Scene::published();
    scene.context.write(LOCK, entry("1.4.0", &[OTHER_H1, H1]));
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/widget 1.4.0: 2 checksums added

    ----- stderr -----
    note: the lock file has checksums of registry.example.com/acme/widget 1.4.0 that are not this package's: h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
      hint: they may belong to other platforms, or be wrong
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    ");
    assert_snapshot!(scene.shown(LOCK), @r#"
    # This file is maintained automatically by "tofu init".
    # Manual edits may be lost in future updates.

    provider "registry.example.com/acme/widget" {
      version = "1.4.0"
      hashes = [
        "ch:sha256:[DIGEST]",
        "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
        "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "zh:[ZIP]",
      ]
    }
    "#);
}

#[test]
fn a_package_that_was_replaced_is_refused() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it was installed");
    tofu_oci_testkit::ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"])
        .package(tofu_oci_testkit::ProviderZip::new("widget", "1.4.0", "darwin_arm64").executable("other"))
        .write_zips(&scene.path("same"));
    scene.run(&format!("push same REGISTRY/acme/widget --address {WIDGET} --replace-tag")).success();
    // The package of this platform is the same, so it is still the locked one; the moved version is reported.
    assert!(scene.refuse(INSTALL).contains("is not trusted: the version has moved"));
    let forget = || std::fs::remove_file(scene.path(".tofu-oci.pins.json")).expect("it was written");
    forget();
    scene.run(INSTALL).success();
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it was installed");
    let other = tofu_oci_testkit::ProviderZip::new("widget", "1.4.0", "linux_amd64").executable("replaced");
    scene.context.write(&format!("other/{}", other.file_name()), other.build());
    scene.run(&format!("push other REGISTRY/acme/widget --address {WIDGET} --replace-tag")).success();
    forget();
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 for linux_amd64 is not the package that was locked: none of the 3 checksums in the lock file is this package's
      cause: the lock file has ch:sha256:[DIGEST]
      cause: the lock file has h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      cause: the lock file has zh:[ZIP]
      cause: the package has  ch:sha256:[DIGEST]
      cause: the package has  h1:107vclUrIwq23p0MUf3QSgLrjKUH8WqnDN2HjXCCutU=
      cause: the package has  zh:[ZIP]
      cause: it came from [REGISTRY]/acme/widget

    hint: nothing of it was installed: either the repository or the lock file is not what it was
    hint: if the package was replaced on purpose, remove the provider's block from the lock file
    ");
}

#[test]
fn a_lock_file_that_does_not_parse_is_refused() {
    let scene = Scene::published();
    let refuse = |text: &str| {
        scene.context.write(LOCK, text);
        scene.refuse(INSTALL)
    };
    assert_snapshot!(refuse("provider \"registry.example.com/acme/widget\" {\n  version = \"1.4.0\n}\n"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:2:3: the file does not parse: invalid block body; expected `}`, newline or identifier

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
    assert_snapshot!(refuse("provider \"registry.example.com/acme/widget\" {\n}\n"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:1:1: the block has no version

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
    assert_snapshot!(refuse(&entry("1.4", &[H1])), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:2:13: the version `1.4` must be written `1.4.0`

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
    assert_snapshot!(refuse(&entry("abc", &[H1])), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:2:13: `abc` is not a version: it must read MAJOR.MINOR.PATCH

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
    assert_snapshot!(refuse(&entry("1.4.0\"\n  constraints = \"~~ 1", &[H1])), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:3:17: `~~ 1` is not a version constraint: the operators are =, !=, >, >=, <, <= and ~>

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
    assert_snapshot!(refuse(&entry("1.4.0", &["sha256"])), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:4:5: `sha256` is not a package checksum: it must read SCHEME:VALUE

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
    assert_snapshot!(refuse(&format!("{}{}", entry("1.4.0", &[H1]), entry("1.4.0", &[H1]))), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:7:1: `registry.example.com/acme/widget` is locked twice; keep one of the two blocks

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
    assert_snapshot!(refuse("backend \"x\" {}\n"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:1:1: unexpected block `backend`; remove it

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
}

#[test]
fn other_entries_of_the_lock_file_stay() {
    let scene = Scene::published();
    let other = "provider \"registry.opentofu.org/hashicorp/random\" {\n  version     = \"3.6.0\"\n  \
                 constraints = \"~> 3.0\"\n  hashes = [\n    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}\n";
    scene.context.write(LOCK, other);
    scene.run(INSTALL).success();
    assert!(scene.context.read(LOCK).contains(other), "{}", scene.context.read(LOCK));
}

#[test]
fn an_installed_package_that_was_changed_is_not_taken_for_the_right_one() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    let program =
        ".terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64/terraform-provider-widget_v1.4.0";
    scene.context.write(program, "changed by somebody");
    let said = scene.run(INSTALL);
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64 has other contents than registry.example.com/acme/widget 1.4.0

    hint: delete ./.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64 and run the same command again
    ");
}

#[test]
fn a_platform_that_is_not_locked_yet_is_told_apart_from_a_wrong_package() {
    let scene = Scene::published();
    let install = format!("install {WIDGET} --from REGISTRY/acme/widget --into mirror");
    scene.run(&format!("{install} --platform linux_amd64")).success();
    let said = scene.run(&format!("{install} --platform darwin_arm64"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    let hint = "the lock file holds checksums of other platforms only; nothing vouches for darwin_arm64 yet";
    assert!(said.stderr.contains(hint), "{}", said.text);
    std::fs::remove_file(scene.path(".terraform.lock.hcl")).unwrap();
    scene.run(&format!("{install} --platform linux_amd64 --platform darwin_arm64")).success();
    scene.run(&format!("{install} --platform darwin_arm64")).success();
}

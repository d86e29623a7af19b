//! Packages that hold the program of another platform.

use insta::assert_snapshot;
use tofu_oci_testkit::{ProviderZip, ReleaseFolder};

use crate::json;
use crate::setup::{Scene, WIDGET};

/// The header of a program for macOS on arm64.
const DARWIN_ARM64: &[u8] = b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// With `dist/`: the program of macOS in the package for Linux too.
fn mixed_up() -> Scene {
    let scene = Scene::over_tls();
    let package = |platform| ProviderZip::new("widget", "1.4.0", platform).executable(DARWIN_ARM64);
    let dist =
        ReleaseFolder::new("widget", "1.4.0", &[]).package(package("darwin_arm64")).package(package("linux_amd64"));
    dist.write_zips(&scene.path("dist"));
    dist.write_directories(&scene.path("folders"));
    scene
}

#[test]
fn a_program_for_another_platform_is_not_published() {
    let scene = mixed_up();
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: dist/terraform-provider-widget_1.4.0_linux_amd64.zip is for linux_amd64, and holds a Mach-O program for darwin_arm64

    hint: build the package again for linux_amd64, or name it for the platform of its program
    hint: to publish it all the same, add --skip-executable-check
    ");
    for line in [
        "push folders REGISTRY/acme/widget --version 1.4.0",
        "push dist REGISTRY/acme/widget --dry-run",
        "push dist REGISTRY/acme/widget --layout image --h1 skip",
        "pack dist oci:layout",
    ] {
        let said = scene.refuse(&format!("{line} --address {WIDGET}"));
        assert!(said.contains("is for linux_amd64, and holds a Mach-O program for darwin_arm64"), "{said}");
    }
}

#[test]
fn packages_that_hold_the_same_files_are_warned_of() {
    let scene = mixed_up();
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --skip-executable-check --jobs 1");
    assert_snapshot!(scene.run(&line).success().text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         180 B  h1:14DJAsBjaN92uTLYrn28Ee2OGilWkx8aD4Bp57lQdHQ=
      linux_amd64          180 B  h1:14DJAsBjaN92uTLYrn28Ee2OGilWkx8aD4Bp57lQdHQ=
      sent 3.2 kB (6 new, 1 present)

    ----- stderr -----
    widget 1.4.0 darwin_arm64: pushed (180 B)
    widget 1.4.0 linux_amd64: present (180 B)
    warning: the packages of darwin_arm64, linux_amd64 hold the same files, h1:14DJAsBjaN92uTLYrn28Ee2OGilWkx8aD4Bp57lQdHQ=
      hint: a program usually runs on one platform: look whether each package was built for its own
    ");
}

#[test]
fn a_program_for_another_platform_that_was_published_is_reported() {
    for layout in ["artifact", "image", "both"] {
        let scene = mixed_up();
        let options = format!("--address {WIDGET} --skip-executable-check --layout {layout}");
        scene.run(&format!("push dist REGISTRY/acme/widget {options}")).success();
        let said = scene.run("check REGISTRY/acme/widget --deep --json");
        json::check(&said);
        assert_eq!(said.code, Some(1), "{}", said.text);
        let found = said.json().into_iter().filter(|line| line["rule"] == "executable-other-platform");
        let found: Vec<_> = found.map(|line| (line["platform"].clone(), line["level"].clone())).collect();
        assert!(!found.is_empty(), "{}", said.text);
        assert!(found.iter().all(|(platform, level)| platform == "linux_amd64" && level == "error"), "{}", said.text);

        for options in ["", "--vendor", "--into packed --packed", "--into unpacked"] {
            let line = format!("install {WIDGET} --from REGISTRY/acme/widget {options}");
            // Also if it is there already.
            for _ in 0..2 {
                let said = scene.run(&format!("{line} --platform linux_amd64")).success();
                let wanted = "linux_amd64 holds a Mach-O program for darwin_arm64";
                assert!(said.stderr.contains(wanted), "{layout} {options}: {}", said.text);
            }
            if options == "--into unpacked" {
                let said = scene.run(&format!("{line} --platform darwin_arm64")).success();
                assert!(!said.stderr.contains("Mach-O"), "{}", said.text);
            }
        }
    }
}

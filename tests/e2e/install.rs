//! `install`: where packages come from and where they go.

use insta::assert_snapshot;
use tofu_oci_testkit::ReleaseFolder;

use crate::setup::state::tree;
use crate::setup::{PLATFORMS, Scene, State, WIDGET};

/// Installs widget from the registry for `linux_amd64`.
const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";

/// The names of files and folders below `.terraform`, `terraform.d` or a mirror.
fn names(scene: &Scene, folder: &str) -> String {
    tree(&scene.path(folder)).into_keys().collect::<Vec<_>>().join("\n")
}

#[test]
fn an_address_is_installed_and_locked() {
    let scene = Scene::published();
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    ");
    assert_snapshot!(names(&scene, ".terraform"), @"
    providers/
    providers/registry.example.com/
    providers/registry.example.com/acme/
    providers/registry.example.com/acme/widget/
    providers/registry.example.com/acme/widget/1.4.0/
    providers/registry.example.com/acme/widget/1.4.0/linux_amd64.lock
    providers/registry.example.com/acme/widget/1.4.0/linux_amd64/
    providers/registry.example.com/acme/widget/1.4.0/linux_amd64/LICENSE
    providers/registry.example.com/acme/widget/1.4.0/linux_amd64/terraform-provider-widget_v1.4.0
    ");
    assert_snapshot!(scene.shown(".terraform.lock.hcl"), @r#"
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
#[cfg(unix)]
fn the_installed_program_may_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::published();
    scene.run(INSTALL).success();
    let folder = ".terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64";
    let mode = |name: &str| {
        let data = std::fs::metadata(scene.path(&format!("{folder}/{name}"))).expect("it is installed");
        data.permissions().mode() & 0o777
    };
    assert_eq!(mode("terraform-provider-widget_v1.4.0") & 0o700, 0o700);
    assert_eq!(mode("LICENSE") & 0o111, 0);
    let program = scene.path(&format!("{folder}/terraform-provider-widget_v1.4.0"));
    let output = scene.context.run(program, &[]);
    assert_eq!(output.stdout, "terraform-provider-widget 1.4.0 linux_amd64\n");
}

#[test]
fn installing_again_changes_nothing() {
    let scene = Scene::published();
    scene.run(INSTALL).success();
    let before = State::of(&scene);
    scene.registry.clear_requests();
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    already installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    assert_eq!(State::of(&scene), before);
    assert!(scene.registry.requests().is_empty(), "it was asked for what is in its place and locked");
}

#[test]
fn a_constraint_chooses_the_version() {
    let scene = Scene::published();
    for version in ["1.4.2", "1.5.0", "2.0.0-rc1"] {
        scene.publish(version);
    }
    let install = |provider: &str| {
        let line = format!("install '{provider}' --from REGISTRY/acme/widget --platform linux_amd64 --chdir dir");
        std::fs::create_dir_all(scene.path("dir")).expect("the work folder is writable");
        let said = scene.run(&line);
        let lock = scene.path("dir/.terraform.lock.hcl");
        let constraints = std::fs::read_to_string(&lock).unwrap_or_default();
        let constraints = constraints.lines().find(|line| line.contains("constraints")).unwrap_or("").trim().to_owned();
        std::fs::remove_dir_all(scene.path("dir")).expect("it was made here");
        format!("{}{constraints}", said.stdout.lines().next().map(|line| format!("{line}\n")).unwrap_or(said.text))
    };
    assert_snapshot!(install(&format!("{WIDGET}@~> 1.4.0")), @r#"
    installed registry.example.com/acme/widget 1.4.2 linux_amd64
    constraints = "~> 1.4.0"
    "#);
    assert_snapshot!(install(&format!("{WIDGET}@>= 1.4, < 2.0")), @r#"
    installed registry.example.com/acme/widget 1.5.0 linux_amd64
    constraints = ">= 1.4.0, < 2.0.0"
    "#);
    assert_snapshot!(install(&format!("{WIDGET}@1.4.0")), @r#"
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
    constraints = "1.4.0"
    "#);
    assert_snapshot!(install(&format!("{WIDGET}@2.0.0-rc1")), @r#"
    installed registry.example.com/acme/widget 2.0.0-rc1 linux_amd64
    constraints = "2.0.0-rc1"
    "#);
    assert_snapshot!(install(WIDGET), @"installed registry.example.com/acme/widget 1.5.0 linux_amd64");
}

#[test]
fn what_is_installed_and_locked_needs_no_folder_that_was_carried_in() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:usb --address {WIDGET}")).success();
    let line = format!("install {WIDGET} --from oci:usb --platform linux_amd64");
    scene.run(&line).success();
    std::fs::remove_dir_all(scene.path("usb")).expect("the stick is pulled out");
    assert_snapshot!(scene.run(&line).text, @"
    exit code: 0
    ----- stdout -----
    already installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it is installed");
    assert_eq!(scene.run(&line).code, Some(1));
}

#[test]
fn what_the_configuration_requires_is_installed() {
    let scene = Scene::published();
    ReleaseFolder::new("gadget", "0.3.1", &PLATFORMS).write_zips(&scene.path("gadget"));
    scene.run("push gadget REGISTRY/acme/gadget --address registry.example.com/acme/gadget").success();
    scene.context.write(
        "config/main.tf",
        r#"
terraform {
  required_providers {
    widget = {
      source  = "registry.example.com/acme/widget"
      version = "~> 1.4"
    }
  }
}
"#,
    );
    scene.context.write(
        "config/more_override.tofu",
        r#"
terraform {
  required_providers {
    gadget = {
      source = "registry.example.com/acme/gadget"
    }
  }
}
"#,
    );
    let line = "install --chdir config --platform linux_amd64 --from 'REGISTRY/${namespace}/${type}'";
    assert_snapshot!(scene.run(line).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/gadget 0.3.1 linux_amd64
      config/.terraform/providers/registry.example.com/acme/gadget/0.3.1/linux_amd64
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      config/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file config/.terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/gadget 0.3.1 linux_amd64: installed (323 B)
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has fewer platforms than the releases: registry.example.com/acme/gadget 0.3.1 for linux_amd64; registry.example.com/acme/widget 1.4.0 for linux_amd64
      hint: to lock every platform: tofu-oci lock --from '[REGISTRY]/${namespace}/${type}' --chdir config
    ");
    assert_snapshot!(scene.shown("config/.terraform.lock.hcl"), @r#"
    # This file is maintained automatically by "tofu init".
    # Manual edits may be lost in future updates.

    provider "registry.example.com/acme/gadget" {
      version = "0.3.1"
      hashes = [
        "ch:sha256:[DIGEST]",
        "h1:tUhddTTElZdU0R9/iNgFEJUF9ysMHMDmzPA7Y0m3Qa4=",
        "zh:[ZIP]",
      ]
    }

    provider "registry.example.com/acme/widget" {
      version     = "1.4.0"
      constraints = "~> 1.4"
      hashes = [
        "ch:sha256:[DIGEST]",
        "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
        "zh:[ZIP]",
      ]
    }
    "#);
    assert_snapshot!(scene.run("install --chdir config --from REGISTRY/acme/widget").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/gadget and registry.example.com/acme/widget would both come from [REGISTRY]/acme/widget

    hint: give a template: --from 'REGISTRY/${namespace}/${type}'
    ");
}

#[test]
fn vendoring_fills_the_implied_mirror() {
    let scene = Scene::published();
    let line =
        format!("install {WIDGET} --from REGISTRY/acme/widget --vendor --platform linux_amd64 --platform darwin_arm64");
    assert_snapshot!(scene.run(&line).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 darwin_arm64
      terraform.d/plugins/registry.example.com/acme/widget/1.4.0/darwin_arm64
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      terraform.d/plugins/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 darwin_arm64: installed (324 B)
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    ");
    assert_snapshot!(names(&scene, "terraform.d"), @"
    plugins/
    plugins/registry.example.com/
    plugins/registry.example.com/acme/
    plugins/registry.example.com/acme/widget/
    plugins/registry.example.com/acme/widget/1.4.0/
    plugins/registry.example.com/acme/widget/1.4.0/darwin_arm64/
    plugins/registry.example.com/acme/widget/1.4.0/darwin_arm64/LICENSE
    plugins/registry.example.com/acme/widget/1.4.0/darwin_arm64/terraform-provider-widget_v1.4.0
    plugins/registry.example.com/acme/widget/1.4.0/linux_amd64/
    plugins/registry.example.com/acme/widget/1.4.0/linux_amd64/LICENSE
    plugins/registry.example.com/acme/widget/1.4.0/linux_amd64/terraform-provider-widget_v1.4.0
    ");
    assert_snapshot!(scene.shown(".terraform.lock.hcl"), @r#"
    # This file is maintained automatically by "tofu init".
    # Manual edits may be lost in future updates.

    provider "registry.example.com/acme/widget" {
      version = "1.4.0"
      hashes = [
        "ch:sha256:[DIGEST]",
        "ch:sha256:[DIGEST]",
        "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
        "h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=",
        "zh:[ZIP]",
        "zh:[ZIP]",
      ]
    }
    "#);
}

#[test]
fn a_filesystem_mirror_is_filled() {
    let scene = Scene::published();
    assert_snapshot!(scene.run(&format!("{INSTALL} --into mirror")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      mirror/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created, pins .tofu-oci.pins.json created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget --from [REGISTRY]/acme/widget
    ");
    assert_snapshot!(names(&scene, "mirror"), @"
    registry.example.com/
    registry.example.com/acme/
    registry.example.com/acme/widget/
    registry.example.com/acme/widget/1.4.0/
    registry.example.com/acme/widget/1.4.0/linux_amd64/
    registry.example.com/acme/widget/1.4.0/linux_amd64/LICENSE
    registry.example.com/acme/widget/1.4.0/linux_amd64/terraform-provider-widget_v1.4.0
    ");
    assert_snapshot!(scene.run(&format!("{INSTALL} --into packed --packed")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      packed/registry.example.com/acme/widget/terraform-provider-widget_1.4.0_linux_amd64.zip
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    ");
    assert_snapshot!(names(&scene, "packed"), @"
    registry.example.com/
    registry.example.com/acme/
    registry.example.com/acme/widget/
    registry.example.com/acme/widget/terraform-provider-widget_1.4.0_linux_amd64.zip
    ");
    let zip = "terraform-provider-widget_1.4.0_linux_amd64.zip";
    let kept =
        std::fs::read(scene.path(&format!("packed/registry.example.com/acme/widget/{zip}"))).expect("it is kept");
    assert_eq!(kept, std::fs::read(scene.path(&format!("dist/{zip}"))).expect("it was written"));
}

#[test]
fn every_layout_is_installed_with_the_same_contents() {
    let mut trees = Vec::new();
    for layout in ["artifact", "image", "both"] {
        for destination in ["REGISTRY/acme/widget", "oci:layout"] {
            let scene = Scene::with_dist();
            scene.run(&format!("push dist {destination} --address {WIDGET} --layout {layout}")).success();
            let line = format!("install {WIDGET} --from {destination} --platform linux_amd64 --chdir dist");
            scene.run(&line).success();
            let lock = scene.context.read("dist/.terraform.lock.hcl");
            assert!(lock.contains("h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw="), "{layout}: {lock}");
            assert_eq!(lock.contains("zh:"), layout != "image", "{layout}: {lock}");
            assert!(lock.contains("ch:sha256:"), "{layout}: {lock}");
            trees.push(tree(&scene.path("dist/.terraform")));
        }
    }
    assert!(trees.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_magic_suffix_finds_the_registry() {
    let scene = Scene::with_dist();
    scene.run("push dist REGISTRY/acme/opentofu-provider-widget").success();
    let port = scene.registry.address().rsplit(':').next().unwrap_or_default().to_owned();
    let line = format!("install 127.0.0.1.oci.opentofu.org:{port}/acme/widget --platform linux_amd64");
    // The author of a module writes the address.
    let refused = scene.refuse(&line);
    assert!(refused.contains("if that is meant, allow it with --private-host [REGISTRY]"), "{refused}");
    assert_eq!(scene.conversation(), Vec::<String>::new(), "nothing was asked");
    let said = scene.run(&format!("{line} --private-host 127.0.0.1"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    installed 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget 1.4.0 linux_amd64
      .terraform/providers/127.0.0.1.oci.opentofu.org:[PORT]/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    127.0.0.1.oci.opentofu.org:[PORT]/acme/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget --private-host 127.0.0.1
    ");
}

#[test]
fn this_machine_is_the_default_platform() {
    let scene = Scene::new();
    let platform = tofu_oci_types::Platform::current().to_string();
    ReleaseFolder::new("widget", "1.4.0", &[&platform]).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    let said = scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget")).success();
    assert!(said.stdout.contains(&platform), "{}", said.text);
}

#[test]
fn the_data_directory_may_be_elsewhere() {
    let mut scene = Scene::published();
    scene.context.env("TF_DATA_DIR", "data");
    scene.run(INSTALL).success();
    assert!(scene.path("data/providers/registry.example.com").is_dir());
    assert!(!scene.path(".terraform").exists());
}

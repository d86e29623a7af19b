//! Which entries of the lock file choose a version, and which are taken out, as OpenTofu does it.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";
const OLD: &str = "registry.terraform.io/hashicorp/widget";
const NEW: &str = "registry.opentofu.org/hashicorp/widget";
const STALE: &str = "registry.example.com/acme/stale";
const FROM: &str = "--from REGISTRY/acme/widget";
const PLATFORM: &str = "--platform linux_amd64";

/// Widget 1.4.0 and 1.5.0 published, and these entries locked at 1.4.0.
fn scene(locked: &[&str]) -> Scene {
    let scene = Scene::published();
    scene.publish("1.5.0");
    let h1 = format!("h1:{}=", "A".repeat(43));
    let entry = |name: &&str| {
        format!("provider \"{name}\" {{\n  version = \"1.4.0\"\n  hashes = [\n    \"{h1}\",\n  ]\n}}\n\n")
    };
    scene.context.write(LOCK, locked.iter().map(entry).collect::<String>());
    scene.registry.clear_requests();
    scene
}

fn require(scene: &Scene, address: &str, constraint: &str) {
    let version = if constraint.is_empty() { String::new() } else { format!("      version = \"{constraint}\"\n") };
    scene.context.write(
        "main.tf",
        format!(
            "terraform {{\n  required_providers {{\n    widget = {{\n      source = \"{address}\"\n{version}    }}\n  }}\n}}\n"
        ),
    );
}

/// The addresses and versions of the lock file.
fn entries(scene: &Scene) -> String {
    let text = scene.context.read(LOCK);
    let word = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let of = |start: &str| text.lines().filter(|line| line.trim().starts_with(start)).map(word).collect::<Vec<_>>();
    let pairs = of("provider ").into_iter().zip(of("version"));
    pairs.map(|(address, version)| format!("{address} {version}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_team_that_migrates_keeps_its_versions() {
    let scene = scene(&[OLD]);
    require(&scene, "hashicorp/widget", "~> 1.4");
    assert_snapshot!(scene.run(&format!("install {FROM} {PLATFORM}")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.opentofu.org/hashicorp/widget 1.4.0 linux_amd64
      .terraform/providers/registry.opentofu.org/hashicorp/widget/1.4.0/linux_amd64
      published as registry.example.com/acme/widget
    lock file .terraform.lock.hcl updated
      registry.opentofu.org/hashicorp/widget 1.4.0 added
      registry.terraform.io/hashicorp/widget 1.4.0 removed: neither the configuration nor its state requires it

    ----- stderr -----
    warning: registry.terraform.io/hashicorp/widget is locked at 1.4.0, so registry.opentofu.org/hashicorp/widget is chosen at 1.4.0, too
      hint: the checksums of that entry are not taken over: the two registries do not have the same bytes
    note: [REGISTRY]/acme/widget has 1.4.0 as registry.example.com/acme/widget, not as registry.opentofu.org/hashicorp/widget
      hint: right for a mirror; otherwise check the address and the place
    registry.opentofu.org/hashicorp/widget 1.4.0 linux_amd64: installed (323 B)
    note: the lock file has registry.opentofu.org/hashicorp/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock --from [REGISTRY]/acme/widget
    ");
    assert_snapshot!(scene.shown(LOCK), @r#"
    # This file is maintained automatically by "tofu init".
    # Manual edits may be lost in future updates.

    provider "registry.opentofu.org/hashicorp/widget" {
      version     = "1.4.0"
      constraints = "~> 1.4"
      hashes = [
        "ch:sha256:[DIGEST]",
        "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
        "zh:[ZIP]",
      ]
    }
    "#);
    // The next run has nothing to take over.
    assert!(!scene.run(&format!("install {FROM} {PLATFORM}")).stderr.contains("warning"));
}

#[test]
fn addresses_on_the_command_line_and_lock_keep_the_other_entries() {
    for verb in [format!("install {NEW} {FROM} {PLATFORM}"), format!("lock {FROM}"), format!("lock {NEW} {FROM}")] {
        let scene = scene(&[OLD, STALE]);
        require(&scene, NEW, "");
        scene.run(&verb).success();
        assert_eq!(entries(&scene), format!("{STALE} 1.4.0, {NEW} 1.4.0, {OLD} 1.4.0"), "{verb}");
    }
}

#[test]
fn an_upgrade_chooses_the_newest_and_constraints_still_hold() {
    let scene = scene(&[OLD]);
    require(&scene, NEW, "");
    let said = scene.run(&format!("install {FROM} {PLATFORM} --upgrade")).success();
    assert!(!said.stderr.contains("warning"), "{}", said.text);
    assert_eq!(entries(&scene), format!("{NEW} 1.5.0"));

    let scene = self::scene(&[OLD]);
    require(&scene, NEW, ">= 1.5.0");
    assert_snapshot!(scene.refuse(&format!("install {FROM} {PLATFORM}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    warning: registry.terraform.io/hashicorp/widget is locked at 1.4.0, so registry.opentofu.org/hashicorp/widget is chosen at 1.4.0, too
      hint: the checksums of that entry are not taken over: the two registries do not have the same bytes
    error: registry.opentofu.org/hashicorp/widget is locked at 1.4.0 by the entry of registry.terraform.io/hashicorp/widget, which does not meet `>= 1.5.0`

    hint: choose a new version with --upgrade, or change the constraint
    ");
}

#[test]
fn the_explanation_follows_the_predecessor_too() {
    let scene = scene(&[OLD]);
    assert_snapshot!(scene.run(&format!("resolve {NEW} --explain {FROM} {PLATFORM}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.opentofu.org/hashicorp/widget, locked 1.4.0 by .terraform.lock.hcl for registry.terraform.io/hashicorp/widget, for linux_amd64

     1  --from
        matches   every provider: the CLI configuration is not read
        place     [REGISTRY]/acme/widget
        offers    1.5.0, 1.4.0
        checked   by the digest in its manifest

    tofu-oci  installs 1.4.0 from method 1 (--from): the only method that is asked
    OpenTofu  knows nothing of --from: it goes by its CLI configuration

    ----- stderr -----
    ");
    let said = scene.run(&format!("resolve {NEW} --explain {FROM} {PLATFORM} --json"));
    assert!(said.stdout.contains(&format!("\"locked\":\"1.4.0\",\"locked_by\":\"{OLD}\"")), "{}", said.stdout);
    let said = scene.run(&format!("resolve {NEW} --explain {FROM} {PLATFORM} --upgrade --json"));
    assert!(said.stdout.contains("\"locked\":null,\"platform\""), "{}", said.stdout);
}

#[test]
fn a_bare_install_takes_out_what_nothing_requires() {
    let scene = scene(&[STALE]);
    require(&scene, WIDGET, "1.5.0");
    let text = scene.context.read(LOCK);
    // A failure writes nothing.
    assert_ne!(scene.run("install --from REGISTRY/acme/nothing").code, Some(0));
    assert_eq!(scene.context.read(LOCK), text);
    assert_snapshot!(scene.run(&format!("install {FROM} {PLATFORM}")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.5.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.5.0/linux_amd64
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/stale 1.4.0 removed: neither the configuration nor its state requires it
      registry.example.com/acme/widget 1.5.0 added

    ----- stderr -----
    registry.example.com/acme/widget 1.5.0 linux_amd64: installed (323 B)
    note: the lock file has registry.example.com/acme/widget 1.5.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock --from [REGISTRY]/acme/widget
    ");
    assert_eq!(entries(&scene), format!("{WIDGET} 1.5.0"));

    for options in ["--vendor", "--upgrade", "--into mirror --packed"] {
        scene.context.write(LOCK, &text);
        scene.run(&format!("install {FROM} {PLATFORM} {options}")).success();
        assert_eq!(entries(&scene), format!("{WIDGET} 1.5.0"), "{options}");
    }
    scene.context.write(LOCK, &text);
    let said = scene.run(&format!("install {FROM} {PLATFORM} --json")).success();
    let last = said.stdout.lines().last().unwrap_or_default();
    let want = format!("{{\"address\":\"{STALE}\",\"from\":\"1.4.0\",\"to\":null,\"checksums_added\":0}}");
    assert!(last.contains(&want), "{last}");
}

#[test]
fn what_the_state_requires_stays() {
    let scene = scene(&[STALE, OLD]);
    require(&scene, WIDGET, "1.5.0");
    let state = format!(
        "{{\"version\":4,\"resources\":[{{\"mode\":\"managed\",\"type\":\"stale_thing\",\"name\":\"a\",\
         \"provider\":\"provider[\\\"{STALE}\\\"]\",\"instances\":[]}}]}}"
    );
    scene.context.write("terraform.tfstate", state);
    scene.run(&format!("install {FROM} {PLATFORM}")).success();
    assert_eq!(entries(&scene), format!("{STALE} 1.4.0, {WIDGET} 1.5.0"));
}

/// Measured with OpenTofu 1.12.6: what is left of the entries, for each state.
#[test]
fn a_state_from_terraform_requires_the_provider_of_the_same_name() {
    const STALE_OLD: &str = "registry.terraform.io/hashicorp/stale";
    const STALE_NEW: &str = "registry.opentofu.org/hashicorp/stale";
    const FOREIGN: &str = "registry.terraform.io/acme/stale";
    for (named, left) in [
        // It is the provider that the configuration requires.
        (OLD, ""),
        // Its version will be chosen by the entry of its predecessor.
        (STALE_OLD, ", registry.terraform.io/hashicorp/stale 1.4.0"),
        (STALE_NEW, ", registry.terraform.io/hashicorp/stale 1.4.0"),
        // No entry chooses the version of registry.opentofu.org/acme/stale.
        (FOREIGN, ""),
    ] {
        let scene = scene(&[OLD, STALE_OLD, FOREIGN]);
        require(&scene, NEW, "");
        let state = format!(
            "{{\"version\":4,\"resources\":[{{\"mode\":\"managed\",\"type\":\"stale_thing\",\"name\":\"a\",\
             \"provider\":\"provider[\\\"{named}\\\"]\",\"instances\":[]}}]}}"
        );
        scene.context.write("terraform.tfstate", state);
        scene.run(&format!("install {FROM} {PLATFORM}")).success();
        assert_eq!(entries(&scene), format!("{NEW} 1.4.0{left}"), "{named}");
    }
}

#[test]
fn nothing_is_taken_out_where_not_all_requirements_are_known() {
    let backend = "terraform {\n  backend \"s3\" {}\n}\n";
    let module = "module \"far\" {\n  source = \"git::https://example.com/far.git\"\n}\n";
    for (name, text) in [("backend.tf", backend), ("module.tf", module), ("terraform.tfstate", "{")] {
        let scene = scene(&[STALE]);
        require(&scene, WIDGET, "1.5.0");
        scene.context.write(name, text);
        let said = scene.run(&format!("install {FROM} {PLATFORM}")).success();
        assert!(said.stderr.contains("the lock file keeps entries"), "{}", said.text);
        assert_eq!(entries(&scene), format!("{STALE} 1.4.0, {WIDGET} 1.5.0"), "{name}");
    }
}

#[test]
fn a_configuration_without_providers_empties_the_lock_file() {
    let scene = scene(&[STALE]);
    scene.context.write("main.tf", "output \"a\" {\n  value = 1\n}\n");
    assert_snapshot!(scene.run("install").text, @"
    exit code: 0
    ----- stdout -----
    the configuration requires no providers
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/stale 1.4.0 removed: neither the configuration nor its state requires it

    ----- stderr -----
    ");
    assert_eq!(entries(&scene), "");
    // Again, with nothing left to do.
    let text = scene.context.read(LOCK);
    scene.run("install").success();
    assert_eq!(scene.context.read(LOCK), text);
    // A folder without a configuration says nothing about what is required.
    std::fs::remove_file(scene.path("main.tf")).expect("it was written");
    assert_eq!(scene.run("install").code, Some(2));
}

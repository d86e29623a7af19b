//! `lock --no-ch` and `manifest_checksums = "off"`: for teams whose every `init` drops `ch:` lines.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";
const OFF: &str = "[[rule]]\nproviders = [\"*/*/*\"]\nmanifest_checksums = \"off\"\n";
const RUN: &str = "registry.example.com/acme/widget --from REGISTRY/acme/widget";

fn lines(scene: &Scene, scheme: &str) -> usize {
    scene.context.read(LOCK).lines().filter(|line| line.trim_start().starts_with(&format!("\"{scheme}:"))).count()
}

/// Puts another manifest in the place of each recorded one.
fn spoil(scene: &Scene) {
    let text = scene.context.read(LOCK);
    let manifests = text.lines().filter(|line| line.contains("\"ch:"));
    let other = |(nth, _): (usize, &str)| format!("    \"ch:sha256:{}\",", nth.to_string().repeat(64));
    let mut others: std::collections::VecDeque<String> = manifests.enumerate().map(other).collect();
    let swapped = |line: &str| if line.contains("\"ch:") { others.pop_front() } else { Some(line.to_owned()) };
    let text: Vec<String> = text.lines().filter_map(swapped).collect();
    scene.context.write(LOCK, text.join("\n") + "\n");
}

#[test]
fn no_ch_writes_no_manifest_lines_and_removes_those_of_the_version() {
    let scene = Scene::published();
    scene.run(&format!("lock {RUN}")).success();
    assert_eq!([lines(&scene, "ch"), lines(&scene, "h1"), lines(&scene, "zh")], [2, 2, 2]);
    assert_snapshot!(scene.run(&format!("lock {RUN} --no-ch")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      locked already: darwin_arm64, linux_amd64
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/widget 1.4.0: 2 ch: lines removed

    ----- stderr -----
    ");
    assert_eq!([lines(&scene, "ch"), lines(&scene, "h1"), lines(&scene, "zh")], [0, 2, 2]);
    let text = scene.context.read(LOCK);
    scene.run(&format!("lock {RUN} --no-ch --check")).success();
    scene.run(&format!("lock {RUN} --no-ch")).success();
    assert_eq!(scene.context.read(LOCK), text, "a second run changes nothing");
}

#[test]
fn off_neither_writes_nor_expects_manifest_lines() {
    let scene = Scene::published();
    scene.context.write("trust.toml", OFF);
    scene.run(&format!("install {RUN} --platform linux_amd64")).success();
    assert_eq!([lines(&scene, "ch"), lines(&scene, "h1"), lines(&scene, "zh")], [0, 1, 1]);
    scene.run(&format!("lock {RUN}")).success();
    assert_eq!([lines(&scene, "ch"), lines(&scene, "h1"), lines(&scene, "zh")], [0, 2, 2]);
    assert_snapshot!(scene.run(&format!("lock {RUN} --check")).success().text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      locked already: darwin_arm64, linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    let check = "check .terraform.lock.hcl --platform linux_amd64 --from REGISTRY/acme/widget";
    scene.run(check).success();
}

#[test]
fn a_wrong_manifest_line_is_no_warning_if_they_are_off() {
    let scene = Scene::published();
    scene.run(&format!("lock {RUN}")).success();
    spoil(&scene);
    let check = "check .terraform.lock.hcl --platform linux_amd64 --from REGISTRY/acme/widget --json";
    let found = |scene: &Scene| scene.run(check).stdout.contains("lock-line-unknown");
    assert!(found(&scene));
    scene.context.write("trust.toml", OFF);
    assert!(!found(&scene));
    for verb in ["lock --check", "install --platform linux_amd64 --locked", "install --platform linux_amd64"] {
        let said = scene.run(&format!("{verb} {RUN}"));
        assert_eq!(said.code, Some(0), "{}", said.text);
        assert!(!said.stderr.contains("warning: "), "{}", said.text);
    }
    assert_eq!(lines(&scene, "ch"), 0, "install has removed the line");
}

#[test]
fn manifest_lines_alone_bind_even_if_they_are_off() {
    let scene = Scene::published();
    let entry =
        format!("provider \"{WIDGET}\" {{\n  version = \"1.4.0\"\n  hashes = [\"ch:sha256:{}\"]\n}}\n", "0".repeat(64));
    scene.context.write(LOCK, entry);
    scene.context.write("trust.toml", OFF);
    let said = scene.refuse(&format!("install {RUN} --platform linux_amd64"));
    assert!(said.contains("manifest"), "{said}");
}

#[test]
fn no_ch_contradicts_a_rule_that_demands_manifest_lines() {
    let scene = Scene::published();
    scene.context.write("trust.toml", OFF.replace("off", "required"));
    assert_snapshot!(scene.refuse(&format!("lock {RUN} --no-ch")), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --no-ch contradicts the trust policy, which demands ch: lines of registry.example.com/acme/widget

    hint: omit --no-ch, or change manifest_checksums = "required" in the rule to "off"
    "#);
}

//! `withdraw`, `deprecate` and the way back, against registries that delete in different ways.

use std::fmt::Write as _;

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Deletion, Profile, Registry, profiles};

use crate::profiles::{Form, IMAGES, USUAL, line, scene};
use crate::setup::{Scene, WIDGET};

const REASON: &str = "--reason 'it deletes state; use 1.3.0'";

/// A registry that deletes in this way, with widget 1.3.0 and 1.4.0.
fn published(deletion: Deletion) -> Scene {
    let scene = Scene::with(Registry::builder().behaviour(Behaviour { deletion, ..Behaviour::default() }));
    scene.publish("1.3.0");
    scene.publish("1.4.0");
    scene.registry.clear_requests();
    scene
}

/// The tags, except those that list referrers.
fn tags(scene: &Scene, repository: &str) -> Vec<String> {
    let tags = scene.registry.tags(repository).into_iter().map(|(tag, _)| tag);
    tags.filter(|tag| !tag.starts_with("sha256-")).collect()
}

#[test]
fn a_version_goes_and_comes_back() {
    let scene = published(Deletion::Tags);
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON} --dry-run")).text, @"");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0"]);
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}")).text, @"");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "withdrawn-1.4.0"]);
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}")).text, @"");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"");
    assert_snapshot!(scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON} --dry-run")).text, @"");
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").text, @"");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0"]);
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").text, @"");
}

#[test]
fn a_deprecated_version_stays() {
    let scene = published(Deletion::Disabled);
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message 'use 2.0.0' --dry-run").text, @"");
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message 'use 2.0.0'").text, @"");
    assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0", "deprecated-1.4.0"]);
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --message 'use 2.0.0' --json").text, @"");
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.4.0 --undo").text, @"");
    assert_snapshot!(scene.run("deprecate REGISTRY/acme/widget:1.3.0 --undo").text, @"");
}

#[test]
fn a_folder_and_an_address_name_a_release_too() {
    let scene = Scene::with_dist();
    scene.key("p256.pem");
    scene.run(&format!("pack dist oci:layout --address {WIDGET} --sign-key p256.pem")).success();
    let withdraw = format!("withdraw {WIDGET}@1.4.0 --from oci:layout {REASON} --sign-key p256.pem --json");
    assert_snapshot!(scene.run(&withdraw).text, @"");
    assert_snapshot!(scene.run("withdraw oci:layout:1.4.0 --undo").text, @"");
    scene.run("copy oci:layout oci:other --version 1.4.0").success();
}

/// Whichever way the registry has, the tag goes and everything else stays; or nothing is changed.
#[test]
fn every_way_to_delete() {
    for deletion in [Deletion::Disabled, Deletion::Enabled, Deletion::Tags, Deletion::TagsAlone, Deletion::Manifests] {
        let scene = published(deletion);
        let index = scene.tag("acme/widget", "1.4.0");
        let before = scene.registry.tags("acme/widget");
        let said = scene.run(&format!("withdraw REGISTRY/acme/widget:1.4.0 {REASON}"));
        if deletion == Deletion::Disabled {
            assert_eq!(said.code, Some(1), "{}", said.text);
            assert_eq!(scene.registry.tags("acme/widget"), before);
            continue;
        }
        said.success();
        assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "withdrawn-1.4.0"], "{deletion:?}");
        assert_eq!(scene.tag("acme/widget", "withdrawn-1.4.0"), index);
        let refused = scene.run(&format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64"));
        assert_eq!(refused.code, Some(1), "{deletion:?}: {}", refused.text);
        scene.run("withdraw REGISTRY/acme/widget:1.4.0 --undo").success();
        assert_eq!(tags(&scene, "acme/widget"), ["1.3.0", "1.4.0"], "{deletion:?}");
        assert_eq!(scene.tag("acme/widget", "1.4.0"), index);
        scene.run(&format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64")).success();
    }
}

/// What becomes of one release: the exit codes of withdraw, undo, deprecate and undo; then what a refusal said.
fn row(profile: &Profile, form: Form) -> (String, String) {
    let scene = scene(profile, form);
    scene.run(&line("push dist REPOSITORY --address ADDRESS LAYOUT", profile, form)).success();
    let before = tags(&scene, profile.repository);
    let (mut cells, mut told) = (String::new(), String::new());
    for step in [
        "withdraw REPOSITORY:1.4.0 --reason broken",
        "withdraw REPOSITORY:1.4.0 --undo",
        "deprecate REPOSITORY:1.4.0 --message old",
        "deprecate REPOSITORY:1.4.0 --undo",
    ] {
        let said = scene.run(&line(step, profile, form));
        let code = said.code.expect("no signal");
        write!(cells, " {:<9}", if code == 0 { "ok".to_owned() } else { code.to_string() })
            .expect("a string takes text");
        if code != 0 {
            let lines = said.text.lines().filter(|line| !line.is_empty() && !line.starts_with("-----")).skip(1);
            let lines: String = lines.map(|line| format!("  {line}\n")).collect();
            write!(told, "{}: {step}\n{lines}", profile.name).expect("a string takes text");
        }
        if step.contains("withdraw") && code == 1 {
            let now = tags(&scene, profile.repository);
            assert!(before.iter().all(|tag| now.contains(tag)), "{}: a refusal took a tag away", profile.name);
        }
    }
    (format!("{:<44}{}", format!("{}{}", profile.name, form.name), cells.trim_end()), told)
}

#[test]
fn registries_as_they_are() {
    let mut table = format!("{:<44} withdraw  undo      deprecate undo\n", "");
    let mut told = String::new();
    for profile in profiles() {
        let images = profile.name.starts_with("GitLab") || profile.name.contains("list of types");
        let (line, said) = row(&profile, if images { IMAGES } else { USUAL });
        writeln!(table, "{line}").expect("a string takes text");
        told.push_str(&said);
    }
    assert_snapshot!(format!("{table}\n{told}"), @"");
}

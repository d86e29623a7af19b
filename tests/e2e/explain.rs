//! `resolve --explain`.

use insta::assert_snapshot;

use crate::cli_config::TWO_MIRRORS;
use crate::setup::{Scene, WIDGET};

/// Widget 1.4.0 in the first repository, 1.5.0 in the second.
fn two_mirrors() -> Scene {
    let scene = Scene::published();
    scene.dist("dist-1.5.0", "1.5.0");
    scene.run(&format!("push dist-1.5.0 REGISTRY/other/widget --address {WIDGET}")).success();
    scene.home_file(".tofurc", TWO_MIRRORS);
    scene
}

#[test]
fn a_mirror_that_stops_opentofu_is_named() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve {WIDGET} --explain --platform linux_amd64"));
    assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
    assert_snapshot!(said.text, @"
    ");
}

#[test]
fn a_constraint_decides_which_version_is_looked_for() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve '{WIDGET}@< 1.5' --explain --platform linux_amd64"));
    assert_snapshot!(said.text, @"
    ");
    let said = scene.run(&format!("resolve '{WIDGET}@< 1.5' --explain --platform linux_amd64 --json"));
    assert_snapshot!(said.text, @r#"
    "#);
}

#[test]
fn a_platform_that_the_first_one_lacks_is_served_by_the_next() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve '{WIDGET}@1.4.0' --explain --platform windows_amd64"));
    assert_snapshot!(said.text, @"
    ");
}

#[test]
fn a_floating_tag_stops_opentofu_and_not_us() {
    let scene = two_mirrors();
    let digest = scene.tag("other/widget", "1.5.0").parse().expect("a digest");
    scene.registry.put_tag("acme/widget", "1.5.0", &digest);
    scene.registry.put_tag("other/widget", "2", &digest);
    let said = scene.run(&format!("resolve {WIDGET}@'< 1.5, > 0' --explain --platform linux_amd64"));
    assert_eq!(said.code, Some(0), "{}", said.text);
    let said = scene.run(&format!("resolve {WIDGET} --explain --platform linux_amd64"));
    assert_snapshot!(said.text, @"
    ");
}

#[test]
fn a_broken_configuration_is_explained_as_opentofu_reads_it_and_refused() {
    let scene = two_mirrors();
    let broken = TWO_MIRRORS.replacen("repository_template", "repository", 1);
    scene.home_file(".tofurc", &broken);
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --explain --platform linux_amd64")), @"
    ");
}

#[test]
fn a_repeated_argument_is_read_by_1_10_alone() {
    let scene = two_mirrors();
    let twice = "    include             = [\"registry.example.com/acme/*\"]\n";
    scene.home_file(".tofurc", &TWO_MIRRORS.replacen(twice, &twice.repeat(2), 1));
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET}@1.4.0 --explain --platform linux_amd64")), @"
    ");
}

#[test]
fn from_is_explained_too() {
    let scene = two_mirrors();
    let said = scene.run(&format!("resolve {WIDGET} --explain --from REGISTRY/acme/widget --platform linux_amd64"));
    assert_snapshot!(said.text, @"
    ");
}

//! `lock`: the lock file for all platforms at once.

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Dist, Referrers, Registry};

use crate::setup::{Scene, State, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";
const FROM: &str = "--from 'REGISTRY/${namespace}/${type}'";
const INIT: &str = "terraform {\n  required_providers {\n";

/// Widget 1.4.0 published for two platforms, and a configuration that requires it.
fn scene() -> Scene {
    let scene = Scene::published();
    require(&scene, &[("widget", "~> 1.4")]);
    scene
}

/// The same, signed, and a policy that demands it.
fn signed() -> Scene {
    let scene = scene();
    scene.sign("acme/widget", WIDGET, "1.4.0");
    scene.trust("");
    scene
}

fn require(scene: &Scene, providers: &[(&str, &str)]) {
    let mut text = INIT.to_owned();
    for (name, version) in providers {
        text.push_str(&format!("    {name} = {{\n      source  = \"registry.example.com/acme/{name}\"\n"));
        text.push_str(&format!("      version = \"{version}\"\n    }}\n"));
    }
    scene.context.write("main.tf", text + "  }\n}\n");
}

/// Takes the `ch:` lines out of the lock file, as every `init` does.
fn init(scene: &Scene) {
    let text = scene.context.read(LOCK);
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"ch:")).collect();
    scene.context.write(LOCK, kept.join("\n") + "\n");
}

#[test]
fn a_signed_release_is_locked_without_a_download() {
    let scene = signed();
    assert_snapshot!(scene.run(&format!("lock {FROM}")).text, @"");
    assert_snapshot!(scene.conversation().join("\n"), @"");
    assert_snapshot!(scene.shown(LOCK), @"");
    let text = scene.context.read(LOCK);
    assert_eq!(scene.run(&format!("lock {FROM} --check")).success().stderr, "");
    assert_eq!(scene.context.read(LOCK), text);
    assert!(scene.context.read(".tofu-oci.pins.json").contains("acme-release"));
}

#[test]
fn an_unsigned_release_is_looked_at_once() {
    let scene = scene();
    assert_snapshot!(scene.run(&format!("lock {FROM}")).text, @"");
    assert_snapshot!(scene.run(&format!("lock {FROM}")).text, @"");
    assert_eq!(State::of(&scene).temp(), Vec::<&str>::new());
}

#[test]
fn what_an_init_has_dropped_comes_back() {
    let scene = signed();
    scene.run(&format!("lock {FROM}")).success();
    let complete = scene.context.read(LOCK);
    init(&scene);
    let dropped = scene.context.read(LOCK);
    assert_snapshot!(scene.run(&format!("lock {FROM} --check")).text, @"");
    assert_eq!(scene.context.read(LOCK), dropped);
    scene.trust("manifest_checksums = \"required\"");
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --check")), @"");
    assert_snapshot!(scene.run(&format!("lock {FROM}")).text, @"");
    assert_eq!(scene.context.read(LOCK), complete);
}

#[test]
fn a_check_shows_what_would_change() {
    let scene = scene();
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --check --platform linux_amd64")), @"");
    scene.run(&format!("lock {FROM} --platform linux_amd64")).success();
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --check --quiet")), @"");
}

#[test]
fn json_lines() {
    let scene = signed();
    assert_snapshot!(scene.run(&format!("lock {FROM} --json")).text, @"");
    let said = scene.run(&format!("lock {FROM} --json --check"));
    assert_eq!(said.json().last().map(|line| line["outcome"].clone()), Some("unchanged".into()));
    init(&scene);
    let said = scene.run(&format!("lock {FROM} --json --check"));
    let last = said.json().last().cloned().unwrap_or_default();
    assert_eq!((&last["outcome"], &last["difference"]), (&"would-change".into(), &"optional-manifests".into()));
    assert!(last["diff"].as_str().is_some_and(|diff| diff.contains("+    \"ch:sha256:")), "{last}");
}

#[test]
fn five_providers_for_ten_platforms_cost_four_requests_each() {
    const PLATFORMS: [&str; 10] = [
        "darwin_amd64",
        "darwin_arm64",
        "freebsd_386",
        "freebsd_amd64",
        "linux_386",
        "linux_amd64",
        "linux_arm",
        "linux_arm64",
        "windows_386",
        "windows_amd64",
    ];
    const PROVIDERS: [&str; 5] = ["one", "two", "three", "four", "five"];
    for referrers in [Referrers::Unsupported, Referrers::Supported] {
        let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
        for name in PROVIDERS {
            Dist::new(name, "1.0.0", &PLATFORMS).write_zips(&scene.path(name));
            let address = format!("registry.example.com/acme/{name}");
            scene.run(&format!("push {name} REGISTRY/acme/{name} --address {address}")).success();
            scene.sign(&format!("acme/{name}"), &address, "1.0.0");
        }
        require(&scene, &PROVIDERS.map(|name| (name, "1.0.0")));
        scene.trust("");
        for first in [true, false] {
            scene.registry.clear_requests();
            let said = scene.run(&format!("lock {FROM} --json")).success();
            assert_eq!(said.json().iter().filter(|line| line["event"] == "started").count(), 0, "{}", said.text);
            let asked = scene.conversation();
            let most = PROVIDERS
                .map(|name| asked.iter().filter(|line| line.contains(&format!("/acme/{name}/"))).count())
                .into_iter()
                .max();
            println!("{referrers:?}, locked before: {}: {} requests, {most:?} for a provider", !first, asked.len());
            assert!(most <= Some(4), "{}", asked.join("\n"));
        }
        assert_eq!(scene.context.read(LOCK).lines().filter(|line| line.contains("\"h1:")).count(), 50);
    }
}

#[test]
fn what_is_locked_stays_locked() {
    let scene = scene();
    scene.run(&format!("lock {FROM}")).success();
    let other = tofu_oci_testkit::ProviderZip::new("widget", "1.4.0", "linux_amd64").executable("replaced");
    scene.context.write(&format!("other/{}", other.file_name()), other.build());
    scene.run(&format!("push other REGISTRY/acme/widget --address {WIDGET} --replace-tag")).success();
    assert_snapshot!(scene.refuse(&format!("lock {FROM}")), @"");
    std::fs::remove_file(scene.path(".tofu-oci.pins.json")).expect("it was written");
    assert_snapshot!(scene.refuse(&format!("lock {FROM}")), @"");
}

#[test]
fn wrong_usage() {
    let scene = scene();
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --platform plan9_386 --platform linux_amd64")), @"");
    assert_snapshot!(scene.refuse(&format!("lock registry.example.com/acme/gadget {FROM}")), @"");
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --chdir nowhere")), @"");
    scene.context.write(".tofu-oci.pins.json", "{");
    assert_eq!(scene.run(&format!("lock {FROM}")).code, Some(2));
    std::fs::remove_file(scene.path(".tofu-oci.pins.json")).expect("it was written");
    scene.context.write("main.tf", "");
    assert_snapshot!(scene.refuse(&format!("lock {FROM}")), @"");
}

#[test]
fn a_registry_that_cannot_be_reached() {
    let scene = scene();
    assert_snapshot!(scene.refuse("lock --from 127.0.0.1:1/acme/widget --attempts 1"), @"");
}

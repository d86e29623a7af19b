//! `lock`: the lock file for all platforms at once.

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, ReferrersSupport, Registry, ReleaseFolder};

use crate::setup::{Scene, State, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";
pub(crate) const FROM: &str = "--from 'REGISTRY/${namespace}/${type}'";
const INIT: &str = "terraform {\n  required_providers {\n";

/// Widget 1.4.0 published for two platforms, and a configuration that requires it.
pub(crate) fn scene() -> Scene {
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

pub(crate) fn require(scene: &Scene, providers: &[(&str, &str)]) {
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
    assert_snapshot!(scene.run(&format!("lock {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      signed by acme-release: darwin_arm64, linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    ");
    assert_snapshot!(scene.conversation().join("\n"), @"
    GET /v2/acme/widget/tags/list -> 200
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    GET /v2/acme/widget/manifests/sha256-[DIGEST] -> 200
    GET /v2/acme/widget/manifests/sha256:[DIGEST] -> 200
    ");
    assert_snapshot!(scene.shown(LOCK), @r#"
    # This file is maintained automatically by "tofu init".
    # Manual edits may be lost in future updates.

    provider "registry.example.com/acme/widget" {
      version     = "1.4.0"
      constraints = "~> 1.4"
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
    let text = scene.context.read(LOCK);
    assert_eq!(scene.run(&format!("lock {FROM} --check")).success().stderr, "");
    assert_eq!(scene.context.read(LOCK), text);
    assert!(scene.context.read(".tofu-oci.pins.json").contains("acme-release"));
}

#[test]
fn an_unsigned_release_is_looked_at_once() {
    let scene = scene();
    let first = scene.run(&format!("lock {FROM}")).success().text;
    let (report, told) = first.split_once("----- stderr -----\n").expect("both streams are shown");
    assert_snapshot!(report, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      downloaded and verified: darwin_arm64, linux_amd64
      647 B downloaded
    lock file .terraform.lock.hcl created
    ");
    // They are fetched at once, and reported as they finish.
    let mut told: Vec<&str> = told.lines().collect();
    told.sort_unstable();
    assert_snapshot!(told.join("\n"), @"
    registry.example.com/acme/widget 1.4.0 darwin_arm64: verified (324 B)
    registry.example.com/acme/widget 1.4.0 linux_amd64: verified (323 B)
    ");
    assert_snapshot!(scene.run(&format!("lock {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      locked already: darwin_arm64, linux_amd64
    lock file .terraform.lock.hcl unchanged

    ----- stderr -----
    ");
    assert_eq!(State::of(&scene).temp(), Vec::<&str>::new());
}

#[test]
fn what_an_init_has_dropped_comes_back() {
    let scene = signed();
    scene.run(&format!("lock {FROM}")).success();
    let complete = scene.context.read(LOCK);
    init(&scene);
    let dropped = scene.context.read(LOCK);
    assert_snapshot!(scene.run(&format!("lock {FROM} --check")).text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      signed by acme-release: darwin_arm64, linux_amd64
      2 ch: lines would be added; every init drops such lines
    lock file .terraform.lock.hcl would change
      registry.example.com/acme/widget 1.4.0: 2 checksums added
      it differs only by ch: lines, which every init drops, and no rule demands them

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -5,6 +5,8 @@
       version     = "1.4.0"
       constraints = "~> 1.4"
       hashes = [
    +    "ch:sha256:[DIGEST]",
    +    "ch:sha256:[DIGEST]",
         "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
         "h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=",
         "zh:[ZIP]",

    ----- stderr -----
    "#);
    assert_eq!(scene.context.read(LOCK), dropped);
    scene.trust("manifest_checksums = \"required\"");
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --check")), @r#"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      signed by acme-release: darwin_arm64, linux_amd64
      2 ch: lines would be added; every init drops such lines
    lock file .terraform.lock.hcl would change
      registry.example.com/acme/widget 1.4.0: 2 checksums added

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -5,6 +5,8 @@
       version     = "1.4.0"
       constraints = "~> 1.4"
       hashes = [
    +    "ch:sha256:[DIGEST]",
    +    "ch:sha256:[DIGEST]",
         "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
         "h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=",
         "zh:[ZIP]",

    ----- stderr -----
    error: .terraform.lock.hcl is not what `tofu-oci lock` writes

    hint: write it: tofu-oci lock --from '[REGISTRY]/${namespace}/${type}'; look at the difference, and commit the file
    "#);
    assert_snapshot!(scene.run(&format!("lock {FROM}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      signed by acme-release: darwin_arm64, linux_amd64
      2 ch: lines added; every init drops such lines
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/widget 1.4.0: 2 checksums added

    ----- stderr -----
    ");
    assert_eq!(scene.context.read(LOCK), complete);
}

#[test]
fn a_check_shows_what_would_change() {
    let scene = scene();
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --check --platform linux_amd64")), @r#"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      downloaded and verified: linux_amd64
      323 B downloaded
    lock file .terraform.lock.hcl would change

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -0,0 +1,12 @@
    +# This file is maintained automatically by "tofu init".
    +# Manual edits may be lost in future updates.
    +
    +provider "registry.example.com/acme/widget" {
    +  version     = "1.4.0"
    +  constraints = "~> 1.4"
    +  hashes = [
    +    "ch:sha256:[DIGEST]",
    +    "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
    +    "zh:[ZIP]",
    +  ]
    +}

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: verified (323 B)
    error: .terraform.lock.hcl is not what `tofu-oci lock` writes

    hint: write it: tofu-oci lock --from '[REGISTRY]/${namespace}/${type}' --platform linux_amd64; look at the difference, and commit the file
    "#);
    scene.run(&format!("lock {FROM} --platform linux_amd64")).success();
    assert_snapshot!(scene.refuse(&format!("lock {FROM} --check --quiet")), @r#"
    exit code: 1
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 from [REGISTRY]/acme/widget
      downloaded and verified: darwin_arm64
      locked already: linux_amd64
      324 B downloaded
    lock file .terraform.lock.hcl would change
      registry.example.com/acme/widget 1.4.0: 3 checksums added

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -5,8 +5,11 @@
       version     = "1.4.0"
       constraints = "~> 1.4"
       hashes = [
    +    "ch:sha256:[DIGEST]",
         "ch:sha256:[DIGEST]",
         "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=",
    +    "h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=",
    +    "zh:[ZIP]",
         "zh:[ZIP]",
       ]
     }

    ----- stderr -----
    error: .terraform.lock.hcl is not what `tofu-oci lock` writes

    hint: write it: tofu-oci lock --from '[REGISTRY]/${namespace}/${type}'; look at the difference, and commit the file
    "#);
}

#[test]
fn json_lines() {
    let scene = signed();
    assert_snapshot!(scene.run(&format!("lock {FROM} --json")).text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"locked","address":"registry.example.com/acme/widget","version":"1.4.0","place":"[REGISTRY]/acme/widget","index":"sha256:[DIGEST]","platforms":[{"platform":"darwin_arm64","basis":"signed","bytes":0,"trust":{"standing":"signed","signers":[{"name":"acme-release","key":"sha256:[DIGEST]"}]},"hashes":["ch:sha256:[DIGEST]","h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=","zh:[ZIP]"],"added":["ch:sha256:[DIGEST]","h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=","zh:[ZIP]"]},{"platform":"linux_amd64","basis":"signed","bytes":0,"trust":{"standing":"signed","signers":[{"name":"acme-release","key":"sha256:[DIGEST]"}]},"hashes":["ch:sha256:[DIGEST]","h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=","zh:[ZIP]"],"added":["ch:sha256:[DIGEST]","h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=","zh:[ZIP]"]}],"restored":[],"seen_before":false,"manifest_checksums":"optional"}
    {"event":"lock","path":"./.terraform.lock.hcl","outcome":"created","difference":"entries","changes":[{"address":"registry.example.com/acme/widget","from":null,"to":"1.4.0","checksums_added":6}],"diff":null}

    ----- stderr -----
    "#);
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
    for referrers in [ReferrersSupport::Unsupported, ReferrersSupport::Supported] {
        let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
        for name in PROVIDERS {
            ReleaseFolder::new(name, "1.0.0", &PLATFORMS).write_zips(&scene.path(name));
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

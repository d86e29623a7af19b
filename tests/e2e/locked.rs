//! `install --locked`, and every measured case of `init -lockfile=readonly`.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::ReleaseFolder;
use tofu_oci_vectors::Vectors;

use crate::setup::state::tree;
use crate::setup::{PLATFORMS, Said, Scene, State, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";
const HEADER: &str =
    "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n";
const LOCKED: &str = "install --locked --from 'REGISTRY/${namespace}/${type}' --platform linux_amd64";

fn address(name: &str) -> String {
    format!("registry.example.com/acme/{name}")
}

/// Checksums by version of a provider, scheme and platform.
type Known = BTreeMap<String, String>;

/// Two providers, one of them in two versions, and their checksums.
fn published() -> (Scene, Known) {
    let (scene, mut known) = (Scene::new(), Known::new());
    for (name, version) in [("widget", "1.0.0"), ("widget", "1.1.0"), ("gadget", "1.0.0")] {
        let address = address(name);
        let dist = format!("dist-{name}-{version}");
        ReleaseFolder::new(name, version, &PLATFORMS).write_zips(&scene.path(&dist));
        scene.run(&format!("push {dist} REGISTRY/acme/{name} --address {address}")).success();
        let lock = format!("lock {address}@{version} --from REGISTRY/acme/{name} --json");
        let lines = scene.run(&lock).success().json();
        let locked = lines.iter().find(|line| line["event"] == "locked").expect("it is locked");
        for platform in locked["platforms"].as_array().expect("a list") {
            for hash in platform["hashes"].as_array().expect("a list").iter().filter_map(Value::as_str) {
                let scheme = hash.split(':').next().unwrap_or_default();
                let platform = platform["platform"].as_str().unwrap_or_default();
                known.insert(format!("{name} {version} {scheme} {platform}"), hash.to_owned());
            }
        }
        std::fs::remove_file(scene.path(LOCK)).expect("it was written");
        std::fs::remove_file(scene.path(".tofu-oci.pins.json")).expect("it was written");
    }
    scene.registry.clear_requests();
    (scene, known)
}

fn configuration(required: &Value) -> String {
    let block = |(name, constraints): (&String, &Value)| {
        let version = constraints.as_str().map(|text| format!("      version = \"{text}\"\n")).unwrap_or_default();
        format!("    {name} = {{\n      source = \"{}\"\n{version}    }}\n", address(name))
    };
    let blocks: String = required.as_object().expect("an object").iter().map(block).collect();
    format!("terraform {{\n  required_providers {{\n{blocks}  }}\n}}\n")
}

fn lock_file(case: &Value, known: &Known) -> Option<String> {
    let locked = case["lock"].as_object()?;
    let mut text = format!("{}{HEADER}", case["header"].as_str().unwrap_or_default());
    for (name, entry) in locked {
        let version = entry["version"].as_str().expect("a version");
        let line = |line: &str| match line {
            "wrong-h1" => format!("h1:{}=", "A".repeat(43)),
            "wrong-zh" => format!("zh:{}", "0".repeat(64)),
            "ch" => format!("ch:sha256:{}", "0".repeat(64)),
            line => known[&format!("{name} {version} {line}")].clone(),
        };
        let lines = entry["lines"].as_array().expect("a list").iter().filter_map(Value::as_str).map(line);
        let mut lines: Vec<String> = lines.map(|line| format!("    \"{line}\",\n")).collect();
        lines.sort();
        let hashes = if lines.is_empty() { String::new() } else { format!("  hashes = [\n{}  ]\n", lines.concat()) };
        let constraints = entry["constraints"].as_str().map(|text| format!("  constraints = \"{text}\"\n"));
        let constraints = constraints.unwrap_or_default();
        text += &format!("\nprovider \"{}\" {{\n  version = \"{version}\"\n{constraints}{hashes}}}\n", address(name));
    }
    Some(text)
}

/// The word of the case table for what the program did.
fn verdict(said: &Said) -> &'static str {
    let lines = said.json();
    let has = |code: &str| lines.iter().any(|line| line["code"] == code);
    match said.code {
        Some(0) if has("lock-not-updated") => "warns",
        Some(0) => "installs",
        Some(1) if has("lock-outdated") => "providers-differ",
        Some(1) if has("lock-mismatch") => "not-the-package",
        Some(1) if has("locked-version-conflict") || has("locked-version-gone") => "version",
        Some(2) if said.stderr.contains("cannot be used with '--upgrade'") => "upgrade",
        Some(2) if said.stderr.contains("requires no providers") => "usage",
        other => panic!("{other:?}: {}", said.text),
    }
}

#[test]
fn every_measured_case_of_a_read_only_lock_file_comes_out_as_measured_or_as_decided() {
    let (scene, known) = published();
    let table = Vectors::open("lockfile_readonly.json");
    table.known_sections(&["cases"]);
    table.each("cases", |case| {
        let folder = case["name"].as_str().expect("a name");
        scene.context.write(&format!("{folder}/main.tf"), configuration(&case["required"]));
        if let Some(text) = lock_file(case, &known) {
            scene.context.write(&format!("{folder}/{LOCK}"), text);
        }
        let before = tree(&scene.path(folder));
        let options: String = case["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let options = options.replace("-upgrade", "--upgrade");
        let line = format!(
            "install --lockfile=readonly --json --chdir {folder} --from 'REGISTRY/${{namespace}}/${{type}}' \
             --platform linux_amd64 {options}"
        );
        let said = scene.run(line.trim());
        let wanted = case.get("ours").unwrap_or(&case["measured"]).as_str().expect("a word");
        assert_eq!(verdict(&said), wanted, "{}", said.text);
        let mut after = tree(&scene.path(folder));
        after.retain(|name, _| !name.starts_with(".terraform/") || said.code != Some(0));
        assert_eq!(after, before, "neither the lock file nor the pins are written, and nothing is left by a failure");
    });
}

#[test]
fn a_lock_file_that_lacks_a_provider_is_shown_as_it_would_be_before_anything_is_downloaded() {
    let (scene, _) = published();
    scene.context.write("main.tf", configuration(&serde_json::json!({"widget": ">= 1.0.0"})));
    let before = State::of(&scene);
    assert_snapshot!(scene.run(LOCKED).text, @r#"
    exit code: 1
    ----- stdout -----
    lock file .terraform.lock.hcl would change

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -0,0 +1,12 @@
    +# This file is maintained automatically by "tofu init".
    +# Manual edits may be lost in future updates.
    +
    +provider "registry.example.com/acme/widget" {
    +  version     = "1.1.0"
    +  constraints = ">= 1.0.0"
    +  hashes = [
    +    "ch:sha256:[DIGEST]",
    +    "h1:D+/H8WxY0vQegy7WvezGdQ+CY+vLo75cGO+ffBsehek=",
    +    "zh:[ZIP]",
    +  ]
    +}

    ----- stderr -----
    error: .terraform.lock.hcl would change: it has no entry for registry.example.com/acme/widget

    hint: record it, look at the difference and commit the file: tofu-oci lock --from '[REGISTRY]/${namespace}/${type}'
    "#);
    assert_eq!(State::of(&scene), before);
    assert_eq!(scene.conversation().into_iter().filter(|line| line.contains("/blobs/")).count(), 0);
}

#[test]
fn an_entry_that_nothing_requires_is_shown_and_nothing_is_installed() {
    let (scene, known) = published();
    scene.context.write("main.tf", configuration(&serde_json::json!({"widget": ">= 1.0.0"})));
    let lines = ["h1 linux_amd64", "zh linux_amd64"];
    let case = serde_json::json!({"lock": {
        "gadget": {"version": "1.0.0", "lines": lines},
        "widget": {"version": "1.0.0", "constraints": ">= 1.0.0", "lines": lines},
    }});
    scene.context.write(LOCK, lock_file(&case, &known).expect("a text"));
    assert_snapshot!(scene.refuse(LOCKED), @r#"
    exit code: 1
    ----- stdout -----
    lock file .terraform.lock.hcl would change

    --- .terraform.lock.hcl (as it is)
    +++ .terraform.lock.hcl (as it would be)
    @@ -1,18 +1,11 @@
     # This file is maintained automatically by "tofu init".
     # Manual edits may be lost in future updates.
     
    -provider "registry.example.com/acme/gadget" {
    -  version = "1.0.0"
    -  hashes = [
    -    "h1:rxGM2P7n3WDhHWwArEakX0Ad+uCNZT06UpAjDUab/84=",
    -    "zh:[ZIP]",
    -  ]
    -}
    -
     provider "registry.example.com/acme/widget" {
    -  version = "1.0.0"
    +  version     = "1.0.0"
       constraints = ">= 1.0.0"
       hashes = [
    +    "ch:sha256:[DIGEST]",
         "h1:YQdGLsiy1/Yi7egAsSHs1elS7FOYVASgkU9/NNy7piw=",
         "zh:[ZIP]",
       ]

    ----- stderr -----
    error: .terraform.lock.hcl would change: the configuration does not require registry.example.com/acme/gadget

    hint: run the same command without --locked, look at the difference and commit the file
    "#);
}

#[test]
fn what_is_installed_and_locked_is_kept_without_a_request() {
    let (scene, _) = published();
    scene.context.write("main.tf", configuration(&serde_json::json!({"widget": ">= 1.0.0"})));
    for target in ["", " --vendor", " --into mirror", " --into packed --packed"] {
        scene.run(&format!("{}{target}", LOCKED.replace(" --locked", ""))).success();
        scene.registry.clear_requests();
        let before = State::of(&scene);
        let said = scene.run(&format!("{LOCKED}{target}")).success();
        assert!(said.stdout.contains("already installed"), "{}", said.text);
        assert_eq!(scene.conversation(), Vec::<String>::new(), "{target}");
        assert_eq!(State::of(&scene), before);
    }
}

#[test]
fn changed_files_are_not_kept_because_the_lock_file_stays() {
    let (scene, _) = published();
    scene.context.write("main.tf", configuration(&serde_json::json!({"widget": ">= 1.0.0"})));
    scene.run(&LOCKED.replace(" --locked", "")).success();
    let package = ".terraform/providers/registry.example.com/acme/widget/1.1.0/linux_amd64";
    scene.context.write(&format!("{package}/terraform-provider-widget_v1.1.0"), "#!/bin/sh\necho other\n");
    let said = scene.run(&format!("{LOCKED} --json"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.json().iter().any(|line| line["code"] == "locally-modified" || line["code"] == "cache-modified"));
}

#[test]
fn upgrade_contradicts_a_lock_file_that_must_not_change() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("install --locked --upgrade"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the argument '--locked' cannot be used with '--upgrade'

    hint: omit --locked or --upgrade
    hint: `tofu-oci help install` says what each is for
    ");
    assert_snapshot!(scene.refuse("install --lockfile=rw"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'rw' for '--lockfile <MODE>'
      [possible values: readonly]

    For more information, try '--help'.
    ");
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn a_lock_file_that_must_not_change_is_not_answered_with_upgrade() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.run(&format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget")).success();
    let said = scene.refuse(&format!("install {WIDGET}@1.5.0 --locked --from REGISTRY/acme/widget"));
    assert!(said.contains("hint: choose a new version with `tofu-oci lock --upgrade --from"), "{said}");
}

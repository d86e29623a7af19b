//! The checksums of releases that claim none, as Dependabot and Terragrunt copy them into lock files.

use std::time::Instant;

use serde_json::Value;

use super::{PATIENCE, Serving, WIDGET_PATH, archive};
use crate::lock_all::{FROM, require};
use crate::setup::{PLATFORMS, Scene, WIDGET};

/// What `serve` says of every platform; `null` if it does not know all.
fn packages(serving: &Serving) -> Value {
    serving.json(&format!("/registry/{WIDGET}/1.4.0/download/linux/amd64"))["packages"].clone()
}

/// The same as soon as it is known: the zips are read beside the answers.
#[track_caller]
pub(super) fn learned(serving: &Serving) -> Value {
    let begun = Instant::now();
    loop {
        let known = packages(serving);
        if !known.is_null() {
            return known;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", serving.log());
        std::thread::yield_now();
    }
}

fn listed_h1(serving: &Serving, platform: &str) -> Option<String> {
    let document = serving.json(&format!("{WIDGET_PATH}/1.4.0.json"));
    let hashes = document["archives"][platform]["hashes"].as_array()?.clone();
    hashes.iter().find_map(|hash| hash.as_str().filter(|hash| hash.starts_with("h1:")).map(str::to_owned))
}

#[test]
fn a_release_without_h1_had_no_checksums_for_lock_files_of_bots() {
    for all in [false, true] {
        let scene = Scene::with_dist();
        scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --h1 skip")).success();
        require(&scene, &[("widget", "~> 1.4")]);
        scene.run(&format!("lock {FROM}")).success();
        let lock = scene.context.read(".terraform.lock.hcl");
        scene.run("serve --new-key bridge.asc").success();
        let top = "hosts = [\"registry.example.com\"]\nsigning_key = \"bridge.asc\"\nhashes = [\"zh\", \"h1\"]";
        let start = || Serving::start(&scene, top, &format!("[cache]\ndir = \"zips\"\nall = {all}\n"));
        let serving = start();
        let [darwin, linux] = PLATFORMS;
        assert_eq!((packages(&serving), listed_h1(&serving, linux)), (Value::Null, None));
        assert_eq!(serving.get(&archive(linux)).status, 200);
        assert_eq!(packages(&serving), Value::Null, "whoever copies a shorter list loses a platform");
        assert_eq!(serving.get(&archive(darwin)).status, 200);
        let known = learned(&serving);
        for platform in PLATFORMS {
            let h1 = known[platform]["hashes"][0].as_str().expect("a checksum").to_owned();
            assert!(h1.starts_with("h1:") && lock.contains(&h1), "{h1}\n{lock}");
            assert_eq!(listed_h1(&serving, platform), Some(h1));
        }
        drop(serving);
        assert_eq!(packages(&start()), known, "after a restart");
        // A wrong file in the folder counts as none, and is put right.
        for entry in std::fs::read_dir(scene.path("zips")).expect("the folder").flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "h1") {
                let other = known[darwin]["hashes"][0].as_str().expect("a checksum");
                std::fs::write(entry.path(), format!("{other} {}\n", "0".repeat(64))).expect("it is ours");
            }
        }
        let serving = start();
        assert_eq!(packages(&serving), Value::Null);
        assert!(PLATFORMS.iter().all(|platform| serving.get(&archive(platform)).status == 200));
        assert_eq!(learned(&serving), known);
        drop(serving);
        assert_eq!(packages(&start()), known);
    }
}

//! `install` by the small layer of a package: when it is taken, when the zip is, and that nothing else differs.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Stdio;

use insta::assert_snapshot;
use tofu_oci_testkit::{Fault, Round, Rounds, Rule};
use tofu_oci_types::Digest;

use crate::setup::small::{NamedByIndex, layer_of, package};
use crate::setup::{Scene, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";
const FOLDER: &str = ".terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64";

pub(crate) fn layer() -> Vec<u8> {
    layer_of(&package().entries())
}

pub(crate) fn line(project: &str) -> String {
    format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64 --chdir {project}")
}

/// Requests for this layer.
pub(crate) fn of_layer(layer: &[u8]) -> Rule {
    Rule::on("GET", &format!("/v2/*/blobs/{}", Digest::sha256(layer)))
}

/// A project with this lock file alone.
pub(crate) fn locked_project(scene: &Scene, name: &str, lock: &str) {
    fs::create_dir(scene.path(name)).expect("a file of this test");
    fs::write(scene.path(name).join(LOCK), lock).expect("a file of this test");
}

/// A scene with this layer, and the lock file of a project that was installed by the zip, named `zip`.
pub(crate) fn scene_and_lock(layer: &[u8], named: NamedByIndex) -> (Scene, String) {
    let scene = Scene::with_small_layer(layer, named);
    let lock = install_by_zip(&scene, layer);
    (scene, lock)
}

/// Nothing proves the contents in an empty project: the zip is fetched.
fn install_by_zip(scene: &Scene, layer: &[u8]) -> String {
    fs::create_dir(scene.path("zip")).expect("a file of this test");
    let said = scene.run(&line("zip")).success();
    assert!(!said.stderr.contains("warning"), "{}", said.text);
    assert_eq!(scene.packages_asked_for(layer), ["zip"]);
    scene.registry.clear_requests();
    fs::read_to_string(scene.path("zip").join(LOCK)).expect("it was written")
}

/// The files of an installed package: names, digests, and whether they can be run. Files of a cache are read-only.
fn tree(scene: &Scene, project: &str) -> Vec<(String, Digest, bool)> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = scene.path(project).join(FOLDER);
    let entry = |file: std::io::Result<fs::DirEntry>| {
        let path = file.expect("an installed file").path();
        let mode = fs::metadata(&path).expect("an installed file").permissions().mode();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, Digest::sha256(&fs::read(&path).expect("an installed file")), mode & 0o111 != 0)
    };
    let mut files: Vec<_> = fs::read_dir(&folder).expect("an installed package").map(entry).collect();
    files.sort_by(|one, other| one.0.cmp(&other.0));
    files
}

/// Everything that an installation records or makes visible is what the zip gives.
#[track_caller]
pub(crate) fn check_same_as_zip(scene: &Scene, project: &str) {
    let read = |project: &str, name: &str| fs::read_to_string(scene.path(project).join(name)).expect("a file");
    for name in [LOCK, ".tofu-oci.pins.json"] {
        assert_eq!(read(project, name), read("zip", name), "{name}");
    }
    assert_eq!(tree(scene, project), tree(scene, "zip"));
}

#[test]
fn a_locked_package_comes_by_its_small_layer_and_the_zip_is_never_asked_for() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    locked_project(&scene, "small", &lock);
    let said = scene.run(&line("small")).success();
    assert_eq!(scene.packages_asked_for(&layer), ["small"]);
    check_same_as_zip(&scene, "small");
    let text = said.text.replace(&format!("{:.1} kB", layer.len() as f64 / 1000.0), "[SIZE]");
    assert_snapshot!(text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      small/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
      [SIZE] received, by its small layer
    lock file small/.terraform.lock.hcl unchanged

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed from the small layer ([SIZE])
    ");
    // What is there is kept.
    scene.registry.clear_requests();
    scene.run(&line("small")).success();
    assert_eq!(scene.packages_asked_for(&layer), [""; 0]);
}

#[test]
fn json_says_how_many_bytes_were_received_and_by_what() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    locked_project(&scene, "small", &lock);
    let planned = scene.run(&format!("{} --dry-run --json", line("small"))).success();
    assert_eq!(planned.json()[0]["download"], layer.len());
    let said = scene.run(&format!("{} --json", line("small"))).success();
    let of = |lines: &[serde_json::Value], name: &str| {
        lines.iter().find(|line| line["event"] == "installed").expect("a line")[name].clone()
    };
    assert_eq!((of(&said.json(), "small"), of(&said.json(), "received")), (true.into(), layer.len().into()));
    fs::create_dir(scene.path("cold")).expect("a file of this test");
    let said = scene.run(&format!("{} --json", line("cold"))).success();
    let zip = package().build().len();
    assert_eq!((of(&said.json(), "small"), of(&said.json(), "received")), (serde_json::Value::Null, zip.into()));
}

#[test]
fn a_signed_index_that_names_the_contents_is_enough() {
    let layer = layer();
    let scene = Scene::with_small_layer(&layer, NamedByIndex::Yes);
    scene.trust("");
    scene.sign("acme/widget", WIDGET, "1.4.0");
    let trusted = |project: &str| format!("{} --trust-policy trust.toml", line(project));
    for project in ["zip", "small"] {
        fs::create_dir(scene.path(project)).expect("a file of this test");
    }
    scene.registry.fault(of_layer(&layer).then(Fault::status(404, "BLOB_UNKNOWN")));
    scene.run(&trusted("zip")).success();
    assert_eq!(scene.packages_asked_for(&layer), ["small", "zip"]);
    scene.registry.clear_faults();
    scene.registry.clear_requests();
    scene.run(&trusted("small")).success();
    assert_eq!(scene.packages_asked_for(&layer), ["small"]);
    check_same_as_zip(&scene, "small");
}

#[test]
fn a_lock_file_does_not_prove_the_contents_of_a_signed_release() {
    // The layer holds what the lock file names, and the signed index names no contents.
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is published");
    let mut index: serde_json::Value = serde_json::from_slice(&bytes).expect("an index");
    let annotations = index["manifests"][0]["annotations"].as_object_mut().expect("annotations");
    annotations.remove("org.opentofu.provider.h1");
    let digest = scene.registry.put_manifest("acme/widget", &media_type, index.to_string());
    scene.registry.put_tag("acme/widget", "1.4.0", &digest);
    scene.trust("");
    scene.sign("acme/widget", WIDGET, "1.4.0");
    locked_project(&scene, "small", &lock);
    scene.run(&format!("{} --trust-policy trust.toml", line("small"))).success();
    assert_eq!(scene.packages_asked_for(&layer), ["zip"]);
}

#[test]
fn a_lock_file_must_name_the_zip_and_the_contents() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    for scheme in ["h1:", "zh:"] {
        scene.registry.clear_requests();
        let without: String =
            lock.lines().filter(|line| !line.contains(scheme)).map(|line| format!("{line}\n")).collect();
        locked_project(&scene, &scheme[..2], &without);
        let said = scene.run(&line(&scheme[..2])).success();
        assert_eq!(scene.packages_asked_for(&layer), ["zip"], "without {scheme}");
        assert!(!said.stderr.contains("warning"), "{}", said.text);
        check_same_as_zip(&scene, &scheme[..2]);
    }
}

#[test]
fn a_zip_that_was_asked_for_ahead_is_used() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::No);
    locked_project(&scene, "small", &lock);
    scene.run(&line("small")).success();
    assert_eq!(scene.packages_asked_for(&layer), ["zip"]);
    check_same_as_zip(&scene, "small");
}

#[test]
fn a_layer_that_is_much_larger_than_the_zip_is_not_taken() {
    let mut entries = package().entries();
    entries.push(("more".to_owned(), package().random_file("more.bin", 3_000_000).build(), 0o644));
    let layer = layer_of(&entries);
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::No);
    locked_project(&scene, "small", &lock);
    scene.trust("");
    scene.sign("acme/widget", WIDGET, "1.4.0");
    let said = scene.run(&format!("{} --trust-policy trust.toml", line("small"))).success();
    assert_eq!(scene.packages_asked_for(&layer), ["zip"]);
    assert!(!said.stderr.contains("warning"), "{}", said.text);
}

#[test]
fn a_packed_package_is_the_zip() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    locked_project(&scene, "small", &lock);
    scene.run(&format!("{} --into mirror --packed", line("small"))).success();
    assert_eq!(scene.packages_asked_for(&layer), ["zip"]);
}

#[test]
fn a_small_layer_that_breaks_off_is_resumed() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    scene.registry.fault(of_layer(&layer).times(1).then(Fault::CutBody(100_000)));
    locked_project(&scene, "small", &lock);
    scene.run(&line("small")).success();
    assert_eq!(scene.packages_asked_for(&layer), ["small", "small"]);
    check_same_as_zip(&scene, "small");
}

fn with_cache(scene: &mut Scene) {
    let cache = scene.path("cache").display().to_string();
    scene.context.env("TOFU_OCI_CACHE_DIR", cache);
}

#[test]
fn what_came_by_a_small_layer_is_in_the_cache_for_who_can_prove_it() {
    let layer = layer();
    let (mut scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    with_cache(&mut scene);
    for (project, asked) in [("one", &["small"][..]), ("two", &[])] {
        scene.registry.clear_requests();
        locked_project(&scene, project, &lock);
        scene.run(&line(project)).success();
        assert_eq!(scene.packages_asked_for(&layer), asked, "{project}");
        check_same_as_zip(&scene, project);
    }
    // The layer proves nothing of the zip, so that a project without a lock file fetches that.
    fs::create_dir(scene.path("cold")).expect("a file of this test");
    scene.run(&line("cold")).success();
    assert_eq!(scene.packages_asked_for(&layer), ["zip"]);
    // And now both are known to be the same.
    scene.registry.clear_requests();
    fs::create_dir(scene.path("colder")).expect("a file of this test");
    scene.run(&line("colder")).success();
    assert_eq!(scene.packages_asked_for(&layer), [""; 0]);
    check_same_as_zip(&scene, "colder");
}

#[test]
fn a_lock_file_that_lies_brings_no_other_package_into_the_cache_of_the_zip() {
    let mut entries = package().entries();
    entries[0].1.extend(b"evil");
    let evil = layer_of(&entries);
    let (mut scene, lock) = scene_and_lock(&evil, NamedByIndex::No);
    with_cache(&mut scene);
    // A hostile index claims the contents of the layer, and a hostile lock file names them.
    let evil_folder = scene.path("evil-files");
    for (name, bytes, _) in &entries {
        let path = evil_folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a file of this test");
        fs::write(path, bytes).expect("a file of this test");
    }
    let h1 = folder_h1(&evil_folder);
    let real = lock
        .lines()
        .find(|line| line.contains("\"h1:"))
        .expect("it is locked")
        .trim()
        .trim_matches(['"', ','])
        .to_owned();
    let (media_type, bytes) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is published");
    let index = String::from_utf8_lossy(&bytes).replace(&real, &h1);
    let mut index: serde_json::Value = serde_json::from_str(&index).expect("an index");
    index["manifests"][0]["annotations"]["org.opentofu.provider.small"] = Digest::sha256(&evil).to_string().into();
    let digest = scene.registry.put_manifest("acme/widget", &media_type, index.to_string());
    scene.registry.put_tag("acme/widget", "1.4.0", &digest);
    locked_project(&scene, "evil", &lock.replace(&real, &h1));
    scene.run(&line("evil")).success();
    assert_eq!(scene.packages_asked_for(&evil), ["small"], "the user's own lock file says so");
    fs::create_dir(scene.path("other")).expect("a file of this test");
    scene.run(&line("other")).success();
    assert_eq!(tree(&scene, "other"), tree(&scene, "zip"));
}

/// The `h1:` of the files of a folder.
fn folder_h1(folder: &Path) -> String {
    let contents = tofu_oci_archive::read_directory(folder, &tofu_oci_archive::Limits::default());
    contents.expect("plain files").h1().to_string()
}

#[test]
fn two_runs_at_once_in_one_project_install_the_same() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    locked_project(&scene, "small", &lock);
    let start =
        || scene.command(&line("small")).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let runs = [start(), start(), start()];
    for run in runs {
        let output = run.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(!scene.packages_asked_for(&layer).contains(&"zip"));
    check_same_as_zip(&scene, "small");
}

#[test]
fn runs_at_once_with_a_cache_fetch_the_layer_once() {
    let layer = layer();
    let (mut scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    with_cache(&mut scene);
    let projects = ["one", "two", "three", "four"];
    let start = |project: &&str| {
        locked_project(&scene, project, &lock);
        scene.command(&line(project)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let runs: Vec<_> = projects.iter().map(start).collect();
    for run in runs {
        let output = run.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(scene.packages_asked_for(&layer), ["small"]);
    for project in &projects {
        check_same_as_zip(&scene, project);
    }
}

#[test]
fn a_locked_install_by_a_small_layer_takes_two_rounds() {
    let layer = layer();
    let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
    locked_project(&scene, "small", &lock);
    let rounds = Rounds::new([Round::of(1).with_connections(3), Round::of(3)]);
    // The index is known; then the leaf, the layer, and whether the publisher says something of the release.
    fs::remove_dir_all(scene.path("../home/.cache/tofu-oci/manifests")).expect("manifests were kept");
    scene.registry.fault(Rule::on("*", "*").then(Fault::InRounds(rounds.clone())));
    scene.run(&format!("{} --plain-http REGISTRY", line("small"))).success();
    rounds.check();
    assert_eq!(scene.packages_asked_for(&layer), ["small"]);
}

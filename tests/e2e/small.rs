//! `push --small`: the same package in fewer bytes, beside each zip; carried everywhere, and checked.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{ProviderZip, Registry, ReleaseFolder};
use tofu_oci_types::Digest;

use crate::json;
use crate::setup::small::package;
use crate::setup::{PLATFORMS, Said, Scene, WIDGET};

const PUSH: &str = "push dist REGISTRY/acme/widget --address registry.example.com/acme/widget --small";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const ZSTD: &str = "application/vnd.oci.image.layer.v1.tar+zstd";

/// Widget 1.4.0 with small layers at `REGISTRY/acme/widget`, over TLS as `OpenTofu` needs it.
fn published() -> Scene {
    let scene = Scene::over_tls();
    scene.dist("dist", "1.4.0");
    scene.run(PUSH).success();
    scene.registry.clear_requests();
    scene
}

fn document(registry: &Registry, repository: &str, reference: &str) -> Value {
    let (_, bytes) = registry.manifest(repository, reference).unwrap_or_else(|| panic!("no {reference}"));
    serde_json::from_slice(&bytes).expect("a manifest is JSON")
}

/// The leaf manifests of a release, in the order of the index.
fn leaves(registry: &Registry, repository: &str, tag: &str) -> Vec<Value> {
    let index = document(registry, repository, tag);
    let entries = index["manifests"].as_array().expect("an index has entries").clone();
    entries.iter().map(|entry| document(registry, repository, entry["digest"].as_str().expect("a digest"))).collect()
}

/// Demands that each leaf has a zip and a small layer, and that both are there.
#[track_caller]
fn demand_carried(scene: &Scene, repository: &str) {
    let leaves = leaves(&scene.registry, repository, "1.4.0");
    assert_eq!(leaves.len(), 2);
    for leaf in leaves {
        let layers = leaf["layers"].as_array().expect("layers");
        let types: Vec<&str> = layers.iter().filter_map(|layer| layer["mediaType"].as_str()).collect();
        assert_eq!(types, ["archive/zip", ZSTD]);
        for layer in layers {
            let digest: Digest = layer["digest"].as_str().expect("a digest").parse().expect("a digest");
            let blob =
                scene.registry.blob(repository, &digest).unwrap_or_else(|| panic!("{repository} has no {layer}"));
            assert_eq!(layer["size"], blob.len());
        }
    }
}

#[test]
fn a_small_layer_is_published_beside_each_zip() {
    let scene = Scene::with_dist();
    // The `h1:` goes along in any case: without one no installer could take the layer.
    let said = scene.run(&format!("{PUSH} --h1 skip"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
                           165 B  small layer sha256:[DIGEST], saves 159 B (49 % of the zip)
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
                           166 B  small layer sha256:[DIGEST], saves 157 B (48 % of the zip)
      sent 4.9 kB (9 new, 0 present)

    ----- stderr -----
    widget 1.4.0 darwin_arm64 small layer: pushed (165 B)
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64 small layer: pushed (166 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
    demand_carried(&scene, "acme/widget");
    let leaf = leaves(&scene.registry, "acme/widget", "1.4.0").remove(1);
    assert_eq!(
        leaf["layers"][1]["annotations"]["org.opencontainers.image.title"],
        "terraform-provider-widget_1.4.0_linux_amd64.tar.zst"
    );
    let index = document(&scene.registry, "acme/widget", "1.4.0");
    let entry = &index["manifests"][1]["annotations"];
    assert_eq!(entry["org.opentofu.provider.small"], leaf["layers"][1]["digest"]);
    assert_eq!(entry["org.opentofu.provider.h1"], "h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=");
}

#[test]
fn pushed_again_it_is_the_same_and_nothing_is_sent() {
    let scene = published();
    let again = scene.run(PUSH);
    assert!(again.text.contains("is at [REGISTRY]/acme/widget:1.4.0 already; nothing was sent"), "{}", again.text);
    let writes = scene.conversation().into_iter().filter(|line| !line.starts_with("GET") && !line.starts_with("HEAD"));
    assert_eq!(writes.collect::<Vec<_>>(), Vec::<String>::new());
    let line = PUSH.replace("REGISTRY/acme/widget", "oci:layout");
    scene.run(&line.replace("push dist", "pack dist")).success();
    let plan = scene.run(&format!("{line} --dry-run --json"));
    assert_eq!(json::check(&plan), ["push-plan"]);
    let plan = plan.json().remove(0);
    assert_eq!((&plan["tag_state"]["state"], &plan["bytes_to_send"]), (&"equal".into(), &0.into()));
    assert_eq!(plan["index"], Value::from(scene.tag("acme/widget", "1.4.0")), "the same bytes wherever they go");
}

#[test]
fn a_release_without_small_layers_is_replaced_like_any_other() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse(PUSH), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has a tag 1.4.0 already: it points at a release with the same zips and other layers beside them

    hint: the published release has the same zips, and differs in small layers: push again with (or without) --small, as it was pushed, or publish a new version
    hint: the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag
    hint: --replace-tag marks the old index as withdrawn, and `ch:` lines of lock files no longer match; `zh:` and `h1:` still do
    ");
    scene.run(&format!("{PUSH} --replace-tag")).success();
    demand_carried(&scene, "acme/widget");
}

#[test]
fn images_alone_have_no_small_layers() {
    let scene = Scene::with_dist();
    assert_snapshot!(scene.refuse(&format!("{PUSH} --layout image")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --small adds a layer to the zips of the artifact layout, and --layout image has none

    hint: publish both: --layout both --small
    hint: or omit it: tofu-oci push dist [REGISTRY]/acme/widget --address registry.example.com/acme/widget --layout image
    ");
    scene.run(&format!("{PUSH} --layout both")).success();
    let layers: Vec<usize> = leaves(&scene.registry, "acme/widget", "1.4.0")
        .iter()
        .map(|leaf| leaf["layers"].as_array().expect("layers").len())
        .collect();
    assert_eq!(layers, [1, 1, 2, 2]);
}

#[test]
fn copies_mirrors_and_bundles_carry_small_layers() {
    let scene = published();
    scene.run("copy REGISTRY/acme/widget oci:layout").success();
    scene.run("copy oci:layout REGISTRY/copied/widget").success();
    demand_carried(&scene, "copied/widget");
    let from = "--from REGISTRY/acme/widget";
    let said = scene.run(&format!("mirror {WIDGET} {from} --to 'REGISTRY/m/${{namespace}}/${{type}}'"));
    assert_eq!(said.code, Some(0), "{}", said.text);
    demand_carried(&scene, "m/acme/widget");
    scene.run(&format!("bundle create b.tar {WIDGET} {from}")).success();
    let said = scene.run("bundle load b.tar REGISTRY/inside/${namespace}/${type}").success();
    assert!(said.stderr.contains("small layer of linux_amd64"), "{}", said.text);
    demand_carried(&scene, "inside/acme/widget");
}

#[test]
fn what_push_makes_is_what_install_takes_and_show_names() {
    let scene = Scene::new();
    // Enough that the layer is worth it.
    let code: String = (0..30_000).map(|line| format!("{} line of code, {}\n", line % 500, line % 91)).collect();
    let package = package().file("code.txt", code);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(package.clone()).write_zips(&scene.path("dist"));
    scene.run(PUSH).success();
    let layer = scene.registry.blob("acme/widget", &small_digest(&scene, 0)).expect("it was pushed");
    let install = |project: &str, lock: Option<&str>| {
        scene.context.write(&format!("{project}/.keep"), "");
        if let Some(lock) = lock {
            scene.context.write(&format!("{project}/.terraform.lock.hcl"), lock);
        }
        scene.registry.clear_requests();
        let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64 --chdir {project}");
        scene.run(&format!("{line} --no-cache")).success();
        scene.asked_for(&package, &layer)
    };
    assert_eq!(install("first", None), ["zip"]);
    let lock = scene.context.read("first/.terraform.lock.hcl");
    assert_eq!(install("second", Some(&lock)), ["small"]);
    assert_eq!(scene.context.read("second/.terraform.lock.hcl"), lock);
    let shown = scene.run("show REGISTRY/acme/widget:1.4.0").success();
    let bytes = format!("or {:.1} kB by its small layer", layer.len() as f64 / 1000.0);
    assert!(shown.stdout.contains(&bytes), "{bytes}: {}", shown.text);
    let shown = scene.run("show REGISTRY/acme/widget:1.4.0 --json").success();
    assert_eq!(json::check(&shown), ["release"]);
    assert_eq!(shown.json()[0]["packages"][0]["small_bytes"], layer.len());
}

/// The findings at the level of warnings and errors, with their texts.
fn findings(said: &Said) -> Vec<String> {
    let lines = said.json();
    let findings = lines.iter().filter(|line| line["event"] == "finding" && line["level"] != "note");
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    findings.map(|line| format!("{} {}: {}", text(line, "platform"), text(line, "rule"), text(line, "text"))).collect()
}

/// Checks the repository, and demands that OpenTofu installs from it on both platforms.
#[track_caller]
fn checked(scene: &Scene, options: &str) -> Vec<String> {
    let said = scene.run(&format!("check REGISTRY/acme/widget --json {options}"));
    let lines = said.json();
    let predictions = lines.last().expect("the last line has the predictions")["predictions"].clone();
    let predictions = predictions.as_array().expect("predictions");
    let offered = |one: &&Value| PLATFORMS.iter().any(|platform| one["platform"] == *platform);
    let read = predictions.iter().filter(offered).filter(|one| one["unread"] != true);
    assert!(read.clone().all(|one| one["installs"] == true), "{}", said.text);
    assert_eq!(read.count(), if options == "--deep" { predictions.iter().filter(offered).count() } else { 0 });
    findings(&said)
}

/// Puts another small layer, of this size by its descriptor, into the leaf of `linux_amd64`.
fn exchange(scene: &Scene, small: impl Into<Vec<u8>>, size: Option<u64>) {
    let (registry, repository) = (&scene.registry, "acme/widget");
    let small: Vec<u8> = small.into();
    let (bytes, digest) = (small.len() as u64, registry.put_blob(repository, small));
    let mut index = document(registry, repository, "1.4.0");
    let mut leaf = leaves(registry, repository, "1.4.0").remove(1);
    leaf["layers"][1]["digest"] = digest.to_string().into();
    leaf["layers"][1]["size"] = size.unwrap_or(bytes).into();
    let leaf = leaf.to_string();
    index["manifests"][1]["size"] = leaf.len().into();
    index["manifests"][1]["annotations"]["org.opentofu.provider.small"] = digest.to_string().into();
    index["manifests"][1]["digest"] = registry.put_manifest(repository, MANIFEST, leaf).to_string().into();
    let digest = registry.put_manifest(repository, INDEX, index.to_string());
    registry.put_tag(repository, "1.4.0", &digest);
}

#[test]
fn an_index_that_claims_another_small_layer_is_found() {
    let scene = published();
    let mut index = document(&scene.registry, "acme/widget", "1.4.0");
    let of_darwin = index["manifests"][0]["annotations"]["org.opentofu.provider.small"].clone();
    index["manifests"][1]["annotations"]["org.opentofu.provider.small"] = of_darwin;
    let digest = scene.registry.put_manifest("acme/widget", INDEX, index.to_string());
    scene.registry.put_tag("acme/widget", "1.4.0", &digest);
    let found = checked(&scene, "");
    assert!(found.len() == 1 && found[0].starts_with("linux_amd64 annotation-small: it is annotated"), "{found:?}");
}

/// The digest of the small layer of a platform.
fn small_digest(scene: &Scene, platform: usize) -> Digest {
    let leaf = leaves(&scene.registry, "acme/widget", "1.4.0").remove(platform);
    leaf["layers"][1]["digest"].as_str().expect("a digest").parse().expect("a digest")
}

#[test]
fn a_small_layer_that_is_as_it_was_made_is_no_finding() {
    let scene = published();
    assert_eq!(checked(&scene, "--deep"), Vec::<String>::new());
    assert!(!scene.run("check REGISTRY/acme/widget --deep").text.contains("extra-layer"));
}

#[test]
fn a_small_layer_that_is_missing_or_of_another_size_is_found_like_any_blob() {
    let scene = published();
    exchange(&scene, "short", Some(4));
    let found = checked(&scene, "--deep");
    assert!(found[0].starts_with("linux_amd64 blob-size"), "{found:?}");
    let scene = published();
    scene.registry.remove("acme/widget", &small_digest(&scene, 1));
    for options in ["", "--deep"] {
        let found = checked(&scene, options);
        assert!(found.len() == 1 && found[0].starts_with("linux_amd64 blob-missing"), "{options}: {found:?}");
    }
}

#[test]
fn a_small_layer_with_other_files_than_the_zip_is_found() {
    let scene = published();
    let of_darwin = scene.registry.blob("acme/widget", &small_digest(&scene, 0)).expect("it was pushed");
    exchange(&scene, of_darwin, None);
    assert_snapshot!(checked(&scene, "--deep").join("\n"), @"linux_amd64 small-layer-differs: its files have h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=, those of the zip beside it h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=");
    assert_eq!(checked(&scene, ""), Vec::<String>::new(), "what is in it was not read");
}

/// Modes are in no checksum, so an installer takes those of the layer.
#[test]
fn a_small_layer_with_other_modes_than_the_zip_is_found() {
    let scene = published();
    let layer = scene.registry.blob("acme/widget", &small_digest(&scene, 1)).expect("it was pushed");
    let tar = zstd::decode_all(&layer[..]).expect("a small layer");
    let mut changed = tar::Builder::new(Vec::new());
    for entry in tar::Archive::new(&tar[..]).entries().expect("a tar archive") {
        let entry = entry.expect("an entry");
        let mut header = entry.header().clone();
        header.set_mode(0o644);
        header.set_cksum();
        changed.append(&header, entry).expect("memory can be written");
    }
    let changed = changed.into_inner().expect("memory can be written");
    exchange(&scene, zstd::encode_all(&changed[..], 1).expect("memory can be written"), None);
    assert_snapshot!(checked(&scene, "--deep").join("\n"), @"linux_amd64 small-layer-differs: its file `terraform-provider-widget_v1.4.0` has the mode 644, that of the zip beside it 755");
}

/// A Zstandard frame of so many blocks of 128 KiB, each of one repeated byte.
///
/// Spec: RFC 8878, 3.1.1.
fn bomb(blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3];
    for number in 1..=blocks {
        let header = (128_u32 << 10) << 3 | 1 << 1 | u32::from(number == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn a_small_layer_that_no_installer_unpacks_is_found() {
    let scene = published();
    let cases: [(Vec<u8>, &str); 3] = [
        (bomb(64 << 10), "expands to more than 200 times its size"),
        (b"no archive".to_vec(), "zstd"),
        (b"\x28\xb5\x2f\xfd\x00\x88".to_vec(), "cut short"),
    ];
    for (bytes, want) in cases {
        exchange(&scene, bytes, None);
        let found = checked(&scene, "--deep");
        let is_it = |line: &String| line.starts_with("linux_amd64 small-layer-unreadable") && line.contains(want);
        assert!(found.len() == 1 && is_it(&found[0]), "{want}: {found:?}");
    }
}

/// Folders become zips here, and the small layer has the files of the folder.
#[test]
fn a_folder_of_platform_folders_gets_small_layers_too() {
    let scene = Scene::over_tls();
    ReleaseFolder::new("widget", "1.4.0", &PLATFORMS).write_directories(&scene.path("dist"));
    scene.run(PUSH).success();
    demand_carried(&scene, "acme/widget");
    assert_eq!(checked(&scene, "--deep"), Vec::<String>::new());
}

#[test]
fn a_small_layer_that_saves_nothing_was_published() {
    let scene = Scene::new();
    let dense = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 300_000);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(dense).write_zips(&scene.path("dist"));
    let said = scene.run(PUSH).success();
    assert!(said.text.contains("no small layer: it would save "), "{}", said.text);
    assert!(!said.text.contains("small layer sha256"), "{}", said.text);
}

//! Small layers that are not the package: a warning, and the zip is installed.
#![cfg(unix)]

use tofu_oci_testkit::{Answer, Fault};

use crate::setup::Scene;
use crate::setup::small::{NamedByIndex, layer_of, package, tar_of};
use crate::small_install::{check_same_as_zip, layer, line, locked_project, of_layer, scene_and_lock};

type Entries = Vec<(String, Vec<u8>, u32)>;

/// The layer is asked for, and then the zip; a warning says why.
#[track_caller]
fn check_refused(what: &str, scene: &Scene, lock: &str, layer: &[u8], reason: &str) {
    locked_project(scene, "small", lock);
    let said = scene.run(&line("small")).success();
    let mut asked = scene.packages_asked_for(layer);
    asked.dedup();
    assert_eq!(asked, ["small", "zip"], "{what}");
    let text = said.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(reason), "{what}: {}", said.text);
    check_same_as_zip(scene, "small");
}

#[test]
fn a_layer_that_is_not_the_package_costs_a_warning_and_the_zip_is_installed() {
    let entries = package().entries();
    let with = |change: &dyn Fn(&mut Entries)| {
        let mut entries = entries.clone();
        change(&mut entries);
        layer_of(&entries)
    };
    let link = |kind: tar::EntryType| {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(0);
        tar.append_link(&mut header, "LICENSE", "/etc/passwd").expect("a short name");
        zstd::encode_all(tar.into_inner().expect("memory").as_slice(), 1).expect("memory")
    };
    let escape = {
        let mut tar = tar_of(&[("xx/escaped".to_owned(), b"1".to_vec(), 0o644)]);
        tar[..2].copy_from_slice(b"..");
        let sum: u32 = tar[..512]
            .iter()
            .enumerate()
            .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
            .sum();
        tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        zstd::encode_all(tar.as_slice(), 1).expect("memory")
    };
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("another file", with(&|entries| entries.push(("more".to_owned(), b"1".to_vec(), 0o644))), "it holds h1:"),
        ("a missing file", with(&|entries| drop(entries.pop())), "it holds h1:"),
        (
            "a program that cannot start",
            with(&|entries| entries.iter_mut().for_each(|entry| entry.2 = 0o644)),
            "is not executable",
        ),
        ("a foreign layer", layer_of(&[("etc/motd".to_owned(), b"hello".to_vec(), 0o644)]), "it holds h1:"),
        ("a symbolic link", link(tar::EntryType::Symlink), "is a symbolic link"),
        ("a hard link", link(tar::EntryType::Link), "is a hard link"),
        ("a name that leads out", escape, "it has a `..` part"),
        ("a bomb", layer_of(&[("zeros".to_owned(), vec![0; 30_000_000], 0o644)]), "expands to more than 200 times"),
        ("not zstd", b"not an archive at all".to_vec(), "does not begin as a zstd stream does"),
        ("not tar", zstd::encode_all(&[7; 2000][..], 1).expect("memory"), "does not begin as a tar archive does"),
        ("empty", layer_of(&[]), "the package has no files"),
    ];
    for (what, layer, reason) in cases {
        let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
        check_refused(what, &scene, &lock, &layer, reason);
    }
}

#[test]
fn a_layer_that_does_not_come_costs_a_warning_and_the_zip_is_installed() {
    let layer = layer();
    let gone = || Fault::Answer(Answer::error(404, "BLOB_UNKNOWN", "gone"));
    let damaged = || Fault::CorruptBody(1000);
    for (what, fault, reason) in [
        ("gone", gone as fn() -> Fault, "the zip is fetched instead"),
        ("damaged", damaged, "is damaged: expected"),
        ("cut short", || Fault::ShortenBody(1000), "the zip is fetched instead"),
        ("forbidden", || Fault::status(403, "DENIED"), "the zip is fetched instead"),
    ] {
        let (scene, lock) = scene_and_lock(&layer, NamedByIndex::Yes);
        scene.registry.fault(of_layer(&layer).then(fault()));
        check_refused(what, &scene, &lock, &layer, reason);
    }
}

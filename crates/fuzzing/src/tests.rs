use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use super::input::text_of;
use super::seeds::testdata;
use super::*;

/// The most bytes of all kept inputs together.
const MOST: usize = 512 * 1024;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of the entries of a folder, without this end.
fn entries(folder: &Path, end: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.strip_suffix(end).unwrap_or(&name).to_owned()).collect()
}

fn names() -> BTreeSet<String> {
    TARGETS.iter().map(|target| target.name.to_owned()).collect()
}

/// Inputs on which a target fails.
fn failures(target: &FuzzTarget, inputs: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<String> {
    let failed = |(name, bytes): (String, Vec<u8>)| catch_unwind(|| (target.run)(&bytes)).err().map(|_| name);
    inputs.into_iter().filter_map(failed).map(|name| format!("{}: {name}", target.name)).collect()
}

#[test]
fn no_kept_input_fails() {
    let (mut failed, mut bytes) = (Vec::new(), 0);
    let has_kept = |target: &&FuzzTarget| testdata().join("fuzz").join(target.name).is_dir();
    for target in TARGETS.iter().filter(has_kept) {
        let kept = seeds::files(&format!("fuzz/{}", target.name), "");
        bytes += kept.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        failed.extend(failures(target, kept.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes))));
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(bytes <= MOST, "testdata/fuzz has {bytes} bytes");
}

#[test]
fn no_seed_fails() {
    let seeds =
        |target: &FuzzTarget| (target.seeds)().into_iter().map(|bytes| (bytes.escape_ascii().to_string(), bytes));
    let failed: Vec<String> = TARGETS.iter().flat_map(|target| failures(target, seeds(target))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_target_has_seeds() {
    for target in TARGETS {
        assert!(!(target.seeds)().is_empty(), "{}", target.name);
    }
}

#[test]
fn every_list_of_targets_is_the_table() {
    assert!(TARGETS.is_sorted_by_key(|target| target.name));
    let fuzz = root().join("fuzz");
    assert_eq!(entries(&fuzz.join("fuzz_targets"), ".rs"), names(), "the files in fuzz/fuzz_targets");
    let kept = entries(&testdata().join("fuzz"), "");
    assert!(kept.is_subset(&names()), "a folder in testdata/fuzz is of no target: {kept:?}");
    let listed = |file: &str, start: &str, end: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(fuzz.join(file)).unwrap();
        let name = |line: &str| Some(line.strip_prefix(start)?.split_once(end)?.0.to_owned());
        text.lines().filter_map(name).collect()
    };
    assert_eq!(listed("Cargo.toml", "path = \"fuzz_targets/", ".rs\""), names(), "the programs of fuzz/Cargo.toml");
    assert_eq!(listed("README.md", "| `", "` |"), names(), "the table of fuzz/README.md");
}

#[test]
fn text_ends_where_it_is_not_text() {
    assert_eq!((text_of(b""), text_of(b"a\xc1b"), text_of("ä".as_bytes())), ("", "a", "ä"));
}

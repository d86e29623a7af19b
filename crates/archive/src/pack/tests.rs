//! What is written, read back by us and by others.

use std::io::{Cursor, Read as _};
use std::path::PathBuf;

use proptest::prelude::*;
use tofu_oci_types::Digest;

use super::*;
use crate::testing::{Pieces, put};
use crate::zip::tests::builder::{Archive, deflated, directory, stored};
use crate::{LayerCompression, LayerTree, Limits, PackageContents, input_files, read_directory, read_zip, unpack_zip};

const LONG: &str = "a/very/long/name/that/does/not/fit/into/the/hundred/bytes/of/an/old/header/and/not/into/its/prefix";

fn example(dir: &Path) -> Vec<InputFile> {
    put(&dir.join("terraform-provider-zap_v1"), &b"#!/bin/sh\n".repeat(50_000));
    put(&dir.join("docs/é.md"), b"accent");
    put(&dir.join("docs/B"), b"");
    put(&dir.join("a-b"), b"1");
    put(&dir.join("a.b"), b"2");
    put(&dir.join("a/b"), b"3");
    put(&dir.join(LONG).join("x".repeat(200)), b"4");
    input_files(dir, "zap").unwrap()
}

fn unpack_layer(dir: &Path, layer: &Path) -> PackageContents {
    let bytes = std::fs::read(layer).unwrap();
    let compression = if bytes.starts_with(&[0x1f, 0x8b]) { LayerCompression::Gzip } else { LayerCompression::Zstd };
    let mut tree = LayerTree::new(dir, Limits::default()).unwrap();
    tree.apply(&mut Pieces { bytes: &bytes, size: 1000 }, compression, None).unwrap();
    let into = tempfile::tempdir_in(dir).unwrap().keep();
    let contents = tree.materialise(&into).unwrap();
    assert_eq!(contents, read_directory(&into, &Limits::default()).unwrap());
    contents
}

#[test]
fn zip_and_layer_are_the_same_bytes_every_time_and_hold_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = example(&dir.path().join("in"));
    let out = |name: &str| dir.path().join(name);
    let zip = write_zip(&files, &out("1.zip")).unwrap();
    let layer = write_layer(&files, &out("1.tgz")).unwrap();
    let small = write_small_layer(&files, &out("1.tzst")).unwrap();
    files.reverse();
    put(&out("2.zip"), &vec![1; 1_000_000]);
    assert_eq!(write_zip(&files, &out("2.zip")).unwrap(), zip);
    assert_eq!(write_layer(&files, &out("2.tgz")).unwrap(), layer);
    assert_eq!(write_small_layer(&files, &out("2.tzst")).unwrap(), small);
    for (first, second, digest, size) in [
        ("1.zip", "2.zip", &zip.digest, zip.size),
        ("1.tgz", "2.tgz", &layer.digest, layer.size),
        ("1.tzst", "2.tzst", &small.digest, small.size),
    ] {
        let bytes = std::fs::read(out(first)).unwrap();
        assert_eq!(bytes, std::fs::read(out(second)).unwrap());
        assert_eq!((&Digest::sha256(&bytes), bytes.len() as u64), (digest, size));
    }
    assert_eq!(zip.contents, layer.contents);
    assert_eq!((&small.contents, &small.diff_id), (&layer.contents, &layer.diff_id));
    assert_eq!(zip.contents.h1(), read_directory(&dir.path().join("in"), &Limits::default()).unwrap().h1());
    assert_eq!(zip.contents.executable("zap").unwrap().mode, 0o755);
    assert_eq!(zip.contents.files().iter().filter(|file| file.mode == 0o755).count(), 1);
    assert_eq!(read_zip(&out("1.zip"), &Limits::default()).unwrap(), zip.contents);
    assert_eq!(unpack_layer(dir.path(), &out("1.tgz")), zip.contents);
    assert_eq!(unpack_layer(dir.path(), &out("1.tzst")), zip.contents);
    let mut source = crate::ReadSource::open(&out("1.tzst")).unwrap();
    assert_eq!(crate::read_tar_zst(&mut source, &Limits::default()).unwrap(), zip.contents);
    // Our own zip is sorted, so it becomes the very layer that its files become.
    assert_eq!(layer_from_zip(&out("1.zip"), "zap", &out("3.tgz"), &Limits::default()).unwrap(), layer);
    assert_eq!(small_layer_from_zip(&out("1.zip"), &out("3.tzst"), &Limits::default()).unwrap(), small);
}

/// So that any reader of Zstandard takes it, as small as a reader's memory is.
#[test]
fn a_frame_of_a_small_layer_says_its_size_and_needs_no_larger_window() {
    let dir = tempfile::tempdir().unwrap();
    let files = example(&dir.path().join("in"));
    let out = dir.path().join("out");
    write_small_layer(&files, &out).unwrap();
    let bytes = std::fs::read(&out).unwrap();
    // Spec: RFC 8878, 3.1.1.1: a single segment, whose window is its content; a size; no checksum, no dictionary.
    assert!(bytes[4] >> 6 > 0);
    assert_eq!(bytes[4] & 0b11_1111, 0b10_0000);
}

#[test]
fn a_small_layer_has_the_modes_of_the_zip() {
    let dir = tempfile::tempdir().unwrap();
    let (zip, layer, into) = (dir.path().join("a.zip"), dir.path().join("a.tzst"), dir.path().join("into"));
    let archive = Archive::of([
        directory("docs/"),
        stored("terraform-provider-zap", "program").mode(3, 0o100_644),
        deflated("docs/a", "a").mode(0, 0),
        deflated("helper", "b").mode(3, 0o100_700),
    ]);
    let bytes = archive.bytes();
    put(&zip, &bytes);
    let written = small_layer_from_zip(&zip, &layer, &Limits::default()).unwrap();
    std::fs::create_dir(&into).unwrap();
    let unpacked = unpack_zip(&mut Pieces { bytes: &bytes, size: 100 }, &into, &Limits::default()).unwrap();
    assert_eq!(unpack_layer(dir.path(), &layer), unpacked);
    assert_eq!(written.contents, unpacked);
}

#[test]
fn the_zip_is_what_another_reader_reads() {
    let dir = tempfile::tempdir().unwrap();
    let files = example(&dir.path().join("in"));
    let out = dir.path().join("out.zip");
    write_zip(&files, &out).unwrap();
    let mut archive = ::zip::ZipArchive::new(Cursor::new(std::fs::read(&out).unwrap())).unwrap();
    let names: Vec<String> =
        (0..archive.len()).map(|index| archive.by_index(index).unwrap().name().unwrap().to_string()).collect();
    assert_eq!(names, files.iter().map(|file| file.name.clone()).collect::<Vec<_>>());
    for file in &files {
        let mut entry = archive.by_name(&file.name).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        assert_eq!(content, std::fs::read(&file.path).unwrap());
        assert_eq!(entry.unix_mode(), Some(0o100_000 | mode_of(file.executable)));
        assert!(!entry.is_dir());
    }
}

#[test]
fn the_layer_is_what_another_reader_reads() {
    let dir = tempfile::tempdir().unwrap();
    let files = example(&dir.path().join("in"));
    let out = dir.path().join("out.tgz");
    let written = write_layer(&files, &out).unwrap();
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(File::open(&out).unwrap()).read_to_end(&mut plain).unwrap();
    assert_eq!(Digest::sha256(&plain), written.diff_id);
    let mut archive = tar::Archive::new(Cursor::new(plain));
    let mut names = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let file = files.iter().find(|file| file.name == name).unwrap();
        let header = entry.header();
        assert_eq!((header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap()), (0, 0, 0));
        assert_eq!(header.mode().unwrap(), mode_of(file.executable));
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        assert_eq!(content, std::fs::read(&file.path).unwrap());
        names.push(name);
    }
    assert_eq!(names, files.iter().map(|file| file.name.clone()).collect::<Vec<_>>());
}

#[test]
fn a_foreign_zip_becomes_a_layer_with_the_same_checksum() {
    let dir = tempfile::tempdir().unwrap();
    let (zip, layer) = (dir.path().join("a.zip"), dir.path().join("a.tgz"));
    let archive = Archive::of([
        directory("docs/"),
        stored("terraform-provider-zap", "program").descriptor(true, false),
        deflated("docs/a", "a").mode(0, 0),
        deflated("helper", "b").mode(3, 0o100_700),
    ]);
    put(&zip, &archive.bytes());
    let written = layer_from_zip(&zip, "zap", &layer, &Limits::default()).unwrap();
    let modes: Vec<u32> = written.contents.files().iter().map(|file| file.mode).collect();
    assert_eq!(modes, [0o644, 0o755, 0o755]);
    assert_eq!(written.contents.h1(), read_zip(&zip, &Limits::default()).unwrap().h1());
    assert_eq!(unpack_layer(dir.path(), &layer), written.contents);
}

#[test]
fn a_bad_zip_does_not_become_a_layer() {
    let dir = tempfile::tempdir().unwrap();
    let (zip, layer) = (dir.path().join("a.zip"), dir.path().join("a.tgz"));
    for entry in [
        deflated("../a", "x"),
        deflated("a", "x").both(|head| head.crc ^= 1),
        deflated("a", "x").central(|head| head.size += 1),
        stored("a", "x").mode(3, 0o120_777),
    ] {
        put(&zip, &Archive::of([entry]).bytes());
        layer_from_zip(&zip, "zap", &layer, &Limits::default()).expect_err("must be refused");
        small_layer_from_zip(&zip, &layer, &Limits::default()).expect_err("must be refused");
    }
}

#[test]
fn only_clean_names_are_packed() {
    let dir = tempfile::tempdir().unwrap();
    put(&dir.path().join("x"), b"x");
    let file = |name: &str| InputFile { name: name.to_owned(), path: dir.path().join("x"), executable: false };
    let check = |files: &[InputFile], want: &str| {
        let out = dir.path().join("out");
        assert_eq!(write_zip(files, &out).unwrap_err().to_string(), want);
        assert_eq!(write_layer(files, &out).unwrap_err().to_string(), want);
    };
    check(&[file("../x")], "the archive has an entry with an unsafe name, `../x`: it has a `..` part");
    check(&[file("x"), file("X")], "the archive has the entries `x` and `X`, which are one name on some systems");
    check(&[], "the package has no files");
    let missing = InputFile { path: PathBuf::from("/nowhere/at/all"), ..file("x") };
    check(&[missing], "cannot read /nowhere/at/all");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_packed_comes_back(
        files in prop::collection::btree_map("([a-d]{1,3}/){0,2}[e-h]{1,4}", prop::collection::vec(any::<u8>(), 0..3000), 1..8),
        size in 1_usize..5000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let inputs: Vec<InputFile> = files.iter().map(|(name, content)| {
            let path = dir.path().join("in").join(name);
            put(&path, content);
            InputFile { name: name.clone(), path, executable: false }
        }).collect();
        let zip = write_zip(&inputs, &dir.path().join("a.zip")).unwrap();
        let bytes = std::fs::read(dir.path().join("a.zip")).unwrap();
        let into = dir.path().join("into");
        std::fs::create_dir(&into).unwrap();
        let unpacked = unpack_zip(&mut Pieces { bytes: &bytes, size }, &into, &Limits::default()).unwrap();
        prop_assert_eq!(&unpacked, &zip.contents);
        prop_assert_eq!(unpacked.h1(), read_directory(&dir.path().join("in"), &Limits::default()).unwrap().h1());
        prop_assert_eq!(unpacked.h1(), read_directory(&into, &Limits::default()).unwrap().h1());
        let layer = write_layer(&inputs, &dir.path().join("a.tgz")).unwrap();
        prop_assert_eq!(&layer.contents, &zip.contents);
        prop_assert_eq!(unpack_layer(dir.path(), &dir.path().join("a.tgz")), layer.contents);
    }

    #[test]
    fn no_bytes_make_the_unpacker_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let dir = tempfile::tempdir().unwrap();
        let bytes = [b"PK\x03\x04", bytes.as_slice()].concat();
        let mut source = Pieces { bytes: &bytes, size: 64 };
        prop_assert!(unpack_zip(&mut source, dir.path(), &Limits::default()).is_err());
    }
}

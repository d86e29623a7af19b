//! Archives with one fault each, and what becomes of them.

pub(crate) mod builder;
mod delivered;
mod refusals;

use std::sync::atomic::AtomicBool;

use super::*;
use crate::read_directory;
use crate::testing::Pieces;
use builder::{Archive, Raw, deflated, directory, stored};
use tofu_oci_vectors::Vectors;

/// Unpacks in large and in small pieces, and reads as a file: all three must agree, and the folder must hold what the
/// answer says.
#[track_caller]
fn unpack_within(bytes: &[u8], limits: &Limits) -> Result<PackageContents, ArchiveError> {
    let dir = tempfile::tempdir().unwrap();
    let mut first = None;
    for size in [1 << 20, 3] {
        let into = dir.path().join(size.to_string());
        std::fs::create_dir(&into).unwrap();
        let result = unpack_zip(&mut Pieces { bytes, size }, &into, limits);
        if let Ok(contents) = &result {
            assert_eq!(&read_directory(&into, &Limits::default()).unwrap(), contents);
        }
        let first = first.get_or_insert_with(|| result.as_ref().map(Clone::clone).map_err(ToString::to_string));
        assert_eq!(first, &result.map_err(|error| error.to_string()));
    }
    let path = dir.path().join("file.zip");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3, "no spool file is left");
    let read = read_zip(&path, limits);
    assert_eq!(read.as_ref().ok(), first.as_ref().and_then(|first| first.as_ref().ok()));
    let streamed = read_zip_from(&mut Pieces { bytes, size: 4096 }, dir.path(), limits);
    assert_eq!(streamed.ok(), read.ok());
    let into = dir.path().join("again");
    std::fs::create_dir(&into).unwrap();
    unpack_zip(&mut Pieces { bytes, size: 4096 }, &into, limits)
}

#[track_caller]
fn unpack(archive: &Archive) -> Result<PackageContents, ArchiveError> {
    unpack_within(&archive.bytes(), &Limits::default())
}

/// The names and modes that come out.
#[track_caller]
fn check(archive: &Archive, want: &[(&str, u32)]) -> PackageContents {
    let contents = unpack(archive).unwrap();
    let found: Vec<(&str, u32)> = contents.files().iter().map(|file| (file.name.as_str(), file.mode)).collect();
    assert_eq!(found, want);
    contents
}

#[track_caller]
fn check_refused(archive: &Archive, want: &str) {
    assert_eq!(unpack(archive).expect_err("must be refused").to_string(), want);
}

const NAME: &str = "terraform-provider-zap_v1.0.0";

fn good() -> [Raw; 2] {
    [deflated("README.md", "# read me\n"), stored(NAME, "#!/bin/sh\n").mode(3, 0o100_755)]
}

#[test]
fn an_ordinary_archive_is_unpacked() {
    let contents = check(&Archive::of(good()), &[("README.md", 0o644), (NAME, 0o755)]);
    assert_eq!(contents.bytes(), 20);
    assert_eq!(contents.executable("zap").unwrap().name, NAME);
}

#[test]
fn every_checksum_is_that_of_dirhash() {
    Vectors::open("hashes.json").each("packages", |package| {
        let Some(h1) = package["h1_zip_without_dir_entries"].as_str() else { return };
        let file =
            |file: &serde_json::Value| deflated(file["path"].as_str().unwrap(), file["content"].as_str().unwrap());
        let archive = Archive::of(package["files"].as_array().unwrap().iter().map(file));
        match package["name"].as_str() {
            Some("empty") => check_refused(&archive, "the package has no files"),
            // A file `a` beside a directory `a` cannot be.
            _ => assert_eq!(unpack(&archive).unwrap().h1().as_str(), h1, "{package}"),
        }
    });
}

#[test]
fn the_checksum_of_a_zip_is_the_one_that_opentofu_writes_into_the_lock_file() {
    // Measured with OpenTofu 1.12, a `filesystem_mirror` and a `network_mirror`: it is that of the unpacked folder.
    const DEMO: &str = "terraform-provider-demo_v1.0.0";
    let program = || stored(DEMO, "#!/bin/sh\n").mode(3, 0o100_755);
    let check = |archive: Archive, want: &str| assert_eq!(unpack(&archive).unwrap().h1().as_str(), want);
    let dotted = program().both(|head| head.name = format!("./{DEMO}").into_bytes());
    check(Archive::of([dotted, stored("./LICENSE", "l\n")]), "h1:fM0ETkXKzgSo2ShK80Z/8jYXXq7EL7fL3Xg/MUq3pjw=");
    let with_folder = [program(), directory("docs/"), stored("docs/a.md", "x")];
    check(Archive::of(with_folder), "h1:mBMegbm+ZkxqfvYpA/8xfmp0iRja4c3sFQB3WUxmjEo=");
    let link = stored("link", "LICENSE").mode(0, 0o120_777);
    check(Archive::of([program(), link, stored("LICENSE", "l\n")]), "h1:qVGOKkNWStXhLvId7r6hIaCoCN/AK5CNdnbZx+hLqe0=");
    #[cfg(unix)]
    check(Archive::of([program(), stored("docs\\a.md", "x")]), "h1:xSzwgvgPjRuRHj4VgfVfo0Ns9xCklRaEhIZvVp7khxk=");
}

#[test]
fn directories_are_made_and_do_not_count() {
    let archive = Archive::of([directory("docs/"), directory("empty/x/"), deflated("docs/a", "1"), directory("docs/")]);
    let contents = check(&archive, &[("docs/a", 0o644)]);
    assert_eq!(contents.h1(), unpack(&Archive::of([deflated("docs/a", "1")])).unwrap().h1());
    let with_contents = Archive::of([stored("docs/", "x").mode(3, 0o040_755)]);
    check_refused(
        &with_contents,
        "the archive has an entry with an unsafe name, `docs`: it is a directory with contents",
    );
    check_refused(&Archive::of([directory("docs/")]), "the package has no files");
    let deflated_nothing = Archive::of([deflated("docs/", "").mode(3, 0o040_755), deflated("docs/a", "1")]);
    check(&deflated_nothing, &[("docs/a", 0o644)]);
}

#[test]
fn data_descriptors_of_every_form_are_read() {
    for (signature, wide) in [(true, false), (true, true), (false, false), (false, true)] {
        for content in ["", "x", "some contents that deflate well, that deflate well, that deflate well"] {
            let archive = Archive::of([
                deflated("a", content).descriptor(signature, wide),
                stored("b", content).descriptor(signature, wide),
                deflated("c", "end").descriptor(signature, wide),
            ]);
            check(&archive, &[("a", 0o644), ("b", 0o644), ("c", 0o644)]);
        }
    }
}

#[test]
fn stored_data_that_looks_like_records_is_data() {
    let inner = String::from_utf8_lossy(&Archive::of([stored("x", "y")]).bytes()).into_owned();
    check(
        &Archive::of([stored("a", &inner).descriptor(true, false), stored("b", &inner)]),
        &[("a", 0o644), ("b", 0o644)],
    );
}

#[test]
fn a_wrong_descriptor_is_refused() {
    let mut entry = deflated("a", "contents").descriptor(true, false);
    entry.after[4] ^= 1;
    check_refused(&Archive::of([entry]), "`a` does not have the checksum that the archive records");
    let mut entry = deflated("a", "contents").descriptor(true, false);
    entry.after[12] ^= 1;
    check_refused(&Archive::of([entry]), "the archive's directory and the entry `a` disagree about its size");
    let entry = deflated("a", "contents").descriptor(true, false).local(|head| head.size = 3);
    check_refused(&Archive::of([entry]), "the archive's directory and the entry `a` disagree about its size");
    let entry = deflated("a", "contents").descriptor(true, false).local(|head| head.crc = 3);
    check_refused(&Archive::of([entry]), "the archive's directory and the entry `a` disagree about its checksum");
}

#[test]
fn zip64_fields_are_read_where_they_are() {
    for local in [true, false] {
        for make in [deflated, stored] {
            let archive = Archive::of([make("a", "contents").zip64(local), make("b", "more")]);
            check(&archive, &[("a", 0o644), ("b", 0o644)]);
            check(&Archive { zip64_end: true, ..archive }, &[("a", 0o644), ("b", 0o644)]);
        }
    }
    let mut entry = deflated("a", "contents").zip64(true);
    entry.local.extra[4] ^= 1;
    check_refused(&Archive::of([entry]), "the archive's directory and the entry `a` disagree about its size");
    let wrong = deflated("a", "contents").zip64(false).central(|head| head.extra[4] ^= 1);
    check_refused(&Archive::of([wrong]), "the archive's directory and the entry `a` disagree about its size");
}

#[test]
fn modes_are_of_two_classes_and_come_from_unix_alone() {
    let with = |creator, mode, name| Archive::of([deflated(name, "x").mode(creator, mode)]);
    for (mode, want) in [
        (0o100_755, 0o755),
        (0o100_700, 0o755),
        (0o100_001, 0o755),
        (0o106_755, 0o755),
        (0o100_600, 0o644),
        (0o101_666, 0o644),
    ] {
        check(&with(3, mode, "a"), &[("a", want)]);
        check(&with(19, mode, NAME), &[(NAME, want)]);
    }
    for creator in [0, 10, 11] {
        check(&with(creator, 0, "a"), &[("a", 0o644)]);
        check(&with(creator, 0, NAME), &[(NAME, 0o755)]);
        check(&with(creator, 0, "bin/terraform-provider-zap"), &[("bin/terraform-provider-zap", 0o644)]);
    }
    check(&with(3, 0, NAME), &[(NAME, 0o755)]);
}

#[test]
fn what_is_no_file_is_refused() {
    let with = |creator, mode| Archive::of([stored("lnk", "/etc/passwd").mode(creator, mode)]);
    check_refused(&with(3, 0o120_777), "`lnk` is a symbolic link, which a package must not contain");
    check_refused(&with(19, 0o120_777), "`lnk` is a symbolic link, which a package must not contain");
    check_refused(&with(3, 0o020_666), "`lnk` is a device, a pipe or a socket, which a package must not contain");
    check_refused(&with(3, 0o010_666), "`lnk` is a device, a pipe or a socket, which a package must not contain");
    check_refused(&with(3, 0o040_755), "the archive's directory and the entry `lnk` disagree about its type");
}

#[test]
fn types_of_unix_counted_in_archives_from_other_systems() {
    let with = |creator, mode| Archive::of([stored("lnk", "/etc/passwd").mode(creator, mode)]);
    for mode in [0o120_777, 0o020_666, 0o010_666, 0o040_755] {
        for creator in [0, 10, 11, 14] {
            check(&with(creator, mode), &[("lnk", 0o644)]);
        }
    }
    // Go takes it for a folder, whose contents do not count.
    let dos_folder = 0x10 << 16;
    for creator in [0, 11, 14] {
        check_refused(
            &with(creator, dos_folder),
            "the archive's directory and the entry `lnk` disagree about its type",
        );
    }
    check(&with(3, 0o100_644 | dos_folder), &[("lnk", 0o644)]);
}

#[test]
fn what_is_no_zip_is_said_to_be_none() {
    for bytes in [&b""[..], b"P", b"PK", b"<html>", b"\x1f\x8b\x08\x00", b"PK\x07\x08PK\x03\x04"] {
        let error = unpack_within(bytes, &Limits::default()).unwrap_err();
        let want = if bytes.starts_with(b"P") && bytes.len() < 4 {
            "the archive is cut short"
        } else {
            "this is not a zip archive"
        };
        assert_eq!(error.to_string(), want, "{bytes:?}");
    }
    check_refused(&Archive::default(), "the package has no files");
}

#[test]
fn no_part_of_an_archive_passes_for_the_whole() {
    let entries = [
        deflated("README.md", "# read me\n").descriptor(true, false),
        stored("b", "stored").descriptor(false, true),
        deflated("c", "c").zip64(false),
    ];
    for archive in [Archive::of(good()), Archive { comment: b"hello".to_vec(), ..Archive::of(entries) }] {
        let bytes = archive.bytes();
        unpack_within(&bytes, &Limits::default()).unwrap();
        for length in 0..bytes.len() {
            unpack_within(&bytes[..length], &Limits::default()).expect_err("a part");
        }
    }
}

#[test]
fn no_changed_byte_makes_it_panic_or_changes_the_contents() {
    let archive = Archive::of([
        deflated("a", "contents").descriptor(true, false),
        stored("b", "x").descriptor(true, true),
        good()[1].clone(),
    ]);
    let bytes = archive.bytes();
    let want = unpack(&archive).unwrap().h1();
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= [1, 0x80, 0xff][at % 3];
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("into");
        std::fs::create_dir(&into).unwrap();
        if let Ok(contents) = unpack_zip(&mut Pieces { bytes: &bytes, size: 64 }, &into, &Limits::default()) {
            // Times, versions and modes are not covered by `h1:`. Names are: a byte of both headers must change.
            assert_eq!(contents.h1(), want, "byte {at}");
        }
    }
}

#[test]
fn limits_count_what_really_comes() {
    let zeros = "\0".repeat(3 << 20);
    let liar = || deflated("a", &zeros).both(|head| head.size = 1);
    let tight = Limits { total_bytes: 1 << 20, ..Limits::default() };
    let bytes = Archive::of([liar()]).bytes();
    let refused = |bytes: &[u8], limits: &Limits| unpack_within(bytes, limits).unwrap_err().to_string();
    insta::assert_snapshot!(refused(&bytes, &tight), @"the archive holds more than 1048576 bytes");
    insta::assert_snapshot!(
        refused(&bytes, &Limits::default()),
        @"the archive expands to more than 200 times its size"
    );
    let many = Archive::of((0..6).map(|index| stored(&format!("f{index}"), "")));
    let few = Limits { entries: 5, ..Limits::default() };
    insta::assert_snapshot!(refused(&many.bytes(), &few), @"the archive has more than 5 entries");
    let modest = "0123456789abcdef".repeat(1000);
    let honest = Archive::of([deflated("a", &modest)]).bytes();
    unpack_within(&honest, &Limits { ratio: 1, ..Limits::default() }).unwrap();
    let spooled = Archive::of([stored("a", &modest).descriptor(true, false)]).bytes();
    let small = Limits { total_bytes: 1000, ..Limits::default() };
    insta::assert_snapshot!(refused(&spooled, &small), @"the archive holds more than 1000 bytes");
}

#[test]
fn a_folder_that_is_not_empty_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("README.md"), "mine").unwrap();
    let bytes = Archive::of(good()).bytes();
    let error = unpack_zip(&mut Pieces { bytes: &bytes, size: 100 }, dir.path(), &Limits::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot create "), "{error}");
    assert!(!error.is_refusal());
    assert_eq!(std::fs::read_to_string(dir.path().join("README.md")).unwrap(), "mine");
}

#[test]
fn the_error_of_the_source_comes_back_untouched() {
    #[derive(Debug, thiserror::Error)]
    #[error("the line broke")]
    struct Broken;
    struct Breaks(Vec<u8>);
    impl ByteSource for Breaks {
        fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
            if self.0.is_empty() {
                return Err(io::Error::other(Broken));
            }
            Ok(Some(Bytes::from(std::mem::take(&mut self.0))))
        }
    }
    let bytes = Archive::of([deflated("a", "contents"), stored("b", "x").descriptor(true, true)]).bytes();
    for length in 0..bytes.len() {
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("into");
        std::fs::create_dir(&into).unwrap();
        let error = unpack_zip(&mut Breaks(bytes[..length].to_vec()), &into, &Limits::default()).unwrap_err();
        let ArchiveError::Input(source) = error else { panic!("{length}: {error}") };
        assert!(source.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Broken>), "{source}");
    }
}

#[test]
fn reading_can_be_cancelled() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.zip");
    std::fs::write(&path, Archive::of(good()).bytes()).unwrap();
    let error = read_zip_unless(&AtomicBool::new(true), &path, &Limits::default()).unwrap_err();
    assert!(matches!(error, ArchiveError::Cancelled), "{error}");
}

#[test]
fn a_listing_names_the_files_or_says_what_is_wrong() {
    #[track_caller]
    fn check_list(archive: &Archive, want: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.zip");
        std::fs::write(&path, archive.bytes()).unwrap();
        let shown = match list_zip(&path) {
            Ok(files) => {
                let shown = files.iter().map(|file| format!("{} {} {:o}", file.name, file.size, file.mode));
                shown.collect::<Vec<_>>().join("; ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, want);
    }
    let [readme, program] = good();
    let archive = Archive::of([readme, directory("docs/"), program]);
    check_list(&archive, &format!("README.md 10 644; {NAME} 10 755"));
    check_list(
        &Archive { zip64_end: true, comment: b"PK\x05".repeat(9), ..archive },
        &format!("README.md 10 644; {NAME} 10 755"),
    );
    check_list(&Archive::default(), "the package has no files");
    check_list(&Archive { before: b"MZ".to_vec(), ..Archive::of(good()) }, "this is not a zip archive");
    check_list(&Archive::of([deflated("a", ""), deflated("a", "")]), "the archive has two entries named `a`");
    check_list(&Archive { after: b"x".to_vec(), ..Archive::of(good()) }, "the archive is cut short");
}

#[test]
fn a_wide_end_record_that_lies_nowhere_is_a_fault_of_the_archive_and_not_of_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.zip");
    let mut bytes = Archive { zip64_end: true, ..Archive::of(good()) }.bytes();
    let locator = bytes.len() - 22 - 20;
    bytes[locator + 8..locator + 16].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let error = list_zip(&path).unwrap_err();
    insta::assert_snapshot!(error, @"the archive is damaged: its directory is not where it says");
    assert!(read_zip(&path, &Limits::default()).unwrap_err().is_refusal());
}

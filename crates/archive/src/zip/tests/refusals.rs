//! Names that are unsafe, and directories that tell another story than the entries.

use super::*;

#[test]
fn unsafe_names_are_refused_before_anything_is_made() {
    for name in ["../a", "/a", "a/../b", "./../a", ".", "/a//b", "a\\..\\b", "..\\a", "a\0b", "/", "", "../", "a\nb"] {
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("into");
        std::fs::create_dir(&into).unwrap();
        let bytes = Archive::of([deflated(name, "x")]).bytes();
        let error = unpack_zip(&mut Pieces { bytes: &bytes, size: 100 }, &into, &Limits::default()).unwrap_err();
        assert!(matches!(error, ArchiveError::UnsafeName { .. }), "{name:?}: {error}");
        assert_eq!(std::fs::read_dir(&into).unwrap().count(), 0, "{name:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "{name:?}");
    }
    #[cfg(unix)]
    check(&Archive::of([deflated("a\\b", "1")]), &[("a\\b", 0o644)]);
    let rooted = [directory("./"), deflated("./a", "1"), directory("././b/"), deflated("./b/c", "2")];
    check(&Archive::of(rooted), &[("a", 0o644), ("b/c", 0o644)]);
    check_refused(&Archive::of([deflated("a", "1"), deflated("./a", "2")]), "the archive has two entries named `a`");
    let latin = deflated("x", "x").both(|head| head.name = b"\xe9".to_vec());
    check_refused(&Archive::of([latin]), "the archive has an entry with an unsafe name, `\u{fffd}`: it is not UTF-8");
    let other = |name: &[u8]| {
        let mut extra = vec![0x75, 0x70, u8::try_from(5 + name.len()).unwrap(), 0, 1, 0, 0, 0, 0];
        extra.extend(name);
        Archive::of([deflated("x", "x").both(|head| head.extra.clone_from(&extra))])
    };
    check(&other(b"x"), &[("x", 0o644)]);
    check_refused(
        &other(b"y"),
        "the archive has an entry with an unsafe name, `x`: another name is recorded beside it",
    );
}

#[test]
fn a_name_with_an_empty_or_a_dot_part_was_refused() {
    let entries =
        [directory(".//"), deflated("a//b", "1"), deflated("a/./c", "2"), directory("d/./"), deflated("d/.//x", "3")];
    check(&Archive::of(entries), &[("a/b", 0o644), ("a/c", 0o644), ("d/x", 0o644)]);
    for other in ["a//b", "a/./b", "./a/.//b", "a/b/."] {
        let both = Archive::of([deflated("a/b", "1"), deflated(other, "2")]);
        check_refused(&both, "the archive has two entries named `a/b`");
    }
}

#[test]
fn names_that_collide_are_refused() {
    let with = |a, b| Archive::of([deflated(a, "1"), deflated(b, "2")]);
    check_refused(&with("f", "f"), "the archive has two entries named `f`");
    check_refused(&with("f", "f/g"), "the archive has two entries named `f`");
    check_refused(&with("f/g", "f"), "the archive has two entries named `f`");
    check_refused(
        &with("Read", "READ"),
        "the archive has the entries `Read` and `READ`, which are one name on some systems",
    );
    check_refused(
        &with("\u{e9}", "e\u{301}"),
        "the archive has the entries `\u{e9}` and `e\u{301}`, which are one name on some systems",
    );
}

#[test]
fn entries_that_nobody_could_read_are_refused() {
    let encrypted = deflated("a", "x").both(|head| head.flags |= 1);
    check_refused(&Archive::of([encrypted]), "`a` is encrypted");
    for method in [1, 9, 12, 14, 93, 99] {
        let entry = deflated("a", "x").both(|head| head.method = method);
        let want = format!("`a` is compressed with method {method}; a package uses stored or deflate");
        check_refused(&Archive::of([entry]), &want);
    }
}

#[test]
fn a_directory_that_disagrees_is_refused() {
    let with = |change: &dyn Fn(Raw) -> Raw| Archive::of([change(deflated("a", "contents")), deflated("b", "2")]);
    let say = |what: &str| format!("the archive's directory and the entry `a` disagree about its {what}");
    check_refused(&with(&|raw| raw.central(|head| head.name = b"z".to_vec())), &say("name"));
    check_refused(&with(&|raw| raw.central(|head| head.crc ^= 1)), &say("checksum"));
    check_refused(&with(&|raw| raw.central(|head| head.size += 1)), &say("size"));
    check_refused(&with(&|raw| raw.central(|head| head.compressed += 1)), &say("compressed size"));
    check_refused(&with(&|raw| raw.central(|head| head.method = 0)), &say("compression method"));
    check_refused(&with(&|raw| raw.central(|head| head.flags |= 8)), &say("flags"));
    check_refused(&with(&|raw| Raw { offset: 1, ..raw }), &say("offset"));
    check_refused(&with(&|raw| raw.local(|head| head.size += 1)), &say("size"));
    check_refused(&with(&|raw| raw.both(|head| head.size += 1)), &say("size"));
    check_refused(&with(&|raw| raw.both(|head| head.compressed += 1)), &say("compressed size"));
    check_refused(&with(&|raw| raw.both(|head| head.compressed -= 1)), &say("compressed size"));
    let wrong = "`a` does not have the checksum that the archive records";
    check_refused(&with(&|raw| raw.both(|head| head.crc ^= 1)), wrong);
}

#[test]
fn nothing_lies_around_the_entries() {
    let archive = || Archive::of(good());
    let junk = || b"0123456789".to_vec();
    check_refused(&Archive { before: junk(), ..archive() }, "this is not a zip archive");
    let between = "the archive is damaged: something lies between its entries";
    check_refused(&Archive { between: junk(), ..archive() }, between);
    check_refused(&Archive { before_directory: junk(), ..archive() }, between);
    check_refused(
        &Archive { before_end: junk(), ..archive() },
        "the archive is damaged: something lies after its directory",
    );
    check_refused(&Archive { after: junk(), ..archive() }, "the archive is damaged: something lies after its end");
    check(&Archive { comment: junk(), ..archive() }, &[("README.md", 0o644), (NAME, 0o755)]);
}

#[test]
fn an_archive_in_the_comment_of_an_archive_was_what_others_unpacked() {
    let hidden = Archive::of([deflated(".git/config", "[core]"), deflated("main.tf", "")]).bytes();
    let one_end = "the archive is damaged: its comment has the end of another archive";
    for after in [&b""[..], b"x"] {
        let comment = [hidden.as_slice(), after].concat();
        check_refused(&Archive { comment, ..Archive::of(good()) }, one_end);
    }
    check_refused(&Archive { comment: b"PK\x05\x06".to_vec(), zip64_end: true, ..Archive::of(good()) }, one_end);
    let mut locator = b"PK\x06\x07".to_vec();
    locator.resize(20, 0);
    let field = [&[0x99, 0x99, 20, 0], locator.as_slice()].concat();
    check_refused(
        &Archive::of([deflated("a", "1"), deflated("b", "2").central(|head| head.extra.clone_from(&field))]),
        "the archive is damaged: an entry of its directory names another directory",
    );
}

#[test]
fn the_directory_lists_each_entry_once_and_in_order() {
    let archive = |listed: &[usize]| Archive { listed: Some(listed.to_vec()), ..Archive::of(good()) };
    check_refused(&archive(&[0]), "the archive is damaged: its directory lists fewer entries than there are");
    check_refused(&archive(&[0, 1, 1]), "the archive is damaged: its directory lists more entries than there are");
    check_refused(&archive(&[1, 0]), "the archive's directory and the entry `README.md` disagree about its name");
    check_refused(
        &Archive { count: 1, ..Archive::of(good()) },
        "the archive is damaged: its end record disagrees with its directory",
    );
    // Two listings of one body: the second overlaps the first.
    let overlap = Archive::of([deflated("a", "x"), Raw { offset: -32, ..deflated("b", "x") }]);
    check_refused(&overlap, "the archive's directory and the entry `b` disagree about its offset");
}

//! Layers made by hand, and what they add up to.

use std::fmt::Write as _;
use std::io::Write as _;

use tar::{EntryType, Header};

use super::*;
use crate::read_directory;
use crate::testing::Pieces;

mod limits;
mod stream;

/// One entry: kind, name, what it points to or contains, mode.
#[derive(Clone)]
struct Item(EntryType, Vec<u8>, Vec<u8>, u32);

fn file(name: &str, content: &str) -> Item {
    Item(EntryType::Regular, name.into(), content.into(), 0o644)
}

fn folder(name: &str) -> Item {
    Item(EntryType::Directory, name.into(), Vec::new(), 0o755)
}

fn link(name: &str, target: &str) -> Item {
    Item(EntryType::Link, name.into(), target.into(), 0o644)
}

fn special(kind: EntryType, name: &str) -> Item {
    Item(kind, name.into(), Vec::new(), 0o644)
}

fn block(item: &Item) -> Vec<u8> {
    let Item(kind, name, content, mode) = item;
    let points = matches!(kind, EntryType::Link | EntryType::Symlink);
    let mut header = Header::new_gnu();
    let old = header.as_old_mut();
    old.name[..name.len().min(100)].copy_from_slice(&name[..name.len().min(100)]);
    if points {
        old.linkname[..content.len()].copy_from_slice(content);
    }
    let content = if points { &[][..] } else { content };
    header.set_entry_type(*kind);
    header.set_mode(*mode);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend(content);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

fn tar_of(items: &[Item]) -> Vec<u8> {
    let mut out: Vec<u8> = items.iter().flat_map(block).collect();
    out.extend([0; 1024]);
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Layers as they come, with their compression; gives the names with contents and modes, or the error.
fn union_within(layers: &[(LayerCompression, Vec<u8>)], limits: &Limits) -> Result<String, ArchiveError> {
    let dir = tempfile::tempdir().unwrap();
    let mut tree = LayerTree::new(dir.path(), limits.clone()).unwrap();
    for (index, (compression, bytes)) in layers.iter().enumerate() {
        tree.apply(&mut Pieces { bytes, size: [7, 1 << 20][index % 2] }, *compression, None)?;
    }
    let into = dir.path().join("into");
    fs::create_dir(&into).unwrap();
    let contents = tree.materialise(&into)?;
    assert_eq!(contents, read_directory(&into, &Limits::default()).unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the spool is gone");
    let mut shown = String::new();
    for file in contents.files() {
        let text = fs::read_to_string(into.join(&file.name)).unwrap();
        let mark = if file.mode == 0o755 { "*" } else { "" };
        write!(shown, "{}{mark}={text} ", file.name).unwrap();
    }
    Ok(shown.trim_end().to_owned())
}

#[track_caller]
fn check(layers: &[&[Item]], want: &str) {
    let layers: Vec<_> = layers.iter().map(|items| (LayerCompression::None, tar_of(items))).collect();
    let found = union_within(&layers, &Limits::default()).unwrap_or_else(|error| format!("error: {error}"));
    assert_eq!(found, want);
}

#[track_caller]
fn check_bytes(compression: LayerCompression, bytes: Vec<u8>, want: &str) {
    let found = union_within(&[(compression, bytes)], &Limits::default());
    assert_eq!(found.unwrap_or_else(|error| format!("error: {error}")), want);
}

#[test]
fn names_are_normalised_and_parents_implied() {
    check(&[&[folder("./"), folder("/"), file("./a", "1"), file("/b/c", "2"), file("././d", "3")]], "a=1 b/c=2 d=3");
    check(&[&[folder("e/"), folder("e/f"), file("g/h/i", "")]], "g/h/i=");
    check(&[], "");
    check(&[&[]], "");
}

#[test]
fn later_layers_win() {
    check(&[&[file("a", "1"), file("b", "1")], &[file("a", "2")]], "a=2 b=1");
    check(&[&[file("a", "1"), file("a", "2")]], "a=2");
    check(&[&[file("d/x", "1"), file("d/y", "1")], &[folder("d/"), file("d/x", "2")]], "d/x=2 d/y=1");
}

#[test]
fn a_file_replaces_a_directory_and_the_reverse() {
    check(&[&[file("a/b/c", "1"), file("a.x", "2"), file("ab", "3")], &[file("a", "file")]], "a=file a.x=2 ab=3");
    check(&[&[file("a", "file")], &[folder("a"), file("a/b", "1")]], "a/b=1");
    check(&[&[file("a", "file")], &[file("a/b", "1")]], "a/b=1");
}

#[test]
fn whiteouts_hide_lower_layers_and_never_their_own() {
    let lower = || vec![file("a", "1"), file("d/x", "1"), file("d/e/y", "1"), file("dd", "1")];
    check(&[&lower(), &[file(".wh.a", "")]], "d/e/y=1 d/x=1 dd=1");
    check(&[&lower(), &[file(".wh.d", "")]], "a=1 dd=1");
    check(&[&lower(), &[file("d/.wh.e", ""), file(".wh.nothing", "")]], "a=1 d/x=1 dd=1");
    // Their place in the tar does not matter.
    for items in [[file(".wh.a", ""), file("a", "2")], [file("a", "2"), file(".wh.a", "")]] {
        check(&[&lower(), &items], "a=2 d/e/y=1 d/x=1 dd=1");
    }
    for items in [[file("d/.wh..wh..opq", ""), file("d/new", "2")], [file("d/new", "2"), file("d/.wh..wh..opq", "")]] {
        check(&[&lower(), &items], "a=1 d/new=2 dd=1");
    }
    check(&[&lower(), &[file(".wh..wh..opq", ""), file("only", "2")]], "only=2");
    check(&[&lower(), &[file("d/.wh..wh.plnk", "note")]], "a=1 d/e/y=1 d/x=1 dd=1");
    check(&[&lower(), &[file("a", "2")], &[file(".wh.a", "")]], "d/e/y=1 d/x=1 dd=1");
    check(&[&[file(".wh.", "")]], "error: the archive has an entry with an unsafe name, ``: it is empty");
}

#[test]
fn hard_links_become_copies() {
    check(&[&[file("a", "1"), link("b", "./a"), link("c/d", "/a")]], "a=1 b=1 c/d=1");
    check(&[&[file("a", "1")], &[link("b", "a")], &[file(".wh.a", "")]], "b=1");
    check(&[&[Item(EntryType::Regular, b"a".to_vec(), b"1".to_vec(), 0o755), link("b", "a")]], "a*=1 b*=1");
    let dangling =
        |target: &str| format!("error: `b` is a hard link to `{target}`, which is not a file of the package");
    check(&[&[link("b", "a")]], &dangling("a"));
    check(&[&[link("b", "a"), file("a", "1")]], &dangling("a"));
    check(&[&[folder("a"), link("b", "a")]], &dangling("a"));
    check(&[&[file("a", "1")], &[file(".wh.a", ""), link("b", "a")]], &dangling("a"));
    check(
        &[&[link("b", "../../etc/passwd")]],
        "error: the archive has an entry with an unsafe name, `../../etc/passwd`: it has a `..` part",
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let refused = |what: &str| format!("error: `x` is {what}, which a package must not contain");
    check(&[&[Item(EntryType::Symlink, b"x".to_vec(), b"a".to_vec(), 0o777)]], &refused("a symbolic link"));
    for (kind, what) in [
        (EntryType::Char, "a device"),
        (EntryType::Block, "a device"),
        (EntryType::Fifo, "a pipe"),
        (EntryType::new(b'Z'), "an entry of an unknown kind"),
    ] {
        check(&[&[special(kind, "x")]], &refused(what));
    }
    // Parents that are links cannot be: links are refused first.
    let escape = [Item(EntryType::Symlink, b"x".to_vec(), b"/tmp".to_vec(), 0o777), file("x/y", "1")];
    check(&[&escape], &refused("a symbolic link"));
}

#[test]
fn modes_are_of_two_classes() {
    let with = |mode, name: &str| Item(EntryType::Regular, name.into(), Vec::new(), mode);
    check(&[&[with(0o4755, "a"), with(0o100, "b"), with(0o600, "c"), with(0o2666, "d")]], "a*= b*= c= d=");
}

#[test]
fn unsafe_names_are_refused() {
    for name in ["../a", "a/../b", "a/.//../b", "a\\..\\b", "..\\x", "a\nb", "/../a"] {
        let bytes = tar_of(&[file(name, "x")]);
        let error = union_within(&[(LayerCompression::None, bytes)], &Limits::default()).unwrap_err();
        assert!(matches!(error, ArchiveError::UnsafeName { .. }), "{name:?}: {error}");
    }
    let latin = Item(EntryType::Regular, b"\xe9".to_vec(), Vec::new(), 0o644);
    check(&[&[latin]], "error: the archive has an entry with an unsafe name, `\u{fffd}`: it is not UTF-8");
    let collision = "error: the archive has the entries `a` and `A`, which are one name on some systems";
    check(&[&[file("A", "1")], &[file("a", "2")]], &collision.replace("`a` and `A`", "`A` and `a`"));
    // What is hidden collides with nothing.
    check(&[&[file("A", "1")], &[file(".wh.A", ""), file("a", "2")]], "a=2");
}

#[test]
fn a_name_with_an_empty_or_a_dot_part_was_refused() {
    check(&[&[file("a//b", "1"), file(".//a/./c", "2"), file("d/.", "3")]], "a/b=1 a/c=2 d=3");
    // One name twice, of which a tar takes the later.
    check(&[&[file("a/b", "1"), file("a//b", "2")]], "a/b=2");
}

#[test]
fn long_names_come_in_three_forms() {
    let name = format!("{}/{}", "d".repeat(90), "n".repeat(90));
    let gnu = [special_with(EntryType::GNULongName, &[name.as_bytes(), b"\0"].concat()), file("short", "1")];
    check(&[&gnu], &format!("{name}=1"));
    let record = |key: &str, value: &str| {
        let rest = key.len() + value.len() + 3;
        let length = rest + (rest + 3).to_string().len();
        format!("{length} {key}={value}\n").into_bytes()
    };
    let pax = [special_with(EntryType::XHeader, &record("path", &name)), file("short", "1")];
    check(&[&pax], &format!("{name}=1"));
    let global = [special_with(EntryType::XGlobalHeader, b"12 comment=x"), file("a", "1")];
    check(&[&global], "error: the archive is damaged: an extended header cannot be read");
    let renames = [special_with(EntryType::XGlobalHeader, b"10 path=x\n"), file("a", "1")];
    check(&[&renames], "error: the archive is damaged: a global header renames its entries");
    let size = [special_with(EntryType::XHeader, b"10 size=9\n"), file("a", "1")];
    check(&[&size], "error: the archive is damaged: two headers disagree about a size");
    let sparse = [special_with(EntryType::XHeader, b"22 GNU.sparse.major=1\n"), file("a", "1")];
    check(&[&sparse], "error: the archive is damaged: it has a sparse file");
    let huge = [special_with(EntryType::XHeader, &vec![b'x'; 70_000]), file("a", "1")];
    check(&[&huge], "error: the archive is damaged: an extended header is longer than 64 KiB");
    check(&[&pax[..1]], "error: the archive is cut short");
}

fn special_with(kind: EntryType, content: &[u8]) -> Item {
    Item(kind, b"header".to_vec(), content.to_vec(), 0o644)
}

#[test]
fn every_compression_gives_the_same() {
    use LayerCompression::{Gzip, None, Zstd};
    let plain = tar_of(&[file("a", "contents"), file("b", "more")]);
    let (want, cut) = ("a=contents b=more", plain.len() / 2);
    let zst = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    check_bytes(None, plain.clone(), want);
    check_bytes(Gzip, gzip(&plain), want);
    check_bytes(Zstd, zst(&plain), want);
    // Several members, and padding.
    check_bytes(Gzip, [gzip(&plain[..cut]), gzip(b""), gzip(&plain[cut..]), vec![0; 700]].concat(), want);
    check_bytes(Zstd, [zst(&plain[..cut]), zst(&plain[cut..]), vec![0; 3]].concat(), want);
    check_bytes(None, [plain.clone(), vec![0; 9000]].concat(), want);
    check_bytes(None, plain[..plain.len() - 1024].to_vec(), want);
    let after = "error: the archive is damaged: something lies after its end";
    check_bytes(None, [plain.clone(), b"x".to_vec()].concat(), after);
    check_bytes(Gzip, [gzip(&plain), vec![0, 0, 1]].concat(), after);
    check_bytes(Gzip, gzip(&[plain.clone(), b"x".to_vec()].concat()), after);
    check_bytes(Gzip, [gzip(&plain), b"garbage".to_vec()].concat(), after);
    check_bytes(Zstd, [zst(&plain), b"garbage".to_vec()].concat(), after);
    check_bytes(Gzip, plain.clone(), "error: this does not begin as a gzip stream does");
    check_bytes(Zstd, gzip(&plain), "error: this does not begin as a zstd stream does");
    check_bytes(None, gzip(&plain), "error: this does not begin as a tar archive does");
    for (compression, whole) in [(Gzip, gzip(&plain)), (Zstd, zst(&plain))] {
        for length in 0..whole.len() {
            check_bytes(compression, whole[..length].to_vec(), "error: the archive is cut short");
        }
    }
}

#[test]
fn no_changed_byte_makes_it_panic() {
    let plain = tar_of(&[
        file("a", "contents"),
        link("b", "a"),
        special_with(EntryType::XHeader, b"10 path=x\n"),
        file("c", ""),
    ]);
    let zst = zstd::encode_all(plain.as_slice(), 3).unwrap();
    for (compression, bytes) in
        [(LayerCompression::None, plain.clone()), (LayerCompression::Gzip, gzip(&plain)), (LayerCompression::Zstd, zst)]
    {
        let step = bytes.len().div_ceil(300);
        for at in (0..bytes.len()).step_by(step) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x55;
            let _ = union_within(&[(compression, bytes)], &Limits::default());
        }
    }
}

#[test]
fn a_wide_zstd_window_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(24).unwrap();
    encoder.write_all(&tar_of(&[file("a", "1")])).unwrap();
    let bytes = encoder.finish().unwrap();
    let limits = Limits { window_log: 23, ..Limits::default() };
    let layer = (LayerCompression::Zstd, bytes);
    let error = union_within(std::slice::from_ref(&layer), &limits).unwrap_err();
    insta::assert_snapshot!(error, @"the zstd stream is damaged");
    union_within(&[layer], &Limits::default()).unwrap();
}

#[test]
fn the_uncompressed_layer_is_the_one_that_the_image_names() {
    let dir = tempfile::tempdir().unwrap();
    let plain = tar_of(&[file("a", "1")]);
    let apply = |diff_id: Option<&Digest>| {
        let mut tree = LayerTree::new(dir.path(), Limits::default()).unwrap();
        tree.apply(&mut Pieces { bytes: &gzip(&plain), size: 100 }, LayerCompression::Gzip, diff_id)
    };
    let right = Digest::sha256(&plain);
    assert_eq!(apply(None).unwrap(), right);
    assert_eq!(apply(Some(&right)).unwrap(), right);
    let sha512: Digest = {
        let mut hasher = DigestHasher::sha512();
        hasher.update(&plain);
        hasher.finish()
    };
    assert_eq!(apply(Some(&sha512)).unwrap(), sha512);
    for wrong in [Digest::sha256(b""), "blake3:af13".parse().unwrap()] {
        let error = apply(Some(&wrong)).unwrap_err();
        assert!(matches!(&error, ArchiveError::WrongDiffId { expected, .. } if *expected == wrong), "{error}");
    }
}

#[test]
fn limits_hold_for_all_layers_together() {
    let layer = |name: &str| (LayerCompression::Gzip, gzip(&tar_of(&[file(name, "x")])));
    let layers = [layer("a"), layer("b"), layer("c")];
    let refused = |limits: Limits| union_within(&layers, &limits).unwrap_err().to_string();
    insta::assert_snapshot!(refused(Limits { entries: 2, ..Limits::default() }), @"the archive has more than 2 entries");
    insta::assert_snapshot!(
        refused(Limits { total_bytes: 5000, ..Limits::default() }),
        @"the archive holds more than 5000 bytes"
    );
    let bomb = (LayerCompression::Gzip, gzip(&tar_of(&[file("a", &"\0".repeat(3 << 20))])));
    let error = union_within(&[bomb], &Limits::default()).unwrap_err();
    insta::assert_snapshot!(error, @"the archive expands to more than 200 times its size");
    let mut liar = tar_of(&[file("a", "x")]);
    let mut header = Header::new_gnu();
    header.as_mut_bytes().copy_from_slice(&liar[..512]);
    header.set_size(u64::MAX / 2);
    header.set_cksum();
    liar[..512].copy_from_slice(header.as_bytes());
    check_bytes(LayerCompression::None, liar, "error: the archive is cut short");
}

#[test]
fn long_names_do_not_fill_the_memory() {
    let name = |nth: usize| {
        let pax = |record: &str| Item(EntryType::XHeader, b"p".to_vec(), record.into(), 0o644);
        let path = format!("{nth:0>200}/{}x", "a/".repeat(30));
        let rest = format!(" path={path}\n");
        [pax(&format!("{}{rest}", rest.len() + 3)), folder("d")]
    };
    let layer = gzip(&tar_of(&(0..5000).flat_map(name).collect::<Vec<_>>()));
    let error = union_within(&[(LayerCompression::Gzip, layer)], &Limits::default()).unwrap_err();
    insta::assert_snapshot!(error, @"the archive is damaged: its names are longer than 16 MiB together");
}

#[test]
fn the_error_of_the_source_comes_back_untouched() {
    struct Breaks(Vec<u8>);
    impl ByteSource for Breaks {
        fn next_chunk(&mut self) -> io::Result<Option<bytes::Bytes>> {
            if self.0.is_empty() {
                Err(io::Error::other("the line broke"))
            } else {
                Ok(Some(std::mem::take(&mut self.0).into()))
            }
        }
    }
    let plain = tar_of(&[file("a", "contents")]);
    let zst = zstd::encode_all(plain.as_slice(), 3).unwrap();
    for (compression, bytes) in
        [(LayerCompression::None, plain.clone()), (LayerCompression::Gzip, gzip(&plain)), (LayerCompression::Zstd, zst)]
    {
        for length in (0..bytes.len()).step_by(bytes.len().div_ceil(60)) {
            let dir = tempfile::tempdir().unwrap();
            let mut tree = LayerTree::new(dir.path(), Limits::default()).unwrap();
            let error = tree.apply(&mut Breaks(bytes[..length].to_vec()), compression, None).unwrap_err();
            let ArchiveError::Input(source) = error else { panic!("{length}: {error}") };
            assert_eq!(source.to_string(), "the line broke");
        }
    }
}

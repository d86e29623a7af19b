//! Whole packages in one layer, straight into a folder.

use super::*;
use crate::{FRAME_BYTES, InputFile};

type Compress = fn(&[u8]) -> Vec<u8>;

fn zstd_of(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// The names with contents and modes, or the error, whatever the size of the pieces.
fn unpacked_within(bytes: &[u8], limits: &Limits) -> Result<String, ArchiveError> {
    let mut found = Vec::new();
    for size in [7, 1 << 20] {
        let dir = tempfile::tempdir().unwrap();
        let contents = unpack_tar_zst(&mut Pieces { bytes, size }, dir.path(), limits)?;
        assert_eq!(contents, read_directory(dir.path(), &Limits::default()).unwrap());
        let shown = contents.files().iter().map(|file| {
            let text = fs::read_to_string(dir.path().join(&file.name)).unwrap();
            let mark = if file.mode == 0o755 { "*" } else { "" };
            format!("{}{mark}={}", file.name, &text[..text.len().min(8)])
        });
        found.push(shown.collect::<Vec<_>>().join(" "));
    }
    assert_eq!(found[0], found[1]);
    Ok(found.remove(0))
}

#[track_caller]
fn check_bytes(bytes: &[u8], want: &str) {
    let found = unpacked_within(bytes, &Limits::default()).unwrap_or_else(|error| format!("error: {error}"));
    assert_eq!(found, want);
}

#[track_caller]
fn check(items: &[Item], want: &str) {
    check_bytes(&zstd_of(&tar_of(items)), want);
}

#[test]
fn files_and_directories_are_put_into_the_folder() {
    let program = Item(EntryType::Regular, "./program".into(), "#!".into(), 0o4711);
    check(
        &[folder("./"), folder("docs"), file("docs/a/b", "1"), program, file("empty", "")],
        "docs/a/b=1 empty= program*=#!",
    );
    let large: String = (10_000_000..10_400_000_u32).map(|number| number.to_string()).collect();
    check(&[file("exact", &large[..1 << 20]), file("large", &large)], "exact=10000000 large=10000000");
}

#[test]
fn what_only_a_layer_over_others_can_mean_is_refused() {
    check(&[file("a", "1"), link("b", "a")], "error: `b` is a hard link, which a package must not contain");
    check(&[file(".wh.a", "")], "error: `a` is a whiteout, which a package must not contain");
    check(
        &[file("a", ""), folder("d"), folder("d/e"), file("f/g", "")],
        "error: `d` is a directory without files, which a package must not contain",
    );
    check(&[file("d/.wh..wh..opq", "")], "error: `d` is a whiteout, which a package must not contain");
    check(&[file("a", "1"), file("a", "2")], "error: the archive has two entries named `a`");
    check(&[file("a", "1"), file("a/b", "2")], "error: the archive has two entries named `a`");
    check(
        &[file("a", "1"), file("A", "2")],
        "error: the archive has the entries `a` and `A`, which are one name on some systems",
    );
    check(&[folder("a")], "error: the package has no files");
    check(&[], "error: the package has no files");
}

#[test]
fn nothing_leaves_the_folder() {
    let symlink = Item(EntryType::Symlink, "a".into(), "/etc".into(), 0o777);
    check(&[symlink, file("a/b", "1")], "error: `a` is a symbolic link, which a package must not contain");
    check(&[file("../a", "1")], "error: the archive has an entry with an unsafe name, `../a`: it has a `..` part");
    check(&[special(EntryType::Fifo, "a")], "error: `a` is a pipe, which a package must not contain");
    check(&[special(EntryType::Char, "a")], "error: `a` is a device, which a package must not contain");
}

#[test]
fn damaged_layers_are_refused() {
    let tar = tar_of(&[file("a", "1")]);
    let good = zstd_of(&tar);
    check_bytes(&good, "a=1");
    check_bytes(&good[..good.len() - 4], "error: the archive is cut short");
    check_bytes(&zstd_of(&tar[..512]), "error: the archive is cut short");
    check_bytes(&zstd_of(&tar[..600]), "error: the tar archive is damaged");
    check_bytes(&gzip(&tar), "error: this does not begin as a zstd stream does");
    check_bytes(&zstd_of(&[7; 600]), "error: this does not begin as a tar archive does");
    check_bytes(
        &[good.clone(), b"more".to_vec()].concat(),
        "error: the archive is damaged: something lies after its end",
    );
    check_bytes(
        &zstd_of(&[tar, b"more".to_vec()].concat()),
        "error: the archive is damaged: something lies after its end",
    );
    let mut changed = good;
    let middle = changed.len() / 2;
    changed[middle] ^= 0x55;
    assert!(unpacked_within(&changed, &Limits::default()).is_err());
}

#[test]
fn the_limits_of_layers_hold() {
    let refused = |bytes: &[u8], limits: Limits| unpacked_within(bytes, &limits).unwrap_err().to_string();
    let zeros = zstd_of(&tar_of(&[file("a", &"\0".repeat(8 << 20))]));
    assert_eq!(refused(&zeros, Limits::default()), "the archive expands to more than 200 times its size");
    let total_bytes = 1 << 20;
    assert_eq!(
        refused(&zeros, Limits { total_bytes, ..Limits::default() }),
        "the archive holds more than 1048576 bytes"
    );
    let many: Vec<Item> = (0..20).map(|nth| file(&nth.to_string(), "")).collect();
    let many = zstd_of(&tar_of(&many));
    assert_eq!(refused(&many, Limits { entries: 19, ..Limits::default() }), "the archive has more than 19 entries");
    assert_eq!(
        refused(&many, Limits { packed_bytes: 9, ..Limits::default() }),
        "the archive has 10 bytes or more, and the limit is 9"
    );
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(&tar_of(&[file("a", "1")])).unwrap();
    assert_eq!(refused(&encoder.finish().unwrap(), Limits::default()), "the zstd stream is damaged");
}

/// Gives some bytes, and then fails.
struct Broken<'a>(Pieces<'a>);

impl ByteSource for Broken<'_> {
    fn next_chunk(&mut self) -> io::Result<Option<bytes::Bytes>> {
        self.0.next_chunk()?.map_or_else(|| Err(io::Error::other("the line is down")), |bytes| Ok(Some(bytes)))
    }
}

#[test]
fn a_fault_of_the_source_is_reported_as_it_is() {
    let layer = zstd_of(&tar_of(&[file("a", "1")]));
    let dir = tempfile::tempdir().unwrap();
    let mut source = Broken(Pieces { bytes: &layer[..layer.len() / 2], size: 16 });
    let error = unpack_tar_zst(&mut source, dir.path(), &Limits::default()).unwrap_err();
    assert!(matches!(&error, ArchiveError::Input(source) if source.to_string() == "the line is down"), "{error:?}");
}

/// A layer of some frames, made as `push` makes it, and its tar.
fn framed(size: usize) -> (Vec<u8>, Vec<u8>) {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 60) as u8)
    };
    let text: String = (0..size).map(|_| letter()).collect();
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("in"), dir.path().join("out"));
    fs::write(&path, &text).unwrap();
    let input = InputFile { name: "a".into(), path, executable: false };
    crate::write_small_layer(&[input], &out).unwrap();
    (fs::read(out).unwrap(), tar_of(&[file("a", &text)]))
}

/// Where each frame of the bytes ends.
fn ends(bytes: &[u8]) -> Vec<usize> {
    let frames = (0..).scan(0, |at, _| {
        let size = zstd::zstd_safe::find_frame_compressed_size(&bytes[*at..]).ok()?;
        *at += size;
        (size > 0).then_some(*at)
    });
    frames.collect()
}

#[test]
fn a_small_layer_is_made_of_frames_that_are_read_ahead() {
    for (size, frames) in [(1, 1), (FRAME_BYTES - 512, 2), (FRAME_BYTES * 3 + 5, 4)] {
        let (layer, tar) = framed(size);
        assert_eq!(ends(&layer).len(), frames, "{size}");
        assert_eq!(zstd::decode_all(layer.as_slice()).unwrap().len() % 512, 0);
        let dir = tempfile::tempdir().unwrap();
        unpack_tar_zst(&mut Pieces { bytes: &layer, size: 1 << 16 }, dir.path(), &Limits::default()).unwrap();
        assert!(fs::read(dir.path().join("a")).unwrap() == tar[512..512 + size], "{size}");
        check_bytes(&layer, &format!("a={}", &"gikgmiib"[..size.min(8)]));
    }
}

#[test]
fn frames_of_all_kinds_may_follow_each_other() {
    let (_, tar) = framed(FRAME_BYTES * 2);
    let (small, rest) = tar.split_at(70_000);
    let sized: Compress = |bytes| zstd::bulk::compress(bytes, 1).unwrap();
    let summed: Compress = |bytes| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.set_pledged_src_size(Some(bytes.len() as u64)).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
    let makes: [Compress; 3] = [sized, summed, zstd_of];
    for (nth, make) in makes.iter().enumerate() {
        let parts: Vec<Vec<u8>> =
            rest.chunks(3 << 20).enumerate().map(|(at, part)| makes[(at + nth) % 3](part)).collect();
        let layer = [make(small), sized(&[]), skipped.clone(), parts.concat(), vec![0; 5]].concat();
        check_bytes(&layer, "a=gikgmiib");
    }
}

#[test]
fn frames_that_are_read_ahead_are_checked_like_others() {
    let (layer, _) = framed(FRAME_BYTES * 2);
    let ends = ends(&layer);
    for cut in [3, 9, 30, ends[0] - 1, ends[0] + 2, ends[0] + 40, ends[1] + 1, layer.len() - 1] {
        check_bytes(&layer[..cut], "error: the archive is cut short");
    }
    check_bytes(&layer[..ends[1]], "error: the archive is cut short");
    for (at, bits) in [(ends[0] + 9, 6), (4, 1), (6, 1), (8, 0x80)] {
        let mut changed = layer.clone();
        changed[at] ^= bits;
        let error = unpacked_within(&changed, &Limits::default()).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Damaged { .. } | ArchiveError::Truncated | ArchiveError::Malformed { .. }),
            "{at}: {error}"
        );
    }
    check_bytes(&[&layer[..], b"more"].concat(), "error: the archive is damaged: something lies after its end");
    check_bytes(&[&layer[..ends[0]], b"more"].concat(), "error: the archive is damaged: something lies after its end");
    let many = Limits { entries: 0, ..Limits::default() };
    let refused = unpacked_within(&layer, &many).unwrap_err();
    assert!(matches!(refused, ArchiveError::TooManyMembers { limit: 0 }), "{refused}");
}

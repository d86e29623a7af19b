//! What layers may come to.

use super::*;

/// Whether the layers are refused within this many bytes after unpacking.
fn refused_within(layers: &[(LayerCompression, Vec<u8>)], total_bytes: u64) -> Option<String> {
    union_within(layers, &Limits { total_bytes, ..Limits::default() }).err().map(|error| error.to_string())
}

fn plain(items: &[Item]) -> (LayerCompression, Vec<u8>) {
    (LayerCompression::None, tar_of(items))
}

/// The copies count with the bytes that the layers unpack to, wherever the links stand and whatever becomes of them.
#[test]
fn hard_links_do_not_multiply_beyond_the_limit() {
    let content = "x".repeat(1000);
    let links = |count: u64| (0..count).map(|nth| link(&format!("l{nth}"), "a"));
    let one: Vec<Item> = std::iter::once(file("a", &content)).chain(links(20)).collect();
    let lower = [file("a", &content)];
    let upper: Vec<Item> = links(20).collect();
    let removed: Vec<Item> = (0..20).map(|nth| file(&format!(".wh.l{nth}"), "")).collect();
    let replaced: Vec<Item> =
        std::iter::once(file("a", &content)).chain((0..20).flat_map(|_| [link("l", "a"), file("l", "")])).collect();
    for layers in [
        vec![plain(&one)],
        vec![plain(&lower), plain(&upper)],
        vec![plain(&one), plain(&removed)],
        vec![plain(&replaced)],
    ] {
        let unpacked: u64 = layers.iter().map(|(_, tar)| tar.len() as u64).sum();
        let limit = unpacked + 20 * 1000;
        assert_eq!(refused_within(&layers, limit), None);
        let want = format!("the archive holds more than {} bytes", limit - 1);
        assert_eq!(refused_within(&layers, limit - 1), Some(want));
    }
}

#[test]
fn ten_thousand_hard_links_to_one_large_file_are_refused_before_a_copy_is_made() {
    let content = "x".repeat(1 << 20);
    let items: Vec<Item> =
        std::iter::once(file("a", &content)).chain((0..10_000).map(|nth| link(&format!("l{nth}"), "a"))).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut tree = LayerTree::new(dir.path(), Limits::default()).unwrap();
    let bytes = tar_of(&items);
    let error = tree.apply(&mut Pieces { bytes: &bytes, size: 1 << 20 }, LayerCompression::None, None).unwrap_err();
    insta::assert_snapshot!(error, @"the archive holds more than 2147483648 bytes");
    let spooled = fs::read_dir(tree.spool.path()).unwrap().count();
    assert_eq!(spooled, 1, "the file itself");
}

#[test]
fn layers_may_be_delivered_up_to_the_limit_together() {
    let layer = tar_of(&[file("a", "contents")]);
    let all = 2 * layer.len() as u64;
    let layers = [(LayerCompression::None, layer.clone()), (LayerCompression::None, layer)];
    let within = |packed_bytes| {
        let limits = Limits { packed_bytes, ..Limits::default() };
        union_within(&layers, &limits).err().map(|error| error.to_string())
    };
    assert_eq!(within(all), None);
    assert_eq!(within(all - 1), Some(format!("the archive has {all} bytes or more, and the limit is {}", all - 1)));
}

#[test]
fn a_stream_that_is_no_layer_ends_at_its_first_bytes() {
    /// Counts what was taken.
    struct Endless(u64);
    impl ByteSource for Endless {
        fn next_chunk(&mut self) -> io::Result<Option<bytes::Bytes>> {
            self.0 += 1024;
            Ok(Some(bytes::Bytes::from_static(&[b'<'; 1024])))
        }
    }
    for compression in [LayerCompression::None, LayerCompression::Gzip, LayerCompression::Zstd] {
        let dir = tempfile::tempdir().unwrap();
        let mut tree = LayerTree::new(dir.path(), Limits::default()).unwrap();
        let mut source = Endless(0);
        let error = tree.apply(&mut source, compression, None).unwrap_err();
        assert!(matches!(error, ArchiveError::NotALayer { .. }), "{compression:?}: {error}");
        assert!(error.ends_reading());
        assert!(source.0 <= 2048, "{compression:?}: {} bytes were read", source.0);
    }
}

/// Each costs a decoder and gives nothing that the other limits count.
#[test]
fn a_layer_of_millions_of_empty_members_is_given_up() {
    /// Repeats one member for ever.
    struct Endless(bytes::Bytes, u64);
    impl ByteSource for Endless {
        fn next_chunk(&mut self) -> io::Result<Option<bytes::Bytes>> {
            self.1 += 1;
            Ok(Some(self.0.clone()))
        }
    }
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].to_vec();
    for (compression, member) in [(LayerCompression::Gzip, gzip(b"")), (LayerCompression::Zstd, skipped)] {
        let dir = tempfile::tempdir().unwrap();
        let limits = Limits { entries: 100, ..Limits::default() };
        let mut tree = LayerTree::new(dir.path(), limits).unwrap();
        let mut source = Endless(member.into(), 0);
        let error = tree.apply(&mut source, compression, None).unwrap_err();
        assert_eq!(error.to_string(), "the archive has more than 400 compressed parts", "{compression:?}");
        assert!(error.ends_reading());
        assert_eq!(source.1, 401, "{compression:?}");
    }
}

/// Some tools compress every file of a layer by itself, so that it can be read without the others.
#[test]
fn a_layer_may_have_a_member_for_each_part_of_each_file() {
    let tar = tar_of(&[file("a", "contents"), file("b", "more")]);
    for (compression, compress) in [
        (LayerCompression::Gzip, gzip as fn(&[u8]) -> Vec<u8>),
        (LayerCompression::Zstd, |bytes| zstd::stream::encode_all(bytes, 1).unwrap()),
    ] {
        let members: Vec<u8> = tar.chunks(512).flat_map(compress).collect();
        let limits = Limits { entries: 2, ..Limits::default() };
        assert_eq!(union_within(&[(compression, members)], &limits).unwrap(), "a=contents b=more");
    }
}

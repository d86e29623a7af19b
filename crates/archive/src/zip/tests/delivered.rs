//! Archives that are too large as they come, and what is no archive.

use super::*;

/// Counts the bytes that are taken of a stream without an end.
struct Endless(u64);

impl ByteSource for Endless {
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        self.0 += 1024;
        Ok(Some(Bytes::from_static(&[b'<'; 1024])))
    }
}

#[test]
fn an_archive_may_be_delivered_up_to_the_limit() {
    let stored = |at: Raw| Archive::of([at]).bytes();
    // One that streams, and one that is put aside first.
    for bytes in [stored(deflated("a", "contents")), stored(stored_of_unknown_length())] {
        let size = bytes.len() as u64;
        let within = |packed_bytes| {
            let limits = Limits { packed_bytes, ..Limits::default() };
            let dir = tempfile::tempdir().unwrap();
            let saved = save_zip(&mut Pieces { bytes: &bytes, size: 3 }, &dir.path().join("zip"), &limits);
            let unpacked = unpack_within(&bytes, &limits).map(drop);
            assert_eq!(
                saved.map_err(|error| error.to_string()),
                unpacked.as_ref().map_err(ToString::to_string).copied()
            );
            unpacked.map_err(|error| error.to_string())
        };
        assert_eq!(within(size), Ok(()));
        let want = format!("the archive has {size} bytes or more, and the limit is {}", size - 1);
        assert_eq!(within(size - 1), Err(want));
    }
}

fn stored_of_unknown_length() -> Raw {
    stored("a", "contents").descriptor(true, false)
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("zip");
    let bytes = Archive::of([deflated("a", "contents")]).bytes();
    std::fs::write(&path, &bytes).unwrap();
    let limits = Limits::default();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(limits.packed_bytes + 1).unwrap();
    let want = "the archive has 2147483649 bytes or more, and the limit is 2147483648";
    assert_eq!(read_zip(&path, &limits).unwrap_err().to_string(), want);
    assert_eq!(list_zip(&path).unwrap_err().to_string(), want);
}

#[test]
fn a_stream_that_is_no_archive_ends_at_its_first_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("zip");
    let mut source = Endless(0);
    assert!(matches!(save_zip(&mut source, &path, &Limits::default()), Err(ArchiveError::NotAZip)));
    assert!(matches!(unpack_zip(&mut source, dir.path(), &Limits::default()), Err(ArchiveError::NotAZip)));
    assert_eq!(source.0, 2048);
    assert!(!path.exists());
    let mut empty = Pieces { bytes: b"PK\x05\x06more", size: 1 };
    assert!(matches!(save_zip(&mut empty, &path, &Limits::default()), Err(ArchiveError::Empty)));
}

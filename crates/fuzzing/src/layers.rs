//! Packages: zip archives, small layers, and tar with gzip. What is only read and what is unpacked is the same, it is what then
//! lies in the folder, and nothing lies beside that.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tofu_oci_archive::{
    ArchiveError, Limits, PackageContents, ReadSource, read_directory, read_tar_zst, read_zip, unpack_tar_gz,
    unpack_tar_zst, unpack_zip,
};

use crate::input::with_folder;
use crate::{seeds, tar_archive};

const LIMITS: Limits = Limits { packed_bytes: 1 << 20, total_bytes: 1 << 20, ratio: 200, entries: 32, window_log: 20 };

/// The first byte says what the rest is: a zip, tar with Zstandard, tar with gzip, or plain tar that is packed in either before
/// it is read.
pub fn run(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let tar = || {
        let mut tar = rest.to_vec();
        tar_archive::set_checksums(&mut tar);
        tar
    };
    match kind % 5 {
        0 => zip(rest),
        1 => zstd(rest),
        2 => gzip(rest),
        3 => zstd(&stored_zstd(&tar())),
        _ => gzip(&stored_gzip(&tar())),
    }
}

fn zip(archive: &[u8]) {
    let unpacked = unpacked(|into| unpack_zip(&mut ReadSource::new(archive), into, &LIMITS));
    with_folder("zip", |folder| {
        let file = folder.join("archive.zip");
        fs::write(&file, archive).expect("a file is written");
        assert_eq!(read_zip(&file, &LIMITS).ok(), unpacked);
    });
}

fn zstd(archive: &[u8]) {
    let unpacked = unpacked(|into| unpack_tar_zst(&mut ReadSource::new(archive), into, &LIMITS));
    assert_eq!(read_tar_zst(&mut ReadSource::new(archive), &LIMITS).ok(), unpacked);
}

fn gzip(archive: &[u8]) {
    unpacked(|into| unpack_tar_gz(&mut ReadSource::new(archive), into, &LIMITS));
}

/// What was unpacked into a folder; `None` if the archive is refused.
fn unpacked(unpack: impl Fn(&Path) -> Result<PackageContents, ArchiveError>) -> Option<PackageContents> {
    with_folder("layers", |folder| unpacked_in(folder, unpack))
}

fn unpacked_in(
    folder: &Path,
    unpack: impl Fn(&Path) -> Result<PackageContents, ArchiveError>,
) -> Option<PackageContents> {
    let (inner, into) = (folder.join("inner"), folder.join("inner/into"));
    fs::create_dir_all(&into).expect("a folder is made");
    let contents = match unpack(&into) {
        Ok(contents) => Some(contents),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    };
    if let Some(contents) = &contents {
        assert!(contents.bytes() <= LIMITS.total_bytes && contents.files().len() <= LIMITS.entries);
        for file in contents.files() {
            assert!(!file.name.contains(['\\', '\0']) && matches!(file.mode, 0o644 | 0o755), "{file:?}");
            assert!(file.name.split('/').all(|part| !matches!(part, "" | "." | "..")), "{file:?}");
        }
        let there = read_directory(&into, &LIMITS).expect("what was unpacked can be read");
        assert_eq!(there.h1(), contents.h1(), "{contents:?}");
    }
    for (folder, only) in [(folder, "inner"), (inner.as_path(), "into")] {
        let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        assert_eq!(names.collect::<Vec<_>>(), [only], "something lies beside the package");
    }
    fs::remove_dir_all(&into).expect("a folder is removed");
    contents
}

/// A frame of blocks that are not compressed.
///
/// Spec: RFC 8878, section 3.1.1.
fn stored_zstd(content: &[u8]) -> Vec<u8> {
    const MOST: usize = 1 << 10;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0];
    let count = content.len().div_ceil(MOST).max(1);
    for number in 0..count {
        let block = &content[number * MOST..content.len().min((number + 1) * MOST)];
        let header = u32::try_from(block.len() << 3).expect("a block is small") | u32::from(number + 1 == count);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}

fn stored_gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(content).and_then(|()| encoder.finish()).expect("memory takes all bytes")
}

/// Small packages in each form.
pub fn seeds() -> Vec<Vec<u8>> {
    let tar = tar_archive::of(&[("terraform-provider-widget_v1.0.0", "#!/bin/sh\n"), ("docs/a.md", "text")]);
    let zips = seeds::contents("testrepos-modules", ".zip").into_iter().filter(|zip| zip.len() < 4096);
    let gzips = seeds::contents("testrepos-modules", ".tgz").into_iter().filter(|tar| tar.len() < 4096);
    let with = |kind: u8| move |archive: Vec<u8>| [&[kind][..], &archive].concat();
    let mut found: Vec<Vec<u8>> = zips.map(with(0)).chain(gzips.map(with(2))).collect();
    found.extend([with(1)(stored_zstd(&tar)), with(2)(stored_gzip(&tar)), with(3)(tar.clone()), with(4)(tar)]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_seeds_pack_is_unpacked() {
        let tar = tar_archive::of(&[("a/b.tf", "text"), ("c.tf", "")]);
        let names = |contents: Option<PackageContents>| -> Vec<String> {
            contents.expect("a package").files().iter().map(|file| file.name.clone()).collect()
        };
        let zstd = stored_zstd(&tar);
        assert_eq!(
            names(unpacked(|into| unpack_tar_zst(&mut ReadSource::new(&zstd[..]), into, &LIMITS))),
            ["a/b.tf", "c.tf"]
        );
        let gzip = stored_gzip(&tar);
        assert_eq!(
            names(unpacked(|into| unpack_tar_gz(&mut ReadSource::new(&gzip[..]), into, &LIMITS))),
            ["a/b.tf", "c.tf"]
        );
    }
}

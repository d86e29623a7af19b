//! The names in a zip, read from its end alone, where its directory lies.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use futures_util::TryStreamExt as _;
use tofu_oci_archive::embedded_repository;
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::Descriptor;

use crate::go::{ZipFault, list_names};

/// How many bytes of the end are fetched, as long as the directory reaches further back: that of most modules is shorter than the
/// first.
const ENDS: [u64; 3] = [16 << 10, 1 << 20, LARGEST_DIRECTORY];

/// Bytes of the largest directory that is read, 32 MiB: no package may have one.
pub const LARGEST_DIRECTORY: u64 = 32 << 20;

/// The first name in the directory of a zip that is of a repository of version control, as `OpenTofu` would unpack it; `None` also
/// if no program finds a directory there. No more than `most` bytes are fetched at a time.
///
/// The bytes are not compared with the digest: they are the end of the blob alone.
///
/// # Errors
/// If they cannot be fetched, and [`StoreError::TooLarge`] for a directory that is not within them.
pub async fn repository_in_zip(
    store: &dyn ReadStore,
    zip: &Descriptor,
    most: u64,
) -> Result<Option<String>, StoreError> {
    if zip.size == 0 {
        return Ok(None);
    }
    for length in ENDS.into_iter().take_while(|length| *length <= most) {
        let start = zip.size.saturating_sub(length);
        let mut bytes = Vec::new();
        let mut stream = store.fetch_range_unverified(zip, start..zip.size).await?;
        while let Some(piece) = stream.try_next().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > length {
                break;
            }
        }
        match list_names(&mut KnownEnd { start, bytes, at: 0 }, zip.size) {
            Ok(Ok(names)) => return Ok(embedded_repository(names.iter().map(String::as_str)).map(str::to_owned)),
            Ok(Err(ZipFault::TooMany)) => break,
            // It reaches further back.
            Err(_) if start > 0 => {}
            Ok(Err(_)) | Err(_) => return Ok(None),
        }
    }
    let what = format!("the directory of the zip {}", zip.digest);
    Err(StoreError::TooLarge { place: store.place(), what, limit: most })
}

/// The same for a zip on disk.
///
/// # Errors
/// If the file cannot be read, or if its directory is too large or damaged.
pub fn repository_in_file(path: &Path) -> io::Result<Option<String>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    match list_names(&mut BufReader::new(file), size)? {
        Ok(names) => Ok(embedded_repository(names.iter().map(String::as_str)).map(str::to_owned)),
        Err(ZipFault::TooMany) => Err(io::Error::other("the zip has too many entries")),
        Err(_) => Ok(None),
    }
}

/// The end of a file; what lies before it cannot be read.
struct KnownEnd {
    start: u64,
    bytes: Vec<u8>,
    at: u64,
}

impl Read for KnownEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let at = self.at.checked_sub(self.start).ok_or_else(|| io::Error::other("it was not fetched"))?;
        let left = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default();
        let count = (&mut &*left).read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for KnownEnd {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let length = self.start + self.bytes.len() as u64;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use bytes::Bytes;
    use tofu_oci_store::{MemoryStore, Store as _};
    use tofu_oci_types::Digest;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// A zip of these files, each of so many bytes that do not shrink.
    fn zipped(names: &[&str], bytes: usize) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for name in names {
            zip.start_file(*name, options).unwrap();
            zip.write_all(&vec![b'x'; bytes]).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    async fn found(bytes: Vec<u8>) -> Result<Option<String>, StoreError> {
        let store = MemoryStore::new("memory".parse().unwrap());
        let blob = Descriptor::new("archive/zip", Digest::sha256(&bytes), bytes.len() as u64);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        store.push(&blob, &Bytes::from(bytes)).await.unwrap();
        let found = repository_in_zip(&store, &blob, LARGEST_DIRECTORY).await;
        assert_eq!(repository_in_file(file.path()).unwrap(), found.clone().unwrap(), "all of it says the same");
        found
    }

    #[tokio::test]
    async fn a_repository_in_a_package_was_not_seen_without_reading_it() {
        assert_eq!(found(zipped(&["main.tf", "a/.Git/config"], 10)).await.unwrap().as_deref(), Some("a/.Git/config"));
        assert_eq!(found(zipped(&["main.tf", ".github/x"], 10)).await.unwrap(), None);
        // Its directory alone is at the end, and is longer than what is fetched first.
        let many: Vec<String> = (0..5000).map(|number| format!("{number:0>40}.tf")).collect();
        let names: Vec<&str> = [".hg/hgrc"].into_iter().chain(many.iter().map(String::as_str)).collect();
        assert_eq!(found(zipped(&names, 400)).await.unwrap().as_deref(), Some(".hg/hgrc"));
        // Before other data, as Go reads it.
        let shifted = [b"#!/bin/sh\n".to_vec(), zipped(&["x/HEAD", "x/objects/a", "x/refs/b"], 10)].concat();
        assert_eq!(found(shifted).await.unwrap().as_deref(), Some("x/refs/b"));
        assert_eq!(found(b"no zip".to_vec()).await.unwrap(), None);
        assert_eq!(found(Vec::new()).await.unwrap(), None);
        assert_eq!(found(vec![b'x'; 100_000]).await.unwrap(), None);
    }
}

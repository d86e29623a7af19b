//! Whether a zip of a static tree is whole or cut off, and what the zips say if a document is lost.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use tofu_oci_archive::{Limits, NoKnownFiles, file_sha256, read_zip};
use tofu_oci_disk::open_file;
use tofu_oci_store::{ComparedBy, StoreError};
use tofu_oci_types::{Digest, PackageHash, Platform, ProviderAddr, Version};

use super::mirror_json::{ARCHIVES, MirrorArchive, MirrorDocument};
use crate::MirrorError;
use crate::blocking::blocking;
use crate::transfer::hashed;

/// The record at the end of a zip, without its comment, in bytes. The two last ones are the length of the comment.
const END_RECORD: usize = 22;

/// The longest comment, in bytes.
const COMMENT: usize = 0xffff;

/// Whether the file is the listed zip. By its size, that is whether it ends where the zip in it ends: a document names no sizes.
pub(super) async fn is_listed_one(path: &Path, archive: &MirrorArchive, by: ComparedBy) -> Result<bool, MirrorError> {
    let own = path.to_owned();
    if !blocking(move || ends_as_zip(&own)).await {
        return Ok(false);
    }
    match by {
        ComparedBy::Sizes => Ok(true),
        ComparedBy::Digests => Ok(PackageHash::zh(&hashed(path).await?.0).as_ref() == archive.zh()),
    }
}

fn ends_as_zip(path: &Path) -> bool {
    let tail = || {
        let mut file = open_file(path)?;
        let size = file.metadata()?.len();
        let most = (END_RECORD + COMMENT) as u64;
        file.seek(SeekFrom::Start(size.saturating_sub(most)))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail)?;
        Ok::<_, std::io::Error>(tail)
    };
    let Ok(tail) = tail() else { return false };
    let comment_of =
        |at: usize| Some(usize::from(u16::from_le_bytes(tail.get(at + 20..at + END_RECORD)?.try_into().ok()?)));
    let begins = (0..=tail.len().saturating_sub(END_RECORD)).rev();
    begins
        .filter(|at| tail[*at..].starts_with(b"PK\x05\x06"))
        .any(|at| comment_of(at).is_some_and(|comment| at + END_RECORD + comment == tail.len()))
}

/// The checksum of a zip that lies there.
pub(super) fn zh_of(path: &Path) -> Result<Vec<PackageHash>, StoreError> {
    let sha256 =
        file_sha256(path, &NoKnownFiles).map_err(|error| StoreError::io("read", path, std::io::Error::other(error)))?;
    Ok(PackageHash::zh(&Digest::from_sha256(sha256)).into_iter().collect())
}

/// The zips of a version that lie in the folder of its provider and can be read. What this program has brought was verified before.
pub(super) fn of_version(
    folder: &Path,
    address: &ProviderAddr,
    version: &Version,
) -> Result<Vec<(Platform, MirrorArchive)>, StoreError> {
    let begin = format!("terraform-provider-{}_{version}_", address.provider_type());
    let mut found = Vec::new();
    for name in names(folder)? {
        let platform = name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(".zip")?.parse().ok());
        let path = folder.join(&name);
        let (Some(platform), false) = (platform, path.is_symlink()) else { continue };
        let (Ok(contents), Ok(sha256)) = (read_zip(&path, &Limits::default()), file_sha256(&path, &NoKnownFiles))
        else {
            continue;
        };
        let hashes = PackageHash::zh(&Digest::from_sha256(sha256)).into_iter().chain([contents.h1()]).collect();
        found.push((platform, MirrorArchive { url: name, hashes }));
    }
    Ok(found)
}

/// The versions whose document lists a package.
pub(super) fn listed_versions(folder: &Path) -> Result<Vec<String>, StoreError> {
    let lists = |version: &str| {
        let document = MirrorDocument::read(&folder.join(format!("{version}.json")));
        document.is_ok_and(|document| document.names(ARCHIVES).next().is_some())
    };
    let versions = names(folder)?.into_iter().filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
    Ok(versions.filter(|name| name.parse::<Version>().is_ok() && lists(name)).collect())
}

fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let entries = std::fs::read_dir(folder).map_err(|error| StoreError::io("read", folder, error))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

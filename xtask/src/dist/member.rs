//! Files of a release in an archive: the same bytes for the same files, whoever packs them and whenever.

use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};

use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;

use crate::failure::ChoreResult;

/// A file or, if its path ends with `/`, a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// From the root of the archive, with `/`.
    pub(super) path: String,
    pub(super) mode: u32,
    /// The number of its user and of its group.
    pub(super) owner: u32,
    pub(super) bytes: Vec<u8>,
}

impl Member {
    /// A file that all may read.
    pub(super) fn file(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, owner: 0, bytes: bytes.into() }
    }

    /// A file that all may run.
    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { mode: 0o755, ..Self::file(path, bytes) }
    }

    /// A folder with a mode or owner of its own; others need no member.
    pub(super) fn folder(path: &str, mode: u32, owner: u32) -> Self {
        Self { path: format!("{path}/"), mode, owner, bytes: Vec::new() }
    }
}

/// A tar archive, sorted by path, with the folders that its files lie in.
pub(super) fn tar(members: &[Member], date: u64) -> ChoreResult<Vec<u8>> {
    let given: BTreeSet<&str> = members.iter().map(|member| member.path.as_str()).collect();
    let folders: BTreeSet<&str> = members.iter().flat_map(|member| parents(&member.path)).collect();
    let missing = folders.into_iter().filter(|folder| !given.contains(folder));
    let mut all: Vec<Member> = missing.map(|folder| Member::folder(folder.trim_end_matches('/'), 0o755, 0)).collect();
    all.extend_from_slice(members);
    all.sort_by(|left, right| left.path.cmp(&right.path));
    let mut archive = tar::Builder::new(Vec::new());
    for member in &all {
        let mut header = Header::new_ustar();
        header.set_entry_type(if member.path.ends_with('/') { EntryType::Directory } else { EntryType::Regular });
        header.set_path(&member.path)?;
        header.set_mode(member.mode);
        header.set_uid(member.owner.into());
        header.set_gid(member.owner.into());
        header.set_mtime(date);
        header.set_size(u64::try_from(member.bytes.len())?);
        header.set_cksum();
        archive.append(&header, member.bytes.as_slice())?;
    }
    Ok(archive.into_inner()?)
}

/// The folders above a path, each with its `/`.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    let inner = path.trim_end_matches('/');
    inner.match_indices('/').map(|(at, _)| &path[..=at]).filter(|folder| *folder != "./")
}

/// Bytes compressed, without the time or the name of a system.
pub(super) fn gzip(bytes: &[u8]) -> ChoreResult<Vec<u8>> {
    let mut writer = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// A zip archive, sorted by path. Its times are the first that a zip knows.
pub(super) fn zip(members: &[Member]) -> ChoreResult<Vec<u8>> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by(|left, right| left.path.cmp(&right.path));
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for member in sorted {
        let options = SimpleFileOptions::default()
            .last_modified_time(zip::DateTime::default())
            .compression_level(Some(9))
            .unix_permissions(member.mode);
        archive.start_file(&member.path, options)?;
        archive.write_all(&member.bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn members() -> Vec<Member> {
        vec![Member::program("usr/bin/p", "run"), Member::folder("tmp", 0o1777, 7), Member::file("usr/a", "text")]
    }

    #[test]
    fn an_archive_has_folders_and_depends_on_no_order() {
        let mut reversed = members();
        reversed.reverse();
        let bytes = tar(&members(), 1000).unwrap();
        assert_eq!(bytes, tar(&reversed, 1000).unwrap());
        let mut archive = tar::Archive::new(bytes.as_slice());
        let lines = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            let header = entry.header();
            let (mode, owner, time) = (header.mode().unwrap(), header.uid().unwrap(), header.mtime().unwrap());
            format!("{mode:o} {owner} {time} {} {text}", entry.path().unwrap().display())
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [
                "1777 7 1000 tmp/ ",
                "755 0 1000 usr/ ",
                "644 0 1000 usr/a text",
                "755 0 1000 usr/bin/ ",
                "755 0 1000 usr/bin/p run"
            ]
        );
    }

    #[test]
    fn compressed_bytes_name_no_time_and_no_system() {
        let bytes = gzip(b"text").unwrap();
        assert_eq!(bytes[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
        let files = [Member::program("b", "run"), Member::file("a", "text")];
        assert_eq!(zip(&files).unwrap(), zip(&[files[1].clone(), files[0].clone()]).unwrap());
    }
}

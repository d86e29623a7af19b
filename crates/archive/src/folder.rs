//! A package that lies in a folder.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::contents::no_executable;
use crate::names::{EntryKind, NameSet, check_name, unsafe_name};
use crate::{ArchiveError, KnownFiles, Limits, NoKnownFiles, PackageContents, PackageFile, is_executable_name};

const BUFFER_BYTES: usize = 256 << 10;

/// The files below `dir`, hashed: what `h1:` is computed from to see whether an installed package is still whole.
///
/// As `dirhash` sees it: every file counts, hidden ones too; `dir` itself may be a symbolic link; a link to a file
/// counts as a file with the contents it points to. A mode is `0o755` when any execute bit is set, else `0o644`.
///
/// # Errors
/// A link to a directory or to nothing, a name with a line break or that is not UTF-8, and anything that is neither a
/// file nor a directory. More entries or bytes than an archive may unpack to: no package of ours lies there, and the rest
/// is not read.
///
/// Spec: `golang.org/x/mod/sumdb/dirhash`, `HashDir`; project paper "`OpenTofu` behaviour", section 6.2.
pub fn read_directory(dir: &Path, limits: &Limits) -> Result<PackageContents, ArchiveError> {
    read_known_directory(dir, limits, &NoKnownFiles)
}

/// The same, without reading the files whose checksums are known.
///
/// # Errors
/// As [`read_directory`].
pub fn read_known_directory(
    dir: &Path,
    limits: &Limits,
    known: &dyn KnownFiles,
) -> Result<PackageContents, ArchiveError> {
    let mut buffer = Vec::new();
    let (mut files, mut total) = (Vec::new(), 0_u64);
    for found in walk(dir, limits)? {
        if found.name.contains('\n') {
            return Err(unsafe_name(&found.name, "it has a control character"));
        }
        // Looked at before it is opened: opening a pipe would wait for ever.
        let metadata = fs::metadata(&found.path).map_err(ArchiveError::io("read", &found.path))?;
        if !metadata.is_file() {
            let kind = if metadata.is_dir() { "a link to a directory" } else { "neither a file nor a directory" };
            return Err(ArchiveError::UnsupportedEntry { name: found.name, kind });
        }
        total = total.saturating_add(metadata.len());
        limits.check_unpacked(total)?;
        let (size, sha256) = match known.sha256(&metadata) {
            Some(sha256) => (metadata.len(), sha256),
            None => hash_file(&found.path, metadata.len(), known, &mut buffer)?,
        };
        files.push(PackageFile { name: found.name, size, mode: mode_of(&metadata), sha256 });
    }
    Ok(PackageContents::new(files))
}

/// The SHA-256 of a file, which is read unless it is known.
///
/// # Errors
/// If there is no regular file, or it cannot be read.
pub fn file_sha256(path: &Path, known: &dyn KnownFiles) -> Result<[u8; 32], ArchiveError> {
    let metadata = fs::metadata(path).map_err(ArchiveError::io("read", path))?;
    match known.sha256(&metadata) {
        Some(sha256) => Ok(sha256),
        None => hash_file(path, metadata.len(), known, &mut Vec::new()).map(|(_, sha256)| sha256),
    }
}

/// The file's first `length` bytes: what another program adds to it meanwhile is not counted.
fn hash_file(
    path: &Path,
    length: u64,
    known: &dyn KnownFiles,
    buffer: &mut Vec<u8>,
) -> Result<(u64, [u8; 32]), ArchiveError> {
    let failed = || ArchiveError::io("read", path);
    let mut file = tofu_oci_disk::open_file(path).map_err(failed())?;
    let before = file.metadata().map_err(failed())?;
    buffer.resize(BUFFER_BYTES, 0);
    let mut sha256 = Sha256::new();
    let mut size = 0;
    let mut reader = (&mut file).take(length);
    loop {
        match reader.read(buffer) {
            Ok(0) => break,
            Ok(count) => {
                sha256.update(&buffer[..count]);
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed()(error)),
        }
    }
    let sha256 = sha256.finalize().into();
    if size == before.len() {
        known.was_read(&before, &file.metadata().map_err(failed())?, &sha256);
    }
    Ok((size, sha256))
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    if metadata.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 }
}

#[cfg(not(unix))]
fn mode_of(_metadata: &fs::Metadata) -> u32 {
    0o644
}

/// A file that is to be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// In the package; must be a name that any system can hold.
    pub name: String,
    pub path: PathBuf,
    /// Whether it gets the mode `0o755`.
    pub executable: bool,
}

/// The files below `dir`, fit to be packed for a provider of this type, sorted by name. The provider's executable is
/// the one that gets execute bits: by its name, not by the modes on this machine, which differ between systems.
///
/// # Errors
/// A symbolic link, a special file, a name that some system cannot hold, two names that are one on some system, no
/// file at all, and no executable in the root.
pub fn input_files(dir: &Path, provider_type: &str) -> Result<Vec<InputFile>, ArchiveError> {
    let mut files = plain_files(dir, &Limits { entries: usize::MAX, ..Limits::default() })?;
    for file in &mut files {
        file.executable = is_executable_name(&file.name, provider_type);
    }
    if !files.iter().any(|file| file.executable) {
        return Err(no_executable(provider_type, files.iter().map(|file| file.name.as_str())));
    }
    Ok(files)
}

/// The files below `dir`, fit to be packed, sorted by name, none of them executable.
///
/// # Errors
/// A symbolic link, a special file, a name that some system cannot hold, two names that are one on some system, no
/// file at all, and more entries than `limits` allow.
pub fn plain_files(dir: &Path, limits: &Limits) -> Result<Vec<InputFile>, ArchiveError> {
    let mut names = NameSet::default();
    let mut files = Vec::new();
    for found in walk(dir, limits)? {
        check_name(&found.name)?;
        names.insert(&found.name, EntryKind::File)?;
        if found.kind.is_symlink() {
            return Err(ArchiveError::Symlink { name: found.name });
        }
        if !found.kind.is_file() {
            let kind = "neither a file nor a directory";
            return Err(ArchiveError::UnsupportedEntry { name: found.name, kind });
        }
        files.push(InputFile { name: found.name, path: found.path, executable: false });
    }
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

pub(crate) struct FolderItem {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) kind: fs::FileType,
}

/// Everything below `dir` that is not a directory, in no order. Links are not followed.
pub(crate) fn walk(dir: &Path, limits: &Limits) -> Result<Vec<FolderItem>, ArchiveError> {
    let (mut found, mut entries) = (Vec::new(), 0);
    let mut waiting = vec![(String::new(), dir.to_owned())];
    while let Some((prefix, folder)) = waiting.pop() {
        for entry in fs::read_dir(&folder).map_err(ArchiveError::io("read", &folder))? {
            let entry = entry.map_err(ArchiveError::io("read", &folder))?;
            entries += 1;
            limits.check_entries(entries)?;
            let part = entry.file_name();
            let Some(part) = part.to_str() else {
                return Err(unsafe_name(&format!("{prefix}{}", part.to_string_lossy()), "it is not UTF-8"));
            };
            let (name, path) = (format!("{prefix}{part}"), entry.path());
            let kind = entry.file_type().map_err(ArchiveError::io("read", &path))?;
            if kind.is_dir() {
                waiting.push((format!("{name}/"), path));
            } else {
                found.push(FolderItem { name, path, kind });
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tofu_oci_vectors::Vectors;

    use crate::testing::put;

    #[cfg(unix)]
    #[test]
    fn checksums_are_those_of_dirhash() {
        Vectors::open("hashes.json").each("packages", |package| {
            let Some(files) = package["files"].as_array() else { return };
            let dir = tempfile::tempdir().unwrap();
            for file in files {
                let path = dir.path().join(file["path"].as_str().unwrap());
                match file["symlink"].as_str() {
                    Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                    None => put(&path, file["content"].as_str().unwrap().as_bytes()),
                }
            }
            let contents = read_directory(dir.path(), &Limits::default());
            match package["h1_dir"].as_str() {
                Some(h1) => assert_eq!(contents.unwrap().h1().as_str(), h1, "{package}"),
                None => assert!(package["error"].is_string() && contents.is_err(), "{package}"),
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_itself_may_be_a_link_and_a_link_to_a_file_counts_as_a_file() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("real/a"), b"x");
        put(&dir.path().join("copy/a"), b"x");
        put(&dir.path().join("copy/b"), b"x");
        std::os::unix::fs::symlink("a", dir.path().join("real/b")).unwrap();
        std::os::unix::fs::symlink("real", dir.path().join("link")).unwrap();
        let h1 = |name: &str| read_directory(&dir.path().join(name), &Limits::default()).unwrap().h1();
        assert_eq!(h1("link"), h1("copy"));
    }

    #[test]
    fn a_folder_with_more_than_a_package_may_hold_is_not_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("terraform-provider-zap"), b"12345678");
        let limits = |entries, total_bytes| Limits { total_bytes, entries, ..Limits::default() };
        let told = |limits: &Limits| read_directory(dir.path(), limits).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(told(&limits(1, 8)), Ok(()));
        assert!(matches!(read_directory(dir.path(), &limits(1, 7)), Err(ArchiveError::TooLarge { limit: 7 })));
        // A sparse file of 8 TiB: to hash it would take hours.
        let sparse = fs::File::create(dir.path().join("sparse")).unwrap();
        sparse.set_len(8 << 40).unwrap();
        insta::assert_snapshot!(told(&Limits::default()).unwrap_err(), @"the archive holds more than 2147483648 bytes");
        assert!(matches!(
            read_directory(dir.path(), &limits(1, u64::MAX)),
            Err(ArchiveError::TooManyEntries { limit: 1 })
        ));
        fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
        fs::remove_file(dir.path().join("sparse")).unwrap();
        assert!(matches!(read_directory(dir.path(), &limits(3, 8)), Err(ArchiveError::TooManyEntries { limit: 3 })));
        assert_eq!(told(&limits(4, 8)), Ok(()));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("terraform-provider-zap"), b"x");
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("s")).unwrap();
        let error = read_directory(dir.path(), &Limits::default()).unwrap_err();
        insta::assert_snapshot!(error, @"`s` is neither a file nor a directory, which a package must not contain");
        let error = input_files(dir.path(), "zap").unwrap_err();
        insta::assert_snapshot!(error, @"`s` is neither a file nor a directory, which a package must not contain");
    }

    #[track_caller]
    fn check_input(files: &[&str], want: Result<&[(&str, bool)], &str>) {
        let dir = tempfile::tempdir().unwrap();
        for name in files {
            put(&dir.path().join(name), b"x");
        }
        let found = input_files(dir.path(), "zap");
        let found = found.map(|files| files.into_iter().map(|file| (file.name, file.executable)).collect::<Vec<_>>());
        let want = want.map(|files| files.iter().map(|(name, flag)| ((*name).to_owned(), *flag)).collect::<Vec<_>>());
        assert_eq!(found.map_err(|error| error.to_string()), want.map_err(str::to_owned));
    }

    #[test]
    fn input_files_are_sorted_and_the_executable_is_known_by_its_name() {
        let files = ["terraform-provider-zap_v1", "a-b", "a/b", "a.b", "docs/terraform-provider-zap", ".x"];
        check_input(
            &files,
            Ok(&[
                (".x", false),
                ("a-b", false),
                ("a.b", false),
                ("a/b", false),
                ("docs/terraform-provider-zap", false),
                ("terraform-provider-zap_v1", true),
            ]),
        );
        check_input(&[], Err("the package has no files"));
        check_input(&["README"], Err("the package has no executable `terraform-provider-zap`"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_a_backslash_in_its_name_was_not_packed() {
        let files = ["a\\b", "terraform-provider-zap"];
        check_input(&files, Ok(&[("a\\b", false), ("terraform-provider-zap", true)]));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_packed() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("terraform-provider-zap"), b"x");
        std::os::unix::fs::symlink("terraform-provider-zap", dir.path().join("b")).unwrap();
        let error = input_files(dir.path(), "zap").unwrap_err();
        insta::assert_snapshot!(error, @"`b` is a symbolic link, which a package must not contain");
    }
}

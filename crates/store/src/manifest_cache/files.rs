//! The files of the cache.

use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tofu_oci_disk::{FolderOwner, ScratchFile, make_private_folder, read_file, sweep};
use tofu_oci_types::{Algorithm, Descriptor, Digest};

use crate::manifest::MAX_MANIFEST;

/// Most bytes of all files together.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Most files.
const MOST_FILES: usize = 10_000;
/// Of these parts, one is removed at a time if there is too much.
const PARTS: usize = 4;

/// A folder with a file for each manifest: `FOLDER/sha256/HEX`. It is made for its owner alone. At most 4 MiB each, 64 MiB and 10 000 files together; what was
/// used longest ago is removed first. Several programs may use it at once.
///
/// Whatever goes wrong with it costs a request and nothing else, so no function here has an error.
#[derive(Clone, Debug)]
pub struct ManifestFiles {
    folder: PathBuf,
}

impl ManifestFiles {
    /// The files in this folder, which is made when the first one is written.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.join("sha256") }
    }

    /// The bytes that a descriptor names, compared with its size and digest. A file with other bytes is removed.
    pub fn read(&self, descriptor: &Descriptor) -> Option<Vec<u8>> {
        let path = self.path(&descriptor.digest)?;
        let is_manifest = |found: &fs::Metadata| found.is_file() && found.len() <= MAX_MANIFEST;
        if fs::symlink_metadata(&path).is_ok_and(|found| !is_manifest(&found)) {
            // `write` does nothing if a file is there, so this one must go.
            let _ = fs::remove_file(&path);
        }
        let bytes = read_file(&path, MAX_MANIFEST).ok()?;
        if Digest::sha256(&bytes) != descriptor.digest {
            // Another program may have removed it.
            let _ = fs::remove_file(&path);
            return None;
        }
        if bytes.len() as u64 != descriptor.size {
            // The registry's answer is an error then.
            return None;
        }
        // For the order in which files are removed. A folder that cannot be written keeps its own.
        let _ = File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_times(FileTimes::new().set_modified(SystemTime::now())));
        Some(bytes)
    }

    /// Keeps the bytes of a manifest, which must be those of this digest.
    pub fn write(&self, digest: &Digest, bytes: &[u8]) {
        let Some(path) = self.path(digest) else { return };
        if bytes.len() as u64 > MAX_MANIFEST || path.exists() || make_private_folder(&self.folder).is_err() {
            return;
        }
        let written = ScratchFile::beside(&self.folder).and_then(|file| {
            file.as_file().write_all(bytes)?;
            file.put(&path)
        });
        if written.is_ok() {
            self.make_room(MOST_BYTES, MOST_FILES);
        }
    }

    /// Where a manifest lies. Digests of other algorithms are not kept.
    fn path(&self, digest: &Digest) -> Option<PathBuf> {
        (digest.algorithm() == Algorithm::Sha256).then(|| self.folder.join(digest.encoded()))
    }

    /// Removes what was used longest ago, a quarter of what is allowed, if there is more.
    fn make_room(&self, most_bytes: u64, most_files: usize) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let known = entries.flatten().filter(|entry| entry.file_name().len() == 64).filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        });
        let mut known: Vec<_> = known.collect();
        let mut bytes: u64 = known.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes <= most_bytes && known.len() <= most_files {
            return;
        }
        sweep(&self.folder, FolderOwner::Ours);
        known.sort();
        let (bytes_left, files_left) = (most_bytes - most_bytes / PARTS as u64, most_files - most_files / PARTS);
        let mut files = known.len();
        for (_, size, path) in known {
            if bytes <= bytes_left && files <= files_left {
                break;
            }
            // Another program may be faster.
            let _ = fs::remove_file(path);
            bytes = bytes.saturating_sub(size);
            files -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(bytes: &[u8]) -> Descriptor {
        Descriptor::of("application/vnd.oci.image.manifest.v1+json", bytes)
    }

    #[test]
    fn what_was_written_is_read_and_what_was_changed_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let files = ManifestFiles::new(&folder.path().join("manifests"));
        let one = descriptor(b"one");
        assert_eq!(files.read(&one), None);
        files.write(&one.digest, b"one");
        assert_eq!(files.read(&one).as_deref(), Some(&b"one"[..]));
        assert_eq!(files.read(&Descriptor { size: 4, ..one.clone() }), None, "the descriptor claims another size");
        let path = files.path(&one.digest).unwrap();
        fs::write(&path, "eno").unwrap();
        assert_eq!(files.read(&one), None);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn manifests_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let files = ManifestFiles::new(&folder.path().join("cache/manifests"));
        files.write(&descriptor(b"one").digest, b"one");
        for name in ["cache", "cache/manifests", "cache/manifests/sha256"] {
            let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{name}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_a_manifest_keeps_none_out() {
        let folder = tempfile::tempdir().unwrap();
        let files = ManifestFiles::new(folder.path());
        let one = descriptor(b"one");
        files.write(&one.digest, b"one");
        File::options().write(true).open(files.path(&one.digest).unwrap()).unwrap().set_len(MAX_MANIFEST + 1).unwrap();
        assert_eq!(files.read(&one), None);
        files.write(&one.digest, b"one");
        assert_eq!(files.read(&one).as_deref(), Some(&b"one"[..]));
    }

    #[test]
    fn what_was_used_longest_ago_is_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        let files = ManifestFiles::new(folder.path());
        let old = |number: u64| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number);
        for number in 0..8_u64 {
            let bytes = number.to_be_bytes();
            files.write(&Digest::sha256(&bytes), &bytes);
            let file = File::options().append(true).open(files.path(&Digest::sha256(&bytes)).unwrap()).unwrap();
            file.set_times(FileTimes::new().set_modified(old(number))).unwrap();
        }
        let first = descriptor(&0_u64.to_be_bytes());
        assert!(files.read(&first).is_some(), "it is the newest now");
        let left = |files: &ManifestFiles| {
            (0..8_u64)
                .filter(|number| files.path(&Digest::sha256(&number.to_be_bytes())).unwrap().exists())
                .collect::<Vec<_>>()
        };
        files.make_room(8 * 8, 8);
        assert_eq!(left(&files), [0, 1, 2, 3, 4, 5, 6, 7]);
        files.make_room(8 * 8, 4);
        assert_eq!(left(&files), [0, 6, 7]);
        files.make_room(16, 4);
        assert_eq!(left(&files), [0]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = ManifestFiles::new(file.path());
        files.write(&Digest::sha256(b"one"), b"one");
        assert_eq!(files.read(&descriptor(b"one")), None);
    }
}

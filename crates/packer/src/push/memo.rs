//! The `h1:` of a zip by the zip's digest, remembered between pushes.
//!
//! One small file a zip, named after its digest, so an entry never goes stale. It is written whole or not at all; one
//! that does not read as a checksum counts as missing. Nothing shows that an entry is true: a folder that others may write
//! to is not used, and no signed index holds what was remembered.

use std::fs::Metadata;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tofu_oci_disk::make_private_folder;
use tofu_oci_types::{Algorithm, Digest, PackageHash, Scheme};

/// How many entries are kept; the oldest go first. Some 55 bytes each.
const ENTRIES: usize = 4096;

/// The most bytes of an entry.
const LONGEST: u64 = 128;

/// A folder of remembered checksums.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    dir: PathBuf,
}

impl Memo {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// The checksum, if it is known.
    pub(super) fn get(&self, zip: &Digest) -> Option<PackageHash> {
        let path = self.path(zip)?;
        let (dir, entry) = (std::fs::symlink_metadata(&self.dir).ok()?, std::fs::symlink_metadata(&path).ok()?);
        if !entry.is_file() || !are_own(&dir, &entry) {
            return None;
        }
        let text = String::from_utf8(tofu_oci_disk::read_file(&path, LONGEST).ok()?).ok()?;
        let hash: PackageHash = text.trim_end().parse().ok()?;
        // The Base64 of 32 bytes.
        let plausible = hash.scheme() == Scheme::H1 && hash.value().len() == 44 && hash.value().ends_with('=');
        plausible.then_some(hash)
    }

    /// Remembers a checksum. The push goes on if the memo cannot be written.
    pub(super) fn put(&self, zip: &Digest, h1: &PackageHash) {
        if let Err(error) = self.write(zip, h1) {
            tracing::debug!(%error, dir = %self.dir.display(), "cannot remember a checksum");
        }
    }

    fn write(&self, zip: &Digest, h1: &PackageHash) -> std::io::Result<()> {
        let Some(path) = self.path(zip) else { return Ok(()) };
        make_private_folder(&self.dir)?;
        self.make_room()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        writeln!(file, "{h1}")?;
        file.persist(path)?;
        Ok(())
    }

    /// Removes the oldest quarter if the folder is full.
    fn make_room(&self) -> std::io::Result<()> {
        let mut entries: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(&self.dir)?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
            })
            .collect();
        if entries.len() < ENTRIES {
            return Ok(());
        }
        entries.sort();
        for (_, path) in entries.iter().take(ENTRIES / 4) {
            std::fs::remove_file(path)?;
        }
        Ok(())
    }

    /// Spec: a SHA-256 digest's encoded part is 64 hexadecimal digits, so it is a safe file name.
    fn path(&self, zip: &Digest) -> Option<PathBuf> {
        (zip.algorithm() == Algorithm::Sha256).then(|| self.dir.join(zip.encoded()))
    }
}

/// Whether one owner alone writes to the folder and to the entry.
#[cfg(unix)]
fn are_own(dir: &Metadata, entry: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const OTHERS_WRITE: u32 = 0o022;
    dir.is_dir() && (dir.mode() | entry.mode()) & OTHERS_WRITE == 0 && dir.uid() == entry.uid()
}

/// Elsewhere the folder is below the user's own, whose access list it inherits.
#[cfg(not(unix))]
fn are_own(dir: &Metadata, _entry: &Metadata) -> bool {
    dir.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h1() -> PackageHash {
        PackageHash::h1(&[7; 32])
    }

    #[test]
    fn remembers_and_forgets_what_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let memo = Memo::new(&dir.path().join("new/folder"));
        let zip = Digest::sha256(b"zip");
        assert_eq!(memo.get(&zip), None);
        memo.put(&zip, &h1());
        assert_eq!(memo.get(&zip), Some(h1()));
        for damaged in ["", "h1:short=\n", "zh:abc\n", &"x".repeat(500)] {
            std::fs::write(memo.path(&zip).unwrap(), damaged).unwrap();
            assert_eq!(memo.get(&zip), None, "{damaged}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_an_entry_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let (memo, zip) = (Memo::new(dir.path()), Digest::sha256(b"zip"));
        memo.put(&zip, &h1());
        let path = memo.path(&zip).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(memo.get(&zip), None);
        memo.put(&zip, &h1());
        assert_eq!(memo.get(&zip), Some(h1()));
    }

    #[cfg(unix)]
    #[test]
    fn what_others_may_have_written_is_not_remembered() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("h1");
        let (memo, zip) = (Memo::new(&folder), Digest::sha256(b"zip"));
        memo.put(&zip, &h1());
        let entry = memo.path(&zip).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&entry)), (0o700, 0o600));
        for (path, own) in [(&folder, 0o700), (&entry, 0o600)] {
            for open in [0o777, 0o770, 0o702] {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(open)).unwrap();
                assert_eq!(memo.get(&zip), None, "{} {open:o}", path.display());
            }
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(own)).unwrap();
            assert_eq!(memo.get(&zip), Some(h1()));
        }
        std::fs::rename(&entry, dir.path().join("elsewhere")).unwrap();
        symlink(dir.path().join("elsewhere"), &entry).unwrap();
        assert_eq!(memo.get(&zip), None, "a link");
    }

    #[test]
    fn stays_small() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..ENTRIES {
            std::fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        let memo = Memo::new(dir.path());
        memo.put(&Digest::sha256(b"zip"), &h1());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), ENTRIES - ENTRIES / 4 + 1);
        assert_eq!(memo.get(&Digest::sha256(b"zip")), Some(h1()));
    }
}

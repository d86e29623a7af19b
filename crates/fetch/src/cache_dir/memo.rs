//! What large files hold, by their identity: a file that has not changed is not read again.

use std::fs::{self, Metadata};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tofu_oci_archive::KnownFiles;
use tofu_oci_disk::{FileIdentity, ScratchFile, kernel_label};
use tofu_oci_types::Digest;

use super::folder::CacheFolder;
use super::record::bytes_of_hex;

/// Smaller files, in bytes, are read each time: that takes no longer than looking them up.
pub(crate) const LEAST: u64 = 64 << 10;

/// The longest record, in bytes.
const LONGEST: u64 = 400;

/// A file that was not read for so long may be gone; reading it once more costs less than keeping records for ever.
const OLD: Duration = Duration::from_hours(24 * 90);

/// Checksums of large files, one small file for each: the identity of the file, and its SHA-256.
///
/// A record counts until the machine is started anew: after a crash, a disk may hold other bytes than were written.
#[derive(Clone, Debug)]
pub(crate) struct FileMemo {
    files: PathBuf,
    scratch: PathBuf,
}

impl FileMemo {
    /// The memo of a cache.
    pub(crate) fn of(cache: &CacheFolder) -> Self {
        Self { files: cache.files(), scratch: cache.scratch() }
    }

    /// Removes records that are of no use: those of an earlier start of the machine, and old ones.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.files) else { return };
        for entry in entries.flatten() {
            let is_of_now =
                tofu_oci_disk::read_file(&entry.path(), LONGEST).is_ok_and(|text| text.starts_with(boot().as_bytes()));
            let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|made| made.elapsed().ok());
            if !is_of_now || age.is_some_and(|age| age > OLD) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The SHA-256 of the file with this identity, if it is recorded.
    pub(crate) fn find(&self, identity: &FileIdentity) -> Option<[u8; 32]> {
        self.recorded(identity).filter(|(recorded, _)| recorded == identity).map(|(_, sha256)| sha256)
    }

    /// What is recorded of a file that may have got or lost names since, or had another change of its status.
    fn recorded(&self, identity: &FileIdentity) -> Option<(FileIdentity, [u8; 32])> {
        if identity.size < LEAST {
            return None;
        }
        let bytes = tofu_oci_disk::read_file(&self.path(identity), LONGEST).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?.strip_prefix(line(identity).as_str())?.strip_suffix('\n')?;
        let [changed, links, sha256] = <[&str; 3]>::try_from(text.split(' ').collect::<Vec<_>>()).ok()?;
        let (seconds, nanoseconds) = changed.split_once('.')?;
        let changed = (seconds.parse().ok()?, nanoseconds.parse().ok()?);
        Some((FileIdentity { changed, links: links.parse().ok()?, ..*identity }, bytes_of_hex(sha256)?))
    }

    /// Records what the file with this identity holds. A record that cannot be written costs time, and nothing else.
    pub(crate) fn record(&self, identity: &FileIdentity, sha256: [u8; 32]) {
        if identity.size >= LEAST {
            let FileIdentity { changed: (seconds, nanoseconds), links, .. } = identity;
            let (line, digest) = (line(identity), Digest::from_sha256(sha256));
            let line = format!("{line}{seconds}.{nanoseconds:09} {links} {}\n", digest.encoded());
            let _ = ScratchFile::beside(&self.scratch)
                .and_then(|file| file.as_file().write_all(line.as_bytes()).map(|()| file))
                .and_then(|file| file.put(&self.path(identity)));
        }
    }

    /// The same for a file that was just written or looked at.
    pub(crate) fn record_at(&self, path: &Path, sha256: [u8; 32]) {
        if let Some(identity) = fs::metadata(path).ok().as_ref().and_then(FileIdentity::of) {
            self.record(&identity, sha256);
        }
    }

    /// Forgets what a file holds: its bytes have changed, or may have.
    pub(crate) fn forget(&self, file: &Metadata) {
        if let Some(identity) = FileIdentity::of(file) {
            let _ = fs::remove_file(self.path(&identity));
        }
    }

    fn path(&self, identity: &FileIdentity) -> PathBuf {
        self.files.join(format!("{:x}-{:x}", identity.device, identity.inode))
    }
}

/// What a record begins with: what stays if a name of the file comes or goes.
fn line(identity: &FileIdentity) -> String {
    let FileIdentity { size, mode, modified: (seconds, nanoseconds), born, .. } = identity;
    format!("{} {size} {mode:o} {seconds}.{nanoseconds:09} {} ", boot(), born.unwrap_or_default())
}

/// This start of the machine, if the system names it.
fn boot() -> &'static str {
    kernel_label().unwrap_or("-")
}

impl KnownFiles for FileMemo {
    fn sha256(&self, file: &Metadata) -> Option<[u8; 32]> {
        let identity = FileIdentity::of(file)?;
        let (recorded, sha256) = self.recorded(&identity)?;
        if identity.has_other_links_than(&recorded) {
            // An edit after this moment is no longer taken for a name that came or went.
            self.record(&identity, sha256);
        } else if identity != recorded {
            return None;
        }
        Some(sha256)
    }

    fn was_read(&self, before: &Metadata, after: &Metadata, sha256: &[u8; 32]) {
        match (FileIdentity::of(before), FileIdentity::of(after)) {
            (Some(before), Some(after)) if before == after && after.is_settled() => self.record(&after, *sha256),
            // What was recorded before it changed must not be taken up again when a name of it goes.
            _ => self.forget(after),
        }
    }
}

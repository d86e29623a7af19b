//! When a file need not be read again: its device, inode, size, rights, links and times, one of which changes with its
//! bytes.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a file must have stayed as it is before it is believed that a later change would show: clocks of file
/// systems tick a few times in a second at worst.
const SETTLED: Duration = Duration::from_secs(2);

/// Which file it is, its size, rights, names and times. A file whose identity is the same has the same bytes: no program can
/// set the time of a file's last change of status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970, if the file system says that: the number of a removed file is used again.
    pub born: Option<u128>,
    /// Bytes.
    pub size: u64,
    /// Who may do what with it.
    pub mode: u32,
    /// How many names it has.
    pub links: u64,
    /// Seconds and nanoseconds of the last change of its bytes.
    pub modified: (i64, i64),
    /// The same of its status: links, mode, owner, bytes.
    pub changed: (i64, i64),
}

impl FileIdentity {
    /// `None` if the system does not say, or its times are too coarse to show every change.
    #[cfg(unix)]
    pub fn of(file: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let identity = Self {
            device: file.dev(),
            inode: file.ino(),
            born: file.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|age| age.as_nanos()),
            size: file.size(),
            mode: file.mode() & 0o7777,
            links: file.nlink(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        };
        // A file system without nanoseconds has none in either; some packages have round times of modification.
        (identity.changed.1 != 0).then_some(identity)
    }

    /// `None`: this system does not say.
    #[cfg(not(unix))]
    pub fn of(_file: &Metadata) -> Option<Self> {
        None
    }

    /// Whether both are one file with the same bytes, if only this program has changed its links or mode meanwhile.
    pub fn has_bytes_of(&self, other: &Self) -> bool {
        Self { changed: other.changed, mode: other.mode, links: other.links, ..*self } == *other
    }

    /// Whether it is the `earlier` file with more or fewer names, as far as that shows. A name that comes or goes moves the time
    /// of its status, as an edit does: so an edit between the two is not excluded.
    pub fn has_other_links_than(&self, earlier: &Self) -> bool {
        self.born.is_some() && self.links != earlier.links && self.mode == earlier.mode && self.has_bytes_of(earlier)
    }

    /// Whether the file has been as it is for long enough: a change in this very moment might not show.
    pub fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let limit = now.saturating_sub(SETTLED);
        let settled = |(seconds, _): (i64, i64)| u64::try_from(seconds).is_ok_and(|seconds| seconds < limit.as_secs());
        settled(self.modified) && settled(self.changed)
    }
}

/// The file system that a file or folder is on; the same for all if the system does not say.
#[cfg(unix)]
pub fn device(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(file)
}

/// The file system that a file or folder is on; the same for all if the system does not say.
#[cfg(not(unix))]
pub fn device(_file: &Metadata) -> u64 {
    0
}

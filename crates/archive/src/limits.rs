//! How much an archive may expand to.

use crate::ArchiveError;

/// The largest window of a zstd stream, as a power of two: 128 MiB.
pub const ZSTD_WINDOW_LOG: u32 = 27;

/// Bytes of a package in one zstd frame of a small layer, except the last; what larger frames hold is decompressed as it comes.
pub const FRAME_BYTES: usize = 4 << 20;

/// What an archive may hold. Real bytes are counted while they come; sizes in headers are never believed, and no more than
/// [`FRAME_BYTES`] is allocated from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of an archive as it is delivered, all layers of an image together. 2 GiB.
    pub packed_bytes: u64,
    /// Most bytes after unpacking, all entries (and all layers of an image) together. 2 GiB.
    pub total_bytes: u64,
    /// Most bytes out for each byte in, after the first MiB. 200.
    pub ratio: u64,
    /// Most entries, directories and whiteouts included. 50 000. A layer may have four times as many gzip members or zstd
    /// frames: some tools compress every file by itself.
    pub entries: usize,
    /// Largest zstd window, as a power of two. 27: 128 MiB.
    pub window_log: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { packed_bytes: 2 << 30, total_bytes: 2 << 30, ratio: 200, entries: 50_000, window_log: ZSTD_WINDOW_LOG }
    }
}

impl Limits {
    /// Bytes that may come out before the ratio counts.
    const RATIO_GRACE: u64 = 1 << 20;

    /// Refuses an archive of this size.
    ///
    /// # Errors
    /// [`ArchiveError::Oversized`] if it is more than [`Limits::packed_bytes`].
    pub fn check_packed(&self, bytes: u64) -> Result<(), ArchiveError> {
        if bytes > self.packed_bytes {
            return Err(ArchiveError::Oversized { size: bytes, limit: self.packed_bytes });
        }
        Ok(())
    }

    /// Refuses more delivered bytes than the limit.
    pub(crate) fn check_delivered(&self, bytes: u64) -> Result<(), ArchiveError> {
        self.check_packed(bytes.min(self.packed_bytes.saturating_add(1)))
    }

    /// Refuses more unpacked bytes than the limit.
    pub(crate) fn check_unpacked(&self, bytes: u64) -> Result<(), ArchiveError> {
        if bytes > self.total_bytes {
            return Err(ArchiveError::TooLarge { limit: self.total_bytes });
        }
        Ok(())
    }

    /// Refuses `bytes_out` if it is too much, by itself or for `bytes_in`.
    pub(crate) fn check_bytes(&self, bytes_in: u64, bytes_out: u64) -> Result<(), ArchiveError> {
        self.check_unpacked(bytes_out)?;
        if bytes_out > Self::RATIO_GRACE && bytes_out > bytes_in.saturating_mul(self.ratio) {
            return Err(ArchiveError::RatioExceeded { limit: self.ratio });
        }
        Ok(())
    }

    /// Refuses too many gzip members or zstd frames in a layer. Each costs a decoder, even if it is empty.
    pub(crate) fn check_members(&self, members: usize) -> Result<(), ArchiveError> {
        let limit = self.entries.saturating_mul(4);
        if members > limit {
            return Err(ArchiveError::TooManyMembers { limit });
        }
        Ok(())
    }

    /// Refuses too many entries.
    pub(crate) fn check_entries(&self, entries: usize) -> Result<(), ArchiveError> {
        if entries > self.entries {
            return Err(ArchiveError::TooManyEntries { limit: self.entries });
        }
        Ok(())
    }
}

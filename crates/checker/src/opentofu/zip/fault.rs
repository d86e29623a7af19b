//! Why an archive cannot be read.

/// Why an archive or an entry cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZipFault {
    /// The directory is missing or invalid: `zip: not a valid zip file`.
    Format,
    /// Go does not know the compression method: `zip: unsupported compression algorithm`.
    Algorithm,
    /// The contents do not have the checksum: `zip: checksum error`.
    Checksum,
    /// The archive is truncated: `unexpected EOF`.
    End,
    /// It has more than 100000 entries, so it was not read.
    TooMany,
    /// The compressed data are damaged: `flate: corrupt input`.
    Corrupt,
}

//! Why an archive cannot be read.

/// Why an archive or an entry cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZipFault {
    /// There is no directory, or it does not hold together: `zip: not a valid zip file`.
    Format,
    /// Packed by a method that Go does not know: `zip: unsupported compression algorithm`.
    Algorithm,
    /// The contents are not those of the checksum: `zip: checksum error`.
    Checksum,
    /// The archive breaks off where more should come: `unexpected EOF`.
    End,
    /// It has more than 100000 entries: nothing is known of it.
    TooMany,
    /// The compressed data are damaged: `flate: corrupt input`.
    Corrupt,
}

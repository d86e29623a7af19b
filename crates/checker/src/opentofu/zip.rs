//! Zip archives as Go's `archive/zip` reads them.

/// An archive's directory, with what came of reading each entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipListing {
    /// The entries in the order of the directory.
    pub items: Vec<ZipItem>,
}

/// One entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipItem {
    /// The name as it is stored.
    pub name: String,
    /// Whether Go takes it for a directory.
    pub directory: bool,
    /// Whether its mode says that it is a symbolic link.
    pub link: bool,
    /// The mode's nine permission bits.
    pub permissions: u32,
    /// The compression method.
    pub method: u16,
    /// Bytes after unpacking, as the directory claims.
    pub size: u64,
    /// Why its contents cannot be read, if they cannot.
    pub fault: Option<ZipFault>,
}

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
    /// The compressed data breaks off or is damaged.
    Data,
}

//! Zips that were read to their end.

use tofu_oci_archive::{ArchiveError, PackageContents, Program};
use tofu_oci_types::{Digest, PackageHash};

use crate::go::{ZipFault, ZipListing};

/// The contents of a layer.
#[derive(Debug, Clone)]
pub struct PackageFacts {
    /// Bytes.
    pub size: u64,
    /// SHA-256 of the bytes, whatever digest names them.
    pub sha256: Digest,
    /// Whether they have the digest that names them.
    pub intact: bool,
    /// The archive as Go reads it; an error if it cannot be opened.
    pub zip: Result<ZipListing, ZipFault>,
    /// The package as this program reads it, which is stricter.
    pub contents: Result<PackageContents, String>,
    /// The files of its root that may be a provider's executable, sorted by name, with what their headers say.
    pub programs: Vec<(String, Option<Program>)>,
    /// The same bytes read as a tar in Zstandard, if a descriptor says that they are one: what a small layer holds.
    pub tar: Option<Result<PackageContents, String>>,
}

/// Whether a file of this name in the root may be the executable of some provider.
pub(crate) fn is_any_executable(name: &str) -> bool {
    !name.contains('/') && name.strip_prefix("terraform-provider-").is_some_and(|rest| !rest.is_empty())
}

impl PackageFacts {
    /// The `zh:` of the bytes.
    pub fn zh(&self) -> Option<PackageHash> {
        PackageHash::zh(&self.sha256)
    }

    /// The `h1:` of the files, if the archive can be read.
    pub fn h1(&self) -> Option<PackageHash> {
        self.contents.as_ref().ok().map(PackageContents::h1)
    }

    /// Why this program refuses the archive, if it does.
    pub(crate) fn contents_of(read: Result<PackageContents, ArchiveError>) -> Result<PackageContents, String> {
        read.map_err(|error| error.to_string())
    }
}

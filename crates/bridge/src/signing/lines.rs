//! The lines of a `SHA256SUMS`.

use std::collections::BTreeMap;
use std::fmt;

use tofu_oci_trust::Sums;
use tofu_oci_types::{Digest, PackageHash};

/// The SHA-256 of each zip of a release, by its file's name.
#[derive(Clone, Debug)]
pub(super) struct SumsLines(BTreeMap<String, Digest>);

impl SumsLines {
    pub(super) fn new(zips: impl IntoIterator<Item = (String, Digest)>) -> Self {
        Self(zips.into_iter().collect())
    }

    /// Whether `sums` has each of the lines. It may have more, such as that of a manifest file.
    pub(super) fn are_in(&self, sums: &Sums) -> bool {
        self.0.iter().all(|(name, digest)| {
            let zh = PackageHash::zh(digest);
            zh.is_some() && sums.zh(name) == zh.as_ref()
        })
    }
}

/// As `sha256sum` writes them, sorted by name.
impl fmt::Display for SumsLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, digest)| writeln!(f, "{}  {name}", digest.encoded()))
    }
}

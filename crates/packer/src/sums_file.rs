//! The files beside a release that somebody signed.

/// What a file beside a release says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumsFile {
    /// Which packages the release has: `SHA256SUMS`.
    Checksums,
    /// That somebody signed it.
    Signature,
    Keys,
}

impl SumsFile {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Checksums => "signed checksums",
            Self::Signature => "signatures of checksums",
            Self::Keys => "OpenPGP keys",
        }
    }
}

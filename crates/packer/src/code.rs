//! Stable names of the errors of this crate.

use crate::{PackError, SignError, StateError};

impl PackError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "no-folder",
            Self::NotAFolder { .. } => "not-a-folder",
            Self::NothingFound { .. } => "no-packages",
            Self::TwoPackages { .. } => "two-packages",
            Self::UnknownPlatform { .. } => "unknown-platform",
            Self::InvalidVersion { .. } => "invalid-version",
            Self::VersionConflict { .. } => "version-conflict",
            Self::VersionUnknown { .. } => "version-unknown",
            Self::SeveralVersions { .. } => "several-versions",
            Self::SeveralTypes { .. } => "several-types",
            Self::TypeConflict { .. } => "type-conflict",
            Self::UnreadableName { .. } => "unreadable-name",
            Self::WrongFormat { .. } => "archive-format",
            Self::Malformed { .. } => "metadata-invalid",
            Self::Missing { .. } => "file-missing",
            Self::WrongSum(_) => "wrong-checksum",
            Self::NoSum { .. } => "checksum-missing",
            Self::NoExecutable { .. } => "executable-not-found",
            Self::OtherPlatform(_) => "other-platform",
            Self::OtherAddress(_) => "kept-for-another",
            Self::KeptForOther(kept) => kept.code(),
            Self::LayersDiffer { .. } => "layers-differ",
            Self::SmallLayerTooDense { .. } => "small-layer-too-dense",
            Self::Withdrawn(_) => "withdrawn",
            Self::TagTaken(_) => "tag-taken",
            Self::Vanished { .. } => "vanished",
            Self::NoTag { .. } => "version-without-tag",
            Self::NoRelease { .. } => "tag-not-found",
            Self::NothingToCopy { .. } => "no-releases",
            Self::Copy(error) => error.error.code(),
            Self::Io { .. } => "io",
            Self::Store(error) => error.code(),
            Self::Layout(error) => error.code(),
            Self::Archive { source, .. } => source.code(),
            Self::PrivateKey { .. } => "private-key",
            Self::LargeSumsFile { .. } | Self::TooManySumsFiles { .. } => "sums-limit",
            Self::UnverifiableSums { .. } => "sums-unverifiable",
            Self::WrongSumsSignature { .. } => "wrong-sums-signature",
            Self::Module(fault) => fault.code(),
            Self::Sign(error) => error.code(),
            Self::State(error) => error.code(),
            Self::Stopped => "interrupted",
        }
    }
}

impl SignError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotARelease { .. } => "not-a-release",
            Self::NotAModule { .. } => "module-package-invalid",
            Self::ModuleWithAddress { .. } => "module-with-address",
            Self::AddressUnknown { .. } => "address-unknown",
            Self::OtherProvider { .. } => "signs-another-provider",
            Self::OtherAddress { .. } => "kept-for-another",
            Self::OtherVersion { .. } => "tag-of-another-version",
            Self::Refused { .. } => "signature-refused",
            Self::TagRefused { .. } => "tag-refused",
            Self::NotListed { .. } => "referrer-not-listed",
            Self::NotGivenBack { .. } => "signature-not-kept",
            Self::NotSignatures { .. } => "not-signatures",
            Self::Full { .. } => "too-many-signatures",
            Self::NotFound { .. } => "signature-not-found",
            Self::NoTag { .. } => "no-signature-tag",
            Self::Race { .. } => "tag-race",
        }
    }
}

impl StateError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Moved { .. } => "tag-race",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Replaced { .. } => "replaced-release",
            Self::NotWithdrawn { .. } => "not-withdrawn",
            Self::SignedNotice { .. } => "signed-notice",
        }
    }
}

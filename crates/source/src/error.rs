//! Why a place did not answer with what was asked for.

use tofu_oci_layout::LayoutError;
use tofu_oci_store::StoreError;
use tofu_oci_types::{Platform, ProviderAddr, Version};

/// Why a source failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The place does not have it. The next place may.
    #[error("{}", not_offered(address, place, what))]
    NotOffered {
        /// The provider.
        address: ProviderAddr,
        /// The place that was asked.
        place: String,
        /// What it does not have.
        what: NotOffered,
    },
    /// The place has something under this version's tag, but that is no package that can be installed.
    #[error("{address} {version} in {place} cannot be installed: {problem}")]
    Unusable {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The place.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What lies under this version's tag breaks the rules of every layout.
    #[error("{address} {version} in {place} cannot be installed")]
    Layout {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The place.
        place: String,
        /// Which rule, and what was found instead.
        #[source]
        source: LayoutError,
    },
    /// The place could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a place does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOffered {
    /// The provider itself.
    #[error("no such provider")]
    UnknownProvider,
    /// This version.
    #[error("no version {version}")]
    VersionMissing {
        /// The version that was asked for.
        version: Version,
        /// The versions that the place has, ascending.
        offered: Vec<Version>,
    },
    /// This platform.
    #[error("no package of {version} for {platform}")]
    PlatformMissing {
        /// The version.
        version: Version,
        /// The platform that was asked for.
        platform: Platform,
        /// The platforms that the release has, sorted.
        offered: Vec<Platform>,
    },
}

fn not_offered(address: &ProviderAddr, place: &str, what: &NotOffered) -> String {
    match what {
        NotOffered::UnknownProvider => format!("{address} was not found in {place}"),
        NotOffered::VersionMissing { version, .. } => format!("{address} {version} was not found in {place}"),
        NotOffered::PlatformMissing { version, platform, .. } => {
            format!("{address} {version} has no package for {platform}")
        }
    }
}

impl SourceError {
    /// Whether the same question may be answered when asked again.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_transient())
    }
}

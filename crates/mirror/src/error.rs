//! Why a release was not carried.

use tofu_oci_fetch::FetchError;
use tofu_oci_mapper::MapError;
use tofu_oci_packer::PackError;
use tofu_oci_source::SourceError;
use tofu_oci_store::StoreError;
use tofu_oci_types::{PackageHash, Place, Platform, ProviderAddr, Version};

/// Why a release could not be carried to a place. No part of it is visible there then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// The place that offers the release failed, or does not have it.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A package was refused, or the trust policy refuses the release.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The destination refused or failed, or a copy from one repository to another stopped.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// The template of the destination gives this provider no repository.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The destination cannot be opened, read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Two providers would lie in one repository, where their versions could not be told apart.
    #[error("{first} and {second} would both go to {place}")]
    SharedRepository {
        /// The repository.
        place: Place,
        /// The provider that goes there.
        first: Box<ProviderAddr>,
        /// The other provider.
        second: Box<ProviderAddr>,
    },
    /// The destination has another package under the same version.
    #[error(
        "{from} offers another package of {address} {version} for {platform} than {to} has: {offered}, not {there}"
    )]
    UpstreamChanged {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The platform.
        platform: Platform,
        /// The place that offers it.
        from: Place,
        /// The place that has another one.
        to: Place,
        /// The checksum of the offered package.
        offered: PackageHash,
        /// The checksum of the package that is there.
        there: PackageHash,
    },
    /// The destination has the release for fewer platforms, and its tag may not be moved.
    #[error("{to} has {address} {version} without {}", list(missing))]
    FewerPlatforms {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The place that has it.
        to: Place,
        /// The platforms that it lacks, sorted.
        missing: Vec<Platform>,
    },
}

impl MirrorError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Source(error) => error.code(),
            Self::Fetch(error) => error.code(),
            Self::Pack(error) => error.code(),
            Self::Map(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::SharedRepository { .. } => "shared-repository",
            Self::UpstreamChanged { .. } => "upstream-changed",
            Self::FewerPlatforms { .. } => "fewer-platforms",
        }
    }
}

fn list(platforms: &[Platform]) -> String {
    platforms.iter().map(Platform::to_string).collect::<Vec<_>>().join(", ")
}

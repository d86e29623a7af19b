//! Why a package was not fetched, or not put in its place.

use std::io;
use std::path::PathBuf;

use tofu_oci_archive::ArchiveError;
use tofu_oci_disk::LockError;
use tofu_oci_lockfile::{LockRefusal, PackageHashes};
use tofu_oci_source::{Offer, SourceError};
use tofu_oci_types::{PackageHash, Place, Platform, ProviderAddr, Version};

/// Why a package could not be fetched, verified or put in its place. No part of it is visible then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The place failed or does not have the package.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The package's archive was refused or could not be written.
    #[error("the package of {address} {version} for {platform} cannot be installed")]
    Package {
        address: ProviderAddr,
        version: Version,
        platform: Platform,
        place: Place,
        #[source]
        source: ArchiveError,
    },
    /// A layer of the image has a format that cannot be unpacked.
    #[error("the layer {layer} of {address} {version} has the type `{media_type}`, which cannot be unpacked")]
    LayerType { address: ProviderAddr, version: Version, layer: String, media_type: String },
    #[error("{address} {version} for {platform} is not the package that was locked: {refusal}{}", only(locked_for))]
    NotTheLockedPackage {
        address: ProviderAddr,
        version: Version,
        platform: Platform,
        place: Place,
        refusal: LockRefusal,
        /// The platforms that the lock file's lines are for, sorted; empty if the release does not explain every line.
        /// If this platform is not among them, the package may be right and just not locked yet.
        locked_for: Vec<Platform>,
    },
    /// The package is not the one that its place offers.
    #[error("{address} {version} for {platform} has none of the checksums that {place} names for it")]
    NotTheOfferedPackage {
        address: ProviderAddr,
        version: Version,
        platform: Platform,
        place: Place,
        offered: Vec<PackageHash>,
        found: Box<PackageHashes>,
    },
    /// The trust policy or a pin refuses the release.
    #[error("{address} {version} is not trusted: {refusal}")]
    Untrusted {
        address: ProviderAddr,
        version: Version,
        place: Place,
        refusal: Box<tofu_oci_trust::TrustRefusal>,
        rule: Box<tofu_oci_trust::TrustRule>,
        /// Whether a person can accept the release as it is.
        by_hand: tofu_oci_trust::ByHand,
    },
    /// The release says that it is of another provider than the one that it is asked as.
    #[error("{place} has {version} as {published_as}, not as {address}")]
    OtherAddress { address: ProviderAddr, version: Version, place: Place, published_as: Box<ProviderAddr> },
    /// Something other than the package lies in its place; a person may have changed it.
    #[error("{} has other contents than {address} {version}", path.display())]
    LocallyModified {
        address: ProviderAddr,
        version: Version,
        /// The folder, archive or link. Deleting it makes room.
        path: PathBuf,
    },
    /// A folder above the package's place is a link that leads out of the tree. Nothing is made or removed there.
    #[error("{} is a symbolic link that leads out of {}", link.display(), tree.display())]
    LinkOutOfTree { link: PathBuf, tree: PathBuf },
    /// The lock of the package's place, or of the lock file's folder, could not be taken.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// `create`, `rename`, `read`.
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

fn only(locked_for: &[Platform]) -> String {
    let names: Vec<String> = locked_for.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!(" (it was locked for {})", names.join(", ")) }
}

impl FetchError {
    /// The package with these checksums is not the one that is offered.
    pub(crate) fn not_the_offered(offer: &Offer, found: PackageHashes) -> Self {
        Self::NotTheOfferedPackage {
            address: offer.address().clone(),
            version: offer.version().clone(),
            platform: offer.platform.clone(),
            place: offer.place().clone(),
            offered: offer.allowed.clone(),
            found: Box::new(found),
        }
    }

    /// A stable kebab-case name of what went wrong: the measured name of `OpenTofu` if it fails in the same way.
    ///
    /// Spec: `real-tofu-sources.md` (measured), §4, §5 and §8.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Source(error) => error.code(),
            Self::Package { source, .. } => source.code(),
            Self::LayerType { .. } => "layer-type",
            Self::NotTheLockedPackage { .. } => "lock-mismatch",
            Self::NotTheOfferedPackage { .. } => "mirror-hash-mismatch",
            Self::Untrusted { refusal, .. } => refusal.code(),
            Self::OtherAddress { .. } => "other-address",
            Self::LocallyModified { .. } => "cache-modified",
            Self::LinkOutOfTree { .. } => "link-out-of-tree",
            Self::Lock(LockError::Held { .. }) => "locked-by-another",
            Self::Lock(LockError::Io { .. }) | Self::Io { .. } => "io",
        }
    }
}

/// The error of a package whose archive cannot be used.
pub(crate) fn package_error(offer: &Offer, source: ArchiveError) -> FetchError {
    FetchError::Package {
        address: offer.address().clone(),
        version: offer.version().clone(),
        platform: offer.platform.clone(),
        place: offer.place().clone(),
        source,
    }
}

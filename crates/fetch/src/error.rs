//! Why a package was not fetched, or not put in its place.

use std::path::PathBuf;

use tofu_oci_archive::ArchiveError;
use tofu_oci_disk::{FileError, LockError};
use tofu_oci_fault::Fault;
use tofu_oci_lockfile::{LockRefusal, PackageHashes};
use tofu_oci_source::{Offer, SourceError};
use tofu_oci_types::{Fault as _, PackageHash, Place, Platform, ProviderAddr, RUN, SHOWN, Version};

/// Why a package could not be fetched, verified or put in its place. No part of it is visible then.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum FetchError {
    /// The place failed or does not have the package.
    #[error(transparent)]
    #[fault(of = _0)]
    Source(#[from] SourceError),
    #[error("the package of {address} {version} for {platform} cannot be installed")]
    #[fault(code = source.code(), end = source.end())]
    #[cause(if source.is_refusal() => "it came from {place}")]
    #[hint(each = package_hints(source, place))]
    Package {
        address: ProviderAddr,
        version: Version,
        platform: Platform,
        place: Place,
        #[source]
        source: ArchiveError,
    },
    /// a layer of the image is packed in an unknown way
    #[error("the layer {layer} of {address} {version} has the type `{media_type}`, which cannot be unpacked")]
    #[fault("layer-type", todo = "build the image with gzip or zstd layers")]
    #[hint("layers are tar, tar+gzip or tar+zstd; the publisher must build the image so")]
    LayerType { address: ProviderAddr, version: Version, layer: String, media_type: String },
    /// the package or release is not the one in the lock file
    #[error("{address} {version} for {platform} is not the package that was locked: {refusal}{}", only(locked_for))]
    #[fault(
        "lock-mismatch",
        todo = "find out why it changed; if that is right, remove the provider's block and lock \
            again"
    )]
    #[cause(each = refusal.in_detail())]
    #[cause("it came from {place}")]
    #[hint(each = not_locked(address, platform, locked_for))]
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
    /// the package has none of the checksums that the mirror names for it
    #[error("{address} {version} for {platform} has none of the checksums that {place} names for it")]
    #[fault("mirror-hash-mismatch", todo = "ask whoever runs the mirror to correct the package or its checksums")]
    #[cause(each = offered.iter().take(SHOWN).map(|hash| format!("the place names  {hash}")))]
    #[cause(each = found.iter().map(|hash| format!("the package has  {hash}")))]
    #[hint("nothing of it was installed; whoever runs the mirror must correct the package or its checksums")]
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
    #[fault(code = refusal.code())]
    Untrusted {
        address: ProviderAddr,
        version: Version,
        place: Place,
        refusal: Box<tofu_oci_trust::TrustRefusal>,
        rule: Box<tofu_oci_trust::TrustRule>,
        /// Whether a person can accept the release as it is.
        by_hand: tofu_oci_trust::ManualAcceptance,
    },
    #[error("{place} has {version} as {published_as}, not as {address}")]
    #[fault(code = "other-address")]
    OtherAddress { address: ProviderAddr, version: Version, place: Place, published_as: Box<ProviderAddr> },
    /// the folder of a package has other contents than the package
    #[error("{} has other contents than {address} {version}", path.display())]
    #[fault("cache-modified", todo = "remove the folder; if the change was yours, use `dev_overrides`")]
    #[hint("delete {} and run the same command again", path.display())]
    LocallyModified {
        address: ProviderAddr,
        version: Version,
        /// The folder, archive or link. Deleting it makes room.
        path: PathBuf,
    },
    /// a symbolic link in a tree of packages, or a folder of a static tree, leads out of it; nothing is read or
    /// written through it
    #[error("{} is a symbolic link that leads out of {}", link.display(), tree.display())]
    #[fault("link-out-of-tree", todo = "replace the link with a folder, or name the folder that it leads to")]
    #[hint("nothing was written or deleted there; such a link may have come with the repository")]
    #[hint("delete the link {} and run the same command again", link.display())]
    LinkOutOfTree { link: PathBuf, tree: PathBuf },
    /// The lock of the package's place, or of the lock file's folder, could not be taken.
    #[error(transparent)]
    #[fault(of = _0)]
    Lock(#[from] LockError),
    /// The file system failed.
    #[error(transparent)]
    #[fault(of = _0)]
    Io(#[from] FileError),
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
}

/// What to do about an archive: whoever holds it cannot correct it.
fn package_hints(error: &ArchiveError, place: &Place) -> Vec<String> {
    let other = if let ArchiveError::NoExecutable { found, .. } = error {
        let name = found.iter().find_map(|name| name.strip_prefix("terraform-provider-"));
        name.and_then(|name| name.split(['_', '.']).next()).filter(|name| !name.is_empty())
    } else {
        None
    };
    if let Some(other) = other {
        return vec![
            format!("{place} holds the provider {other}; check the address and the place"),
            "nothing of it was installed".to_owned(),
        ];
    }
    let mut hints = error.hints();
    if error.is_refusal() {
        hints.push("nothing of it was installed; the publisher must correct the release itself".to_owned());
    }
    hints
}

/// What to do about a package that is not the locked one: it may be right, and just not locked yet.
fn not_locked(address: &ProviderAddr, platform: &Platform, locked_for: &[Platform]) -> [String; 2] {
    if !locked_for.is_empty() && !locked_for.contains(platform) {
        return [
            format!("the lock file holds checksums of other platforms only; nothing vouches for {platform} yet"),
            format!("to lock it too: {RUN} lock {address} --platform {platform}"),
        ];
    }
    [
        "nothing of it was installed: either the repository or the lock file is not what it was".to_owned(),
        "if the package was replaced on purpose, remove the provider's block from the lock file".to_owned(),
    ]
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

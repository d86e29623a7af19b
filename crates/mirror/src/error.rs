//! Why a release was not carried.

use std::io;
use std::path::PathBuf;

use tofu_oci_fetch::FetchError;
use tofu_oci_mapper::MapError;
use tofu_oci_packer::PackError;
use tofu_oci_source::SourceError;
use tofu_oci_store::{CopyError, StoreError};
use tofu_oci_types::{PackageHash, Place, Platform, ProviderAddr, Tag, Version};

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
    /// A release could not be read from where it was collected, or the bundle not be written.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// Two providers would lie in one repository, where their versions would mix.
    #[error("{first} and {second} would both go to {place}")]
    SharedRepository {
        /// The repository.
        place: Place,
        /// The provider that goes there.
        first: Box<ProviderAddr>,
        /// The other provider.
        second: Box<ProviderAddr>,
    },
    /// An earlier run has put another provider into the repository.
    #[error("{place} holds {kept}, and a repository holds one provider: {address} does not go there")]
    OtherProvider {
        /// The repository.
        place: Place,
        kept: Box<ProviderAddr>,
        /// The provider that stays out.
        address: Box<ProviderAddr>,
    },
    /// A file that should be `index.json` or `VERSION.json` of a network mirror is something else.
    #[error("{} is not a document of a network mirror", path.display())]
    NotAMirror {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// On the way to the folder of a provider in a static tree there is a symbolic link to another place.
    #[error("a link leads out of the static tree {}, on the way to {}", tree.display(), folder.display())]
    LinkOutOfTree {
        /// The folder of the provider.
        folder: PathBuf,
        tree: PathBuf,
    },
    /// The destination has another package under the same version.
    #[error(
        "{from} offers another package of {address} {version} for {platform} than {to} has: {offered}, not {there}"
    )]
    UpstreamChanged {
        address: ProviderAddr,
        version: Version,
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
        address: ProviderAddr,
        version: Version,
        /// The place that has it.
        to: Place,
        /// The platforms that it lacks, sorted.
        missing: Vec<Platform>,
    },
    /// The tag of the record belongs to something else.
    #[error("the tag {tag} in {place} is not the record of a mirror")]
    NotSightings {
        /// The repository.
        place: Place,
        tag: Tag,
    },
    /// Other runs wrote the record again and again.
    #[error("other programs keep writing the tag {tag} in {place}")]
    SightingsContended {
        /// The repository.
        place: Place,
        tag: Tag,
    },
    /// Another program put another release in the place of the one that `mirror` carried.
    #[error("{place} has another release under {version} than the mirror put there, so it stays as it is")]
    NotMirrored {
        /// The repository.
        place: Place,
        version: Version,
    },
    /// So many versions are gone at once that the list itself is doubtful.
    #[error("{from} no longer lists {gone} of the {of} mirrored versions of {address}, and they stay")]
    AllGone {
        address: ProviderAddr,
        /// The place that lists it.
        from: Place,
        /// How many it no longer lists.
        gone: usize,
        /// How many were mirrored.
        of: usize,
    },
    /// The destination has no place for notices.
    #[error("{place} takes no notices: a version there is neither withdrawn nor deprecated")]
    NoNotices {
        /// The destination.
        place: Place,
    },
    /// The record beside a tree of files cannot be read or written.
    #[error("the record of first sightings {} cannot be used", path.display())]
    SightingsFile {
        /// The file.
        path: PathBuf,
        /// What the file system reported.
        #[source]
        source: io::Error,
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
            Self::Copy(error) => error.error.code(),
            Self::SharedRepository { .. } | Self::OtherProvider { .. } => "shared-repository",
            Self::NotAMirror { .. } => "not-a-mirror",
            Self::LinkOutOfTree { .. } => "link-out-of-tree",
            Self::UpstreamChanged { .. } => "upstream-changed",
            Self::FewerPlatforms { .. } => "fewer-platforms",
            Self::NotSightings { .. } => "not-sightings",
            Self::SightingsContended { .. } => "sightings-contended",
            Self::NotMirrored { .. } => "not-mirrored",
            Self::AllGone { .. } => "all-gone",
            Self::NoNotices { .. } => "no-notices",
            Self::SightingsFile { .. } => "sightings-file",
        }
    }
}

fn list(platforms: &[Platform]) -> String {
    platforms.iter().map(Platform::to_string).collect::<Vec<_>>().join(", ")
}

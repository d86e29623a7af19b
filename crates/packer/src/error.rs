//! What can go wrong between a folder and a release.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_archive::ArchiveError;
use tofu_oci_layout::LayoutError;
use tofu_oci_store::{CopyError, StoreError};
use tofu_oci_trust::OpenPgpFault;
use tofu_oci_types::{Digest, InvalidVersion, PackageHash, Place, Platform, Tag, Version};

use crate::{
    DistKind, KeptForOther, ModuleFault, OtherAddress, OtherPlatform, SignError, StateError, SumsFile, TagTaken,
    WithdrawnVersion,
};

/// Why a release could not be read, planned, pushed or copied.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The folder does not exist.
    #[error("there is no folder {}", path.display())]
    NoFolder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The path does not name a folder.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The folder holds nothing that could be published.
    #[error("{} holds no provider packages", path.display())]
    NothingFound {
        /// The folder.
        path: PathBuf,
        /// What would have been taken, one phrase each.
        looked_for: Vec<&'static str>,
        /// Some of the names in it, sorted; at most five.
        seen: Vec<String>,
    },
    /// One platform has two packages.
    #[error("{platform} has two packages: {} and {}", first.display(), second.display())]
    TwoPackages {
        /// The platform.
        platform: Platform,
        /// One.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// Where they were found.
        kind: DistKind,
    },
    /// Go does not know the operating system or the architecture.
    #[error("{} is for `{found}`, which is not a platform that Go knows", path.display())]
    UnknownPlatform {
        /// The platform as it is written.
        found: String,
        /// The file or folder.
        path: PathBuf,
        /// The platform that may have been meant.
        meant: Option<Platform>,
    },
    /// The text in the place of a version is not a version.
    #[error("{} names no usable version", path.display())]
    InvalidVersion {
        /// The text.
        found: String,
        /// The file.
        path: PathBuf,
        /// Why it is not one.
        #[source]
        source: Box<InvalidVersion>,
        /// The version that may have been meant, such as `1.2.3` for `v1.2.3`.
        meant: Option<Box<Version>>,
    },
    /// The files are of another version than was asked for.
    #[error("version {given} was asked for, but {} holds {found}", path.display())]
    VersionConflict {
        /// The version that was asked for.
        given: Box<Version>,
        /// The version of the files.
        found: Box<Version>,
        /// The folder.
        path: PathBuf,
    },
    /// Neither the files nor the caller name the version.
    #[error("nothing in {} tells the version", path.display())]
    VersionUnknown {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds packages of several versions, and none was asked for.
    #[error("{} holds packages of several versions: {}", path.display(), versions.iter().map(Version::to_string).collect::<Vec<_>>().join(", "))]
    SeveralVersions {
        /// The folder.
        path: PathBuf,
        /// The versions, ascending.
        versions: Vec<Version>,
    },
    /// The folder holds packages of several providers.
    #[error("{} holds packages of several providers: {}", path.display(), types.join(", "))]
    SeveralTypes {
        /// The folder.
        path: PathBuf,
        /// The types, sorted.
        types: Vec<String>,
    },
    /// The files are of another provider than was asked for.
    #[error("the address names the provider `{given}`, but {} holds `{found}`", path.display())]
    TypeConflict {
        /// The type in the address.
        given: String,
        /// The type of the files.
        found: String,
        /// The folder.
        path: PathBuf,
    },
    /// A package whose name does not say what it is.
    #[error("{} is not named terraform-provider-TYPE_VERSION_OS_ARCH.zip", path.display())]
    UnreadableName {
        /// The file.
        path: PathBuf,
    },
    /// An archive of a format that `OpenTofu` does not install.
    #[error("{} is a {format} archive; packages are zip archives", path.display())]
    WrongFormat {
        /// The file.
        path: PathBuf,
        /// Its format, such as `tar.gz`.
        format: String,
    },
    /// A metadata file that cannot be understood.
    #[error("cannot understand {}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the place in the file if that is known.
        problem: String,
    },
    /// A file that the metadata names is not there.
    #[error("{} names {}, which is not there", by.display(), path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Which file names it.
        by: PathBuf,
    },
    /// A file is not the one that the checksum file describes.
    #[error(transparent)]
    WrongSum(Box<WrongSum>),
    /// A package has no line in the checksum file.
    #[error("{} has no line for {}", sums.display(), path.display())]
    NoSum {
        /// The file.
        path: PathBuf,
        /// The checksum file.
        sums: PathBuf,
    },
    /// The package lacks the program.
    #[error("{} holds no `terraform-provider-{provider_type}` executable", path.display())]
    NoExecutable {
        /// The package.
        path: PathBuf,
        /// The provider's type.
        provider_type: String,
        /// Some of the names in it, sorted; at most five.
        found: Vec<String>,
    },
    /// The program of a package is for another platform than the package.
    #[error(transparent)]
    OtherPlatform(Box<OtherPlatform>),
    /// The repository is kept for another address.
    #[error(transparent)]
    OtherAddress(Box<OtherAddress>),
    /// The repository is kept for versions of another kind.
    #[error(transparent)]
    KeptForOther(Box<KeptForOther>),
    /// A small layer that was made here expands to more than installers unpack.
    #[error("the small layer of {platform} could not be installed")]
    SmallLayerTooDense {
        /// The platform.
        platform: Platform,
        /// Why.
        #[source]
        source: Arc<ArchiveError>,
    },
    /// A layer that was made of a package has other contents than its zip.
    #[error("the layer of {platform} holds other files than its zip: {layer} and {zip}")]
    LayersDiffer {
        /// The platform.
        platform: Platform,
        /// The checksum of the zip's contents.
        zip: PackageHash,
        /// The checksum of the layer's contents.
        layer: PackageHash,
    },
    /// The version was withdrawn.
    #[error(transparent)]
    Withdrawn(Box<WithdrawnVersion>),
    /// The tag points at another release.
    #[error(transparent)]
    TagTaken(Box<TagTaken>),
    /// Something that was pushed is not there when asked for.
    #[error("{place} took {digest}, but does not have it now")]
    Vanished {
        /// The repository.
        place: Place,
        /// What is missing.
        digest: Digest,
    },
    /// The version cannot be written as a tag.
    #[error("version {version} cannot be a tag: {reason}")]
    NoTag {
        /// The version.
        version: Box<Version>,
        /// Why.
        reason: String,
    },
    /// The source has no such release.
    #[error("{place} has no version {tag}")]
    NoRelease {
        /// The repository.
        place: Place,
        /// The tag that was asked for.
        tag: Tag,
        /// The versions that it has, ascending.
        offered: Vec<Version>,
    },
    /// The source has no releases.
    #[error("{place} has no releases")]
    NothingToCopy {
        /// The repository.
        place: Place,
    },
    /// A copy stopped.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The file system reported an error.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What it reported.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// A store reported an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A manifest cannot be planned.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A package cannot be read or packed.
    #[error("{} cannot be published", path.display())]
    Archive {
        /// The zip, directory or layer.
        path: PathBuf,
        /// Why.
        #[source]
        source: Arc<ArchiveError>,
    },
    /// A folder holds a private key among the files that should hold public ones.
    #[error("{} holds a private key", path.display())]
    PrivateKey {
        /// The file; nothing of it has been sent.
        path: PathBuf,
    },
    /// A signature or a key beside a checksum file is larger than the limit of its readers.
    #[error("{} is larger than {limit} bytes, and no more are read of {}", path.display(), kind.in_words())]
    LargeSumsFile {
        /// The file; nothing has been sent.
        path: PathBuf,
        /// What it is.
        kind: SumsFile,
        /// The most bytes that are read.
        limit: usize,
    },
    /// A checksum file has more signatures or keys beside it than its readers read.
    #[error("{} is one too many: no more than {limit} files with {} are read", path.display(), kind.in_words())]
    TooManySumsFiles {
        /// The first that would not be read; nothing has been sent.
        path: PathBuf,
        /// What it is.
        kind: SumsFile,
        /// The most files that are read.
        limit: usize,
    },
    /// A checksum file is signed, and does not say which platform and version each package is for.
    #[error(
        "the signed {} does not cover the release: {}",
        path.display(),
        names.as_ref().map_or_else(
            || "its checksums are not of SHA-256".to_owned(),
            |names| format!("it names {}, and not {}", names.0, names.1)
        )
    )]
    UnverifiableSums {
        /// The checksum file; nothing has been sent.
        path: PathBuf,
        /// The name of the first such package, and the usual one; `None` if there are no SHA-256 checksums.
        names: Option<Box<(String, String)>>,
    },
    /// A signature of a checksum file is damaged, or a key beside it shows that it signs something else.
    #[error("{} does not sign {sums}", path.display())]
    WrongSumsSignature {
        /// The signature; nothing has been sent.
        path: PathBuf,
        /// The name of the checksum file.
        sums: String,
        /// What is wrong with the signature.
        #[source]
        fault: Box<OpenPgpFault>,
    },
    /// A module cannot be published.
    #[error(transparent)]
    Module(Box<ModuleFault>),
    /// Something could not be attached to a release.
    #[error(transparent)]
    Sign(Box<SignError>),
    /// The state of a release could not be changed.
    #[error(transparent)]
    State(Box<StateError>),
    /// The work was stopped before it was done.
    #[error("stopped")]
    Stopped,
}

/// A file and the line of a checksum file that it does not match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} does not match line {line} of {}: expected {expected}, got {actual}", path.display(), sums.display())]
pub struct WrongSum {
    /// The file.
    pub path: PathBuf,
    /// The checksum file.
    pub sums: PathBuf,
    /// The line in it, from 1.
    pub line: usize,
    /// The digest in that line.
    pub expected: Digest,
    /// The digest of the file.
    pub actual: Digest,
}

impl PackError {
    /// An error about a package.
    pub(crate) fn archive(path: &Path, error: ArchiveError) -> Self {
        let path = path.to_owned();
        match error {
            ArchiveError::NoExecutable { provider_type, mut found } => {
                found.truncate(5);
                Self::NoExecutable { path, provider_type, found }
            }
            ArchiveError::Cancelled => Self::Stopped,
            error => Self::Archive { path, source: Arc::new(error) },
        }
    }

    /// An error of the file system.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), source: Arc::new(source) }
    }
}

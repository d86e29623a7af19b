//! Why something was not installed.

use std::io;
use std::path::PathBuf;

use tofu_oci_archive::ArchiveError;
use tofu_oci_lockfile::{LockFileError, Refusal};
use tofu_oci_source::SourceError;
use tofu_oci_types::{Constraints, Digest, Platform, ProviderAddr, Version};

use crate::{ConfigProblem, PinFileError};

/// Why an installation failed. Nothing of the failed package is visible then, and the lock file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The configuration cannot be read or contradicts itself.
    #[error("{}:{line}:{column}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong there.
        problem: ConfigProblem,
    },
    /// No version meets the constraints.
    #[error("{address} has no version {}", meeting(constraints))]
    NoMatchingVersion {
        /// The provider.
        address: ProviderAddr,
        /// The place that was asked.
        place: String,
        /// What was wanted.
        constraints: Constraints,
        /// The versions that the place has, ascending.
        offered: Vec<Version>,
    },
    /// The locked version does not meet the constraints any more.
    #[error("{address} is locked at {locked}{}, which does not meet `{constraints}`", of(by, address))]
    LockedVersionNotAdmitted {
        /// The provider.
        address: ProviderAddr,
        /// The provider whose entry it is: this one, or its predecessor.
        by: ProviderAddr,
        /// The locked version.
        locked: Version,
        /// What is wanted now.
        constraints: Constraints,
    },
    /// The locked version is gone.
    #[error("{address} is locked at {locked}{}, which {place} does not have any more", of(by, address))]
    LockedVersionGone {
        /// The provider.
        address: ProviderAddr,
        /// The provider whose entry it is: this one, or its predecessor.
        by: ProviderAddr,
        /// The place.
        place: String,
        /// The locked version.
        locked: Version,
        /// The versions that the place has, ascending.
        offered: Vec<Version>,
    },
    /// 0.0.0 stands for "no version" and cannot be installed.
    #[error("{address} 0.0.0 cannot be installed: that number means that there is no version")]
    UnspecifiedVersion {
        /// The provider.
        address: ProviderAddr,
    },
    /// Two jobs of one call chose different versions of a provider.
    #[error("{address} would be installed in two versions, {first} and {second}")]
    VersionsDiffer {
        /// The provider.
        address: ProviderAddr,
        /// The one.
        first: Version,
        /// The other.
        second: Version,
    },
    /// The place failed or does not have the package.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The package's archive was refused or could not be written.
    #[error("the package of {address} {version} for {platform} cannot be installed")]
    Package {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The platform.
        platform: Platform,
        /// The place that it came from.
        place: String,
        /// What is wrong with it.
        #[source]
        source: ArchiveError,
    },
    /// A layer of the image is packed in a way that is not known here.
    #[error("the layer {digest} of {address} {version} has the type `{media_type}`, which cannot be unpacked")]
    LayerType {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The layer.
        digest: Digest,
        /// Its media type.
        media_type: String,
    },
    /// The package is not the one that was locked.
    #[error("{address} {version} for {platform} is not the package that was locked: {refusal}{}", only(locked_for))]
    NotTheLockedPackage {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The platform.
        platform: Platform,
        /// The place that offered it.
        place: String,
        /// Which lines disagree.
        refusal: Refusal,
        /// The platforms that the lock file's lines are for, when the release tells it of every line; sorted. Where this one is
        /// missing among others, the package may be right and only not locked yet.
        locked_for: Vec<Platform>,
    },
    /// The release is not the one that was locked.
    #[error("{address} {version} is not the release that was locked: {refusal}")]
    NotTheLockedRelease {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The place that offered it.
        place: String,
        /// Which lines disagree.
        refusal: Refusal,
    },
    /// The release must not be used, whatever its packages are.
    #[error("{address} {version} is not trusted: {refusal}")]
    Untrusted {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The place that offered it.
        place: String,
        /// Why.
        refusal: Box<tofu_oci_trust::TrustRefusal>,
        /// The rule that holds for the provider.
        rule: Box<tofu_oci_trust::Rule>,
        /// Whether somebody can accept the release as it is.
        by_hand: tofu_oci_trust::ByHand,
    },
    /// The pins cannot be read or written.
    #[error(transparent)]
    Pins(#[from] PinFileError),
    /// What lies in the package's place is something else; it may have been changed by hand.
    #[error("{} has other contents than {address} {version}", path.display())]
    LocallyModified {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The folder, archive or link. Deleting it makes room.
        path: PathBuf,
    },
    /// A folder that packages would be put below is a link to somewhere else. Nothing is made or removed there.
    #[error("{} is a symbolic link that leads out of {}", link.display(), tree.display())]
    LinkOutOfTree {
        /// The link.
        link: PathBuf,
        /// The folder of packages that it lies in.
        tree: PathBuf,
    },
    /// There is nothing to read.
    #[error("there is no configuration in {}", dir.display())]
    NoConfiguration {
        /// The folder.
        dir: PathBuf,
    },
    /// The name of the workspace is none.
    #[error("`{name}` cannot be the name of a workspace")]
    InvalidWorkspace {
        /// The name.
        name: String,
    },
    /// Other programs change the lock file's entry again and again.
    #[error("{} was changed again and again: what it says of {address} is not what was looked at", path.display())]
    LockFileChanged {
        /// The provider.
        address: ProviderAddr,
        /// The lock file.
        path: PathBuf,
    },
    /// Another program has locked what this one needs, and does not come to an end.
    #[error("{held}, and was not released within {} s", limit.as_secs_f32())]
    Locked {
        /// Who, and what.
        held: Box<tofu_oci_disk::Held>,
        /// How long this program has waited.
        limit: std::time::Duration,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    LockFile(#[from] LockFileError),
    /// The file system said no.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// `create`, `rename`, `read`, `lock`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
}

fn package_code(error: &ArchiveError) -> &'static str {
    match error {
        ArchiveError::Io { .. } | ArchiveError::Input(_) => "io",
        ArchiveError::NoExecutable { .. } => "executable-not-found",
        _ => "bad-zip",
    }
}

fn of(by: &ProviderAddr, address: &ProviderAddr) -> String {
    if by == address { String::new() } else { format!(" by the entry of {by}") }
}

fn only(locked_for: &[Platform]) -> String {
    let names: Vec<String> = locked_for.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!(" (it was locked for {})", names.join(", ")) }
}

fn meeting(constraints: &Constraints) -> String {
    if constraints.is_any() { "that can be installed".to_owned() } else { format!("that meets `{constraints}`") }
}

impl InstallError {
    /// A stable kebab-case name of what went wrong: the one that is measured of `OpenTofu` where it fails alike.
    ///
    /// Spec: `real-tofu-sources.md` (measured), §4, §5 and §8.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config { problem, .. } => problem.code(),
            Self::NoConfiguration { .. } => "no-configuration",
            Self::InvalidWorkspace { .. } => "invalid-workspace",
            Self::NoMatchingVersion { .. } => "no-matching-release",
            Self::LockedVersionNotAdmitted { .. } => "locked-version-conflict",
            Self::LockedVersionGone { .. } => "locked-version-gone",
            Self::UnspecifiedVersion { .. } => "zero-version",
            Self::VersionsDiffer { .. } => "versions-differ",
            Self::Source(error) => error.code(),
            Self::Package { source, .. } => package_code(source),
            Self::LayerType { .. } => "layer-type",
            Self::NotTheLockedPackage { .. } | Self::NotTheLockedRelease { .. } => "lock-mismatch",
            Self::Untrusted { refusal, .. } => refusal.code(),
            Self::Pins(PinFileError::Invalid { .. }) => "pins-invalid",
            Self::Pins(PinFileError::Conflict(_)) => "pin-conflict",
            Self::Pins(PinFileError::File(_)) => "pin-file",
            Self::LocallyModified { .. } => "cache-modified",
            Self::LinkOutOfTree { .. } => "link-out-of-tree",
            Self::LockFileChanged { .. } => "lock-changed",
            Self::Locked { .. } => "locked-by-another",
            Self::LockFile(LockFileError::Invalid { .. }) => "lock-invalid",
            Self::LockFile(_) => "lock-file",
            Self::Io { .. } => "io",
        }
    }

    /// The error's own text and the texts of what caused it, outermost first, in one line.
    pub(crate) fn with_causes(&self) -> String {
        let mut texts = vec![self.to_string()];
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let text = error.to_string();
            if texts.last() != Some(&text) {
                texts.push(text);
            }
            cause = error.source();
        }
        texts.join(": ")
    }

    /// Whether the same call may succeed when made again.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Source(error) if error.is_transient())
    }
}

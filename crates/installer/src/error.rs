//! Why something was not installed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tofu_oci_disk::LockError;
use tofu_oci_fetch::{FetchError, PinFileError};
use tofu_oci_lockfile::{LockFileError, LockRefusal};
use tofu_oci_source::SourceError;
use tofu_oci_types::{Constraints, Place, ProviderAddr, Version};

/// Why an installation failed. No part of the failed package is visible then, and the lock file stays as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// No version meets the constraints.
    #[error("{address} has no version {}", meeting(constraints))]
    NoMatchingVersion { address: ProviderAddr, place: Place, constraints: Constraints, offered: Vec<Version> },
    /// The locked version does not meet the constraints any more.
    #[error("{address} is locked at {locked}{}, which does not meet `{constraints}`", of(by, address))]
    LockedVersionNotAdmitted {
        address: ProviderAddr,
        /// The provider whose entry it is: this one, or its predecessor.
        by: ProviderAddr,
        locked: Version,
        constraints: Constraints,
    },
    /// The place does not have the locked version.
    #[error("{address} is locked at {locked}{}, which {place} does not have", of(by, address))]
    LockedVersionGone {
        address: ProviderAddr,
        /// The provider whose entry it is: this one, or its predecessor.
        by: ProviderAddr,
        place: Place,
        locked: Version,
        offered: Vec<Version>,
    },
    /// 0.0.0 means "no version" and cannot be installed.
    #[error("{address} 0.0.0 cannot be installed: that number means that there is no version")]
    UnspecifiedVersion { address: ProviderAddr },
    /// Two requests of one call chose different versions of a provider.
    #[error("{address} would be installed in two versions, {first} and {second}")]
    VersionsDiffer { address: ProviderAddr, first: Version, second: Version },
    /// A package could not be fetched, verified or put in its place.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("{address} {version} is not the release that was locked: {refusal}")]
    NotTheLockedRelease { address: ProviderAddr, version: Version, place: Place, refusal: LockRefusal },
    /// The pins cannot be read or written.
    #[error(transparent)]
    Pins(#[from] PinFileError),
    /// Other programs have changed the lock file's entry too often.
    #[error("{} keeps changing: its entry of {address} is not the one that was read", path.display())]
    LockFileChanged { address: ProviderAddr, path: PathBuf },
    /// The lock file must not change, and does not have exactly the providers that are required.
    #[error("{} would change: {}", path.strip_prefix(".").unwrap_or(path).display(), outdated(missing, unneeded))]
    LockFileOutdated { path: PathBuf, missing: BTreeSet<ProviderAddr>, unneeded: BTreeSet<ProviderAddr> },
    /// The lock file cannot be used.
    #[error(transparent)]
    LockFile(#[from] LockFileError),
}

fn of(by: &ProviderAddr, address: &ProviderAddr) -> String {
    if by == address { String::new() } else { format!(" by the entry of {by}") }
}

fn outdated(missing: &BTreeSet<ProviderAddr>, unneeded: &BTreeSet<ProviderAddr>) -> String {
    let list =
        |addresses: &BTreeSet<ProviderAddr>| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let missing = (!missing.is_empty()).then(|| format!("it has no entry for {}", list(missing)));
    let unneeded = (!unneeded.is_empty()).then(|| format!("the configuration does not require {}", list(unneeded)));
    missing.into_iter().chain(unneeded).collect::<Vec<_>>().join("; ")
}

fn meeting(constraints: &Constraints) -> String {
    if constraints.is_any() { "that can be installed".to_owned() } else { format!("that meets `{constraints}`") }
}

impl From<SourceError> for InstallError {
    fn from(error: SourceError) -> Self {
        Self::Fetch(error.into())
    }
}

impl From<LockError> for InstallError {
    fn from(error: LockError) -> Self {
        Self::Fetch(error.into())
    }
}

impl InstallError {
    /// A stable kebab-case name of what went wrong: the measured name of `OpenTofu` if it fails in the same way.
    ///
    /// Spec: `real-tofu-sources.md` (measured), §4, §5 and §8.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoMatchingVersion { .. } => "no-matching-release",
            Self::LockedVersionNotAdmitted { .. } => "locked-version-conflict",
            Self::LockedVersionGone { .. } => "locked-version-gone",
            Self::UnspecifiedVersion { .. } => "zero-version",
            Self::VersionsDiffer { .. } => "versions-differ",
            Self::Fetch(error) => error.code(),
            Self::NotTheLockedRelease { .. } => "lock-mismatch",
            Self::Pins(error) => error.code(),
            Self::LockFileChanged { .. } => "lock-changed",
            Self::LockFileOutdated { .. } => "lock-outdated",
            Self::LockFile(error) => error.code(),
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

    /// Whether the place gave no answer.
    pub(crate) fn is_without_answer(&self) -> bool {
        matches!(self, Self::Fetch(FetchError::Source(error)) if error.is_without_answer())
    }
}

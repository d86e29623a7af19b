//! Why something was not installed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tofu_oci_disk::LockError;
use tofu_oci_fault::Fault;
use tofu_oci_fetch::{FetchError, PinFileError};
use tofu_oci_lockfile::{LockFileError, LockRefusal};
use tofu_oci_source::SourceError;
use tofu_oci_types::{Constraints, Place, ProviderAddr, Version, versions_in_words};

/// Why an installation failed. No part of the failed package is visible then, and the lock file stays as it was.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum InstallError {
    /// No version meets the constraints.
    #[error("{address} has no version {}", meeting(constraints))]
    #[fault(code = "no-matching-release")]
    #[cause("asked {place}")]
    #[hint("{}", versions_in_words("it has", offered))]
    #[hint(each = prerelease(address, offered))]
    NoMatchingVersion { address: ProviderAddr, place: Place, constraints: Constraints, offered: Vec<Version> },
    /// the locked version does not meet the constraint any more
    #[error("{address} is locked at {locked}{}, which does not meet `{constraints}`", of(by, address))]
    #[fault("locked-version-conflict", todo = "`--upgrade` chooses a new version")]
    LockedVersionNotAdmitted {
        address: ProviderAddr,
        /// The provider whose entry it is: this one, or its predecessor.
        by: ProviderAddr,
        locked: Version,
        constraints: Constraints,
    },
    /// the place does not have the locked version
    #[error("{address} is locked at {locked}{}, which {place} does not have", of(by, address))]
    #[fault("locked-version-gone", todo = "publish it there, or choose another with `--upgrade`")]
    #[hint("{}", versions_in_words("it has", offered))]
    LockedVersionGone {
        address: ProviderAddr,
        /// The provider whose entry it is: this one, or its predecessor.
        by: ProviderAddr,
        place: Place,
        locked: Version,
        offered: Vec<Version>,
    },
    /// the version is 0.0.0, which OpenTofu reads as "no version"
    #[error("{address} 0.0.0 cannot be installed: that number means that there is no version")]
    #[fault("zero-version", todo = "publish the release under another version")]
    #[hint("name another version: ADDR@VERSION")]
    UnspecifiedVersion { address: ProviderAddr },
    /// one run would install a provider in two versions
    #[error("{address} would be installed in two versions, {first} and {second}")]
    #[fault("versions-differ", todo = "give the provider one constraint")]
    #[hint("name one version for all platforms: ADDR@VERSION")]
    VersionsDiffer { address: ProviderAddr, first: Version, second: Version },
    /// A package could not be fetched, verified or put in its place.
    #[error(transparent)]
    #[fault(of = _0)]
    Fetch(#[from] FetchError),
    #[error("{address} {version} is not the release that was locked: {refusal}")]
    #[fault(code = "lock-mismatch")]
    #[cause(each = of_release(refusal, place))]
    #[hint(if is_of_release(refusal) => "either the repository or the lock file is not what it was")]
    #[hint(if is_of_release(refusal) => "if the release was replaced on purpose, remove the provider's block from the \
            lock file")]
    NotTheLockedRelease { address: ProviderAddr, version: Version, place: Place, refusal: LockRefusal },
    /// The pins cannot be read or written.
    #[error(transparent)]
    #[fault(of = _0)]
    Pins(#[from] PinFileError),
    /// other programs kept changing the entry of the provider
    #[error("{} keeps changing: its entry of {address} is not the one that was read", path.display())]
    #[fault("lock-changed", todo = "run the command again")]
    #[hint("run the same command again")]
    LockFileChanged { address: ProviderAddr, path: PathBuf },
    /// `lock --check` found a difference, or the lock file of `install --locked` does not have exactly the required
    /// providers
    #[error("{} would change: {}", path.strip_prefix(".").unwrap_or(path).display(), outdated(missing, unneeded))]
    #[fault("lock-outdated", todo = "run the command of the hint and commit the file")]
    #[hint(if !unneeded.is_empty() => "run the same command without --locked, look at the difference and commit the \
            file")]
    LockFileOutdated { path: PathBuf, missing: BTreeSet<ProviderAddr>, unneeded: BTreeSet<ProviderAddr> },
    /// The lock file cannot be used.
    #[error(transparent)]
    #[fault(of = _0, end = Fixable)]
    LockFile(#[from] LockFileError),
}

fn of(by: &ProviderAddr, address: &ProviderAddr) -> String {
    if by == address { String::new() } else { format!(" by the entry of {by}") }
}

/// How a prerelease is chosen, if there is nothing else.
fn prerelease(address: &ProviderAddr, offered: &[Version]) -> Option<String> {
    let newest = offered.last().filter(|_| offered.iter().all(Version::is_prerelease))?;
    Some(format!("a prerelease is installed only by its exact version: {address}@{newest}, or version = \"{newest}\""))
}

fn is_of_release(refusal: &LockRefusal) -> bool {
    matches!(refusal, LockRefusal::OtherRelease { .. })
}

fn of_release(refusal: &LockRefusal, place: &Place) -> Vec<String> {
    if !is_of_release(refusal) {
        return Vec::new();
    }
    refusal.in_detail().into_iter().chain([format!("it came from {place}")]).collect()
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

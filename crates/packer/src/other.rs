//! A file with another checksum, a program for another platform, a repository of another provider or for versions of another kind, and a version that was
//! withdrawn.

use std::path::PathBuf;

use tofu_oci_archive::Program;
use tofu_oci_trust::{NoticeReason, VersionOf};
use tofu_oci_types::{Digest, Place, Platform, ProviderAddr, Tag, Version, printable};

/// A package and the program in it, which is for another platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is for {platform}, and holds {program}", path.display())]
pub struct OtherPlatform {
    pub path: PathBuf,
    pub platform: Platform,
    pub program: Program,
}

/// A file and the line of a checksum file that it does not match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} does not match line {line} of {}: expected {expected}, got {actual}", path.display(), sums.display())]
pub struct WrongSum {
    pub path: PathBuf,
    pub sums: PathBuf,
    /// The line in it, from 1.
    pub line: usize,
    pub expected: Digest,
    pub actual: Digest,
}

/// An address, and the other one that a repository is kept for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} holds {kept} (its version {version} says so), but this release is of {given}")]
pub struct OtherAddress {
    pub place: Place,
    pub kept: ProviderAddr,
    pub version: Version,
    /// The address that was given, or made from the repository's name.
    pub given: ProviderAddr,
}

/// A version that was withdrawn from a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{version} was withdrawn from {place}{}", because(reason.as_ref()))]
pub struct WithdrawnVersion {
    pub place: Place,
    pub version: Version,
    pub tag: Tag,
    /// Why; `None` if that could not be read. Nothing has verified it.
    pub reason: Option<NoticeReason>,
}

pub(crate) fn because(reason: Option<&NoticeReason>) -> String {
    reason.map(|reason| format!(": {}", printable(reason.as_str()))).unwrap_or_default()
}

/// A repository in which versions of another kind lie: those of a provider, or those of a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} is kept for {}: it has its version {version}", in_words(kept))]
pub struct KeptForOther {
    pub place: Place,
    pub kept: VersionOf,
    pub version: Version,
}

fn in_words(kept: &VersionOf) -> String {
    match kept {
        VersionOf::Provider { address } => format!("the provider {address}"),
        VersionOf::Module => "a module".to_owned(),
    }
}

impl KeptForOther {
    /// A stable kebab-case name of what went wrong.
    pub(crate) fn code(&self) -> &'static str {
        match self.kept {
            VersionOf::Provider { .. } => "kept-for-provider",
            VersionOf::Module => "kept-for-module",
        }
    }

    /// What to do about it.
    pub(crate) fn advice(&self) -> &'static str {
        match self.kept {
            VersionOf::Provider { .. } => {
                "give the module a repository of its own: OpenTofu takes each tag here for a version of the provider"
            }
            VersionOf::Module => {
                "give the provider a repository of its own: no client could install a module as a provider"
            }
        }
    }
}

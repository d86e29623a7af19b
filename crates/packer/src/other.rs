//! A program for another platform, and a repository of another provider.

use std::path::PathBuf;

use tofu_oci_archive::Program;
use tofu_oci_types::{Place, Platform, ProviderAddr, Version};

/// A package and the program in it, which is for another platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is for {platform}, and holds {program}", path.display())]
pub struct OtherPlatform {
    /// The package.
    pub path: PathBuf,
    /// Its platform.
    pub platform: Platform,
    /// The program.
    pub program: Program,
}

/// An address, and the other one that a repository is kept for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} holds {kept} (its version {version} says so), but this release is of {given}")]
pub struct OtherAddress {
    /// The repository.
    pub place: Place,
    /// The address that the release there names.
    pub kept: ProviderAddr,
    /// The version of that release.
    pub version: Version,
    /// The address that was given, or made from the repository's name.
    pub given: ProviderAddr,
}

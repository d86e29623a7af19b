//! What is asked of a push.

use std::path::PathBuf;

pub use tofu_oci_layout::PackageLayout;
use tofu_oci_types::{Predecessors, ProviderAddr, Version};

use crate::{Dist, ReleaseDocs, Signer, SumsMode};

/// Whether the `h1:` checksums go into the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum H1Mode {
    /// Computed on idle cores while files are sent, unless they are known already.
    #[default]
    Compute,
    /// Left out: installers compute them anyway.
    Skip,
}

/// Whether each artifact leaf gets the package once more as tar in Zstandard, which has fewer bytes than the zip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallLayers {
    #[default]
    Omit,
    /// Made on idle cores, as many at a time as there are cores, with up to 256 MiB of memory each. The index has the `h1:`
    /// checksums then, whatever [`H1Mode`] says: without one no installer could take a small layer.
    Make,
}

/// What happens when the version's tag points at another release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplaceTag {
    /// The push ends in an error and changes nothing.
    #[default]
    Refuse,
    /// The tag is moved.
    Replace,
}

/// What happens when the repository's releases say that they are of another provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rename {
    /// The work ends in an error and changes nothing.
    #[default]
    Refuse,
    /// The new address counts.
    Allow,
}

/// Whether the header of each package's program is compared with the platform of the package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutableCheck {
    /// A program for another platform ends the push before anything is sent.
    #[default]
    Refuse,
    /// Headers are not looked at.
    Skip,
}

/// What a release is published as, wherever its packages come from.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'a> {
    /// The provider's address; its type must be that of the files.
    pub address: &'a ProviderAddr,
    /// The version; it must be that of the files.
    pub version: &'a Version,
    /// How the release is laid out.
    pub layout: PackageLayout,
    /// How many platforms are sent at a time, at least 1.
    pub jobs: usize,
    /// What happens when the tag is taken.
    pub replace: ReplaceTag,
    /// What happens when the repository is kept for another address.
    pub rename: Rename,
    /// Which addresses count as one.
    pub predecessors: &'a Predecessors,
    /// Who signs the release; `None` to sign nothing.
    pub signer: Option<Signer<'a>>,
}

/// One release to push.
#[derive(Clone, Debug)]
pub struct PushRequest<'a> {
    pub dist: &'a Dist,
    /// What they are published as.
    pub publication: Publication<'a>,
    /// Whether `h1:` checksums go into the index.
    pub h1: H1Mode,
    /// Whether artifact leaves get small layers; those of images never do.
    pub small: SmallLayers,
    /// What happens when a package holds a program for another platform.
    pub executables: ExecutableCheck,
    /// The documentation that goes with the release; `None` to leave what is there.
    pub docs: Option<&'a ReleaseDocs>,
    /// Whether the signed checksum file of the folder goes with the release.
    pub sums: SumsMode,
    /// A folder that remembers `h1:` checksums by zip digest; created if missing.
    pub memo_dir: Option<PathBuf>,
    /// An existing folder, the system's for temporary files. Zips and layers on their way lie in a folder of their own in it,
    /// and need as much room as what is packed.
    pub work_dir: PathBuf,
}

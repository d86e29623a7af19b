//! What lies in a folder of release files.

use std::path::{Path, PathBuf};

use tofu_oci_types::{Digest, Platform, Version};

use crate::PackError;

/// A folder of release files, understood but not yet read through.
#[derive(Clone, Debug)]
pub struct Dist {
    /// The folder.
    pub path: PathBuf,
    /// Which kind of folder it is.
    pub kind: DistKind,
    /// The provider's type, where the files tell it.
    pub provider_type: Option<String>,
    /// The version, where the files tell it.
    pub version: Option<Version>,
    /// Plugin protocol versions such as `6.0`, from the registry manifest; empty where there is none.
    pub protocols: Vec<String>,
    /// One package a platform, sorted by platform.
    pub packages: Vec<DistPackage>,
    /// The checksum file, where there is one; every zip has a line in it.
    pub sums: Option<Sums>,
}

/// Which kind of folder was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistKind {
    /// GoReleaser's `dist/`.
    GoReleaser,
    /// A folder of `terraform-provider-TYPE_VERSION_OS_ARCH.zip` files.
    Zips,
    /// A folder of `OS_ARCH/` directories.
    Directories,
}

/// One platform's package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistPackage {
    /// The platform.
    pub platform: Platform,
    /// Where its files are.
    pub source: PackageSource,
}

/// Where a package's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// A zip that is pushed byte for byte.
    Zip(PathBuf),
    /// A directory that has to be packed.
    Directory(PathBuf),
}

/// A SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The file.
    pub path: PathBuf,
    /// The digest of each file named in it, with the line number from 1.
    pub lines: std::collections::BTreeMap<String, (Digest, usize)>,
    /// Its detached signature, where there is one.
    pub signature: Option<PathBuf>,
}

/// What a caller knows about a folder before it is read.
#[derive(Clone, Debug, Default)]
pub struct DistOptions {
    /// The version to take where a folder holds several.
    pub version: Option<Version>,
    /// What to do with a platform that Go does not know.
    pub unknown_platforms: UnknownPlatforms,
}

/// What to do with a platform whose names are not GOOS and GOARCH names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownPlatforms {
    /// An error: it is a misspelling in nearly every case.
    #[default]
    Refuse,
    /// Taken as it is written.
    Allow,
}

/// Finds out what lies in a folder; nothing large is read.
pub fn read_dist(path: &Path) -> Result<Dist, PackError> {
    read_dist_with(path, &DistOptions::default())
}

/// [`read_dist`] with what the caller knows about the folder.
pub fn read_dist_with(path: &Path, options: &DistOptions) -> Result<Dist, PackError> {
    let _ = (path, options);
    Err(PackError::Unfinished)
}

impl Dist {
    /// The version to publish: the given one, or the one that the files tell.
    ///
    /// # Errors
    /// [`PackError::VersionConflict`] when they differ, [`PackError::VersionUnknown`] when there is none.
    pub fn choose_version(&self, given: Option<&Version>) -> Result<Version, PackError> {
        match (given, &self.version) {
            (Some(given), Some(found)) if given != found => {
                Err(PackError::VersionConflict { given: given.clone(), found: found.clone(), path: self.path.clone() })
            }
            (Some(version), _) | (None, Some(version)) => Ok(version.clone()),
            (None, None) => Err(PackError::VersionUnknown { path: self.path.clone() }),
        }
    }
}

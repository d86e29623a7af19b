//! What is known of a folder of release files.

use std::path::{Path, PathBuf};

use tofu_oci_types::{Platform, Version};

use super::sums::DistSums;
use crate::PackError;

/// A folder of release files, recognised and not yet read through.
#[derive(Clone, Debug)]
pub struct Dist {
    /// The folder.
    pub path: PathBuf,
    /// Which kind of folder it is.
    pub kind: DistKind,
    /// The provider's type, if the files say it.
    pub provider_type: Option<String>,
    /// The version, if the files say it.
    pub version: Option<Version>,
    /// Plugin protocol versions such as `6.0`, from the registry manifest; empty without one.
    pub protocols: Vec<String>,
    /// One package a platform, sorted by platform.
    pub packages: Vec<DistPackage>,
    /// The checksum file, if there is one; every zip has a line in it.
    pub sums: Option<DistSums>,
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

/// What a caller knows about a folder before it is read.
#[derive(Clone, Debug, Default)]
pub struct DistOptions {
    /// The version to take if a folder holds several.
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

/// A package before it is known whether it belongs to the release.
pub(super) struct CandidatePackage {
    pub(super) provider_type: Option<String>,
    pub(super) version: Option<Version>,
    pub(super) package: DistPackage,
}

/// One release from what was found: one provider, one version, one package a platform.
pub(super) fn settle(
    path: &Path,
    kind: DistKind,
    mut candidates: Vec<CandidatePackage>,
    options: &DistOptions,
) -> Result<Dist, PackError> {
    let mut types: Vec<String> = candidates.iter().filter_map(|candidate| candidate.provider_type.clone()).collect();
    types.sort();
    types.dedup();
    if types.len() > 1 {
        return Err(PackError::SeveralTypes { path: path.to_owned(), types });
    }
    let mut versions: Vec<Version> = candidates.iter().filter_map(|candidate| candidate.version.clone()).collect();
    versions.sort_by(|a, b| a.precedence(b).then_with(|| a.to_string().cmp(&b.to_string())));
    versions.dedup();
    let version = match (&options.version, versions.as_slice()) {
        (Some(given), [_, _, ..]) if versions.contains(given) => {
            candidates.retain(|candidate| candidate.version.as_ref() == Some(given));
            Some(given.clone())
        }
        (_, [_, _, ..]) => return Err(PackError::SeveralVersions { path: path.to_owned(), versions }),
        (Some(given), [found]) if given != found => {
            return Err(PackError::VersionConflict {
                given: Box::new(given.clone()),
                found: Box::new(found.clone()),
                path: path.to_owned(),
            });
        }
        (_, found) => found.first().cloned(),
    };
    let mut packages: Vec<DistPackage> = candidates.into_iter().map(|candidate| candidate.package).collect();
    packages.sort_by(|a, b| a.platform.cmp(&b.platform).then_with(|| a.source.path().cmp(b.source.path())));
    if let Some(pair) = packages.windows(2).find(|pair| pair[0].platform == pair[1].platform) {
        return Err(PackError::TwoPackages {
            platform: pair[0].platform.clone(),
            first: pair[0].source.path().to_owned(),
            second: pair[1].source.path().to_owned(),
        });
    }
    Ok(Dist {
        path: path.to_owned(),
        kind,
        provider_type: types.pop(),
        version,
        protocols: Vec::new(),
        packages,
        sums: None,
    })
}

impl PackageSource {
    /// The zip, or the directory.
    pub fn path(&self) -> &Path {
        match self {
            Self::Zip(path) | Self::Directory(path) => path,
        }
    }
}

impl Dist {
    /// Takes in a checksum file, which must have a line for every zip.
    pub(super) fn with_sums(mut self, sums: Option<DistSums>) -> Result<Self, PackError> {
        if let Some(sums) = &sums {
            for package in &self.packages {
                if let PackageSource::Zip(path) = &package.source {
                    sums.require(path)?;
                }
            }
        }
        self.sums = sums;
        Ok(self)
    }

    /// The version to publish: the given one, or the one that the files say.
    ///
    /// # Errors
    /// [`PackError::VersionConflict`] if they differ, [`PackError::VersionUnknown`] if there is neither.
    pub fn choose_version(&self, given: Option<&Version>) -> Result<Version, PackError> {
        match (given, &self.version) {
            (Some(given), Some(found)) if given != found => Err(PackError::VersionConflict {
                given: Box::new(given.clone()),
                found: Box::new(found.clone()),
                path: self.path.clone(),
            }),
            (Some(version), _) | (None, Some(version)) => Ok(version.clone()),
            (None, None) => Err(PackError::VersionUnknown { path: self.path.clone() }),
        }
    }
}

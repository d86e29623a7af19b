//! What is to be installed, and the result.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_archive::Limits;
use tofu_oci_disk::Waiter;
use tofu_oci_fetch::{PackageCache, PackageForm, PackagePath, Trust, VouchedBy};
use tofu_oci_lockfile::StoredLockFile;
use tofu_oci_source::{LeafKind, Source};
use tofu_oci_types::{Constraints, Identity, PackageHash, Place, Platform, ProviderAddr, Version};

/// One package to install.
#[derive(Clone)]
pub struct InstallRequest {
    pub address: ProviderAddr,
    /// What its version must meet. The lock file records these constraints.
    pub constraints: Constraints,
    pub platform: Platform,
    /// Where it comes from.
    pub source: Arc<dyn Source>,
    pub target: InstallTarget,
    /// Whether a newer version than the locked one may be chosen.
    pub upgrade: Upgrade,
}

/// Where a package goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallTarget {
    /// `DATA_DIR/providers/HOST/NS/TYPE/VERSION/OS_ARCH/`, where `tofu init` installs. The data directory is
    /// `.terraform` of the working directory, or what `TF_DATA_DIR` says.
    WorkingDir {
        data_dir: PathBuf,
        /// The plugin cache that the package is linked from; without a cache, the package itself lies here.
        cache: Option<PluginCache>,
    },
    /// `ROOT/HOST/NS/TYPE/VERSION/OS_ARCH/`: a filesystem mirror of folders. `terraform.d/plugins` of a working
    /// directory is one that needs no configuration.
    MirrorUnpacked(PathBuf),
    /// `ROOT/HOST/NS/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip`: a filesystem mirror of archives.
    MirrorPacked(PathBuf),
}

/// A folder of packages that several working directories share: `DIR/HOST/NS/TYPE/VERSION/OS_ARCH/`.
///
/// Spec: `OpenTofu` 1.12, `plugin_cache_dir`, `TF_PLUGIN_CACHE_DIR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginCache {
    /// The folder; it should exist.
    pub dir: PathBuf,
    /// Whether a package in it is used if the lock file has no checksums; only its `h1:` is recorded then.
    ///
    /// Spec: `OpenTofu` 1.12, `plugin_cache_may_break_dependency_lock_file`.
    pub may_break_lock: bool,
}

impl InstallTarget {
    /// Where a package goes.
    pub(crate) fn path(&self, address: &ProviderAddr, version: &Version, platform: &Platform) -> PackagePath {
        let (root, form) = match self {
            Self::WorkingDir { data_dir, .. } => {
                return PackagePath::in_working_dir(&data_dir.join("providers"), address, version, platform);
            }
            Self::MirrorUnpacked(root) => (root, PackageForm::Folder),
            Self::MirrorPacked(root) => (root, PackageForm::Archive),
        };
        PackagePath::in_mirror(root, form, address, version, platform)
    }

    /// The plugin cache that the package is linked from.
    pub(crate) fn cache(&self) -> Option<&PluginCache> {
        match self {
            Self::WorkingDir { cache, .. } => cache.as_ref(),
            Self::MirrorUnpacked(_) | Self::MirrorPacked(_) => None,
        }
    }

    /// The filesystem mirror that Terraform and `OpenTofu` look into without any configuration.
    ///
    /// Spec: `OpenTofu` 1.12, implicit local mirror directories; measured with Terraform 1.11.4 too.
    pub fn vendor(working_dir: &std::path::Path) -> Self {
        Self::MirrorUnpacked(working_dir.join("terraform.d").join("plugins"))
    }
}

/// Whether the locked version binds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upgrade {
    /// Only the locked version is installed.
    #[default]
    KeepLocked,
    /// The newest version that the constraints admit is installed.
    Newest,
}

/// How to install.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The lock file as the caller read it. `install` writes it once, after every request has succeeded.
    pub lock: StoredLockFile,
    /// The providers whose entries leave the lock file. Installed packages stay.
    pub forget: BTreeSet<ProviderAddr>,
    /// What an archive may expand to.
    pub limits: Limits,
    /// How many packages are fetched and unpacked at once; small ones (up to 4 MiB) do not count.
    pub parallel: usize,
    /// What is trusted. The pins are written with the lock file.
    pub trust: Trust,
    /// Who waits for other programs, and how long.
    pub waiter: Waiter,
    /// Packages that were fetched before, for this project or another one.
    pub package_cache: PackageCache,
}

impl Options {
    /// Usual limits, a pipeline for every two processors, and no package cache.
    pub fn new(lock: StoredLockFile, trust: Trust) -> Self {
        Self {
            lock,
            forget: BTreeSet::new(),
            limits: Limits::default(),
            parallel: pipelines(),
            trust,
            waiter: Waiter::default(),
            package_cache: PackageCache::off(),
        }
    }
}

/// A pipeline for every two processors.
pub(crate) fn pipelines() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).max(1)
}

/// A package that is in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// The provider.
    pub address: ProviderAddr,
    /// The version that was chosen.
    pub version: Version,
    /// The provider that the release says it is of, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_as: Option<ProviderAddr>,
    /// The platform.
    pub platform: Platform,
    /// The repository that it came from, or the plugin cache; all places of the request if no place was asked.
    pub place: Place,
    /// The folder or archive.
    #[serde(serialize_with = "tofu_oci_types::path_as_text")]
    pub path: PathBuf,
    /// What was done.
    pub outcome: InstallOutcome,
    /// Whether the package cache gave its bytes, so that nothing was fetched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
    /// Whether the small layer gave its bytes, so that the zip was not needed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub small: bool,
    /// Bytes of packages that were received for it, 0 if none.
    #[serde(skip_serializing_if = "is_zero")]
    pub received: u64,
    /// How the package lies in the repository; `None` if the place was not asked.
    pub layout: Option<LeafKind>,
    /// Bytes of the package's files; 0 before it is fetched.
    pub bytes: u64,
    /// The package's checksums, all computed or verified here, sorted.
    pub hashes: Vec<PackageHash>,
    /// What identifies the release; unidentified if the place was not asked.
    #[serde(rename = "index")]
    pub identity: Identity,
    /// Who vouches for the package; `None` if the place was not asked, or is not a repository.
    pub trust: Option<VouchedBy>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A new entry of the lock file with which a release cannot be installed on all its platforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarrowEntry {
    pub address: ProviderAddr,
    pub version: Version,
    /// The platforms that the entry is for, sorted.
    pub platforms: Vec<Platform>,
    /// The other platforms of the release, sorted.
    pub missing: Vec<Platform>,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallOutcome {
    /// The package was fetched and put in its place.
    Installed,
    /// The package was in the plugin cache and was linked.
    Linked,
    /// The package was in its place already, unchanged.
    AlreadyInstalled,
}

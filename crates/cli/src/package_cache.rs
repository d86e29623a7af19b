//! The package cache of this user, by the environment.

use tofu_oci_fetch::{CacheDirOrigin, PackageCache, PackageCacheSettings};
use tofu_oci_types::Reporter;

use crate::args::InstallArgs;
use crate::diagnostic::Diagnostic;
use crate::environment::{absolute_path, cache_root};

/// The folders that the environment names, or the usual one. An empty `TOFU_OCI_CACHE_DIR` turns the cache off.
pub(crate) fn settings() -> Result<PackageCacheSettings, Diagnostic> {
    let lower = absolute_path("TOFU_OCI_CACHE_LOWER")?;
    let (dir, origin) = if std::env::var_os("TOFU_OCI_CACHE_DIR").is_some() {
        (absolute_path("TOFU_OCI_CACHE_DIR")?, CacheDirOrigin::Named)
    } else {
        (cache_root(), CacheDirOrigin::Usual)
    };
    Ok(PackageCacheSettings { dir, origin, lower })
}

/// The cache of an installation. A run that writes nothing only looks into an existing cache. An unusable cache is
/// reported.
pub(crate) fn of_install(args: &InstallArgs, reporter: &dyn Reporter) -> Result<PackageCache, Diagnostic> {
    if args.no_cache {
        return Ok(PackageCache::off());
    }
    let settings = settings()?;
    Ok(if args.dry_run {
        PackageCache::open_to_look(&settings, reporter)
    } else {
        PackageCache::open(&settings, reporter)
    })
}

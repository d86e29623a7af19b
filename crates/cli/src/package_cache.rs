//! The package cache of this user, by the environment.

use tofu_oci_fetch::{CacheDirOrigin, PackageCache, PackageCacheSettings};
use tofu_oci_types::Reporter;

use crate::args::InstallArgs;
use crate::cache_dir;
use crate::environment::{cache_root, path};

/// The folders that the environment names, or the usual one. An empty `TOFU_OCI_CACHE_DIR` turns the cache off.
fn settings() -> PackageCacheSettings {
    let lower = path("TOFU_OCI_CACHE_LOWER").map(|dir| std::path::absolute(&dir).unwrap_or(dir));
    match cache_dir::named() {
        Some(named) => {
            let dir = Some(named).filter(|dir| !dir.as_os_str().is_empty());
            PackageCacheSettings { dir, origin: CacheDirOrigin::Named, lower }
        }
        None => PackageCacheSettings { dir: cache_root(), origin: CacheDirOrigin::Usual, lower },
    }
}

/// The cache; what cannot be used is reported.
pub(crate) fn open(reporter: &dyn Reporter) -> PackageCache {
    PackageCache::open(&settings(), reporter)
}

/// The cache of an installation; a run that writes nothing looks into one that is there.
pub(crate) fn of_install(args: &InstallArgs, reporter: &dyn Reporter) -> PackageCache {
    match (args.no_cache, args.dry_run) {
        (true, _) => PackageCache::off(),
        (false, true) => PackageCache::open_to_look(&settings(), reporter),
        (false, false) => open(reporter),
    }
}

//! Where this program keeps what it can fetch again.

use std::path::PathBuf;

use tofu_oci_store::ManifestFiles;

use crate::environment::cache_folder;

/// The folder that `TOFU_OCI_CACHE_DIR` names for packages; empty if it turns the package cache off. `None` if the variable
/// is not set.
pub(crate) fn named() -> Option<PathBuf> {
    let named = PathBuf::from(std::env::var_os("TOFU_OCI_CACHE_DIR")?);
    if named.as_os_str().is_empty() {
        return Some(named);
    }
    Some(std::path::absolute(&named).unwrap_or(named))
}

/// The manifests that earlier runs have read; `None` if the environment names no cache folder.
pub(crate) fn manifests() -> Option<ManifestFiles> {
    let folder = cache_folder("manifests")?;
    Some(ManifestFiles::new(&folder))
}

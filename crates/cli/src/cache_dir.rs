//! Where this program keeps what it can fetch again.

use tofu_oci_store::ManifestFiles;

use crate::environment::cache_folder;

/// The manifests that earlier runs have read; `None` if the environment names no cache folder.
pub(crate) fn manifests() -> Option<ManifestFiles> {
    let folder = cache_folder("manifests")?;
    Some(ManifestFiles::new(&folder))
}

//! What the manifest under a digest is: a release of a provider, a module, or neither.

use tofu_oci_layout::{MAX_DOCUMENT, ModuleManifest, ReleaseIndex};
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::Descriptor;

/// The release that an index describes; `None` if the index is missing or damaged, or is not a release.
///
/// # Errors
/// If the store could not be asked ([`StoreError::is_of_content`]): the unread manifest may be a release.
pub async fn read_release(store: &dyn ReadStore, index: &Descriptor) -> Result<Option<ReleaseIndex>, StoreError> {
    let bytes = of_content(fetch_bytes(store, index, MAX_DOCUMENT).await)?;
    Ok(bytes.and_then(|bytes| ReleaseIndex::parse(index, &bytes).ok()))
}

/// What the manifest under a digest is a version of; `None` if it is missing or damaged, if it is neither a release nor a
/// module, and if it is a release that names no provider.
///
/// # Errors
/// As [`read_release`].
pub async fn version_of(store: &dyn ReadStore, manifest: &Descriptor) -> Result<Option<VersionOf>, StoreError> {
    let bytes = of_content(fetch_bytes(store, manifest, MAX_DOCUMENT).await)?;
    Ok(bytes.and_then(|bytes| of_manifest(manifest, &bytes)))
}

/// The same of the bytes of a manifest.
pub(crate) fn of_manifest(manifest: &Descriptor, bytes: &[u8]) -> Option<VersionOf> {
    if ModuleManifest::parse(manifest, bytes).is_ok() {
        return Some(VersionOf::Module);
    }
    let address = ReleaseIndex::parse(manifest, bytes).ok()?.claims().address?;
    Some(VersionOf::Provider { address })
}

/// What was read; `None` if the content of the repository is at fault.
pub(crate) fn of_content<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_of_content() => Ok(None),
        Err(error) => Err(error),
    }
}

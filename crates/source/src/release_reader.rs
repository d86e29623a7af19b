//! The release that a repository holds under a digest.

use tofu_oci_layout::{MAX_DOCUMENT, ReleaseIndex};
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_types::Descriptor;

/// The release that an index describes; `None` if the index is missing or damaged, or is not a release.
///
/// # Errors
/// If the store could not be asked ([`StoreError::is_of_content`]): the unread manifest may be a release.
pub async fn read_release(store: &dyn ReadStore, index: &Descriptor) -> Result<Option<ReleaseIndex>, StoreError> {
    let bytes = of_content(fetch_bytes(store, index, MAX_DOCUMENT).await)?;
    Ok(bytes.and_then(|bytes| ReleaseIndex::parse(index, &bytes).ok()))
}

/// What was read; `None` if the content of the repository is at fault.
pub(crate) fn of_content<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_of_content() => Ok(None),
        Err(error) => Err(error),
    }
}

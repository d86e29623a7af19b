//! What lies beside a release and may say who stands for it.

use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::Evidence;
use tofu_oci_types::Descriptor;

use crate::Search;

/// What lies beside an index in its repository and may say who stands for it.
///
/// # Errors
/// When the repository could not be asked.
pub async fn evidence(store: &dyn ReadStore, index: &Descriptor, search: Search) -> Result<Vec<Evidence>, StoreError> {
    let _ = (store, index, search);
    Ok(Vec::new())
}

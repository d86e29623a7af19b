//! One release into a store.
//!
//! ```text
//! a release in a repository   copied byte for byte, with everything that refers to it            copied.rs
//! any other                   its zips become a release of the artifact layout                   published.rs
//!   compare    with what the destination has under the version's tag                             present.rs
//!   package    streamed if its digest and size are known, else fetched and verified on disk      package.rs, streamed.rs
//!   evidence   SHA256SUMS, its signatures and keys                                               evidence.rs
//! ```

mod copied;
mod evidence;
mod package;
mod present;
mod published;
mod request;
mod streamed;
mod tag;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use tofu_oci_source::Release;
use tofu_oci_store::Store;
use tofu_oci_types::Reporter;

pub(crate) use self::copied::size as size_of_copy;
pub(crate) use self::evidence::signed_sums;
pub(crate) use self::package::{check_size, hashed};
pub use self::request::{TransferRequest, Transferred};
pub(crate) use self::request::{demand_own, names};
pub(crate) use self::tag::resolve;
use crate::MirrorError;

/// Carries a release into a store, its tag last of all.
///
/// The caller has judged whether the release is trusted. A transfer that breaks off leaves no tag; running it again sends
/// only what is missing. A release that the destination has costs one small request there.
///
/// # Errors
/// [`MirrorError`] says which end failed. The destination offers what it offered before.
pub async fn transfer(
    request: &TransferRequest<'_>,
    release: Arc<dyn Release>,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    match release.store() {
        Some(from) => copied::copied(request, &*release, &*from, to, reporter).await,
        None => published::published(request, release, to, reporter).await,
    }
}

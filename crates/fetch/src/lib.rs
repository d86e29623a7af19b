//! A package that was fetched and verified, and its place on disk.
//!
//! ```text
//! Offer  --TrustChecker-->  Judgement        who stands for its release, asked before anything is downloaded
//!   |
//!   +--stage-->  Staged  --verify-->  Verified  --place-->  a PackagePath
//!              temp folder          digest, size, names,     rename
//!              beside the place     executable, h1, lock
//! ```
//!
//! Making a package visible takes a [`Verified`], which only verification makes. Whatever is dropped before that removes
//! its temporary folder, also when the future is dropped; the next run removes the folders of a process that was killed.
//!
//! There is no working directory here and no lock file: a caller says by [`Expect`] what was locked.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for the one who explains them")]

mod chunks;
mod error;
mod fetch;
mod guard;
mod link;
pub mod pin_file;
mod place;
mod stage;
mod staging;
mod trust;
mod verify;

use tofu_oci_types::{Platform, ProviderAddr, Version};

pub use error::FetchError;
pub use fetch::Fetcher;
pub use guard::Turn;
pub use link::Linked;
pub use pin_file::PinFileError;
pub use place::{FoundPackage, PackageForm, PackagePath, PathContents};
pub use trust::{Judgement, SignedBy, Trust, TrustChecker, Unasked, Vouched, real_zips};
pub use verify::{
    Expect, OTHER_MANIFEST, PUBLISHED_ANEW, Placed, Verified, check_before, check_lines, known_before,
    report_unexplained, report_wrong, zh_is_suspicious,
};

/// How a package is named in events: `HOST/NS/TYPE VERSION OS_ARCH`.
pub fn subject(address: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("{address} {version} {platform}")
}

/// Runs what blocks, outside of the tasks.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

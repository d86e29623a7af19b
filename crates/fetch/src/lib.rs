//! A package that was fetched and verified, and its place on disk.
//!
//! ```text
//! Offer  --TrustChecker-->  Judgement        who vouches for its release, known before the download
//!   |
//!   +--stage-->  Staged  --verify-->  Verified  --place-->  a PackagePath
//!              temp folder          digest, size, names,     rename
//!              beside the place     executable, h1, lock
//! ```
//!
//! Making a package visible takes a [`Verified`], which only verification makes. Dropping any earlier stage, or the
//! future, removes its temporary folder. The next run removes the folders of a killed process.
//!
//! This crate knows neither a working directory nor a lock file: a caller says by [`ExpectedHashes`] what was locked.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

mod blocking;
mod cache;
mod cache_dir;
mod chunks;
mod error;
mod fetch;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod link;
mod module;
pub mod pin_file;
mod place;
mod small;
mod stage;
mod staging;
mod subject;
mod trust;
mod verify;

pub use cache::{CacheHealth, CacheInfo, DamagedPackage, KeptPackage, PruneAct, PruneRules, Pruned};
pub use cache_dir::{CacheDirOrigin, PackageCache, PackageCacheSettings};
pub use error::FetchError;
pub use fetch::Fetcher;
pub use guard::FolderLock;
pub use link::Linked;
pub use module::{
    FetchedModule, ModuleDir, ModuleFetchError, ModulePlaced, Replace, VersionTag, current_commit, fetch_module,
    version_tags_of,
};
pub use pin_file::PinFileError;
pub use place::{FoundPackage, PackageForm, PackagePath, PathContents};
pub use small::ProvedContents;
pub use stage::PackageOrigin;
pub use subject::subject;
pub use trust::{
    Conclusion, Judgement, ModuleStanding, OfflineScope, ReleaseWithEvidence, RenamedReleases, SignatureStanding,
    SignedBy, Trust, TrustChecker, VouchedBy, judge_module, judged, module_says_another, other_address_note, real_zips,
};
pub use verify::{
    ExpectedHashes, OTHER_MANIFEST, PUBLISHED_ANEW, Placement, Verified, check_before, check_lines, known_before,
    recorded, report_unexplained, report_wrong, zh_is_suspicious,
};

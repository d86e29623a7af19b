//! The dependency lock file: read, match, merge and write `.terraform.lock.hcl`.
//!
//! The text is byte for byte what `tofu init` (or `terraform init`, when the file says so) would write. Nothing here
//! asks the network: what a package's true checksums are is somebody else's finding, see [`PackageHashes`].
//!
//! ```text
//! text  --parse-->  LockFile  --get-->  LockEntry  --check(true checksums)-->  Verdict
//!                      ^                                                          |
//! disk  <--write--     +---------------- insert  <-------- merge  <---------------+
//! ```

mod check;
mod disk;
mod error;
mod file;
mod guide;
mod parse;
mod record;
mod render;

pub use check::{
    Line, ManifestLines, Origin, PackageHashes, Refusal, ReleaseHashes, Report, Verdict, check, check_addition,
    check_manifest, check_release, locked_platforms, needs_more_facts, nobodys, precheck, published_anew,
};
pub use disk::{LOCK_FILE_LIMIT, LOCK_FILE_NAME, StoredLockFile, Written, read, read_text, replace};
pub use error::{LockFileError, LockProblem};
pub use file::{LockEntry, LockFile, Maintainer};
pub use guide::Guide;
pub use record::{ManifestsAlone, Recordable, merge, restored};

//! The dependency lock file: read, match, merge and write `.terraform.lock.hcl`.
//!
//! The text is byte for byte what `tofu init` would write, or `terraform init` if the file names it. The caller knows a
//! package's true checksums: see [`PackageHashes`].
//!
//! ```text
//! text  --parse-->  LockFile  --get-->  LockEntry  --check(true checksums)-->  LockVerdict
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
    HashLine, LineOrigin, LineReport, LockRefusal, LockVerdict, ManifestLines, PackageHashes, ReleaseHashes, check,
    check_addition, check_manifest, check_release, locked_platforms, needs_more_facts, precheck, published_anew,
    unclaimed,
};
pub use disk::{LOCK_FILE_LIMIT, StoredLockFile, WriteOutcome, read, read_bytes, replace};
pub use error::{LockFileError, LockProblem};
pub use file::{LOCK_FILE_NAME, LockEntry, LockFile, Maintainer};
pub use guide::Guide;
pub use record::{ManifestsAlone, Recordable, merge, restored};

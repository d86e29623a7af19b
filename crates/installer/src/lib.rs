//! Resolve, select, fetch, verify, unpack and lock.
//!
//! ```text
//! InstallRequest   --choose--> version --offer--> Offer --stage--> Staged --verify--> Verified --commit--> Installed
//!                                        |                 |                   |                    |
//!                              lock file asked first   temp folder       digest, size, names,   rename, and at the
//!                              (zh, ch known here)     beside target     executable, h1, lock   very end the lock file
//! ```
//!
//! With a plugin cache the package goes there, and a link to it into the working directory; what is locked and lies in
//! the cache already is linked without a single request.
//!
//! Making a package visible takes a `Verified`, which only verification makes. Whatever is dropped before that removes
//! its temporary folder, also when the future is dropped; folders of a process that was killed are removed by the next
//! run.
//!
//! **Many at once.** Programs that work in one directory take [`Turn`]s to read, merge and write the lock file and the
//! pins. What another one has recorded of a provider meanwhile is held against that provider again, as if it had been
//! there from the start; what it has recorded of others stays.
//!
//! **All or nothing.** A provider that fails leaves nothing behind. Others of the same call may have been installed by
//! then (they are complete and verified); the lock file is written once, at the end, when all have succeeded.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for the one who explains them")]

mod choose;
mod error;
mod install;
mod lock;
mod package;
mod plan;
mod record;
mod request;

#[cfg(test)]
mod tests;

pub use error::InstallError;
pub use install::{InstallReport, install};
pub use lock::{
    Basis, Difference, LockOptions, LockReport, LockRequest, LockWrite, LockedPlatform, LockedProvider, Wanted, lock,
};
pub use request::{InstallRequest, Installed, Options, Outcome, PluginCache, Target, Upgrade};

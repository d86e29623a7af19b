//! Resolve, select, fetch, verify, unpack and lock.
//!
//! ```text
//! InstallRequest --choose--> version --look--> StepFacts --plan--> InstallStep
//!                              |                                |-- Keep   it is in its place
//!                          lock file,                           |-- Link   the plugin cache has it
//!                          place on disk,                       |-- Fetch  Offer --fetch--> Verified --place-->
//!                          plugin cache: read once              v
//!                                                            InstallRecord --record--> pins, then the lock file
//! ```
//!
//! Modules have no lock file: [`pin_modules`] says which digest a call of a module names, and whether it still should.
//!
//! The caller reads the lock file; the installer writes it once, at the end. With a plugin cache the package goes
//! there, and a link to it into the working directory. A locked package of the cache is linked without a request.
//!
//! Making a package visible takes a [`Verified`](tofu_oci_fetch::Verified), which only verification makes.
//!
//! **Many at once.** Programs that work in one directory take [`FolderLock`](tofu_oci_fetch::FolderLock)s to look at the lock file
//! again, merge, and write it and the pins. If another program has changed the entry of a provider meanwhile, the new
//! entry binds as if it had been there from the start; entries of other providers stay.
//!
//! **All or nothing.** A provider that fails leaves no files. Others of the same call may be installed by then,
//! complete and verified. `install` writes the lock file only if all have succeeded.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

mod ahead;
mod choose;
mod error;
mod install;
mod lock;
mod lock_request;
mod module_pin;
mod package;
mod plan;
mod preview;
mod record;
mod request;

#[cfg(test)]
mod tests;

pub use error::InstallError;
pub use install::{InstallReport, check_locked, install, install_locked};
pub use lock::{
    Basis, LockDifference, LockOptions, LockReport, LockRequest, LockWrite, LockedPlatform, LockedProvider,
    PlatformChoice, lock,
};
pub use module_pin::{
    AskedRepositories, ModulePin, ModulePinChange, ModulePinError, ModulePinOptions, ModulePinRequest, MovedTags,
    PinRemark, pin_modules,
};
pub use preview::{InstallPreview, PlannedPackage, preview};
pub use request::{
    InstallOutcome, InstallRequest, InstallTarget, Installed, NarrowEntry, Options, PluginCache, Upgrade,
};

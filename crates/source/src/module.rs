//! Packages of modules: in OCI repositories, and wherever a registry of modules says.
//!
//! ```text
//! versions   BASE/NS/NAME/SYSTEM/versions              -> Listing
//! locate     BASE/NS/NAME/SYSTEM/VERSION/download      -> ModuleLocation { Oci, Archive, Git }
//! open       ModuleLocation                            -> ModulePackage     its manifest is read, its bytes are not
//! ```
//!
//! Spec: seed 004, "Module Registry Protocol"; `real-tofu-http.md` §1 (measured), "Module registry".

mod access;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod git;
mod git_program;
mod location;
mod package;
mod registry;
mod version_list;

pub use self::access::LocationAccess;
pub use self::error::{GitFault, LocationFault, ModuleError, Withdrawal, wanted_text};
pub use self::git::GitCheckout;
pub use self::git_program::{GitCommand, GitLimits, GitNamer, GitOutput, GitProgram, GitRunError};
pub use self::location::{ArchiveForm, ModuleArchive, ModuleLocation};
pub use self::package::{ModulePackage, PackageBytes};
pub use self::registry::ModuleRegistry;

//! Packages of modules: in OCI repositories, and wherever a registry of modules says.
//!
//! ```text
//! versions   BASE/NS/NAME/SYSTEM/versions              -> Listing
//! locate     BASE/NS/NAME/SYSTEM/VERSION/download      -> ModuleLocation { Oci, Archive }
//! open       ModuleLocation                            -> ModulePackage     its manifest is read, its bytes are not
//! ```
//!
//! Spec: seed 004, "Module Registry Protocol"; `real-tofu-http.md` §1 (measured), "Module registry".

mod error;
mod location;
mod package;
mod registry;
mod version_list;

pub use self::error::{LocationFault, ModuleError};
pub use self::location::{ArchiveForm, ModuleArchive, ModuleLocation};
pub use self::package::ModulePackage;
pub use self::registry::ModuleRegistry;

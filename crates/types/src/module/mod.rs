//! Module source addresses: what the `source` argument of a `module` block names.
//!
//! ```text
//! ./network                                   Local     a folder of the same package
//! acme/network/aws//sub                       Registry  a module of a registry, and a folder in its package
//! oci://ghcr.io/acme/network//sub?tag=1.0.0   Oci       a package in an OCI repository
//! git::https://example.com/network.git        Other     anything else that can be fetched
//! ```

mod address;
mod git;
mod name;
mod oci;
mod oci_fault;
mod other;
mod pattern;
mod source;
mod subdir;

pub use address::{InvalidModuleAddr, ModuleAddr};
pub use git::{GitModuleSource, GitReference, GitTransport, InvalidGitModuleSource};
pub use name::{InvalidModuleName, ModuleName};
pub use oci::OciModuleSource;
pub use oci_fault::InvalidOciModuleSource;
pub use other::OtherModuleSource;
pub use pattern::{InvalidModulePattern, ModulePattern};
pub use source::{InvalidModuleSource, LocalModulePath, ModuleSource};
pub use subdir::{InvalidSubdir, Subdir};

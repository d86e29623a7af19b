//! A folder with a module becomes a module package in a store.
//!
//! ```text
//! folder --module_files--> files, what is left out        archive
//!        --checks.rs-----> syntax, calls that leave       tfconfig
//!        --build.rs------> zip, manifest                  archive, layout
//! look      the tag and its neighbours in the repository  look.rs
//! send      zip, config, manifest; signatures; the tag last of all
//! ```

mod build;
mod checks;
mod look;
mod push;
mod report;
mod request;

pub(crate) use look::{taken, zip_of};

pub use push::{plan_module_push, push_module};
pub use report::{LeftOutFile, ModuleContents, ModuleParts};
pub use request::{ModuleChecks, ModulePushRequest, PackedFiles};

#[cfg(test)]
mod tests;

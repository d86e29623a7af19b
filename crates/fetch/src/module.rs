//! The package of a module, fetched, unpacked and put in its place.
//!
//! ```text
//! ModulePackage --judge_module--> ModuleStanding      before the download
//!               --fetch_module--> FetchedModule       a temporary folder beside the place; digest, size, names
//!               --place-->        ModulePlaced        a rename; what lies there stays, unless it is to be replaced
//! ```

mod error;
mod fetch;
mod folder;
pub(crate) mod git;
mod place;
mod target;

pub use self::error::ModuleFetchError;
pub use self::fetch::{FetchedModule, fetch_module};
pub use self::git::{VersionTag, current_commit, version_tags_of};
pub use self::place::{ModulePlaced, Replace};
pub use self::target::ModuleDir;

#[cfg(test)]
mod tests;

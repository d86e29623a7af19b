//! Modules from registries and repositories into the user's own repositories.
//!
//! ```text
//! wanted --pick--> versions --visit--> what the destination lacks, from upstream     run.rs, pick.rs, chosen.rs
//!                     ^                  OCI package    byte for byte                carry.rs
//!                     |                  archive        unpacked, packed anew        carry.rs
//!                     |                what it has: compared with its source         same.rs
//!                     +-- calls of other modules, read from the package              calls.rs
//! what earlier runs put there, and the run has not named: reported or withdrawn      state.rs, others.rs
//! ```
//!
//! [`ModulePullThrough`] visits one version when it is asked for.
//!
//! The tag of a version is written last, so that a run which breaks off leaves no half module.

mod bundle;
mod bundled;
mod calls;
mod carry;
mod chosen;
mod destination;
mod error;
mod git_upstream;
mod job;
mod others;
mod pick;
mod pull;
mod report;
mod run;
mod same;
mod state;
mod upstream;
mod visit;

pub use bundled::BundledModules;
pub use destination::{MappedModuleRepositories, ModuleDestination};
pub use error::ModuleMirrorError;
pub use git_upstream::{GitModules, GitTemplate, InvalidGitTemplate};
pub use job::{MirrorMode, ModuleMirrorJob, NestedModules};
pub use pick::{ModuleOrigin, NamedPackage, WantedModule};
pub use pull::{ModuleEnds, ModulePullThrough, OpenModuleEnds};
pub use report::{
    CallOutcome, ModuleAction, ModuleMirrorLine, ModuleMirrorReport, ModuleOutcome, NeededProvider, UnfollowedCall,
};
pub use upstream::{HostedModules, MappedModules, ModuleChain, ModuleUpstream, StoredModules};

//! The CLI configuration: which files count, what they say, and what `OpenTofu` makes of their errors.
//!
//! ```text
//! Environment, Files --locate--> Located --read--> Reading --methods--> Methods --candidates--> [Candidate]
//! ```
//!
//! A [`CliConfigReading`] is `OpenTofu`'s own, lenient as it is: what it drops is dropped, and each [`CliConfigProblem`] tells what it
//! does then. [`CliConfigReading::refuse`] is the strict answer of this program.

mod advice;
mod decode;
mod edit;
mod file;
mod helper_program;
mod implicit;
mod installation;
mod locate;
mod measured;
mod merge;
mod methods;
mod mirror_url;
mod model;
mod names;
mod oci;
mod problem;
mod reader;
mod reading;
mod rewrite;
mod secrets;
mod settings;
mod sources;
mod splice;
#[cfg(test)]
pub(crate) mod tests;
mod variables;
mod written;

pub use crate::environment::{ConfigFiles, Environment, NamedFile, Os};
pub use edit::{MirrorChange, MirrorEditError, edit_mirrors, new_methods};
pub use file::{ConfigFile, ConfigFileState, Unknown};
pub use helper_program::{NoHelperProgram, helper_program};
pub use locate::{Located, MainFile, MainFileOrigin, PassedOver, locate};
pub use measured::{MEASURED, releases_text};
pub use methods::{MethodCandidate, Methods, check_oci_mirrors};
pub use mirror_url::check as check_mirror_url;
pub use model::{
    BlockAttribute, BlockKind, CliConfig, ConfigSetting, DevOverride, HostBlock, Installation, Masked, Method,
    MethodKind, RawBlock, RegistryProtocols, TextPlace, TokenVariable,
};
pub use names::known_names;
pub use problem::{CliConfigProblem, Effect, ProblemStage, Severity, Topic};
pub use reading::{CliConfigReading, read};
pub use rewrite::{NotReadBack, RewrittenParts, rewrite};
pub use secrets::{MASK, in_line as secrets_in_line};
pub use tofu_oci_hcl::HclSyntax;
pub use written::{WrittenMethod, is_read_back, read_snippet, write_methods};

//! The CLI configuration: which files count, what they say, and what `OpenTofu` makes of their errors.
//!
//! ```text
//! Environment, Files --locate--> Located --read--> Reading --methods--> Methods --candidates--> [Candidate]
//! ```
//!
//! A [`Reading`] is `OpenTofu`'s own, lenient as it is: what it drops is dropped, and each [`Problem`] tells what it
//! does then. [`Reading::refuse`] is the strict answer of this program.

mod advice;
mod decode;
mod environment;
mod file;
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
mod secrets;
mod settings;
mod sources;
#[cfg(test)]
pub(crate) mod tests;
mod variables;

pub use environment::{Environment, Files, Os};
pub use file::{ConfigFile, FileState, Unknown};
pub use locate::{Located, MainFile, Origin, PassedOver, locate};
pub use measured::{MEASURED, releases_text};
pub use methods::{Candidate, Methods};
pub use model::{
    At, Attribute, BlockKind, CliConfig, DevOverride, Host, Installation, Masked, Method, MethodKind, RawBlock,
    RegistryProtocols, Setting, TokenVariable,
};
pub use names::known_names;
pub use problem::{Effect, Problem, Severity, Stage, Topic};
pub use reading::{Reading, read};
pub use secrets::{MASK, in_line as secrets_in_line};

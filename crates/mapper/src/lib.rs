//! An address and the user's rules give the places to look in.
//!
//! ```text
//! ProviderAddr --RuleSet::places--> [Place]
//!
//! a template that the user gave   ghcr.io/acme/${namespace}-${type}             RepositoryTemplate
//! the magic suffix                example.com.oci.opentofu.org/foo/bar
//!                                 -> example.com/foo/opentofu-provider-bar      MagicSuffix
//! ```
//!
//! Templates that the user gave are the whole answer: as an explicit installation method does in `OpenTofu`, they
//! replace the implicit rule. So nothing is asked of a public registry when a mirror was named.
//! This crate reads no files and opens no connections.

pub mod check;
pub mod config;
mod error;
mod magic;
mod pattern;
mod place;
mod prefix;
mod release;
mod rules;
mod template;
mod uri_template;
#[cfg(test)]
mod vectors;

pub use config::{Candidate, CliConfig, Environment, Files, Method, MethodKind, Methods, Os, Problem, Reading};
pub use error::{MapError, TemplateError};
pub use magic::{InvalidMagicSuffix, MagicSuffix};
pub use pattern::{InvalidPattern, Pattern, PatternList, Selection, Selector};
pub use place::{OciPlace, Place, Rule};
pub use prefix::{Prefix, parse_prefix};
pub use release::TofuRelease;
pub use rules::RuleSet;
pub use template::{RepositoryTemplate, Symbol};
pub use uri_template::{InvalidUriTemplate, UriTemplate};

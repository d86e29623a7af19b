//! Which keys may speak for which providers: `trust.toml`, read.
//!
//! ```text
//! text --parse--> PolicyFile --resolve(files)--> Policy --rule(address)--> TrustRule
//!                                                     --module_rule(place)--> TrustRule
//! ```
//!
//! Without a file [`Policy::default`] holds: no keys, unsigned releases are allowed, moved tags are refused, and what the
//! pins remember holds.

mod error;
mod file;
mod identity;
mod key;
mod module_pattern;
mod rule;
mod rules;
#[cfg(test)]
mod tests;

pub use error::{PolicyError, PolicyProblem};
pub use file::PolicyFile;
pub use key::{KeyMaterial, KeyMaterialError, NamedKey};
pub use module_pattern::InvalidModulePlacePattern;
pub use rule::{Action, ExpiredKeys, ManifestChecksums, RuleOrigin, TrustRule, Unsigned};
pub use rules::Policy;

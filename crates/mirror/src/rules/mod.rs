//! What is mirrored: providers, versions, platforms, and what is kept out.

mod error;
mod file;
mod min_age;
mod model;
#[cfg(test)]
mod tests;

pub use error::{RulesError, RulesProblem};
pub use file::{RulesFile, below_table, hosted_pattern, in_words, version_rule};
pub use min_age::{InvalidMinAge, MinAge};
pub use model::{DelistedPolicy, DenyRule, MirrorRules, ProviderRule, Providers, VersionRule};

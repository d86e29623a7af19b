//! What is mirrored: providers, versions, platforms, and what is kept out.

mod address;
mod error;
mod file;
mod min_age;
mod model;
#[cfg(test)]
mod tests;

pub use address::MirroredAddress;
pub use error::{RulesError, RulesProblem};
pub use file::{RulesFile, below_table, in_words, rule_pattern, version_rule};
pub use min_age::{InvalidMinAge, MinAge};
pub use model::{DelistedPolicy, DenyRule, MirrorRules, ProviderRule, Providers, VersionRule};

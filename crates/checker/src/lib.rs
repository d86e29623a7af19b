//! Findings about repositories, lock files and registries, and what `OpenTofu` makes of them.

mod model;
mod rules;

pub use model::{Finding, Group, Level, Rule};
pub use rules::catalogue::{rule, rules};

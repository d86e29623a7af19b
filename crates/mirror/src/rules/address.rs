//! What rules name and a destination remembers: a provider or a module.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use tofu_oci_mapper::TemplateAddress;
use tofu_oci_types::{ModuleAddr, ModulePattern, Pattern, Predecessors, ProviderAddr};

use super::error::RulesProblem;

/// The address of a provider or of a module.
pub trait MirroredAddress:
    TemplateAddress<Pattern: Clone + Debug + Display + Eq + Send + Sync> + Debug + Eq + Hash + Ord + Send + Sync + 'static
{
    /// Reads an address.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read(text: &str) -> Result<Self, RulesProblem>;

    /// Reads a pattern that names its host, or `*` for it.
    ///
    /// # Errors
    /// What is wrong with it.
    fn pattern(text: &str) -> Result<Self::Pattern, RulesProblem>;

    /// Whether the pattern matches it.
    fn is_matched(&self, pattern: &Self::Pattern) -> bool;

    /// What it is called under each of the hosts that count as one with its own, first as it is.
    fn names(&self, predecessors: &Predecessors) -> Vec<Self>;
}

impl MirroredAddress for ProviderAddr {
    fn read(text: &str) -> Result<Self, RulesProblem> {
        text.parse().map_err(RulesProblem::Address)
    }

    fn pattern(text: &str) -> Result<Pattern, RulesProblem> {
        let pattern = text.parse().map_err(RulesProblem::Pattern)?;
        if text.matches('/').count() < 2 {
            return Err(RulesProblem::NoHost { pattern: text.to_owned() });
        }
        Ok(pattern)
    }

    fn is_matched(&self, pattern: &Pattern) -> bool {
        pattern.matches(self)
    }

    fn names(&self, predecessors: &Predecessors) -> Vec<Self> {
        predecessors.names(self)
    }
}

impl MirroredAddress for ModuleAddr {
    fn read(text: &str) -> Result<Self, RulesProblem> {
        text.parse().map_err(RulesProblem::ModuleAddress)
    }

    fn pattern(text: &str) -> Result<ModulePattern, RulesProblem> {
        text.parse().map_err(RulesProblem::ModulePattern)
    }

    fn is_matched(&self, pattern: &ModulePattern) -> bool {
        pattern.matches(self)
    }

    fn names(&self, predecessors: &Predecessors) -> Vec<Self> {
        predecessors.module_names(self)
    }
}

//! What one file says that matters here.

use std::path::Path;

use tofu_oci_types::{Constraints, ProviderAddr};

use super::Declared;
use crate::{ConfigProblem, InstallError};

/// What one file says about providers and modules.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Entries of `required_providers`.
    pub(super) required: Vec<Required>,
    /// Local names that provider, resource, data and ephemeral blocks use.
    pub(super) used: Vec<Used>,
    /// Calls of modules.
    pub(super) modules: Vec<ModuleCall>,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub(super) struct Required {
    pub(super) name: String,
    /// Nothing when the entry has no source; the provider is implied then.
    pub(super) source: Option<ProviderAddr>,
    pub(super) constraints: Constraints,
    pub(super) at: Declared,
}

/// A use of a local name.
#[derive(Clone, Debug)]
pub(super) struct Used {
    pub(super) name: String,
    /// The `version` of a provider block, deprecated and still valid.
    pub(super) constraints: Constraints,
    pub(super) at: Declared,
}

/// A call of a module.
#[derive(Clone, Debug)]
pub(super) struct ModuleCall {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) at: Declared,
}

/// The local name that a resource type implies: all before the first underscore.
pub(super) fn implied_name(resource_type: &str) -> &str {
    resource_type.split('_').next().unwrap_or(resource_type)
}

/// A source as `required_providers` writes it.
pub(super) fn parse_source(text: &str, at: &Declared) -> Result<ProviderAddr, InstallError> {
    text.parse().map_err(|error: tofu_oci_types::InvalidProviderAddr| {
        problem(at.clone(), ConfigProblem::InvalidSource { message: error.to_string() })
    })
}

/// Constraints as `required_providers` writes them.
pub(super) fn parse_constraints(text: &str, at: &Declared) -> Result<Constraints, InstallError> {
    text.parse().map_err(|error: tofu_oci_types::InvalidConstraints| {
        problem(at.clone(), ConfigProblem::InvalidConstraints { message: error.to_string() })
    })
}

pub(super) fn problem(at: Declared, problem: ConfigProblem) -> InstallError {
    InstallError::Config { path: at.path, line: at.line, column: at.column, problem }
}

/// The position of a byte of a file's text.
pub(super) fn position(path: &Path, text: &str, offset: usize) -> Declared {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    Declared { path: path.to_owned(), line, column }
}

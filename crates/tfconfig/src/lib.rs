//! Which providers a configuration requires.
//!
//! ```text
//! folder --files--> syntax.rs over both syntaxes --reader--> Facts of each file --module--> one module
//! root module --walk--> local modules and those in modules.json --+--> Configuration   (what `install` needs)
//!                                                                 +--> ProviderTree    (resolve, summary, state)
//! each file --shape--> findings: labels, arguments and names that OpenTofu refuses
//! folder of a module --interface--> ModuleInterface                                          (what its page shows)
//! package, folder --package--> local calls --> PackageModules                              (what a module package holds)
//! files of local modules --calls--> CallFile --pins--> CallFileWrite                       (sources, rewritten in place)
//! ```
//!
//! This crate evaluates nothing: sources, versions and module sources are plain strings, as `OpenTofu` demands.

mod calls;
mod error;
mod facts;
mod files;
mod findings;
mod functions;
mod interface;
mod json;
mod model;
mod module;
mod outer;
mod package;
mod reader;
mod render;
mod resolve;
mod shape;
mod state;
mod summary;
mod syntax;
mod walk;

use std::path::Path;

pub use calls::{
    CallFile, CallFileError, CallFileWrite, CallSource, NotedConstraint, PinNote, PinnedSource, SourceCall,
    module_calls,
};
pub use error::{ConfigProblem, TfConfigError};
pub use interface::{ModuleInput, ModuleInterface, ModuleOutput, ModuleProvider, module_interface};
pub use model::{
    ConfigBlock, ConfigFinding, ConfigOrigin, ConfigRequirements, Declared, MissingModule, ModuleNode, ProviderConfig,
    ProviderNeed, ProviderTree, ProviderUse, RequiredProvider, Requirement, StateLook, StateProvider, UsedBy,
};
pub use outer::{OuterCall, outer_calls};
pub use package::{PackageModules, PackageModulesError, package_modules};

/// What the configuration in `dir` requires. Modules that `tofu init` or `tofu get` has put into `data_dir` are looked
/// into as well.
///
/// A provider that is used without an entry in `required_providers` is `registry.opentofu.org/hashicorp/NAME`; the
/// built-in `terraform` is left out.
///
/// Spec: `OpenTofu` 1.12, `configs.Config.ProviderRequirements`; `.tofu` files shadow `.tf` files of the same name.
pub fn configuration(dir: &Path, data_dir: &Path) -> Result<ConfigRequirements, TfConfigError> {
    summary::configuration(walk::walk(dir, data_dir)?)
}

/// The providers of the configuration in `dir`, module by module, with its state.
///
/// It uses no network and evaluates nothing. `data_dir` is `.terraform` unless the user says
/// otherwise; `workspace` is the one that the environment names, before the one that was selected in `data_dir`.
///
/// # Errors
/// What cannot be read, with its place. What can be read and is refused by `OpenTofu` stands in
/// [`ProviderTree::findings`].
///
/// Spec: `OpenTofu` 1.12, `tofu providers`; seed 003 (provider references).
pub fn providers_tree(dir: &Path, data_dir: &Path, workspace: Option<&str>) -> Result<ProviderTree, TfConfigError> {
    let Some(walk::WalkedModules { root, missing }) = walk::walk(dir, data_dir)? else {
        return Err(TfConfigError::NoConfiguration { dir: dir.to_owned() });
    };
    let scope = resolve::ModuleScope { node: &root, above: None };
    let findings = findings::all(&scope);
    let state = state::look(dir, data_dir, root.module.backend.as_ref(), workspace)?;
    let root = scope.node()?;
    let providers = summary::needs(&root, &state);
    Ok(ProviderTree { root, providers, not_looked_into: missing, state, findings })
}

/// Whether there is a configuration in `dir`, perhaps an empty one.
///
/// # Errors
/// What cannot be read, with its place.
pub fn is_configuration(dir: &Path, data_dir: &Path) -> Result<bool, TfConfigError> {
    Ok(walk::walk(dir, data_dir)?.is_some())
}

/// The state of the configuration in `dir`; `None` if there is no configuration. `data_dir` and `workspace` are as for
/// [`providers_tree`].
///
/// # Errors
/// What cannot be read, with its place.
pub fn state(dir: &Path, data_dir: &Path, workspace: Option<&str>) -> Result<Option<StateLook>, TfConfigError> {
    let Some(walk::WalkedModules { root, .. }) = walk::walk(dir, data_dir)? else { return Ok(None) };
    state::look(dir, data_dir, root.module.backend.as_ref(), workspace).map(Some)
}

#[cfg(test)]
mod tests;

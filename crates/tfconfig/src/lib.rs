//! Which providers a configuration requires.
//!
//! ```text
//! folder --files--> syntax.rs over both syntaxes --reader--> Facts of each file --module--> one module
//! root module, tests --walk, early--> local modules and those in modules.json --+--> Configuration  (what `install` needs)
//!                                                                               +--> ProviderTree   (resolve, summary, state)
//! each file --shape--> findings: labels, arguments and names that OpenTofu refuses
//! folder of a module --interface--> ModuleInterface                                          (what its page shows)
//! package, folder --package--> local calls --> PackageModules                              (what a module package holds)
//! files of local modules --calls--> CallFile --pins--> CallFileWrite                       (sources, rewritten in place)
//! ```
//!
//! `early` evaluates the local sources of modules; all else are plain strings, as `OpenTofu` demands.

mod calls;
mod early;
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

pub use calls::{
    CallFile, CallFileError, CallFileWrite, CallSource, NotedConstraint, PinNote, PinnedSource, SourceCall,
    module_calls,
};
pub use error::{ConfigProblem, TfConfigError};
pub use files::is_configuration_file;
pub use interface::{ModuleInput, ModuleInterface, ModuleOutput, ModuleProvider, module_interface};
pub use model::{
    ConfigBlock, ConfigFinding, ConfigFolder, ConfigOrigin, ConfigRequirements, Declared, MissingModule, ModuleNode,
    ProviderConfig, ProviderNeed, ProviderTree, ProviderUse, RequiredProvider, Requirement, StateLook, StateProvider,
    UsedBy,
};
pub use outer::{OuterCall, outer_calls};
pub use package::{PackageModules, PackageModulesError, package_modules};

/// What a configuration requires. Modules that `tofu init` or `tofu get` has put into the data directory are looked into
/// as well.
///
/// A provider that is used without an entry in `required_providers` is `registry.opentofu.org/hashicorp/NAME`; the
/// built-in `terraform` is left out.
///
/// # Errors
/// What cannot be read, with its place; a folder without a configuration.
///
/// Spec: `OpenTofu` 1.12, `configs.Config.ProviderRequirements`; `.tofu` files shadow `.tf` files of the same name.
pub fn configuration(folder: &ConfigFolder) -> Result<ConfigRequirements, TfConfigError> {
    summary::configuration(walk::walk(folder)?)
}

/// The providers of a configuration, module by module, with its state.
///
/// It uses no network.
///
/// # Errors
/// What cannot be read, with its place; a folder without a configuration. What can be read and is refused by `OpenTofu`
/// stands in [`ProviderTree::findings`].
///
/// Spec: `OpenTofu` 1.12, `tofu providers`; seed 003 (provider references).
pub fn providers_tree(folder: &ConfigFolder) -> Result<ProviderTree, TfConfigError> {
    let walk::WalkedModules { root, missing, by_variables } = walk::walk(folder)?;
    let scope = resolve::ModuleScope { node: &root, above: None };
    let findings = findings::all(&scope);
    let state = state::look(folder, root.module.backend.as_ref())?;
    let root = scope.node()?;
    let providers = summary::needs(&root, &state);
    Ok(ProviderTree { root, providers, not_looked_into: missing, by_variables, state, findings })
}

/// The state of a configuration.
///
/// # Errors
/// What cannot be read, with its place; a folder without a configuration.
pub fn state(folder: &ConfigFolder) -> Result<StateLook, TfConfigError> {
    state::look(folder, walk::walk(folder)?.root.module.backend.as_ref())
}

#[cfg(test)]
mod tests;

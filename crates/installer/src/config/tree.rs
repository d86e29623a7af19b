//! From the root module to all its modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::module::{self, Module};
use super::{Configuration, Declared, MissingModule, Requirement};
use crate::{ConfigProblem, InstallError};

/// Where `tofu init` has put modules: `modules/modules.json` of the data directory.
#[derive(Default, Deserialize)]
struct Manifest {
    #[serde(rename = "Modules", default)]
    modules: Vec<ManifestEntry>,
}

#[derive(Deserialize)]
struct ManifestEntry {
    #[serde(rename = "Key", default)]
    key: String,
    #[serde(rename = "Dir", default)]
    dir: PathBuf,
}

pub(super) fn read(dir: &Path, data_dir: &Path) -> Result<Configuration, InstallError> {
    let installed = manifest(data_dir)?;
    let mut walk = Walk { root: dir, installed, seen: BTreeSet::new(), found: BTreeMap::new(), missing: Vec::new() };
    if let Some(root) = module::read(dir)? {
        walk.module("", dir, root)?;
    }
    Ok(Configuration { requirements: walk.found.into_values().collect(), missing_modules: walk.missing })
}

fn manifest(data_dir: &Path) -> Result<BTreeMap<String, PathBuf>, InstallError> {
    let path = data_dir.join("modules/modules.json");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(source) => return Err(InstallError::Io { action: "read", path, source }),
    };
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
        let at = Declared { path, line: error.line(), column: error.column() };
        super::facts::problem(at, ConfigProblem::Syntax { message: error.to_string() })
    })?;
    Ok(manifest.modules.into_iter().map(|entry| (entry.key, entry.dir)).collect())
}

struct Walk<'a> {
    root: &'a Path,
    installed: BTreeMap<String, PathBuf>,
    seen: BTreeSet<PathBuf>,
    found: BTreeMap<tofu_oci_types::ProviderAddr, Requirement>,
    missing: Vec<MissingModule>,
}

impl Walk<'_> {
    fn module(&mut self, key: &str, dir: &Path, module: Module) -> Result<(), InstallError> {
        // A module that is called twice requires the same both times; one that calls itself would never end.
        if !self.seen.insert(std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned())) {
            return Ok(());
        }
        for need in module.needs {
            let entry = self.found.entry(need.address.clone()).or_insert_with(|| Requirement {
                local_name: need.local_name,
                address: need.address,
                constraints: tofu_oci_types::Constraints::any(),
                declared: Vec::new(),
            });
            entry.constraints = entry.constraints.and(&need.constraints);
            entry.declared.push(need.at);
        }
        for (name, call) in module.calls {
            let key = if key.is_empty() { name } else { format!("{key}.{name}") };
            let local = ["./", "../", ".\\", "..\\"].iter().any(|prefix| call.source.starts_with(prefix));
            let child_dir = match self.installed.get(&key) {
                _ if local => dir.join(&call.source),
                Some(installed) => self.root.join(installed),
                None => {
                    self.missing.push(MissingModule { key, source: call.source, declared: call.at });
                    continue;
                }
            };
            match module::read(&child_dir)? {
                Some(child) => self.module(&key, &child_dir, child)?,
                None if local => {
                    let problem = ConfigProblem::ModuleMissing { path: call.source };
                    return Err(super::facts::problem(call.at, problem));
                }
                None => self.missing.push(MissingModule { key, source: call.source, declared: call.at }),
            }
        }
        Ok(())
    }
}

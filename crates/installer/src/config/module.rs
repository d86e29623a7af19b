//! The files of one folder as one module.

use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_types::{Constraints, ProviderAddr};

use super::facts::{Facts, ModuleCall, Required, Used, problem};
use super::files::{self, Syntax};
use super::{Declared, json, native};
use crate::{ConfigProblem, InstallError};

/// What one module says.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Every provider that it needs, in the order of first mention.
    pub(super) needs: Vec<Need>,
    /// The modules that it calls, by the name of the call.
    pub(super) calls: BTreeMap<String, ModuleCall>,
}

/// One provider that a module needs.
#[derive(Debug)]
pub(super) struct Need {
    pub(super) local_name: String,
    pub(super) address: ProviderAddr,
    pub(super) constraints: Constraints,
    pub(super) at: Declared,
}

/// The module in `dir`; nothing when there is no such folder.
pub(super) fn read(dir: &Path) -> Result<Option<Module>, InstallError> {
    let Some(files) = files::find(dir)? else { return Ok(None) };
    let mut required: Vec<Required> = Vec::new();
    let mut used: Vec<Used> = Vec::new();
    let mut calls = BTreeMap::new();
    for path in &files.primary {
        let facts = read_file(path)?;
        for entry in facts.required {
            if required.iter().any(|earlier| earlier.name == entry.name) {
                return Err(problem(entry.at, ConfigProblem::Duplicate { name: entry.name }));
            }
            required.push(entry);
        }
        used.extend(facts.used);
        calls.extend(facts.modules.into_iter().map(|call| (call.name.clone(), call)));
    }
    for path in &files.overrides {
        let facts = read_file(path)?;
        for entry in facts.required {
            required.retain(|earlier| earlier.name != entry.name);
            required.push(entry);
        }
        used.extend(facts.used);
        calls.extend(facts.modules.into_iter().map(|call| (call.name.clone(), call)));
    }
    Ok(Some(Module { needs: needs(required, used)?, calls }))
}

fn read_file(path: &Path) -> Result<Facts, InstallError> {
    let bytes =
        std::fs::read(path).map_err(|source| InstallError::Io { action: "read", path: path.to_owned(), source })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = Declared { path: path.to_owned(), line: 1, column: 1 };
        problem(at, ConfigProblem::Syntax { message: error.utf8_error().to_string() })
    })?;
    match files::syntax(path) {
        Syntax::Native => native::read(path, &text),
        Syntax::Json => json::read(path, &text),
    }
}

fn needs(required: Vec<Required>, used: Vec<Used>) -> Result<Vec<Need>, InstallError> {
    let mut needs: Vec<Need> = Vec::new();
    for entry in required {
        let Required { name, source, constraints, at } = entry;
        if is_built_in(&name, source.as_ref()) {
            if !constraints.is_any() {
                return Err(problem(at, ConfigProblem::BuiltIn { name }));
            }
            continue;
        }
        let address = match source {
            Some(address) => address,
            None => implied(&name, &at)?,
        };
        needs.push(Need { local_name: name, address, constraints, at });
    }
    for Used { name, constraints, at } in used {
        if let Some(need) = needs.iter_mut().find(|need| need.local_name == name) {
            need.constraints = need.constraints.and(&constraints);
        } else if name != "terraform" {
            let address = implied(&name, &at)?;
            needs.push(Need { local_name: name, address, constraints, at });
        }
    }
    Ok(needs)
}

/// Whether this is the provider that is part of the program.
///
/// Spec: `OpenTofu` 1.12, `addrs.ImpliedProviderForUnqualifiedType`; host `terraform.io`, namespace `builtin`.
fn is_built_in(name: &str, source: Option<&ProviderAddr>) -> bool {
    match source {
        Some(address) => address.hostname().as_str() == "terraform.io" && address.namespace() == "builtin",
        None => name == "terraform",
    }
}

fn implied(name: &str, at: &Declared) -> Result<ProviderAddr, InstallError> {
    super::facts::parse_source(name, at)
}

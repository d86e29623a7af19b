//! What is refused before a module is published: files that `OpenTofu` could not read.

use std::collections::BTreeSet;
use std::path::Path;

use tofu_oci_archive::InputFile;
use tofu_oci_tfconfig::{PackageModulesError, is_configuration_file, package_modules};

use crate::PackError;
use crate::error::{ModuleFault, UnreadableModule};

/// Most bytes of a configuration file; `tfconfig` reads no more. 16 MiB.
const LARGEST: u64 = 16 << 20;

/// Most faults, and most names that Windows cannot hold, that are named.
pub(super) const NAMED: usize = 10;

/// What was found in a package that may be published.
#[derive(Debug, Default)]
pub(super) struct CheckedModule {
    /// Whether there is no configuration in the root.
    pub(super) is_empty: bool,
    /// What `OpenTofu` could not read in folders that the module in the root does not call.
    pub(super) uncalled: Vec<String>,
}

/// Reads every module of the package as `OpenTofu` would, with nothing beside it but what is packed: what was left out is not
/// there. If there is a module in the root, folders that it does not call stop nothing.
///
/// `room` is a folder that does not exist yet. The configuration files are put there under their names in the package.
pub(super) fn check(files: &[InputFile], room: &Path) -> Result<CheckedModule, PackError> {
    let mut modules = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for file in files {
        let (folder, name) = file.name.rsplit_once('/').unwrap_or(("", &file.name));
        if folders.insert(folder) {
            let path = room.join(folder);
            std::fs::create_dir_all(&path).map_err(|error| PackError::io("create", path, error))?;
        }
        if is_configuration_file(name) {
            let bytes = tofu_oci_disk::read_file(&file.path, LARGEST)
                .map_err(|error| PackError::io("read", &file.path, error))?;
            let path = room.join(&file.name);
            std::fs::write(&path, bytes).map_err(|error| PackError::io("write", path, error))?;
            modules.insert(folder);
        }
    }
    let is_empty = !modules.contains("");
    let uncalled = read(room, modules.iter().copied(), is_empty)?;
    Ok(CheckedModule { is_empty, uncalled })
}

/// Reads the modules in these folders, each once, that in the root first. Returns what it found in those that a sound module in the
/// root does not call.
fn read<'a>(room: &Path, modules: impl Iterator<Item = &'a str>, is_empty: bool) -> Result<Vec<String>, PackError> {
    let mut done = BTreeSet::new();
    let (mut faults, mut leads_out) = (Vec::new(), false);
    for folder in modules {
        if done.contains(folder) {
            continue;
        }
        match package_modules(room, folder) {
            Ok(found) => done.extend(found.folders),
            Err(error) => {
                leads_out |= matches!(error, PackageModulesError::Escapes { .. });
                // A position beside that of the fault names the file where it was put for this.
                let text = error.to_string().replace(&format!("{}{}", room.display(), std::path::MAIN_SEPARATOR), "");
                if !faults.contains(&text) {
                    faults.push(text);
                }
                if faults.len() == NAMED {
                    break;
                }
            }
        }
    }
    if faults.is_empty() || !is_empty && done.contains("") {
        return Ok(faults);
    }
    let others = faults.split_off(1);
    let first = faults.remove(0);
    Err(ModuleFault::Unreadable(Box::new(UnreadableModule { first, others, leads_out })).into())
}

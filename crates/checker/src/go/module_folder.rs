//! The folder that a source names, after the package has been unpacked.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::Path;

use tofu_oci_tfconfig::{PackageModules, PackageModulesError, is_configuration_file, package_modules};
use tofu_oci_types::Subdir;

use super::unpack::{Unpacked, path_of, unpack};
use super::zip::{ZipItem, ZipListing, read_items};
use crate::Rejection;

/// Most bytes of a configuration file that is read.
const FILE: u64 = 16 << 20;

/// Most bytes of all configuration files of a package.
const FILES: u64 = 256 << 20;

/// The longest path in the package, in bytes: 4095 on Linux, less the folder of the shortest name of a call.
const ROOM: usize = 4095 - ".terraform/modules/m/".len();

/// The folder of a package that a source names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFolder {
    /// Its path, `/` between the segments; empty for the root of the package.
    pub path: String,
    /// The modules that it leads to.
    pub modules: PackageModules,
}

/// Why `OpenTofu` does not install a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRefusal {
    pub because: Rejection,
    /// The reason with its details, without a full stop.
    pub detail: String,
}

impl ModuleRefusal {
    fn new(because: Rejection, detail: impl Into<String>) -> Self {
        Self { because, detail: detail.into() }
    }
}

/// Unpacks the configuration files of an archive into `scratch`, an empty folder, and reads the folder that `subdir`
/// names; `None` if a file is too large to be read.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn module_folder(
    zip: &ZipListing,
    file: &mut (impl Read + Seek),
    size: u64,
    subdir: &Subdir,
    scratch: &Path,
) -> io::Result<Option<Result<ModuleFolder, ModuleRefusal>>> {
    let unpacked = match unpack(zip, ROOM) {
        Ok(unpacked) => unpacked,
        Err(because) => return Ok(Some(Err(ModuleRefusal::new(because, unpacking(zip, because))))),
    };
    let path = match chosen(&unpacked, subdir) {
        Ok(path) => path,
        Err(refusal) => return Ok(Some(Err(refusal))),
    };
    let (mut left, mut complete) = (FILES, zip.complete);
    for folder in unpacked.every_folder() {
        complete &= fits(fs::create_dir_all(scratch.join(folder)))?;
    }
    read_items(file, size, FILE, &is_configuration_file, &mut |name, bytes| {
        let Some(bytes) = bytes.filter(|bytes| bytes.len() as u64 <= left) else {
            complete = false;
            return Ok(());
        };
        left -= bytes.len() as u64;
        complete &= fits(fs::write(scratch.join(path_of(name).join("/")), bytes))?;
        Ok(())
    })?;
    if !complete {
        return Ok(None);
    }
    Ok(match package_modules(scratch, &path) {
        Ok(modules) => Some(Ok(ModuleFolder { path, modules })),
        Err(PackageModulesError::Unread(_)) => None,
        Err(error) => Some(Err(refused(&error))),
    })
}

/// False if a path is too long below the temporary folder, which has a longer name than OpenTofu's.
fn fits(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidFilename | io::ErrorKind::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is wrong with the archive, in words.
fn unpacking(zip: &ZipListing, because: Rejection) -> String {
    let entry = |is: &dyn Fn(&ZipItem) -> bool| {
        zip.items.iter().find(|item| is(item)).map(|item| format!("entry `{}`: ", item.name)).unwrap_or_default()
    };
    match because {
        Rejection::EmptyArchive => "the zip has no entries".to_owned(),
        Rejection::UnsafeEntry => {
            let found = entry(&|item| item.name.split(['/', '\\']).any(|part| part == ".."));
            format!("{found}its name has the segment `..`")
        }
        Rejection::DamagedArchive => {
            let found = entry(&|item| item.damaged);
            format!("{found}its contents are damaged, encrypted, or packed in a way that OpenTofu does not know")
        }
        _ => "an entry of the zip cannot become a file: another has its path, or no file can have its name".to_owned(),
    }
}

/// The one folder that the text after `//` names.
fn chosen(unpacked: &Unpacked, subdir: &Subdir) -> Result<String, ModuleRefusal> {
    if subdir.is_root() {
        return Ok(String::new());
    }
    let paths: Vec<String> = unpacked.paths().collect();
    let folders: BTreeSet<String> = unpacked.every_folder().collect();
    match subdir.matches(paths.iter().map(String::as_str)).as_slice() {
        [only] if folders.contains(*only) => Ok((*only).to_owned()),
        [only] => Err(ModuleRefusal::new(Rejection::SubdirMissing, format!("`{only}` is not a folder of the package"))),
        [] => Err(ModuleRefusal::new(Rejection::SubdirMissing, format!("the package has no folder `{subdir}`"))),
        several => {
            let said = format!("`{subdir}` matches {} paths of the package", several.len());
            Err(ModuleRefusal::new(Rejection::SubdirAmbiguous, said))
        }
    }
}

fn refused(error: &PackageModulesError) -> ModuleRefusal {
    let because = match error {
        PackageModulesError::Escapes { .. } => Rejection::CallEscapesPackage,
        PackageModulesError::Missing { .. } => Rejection::CallMissing,
        PackageModulesError::Loop { .. } => Rejection::CallLoop,
        _ => Rejection::InvalidConfiguration,
    };
    ModuleRefusal::new(because, error.to_string())
}

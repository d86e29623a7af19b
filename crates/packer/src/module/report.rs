//! What a module is when it is pushed. Everything here serialises: `--json` prints it as it is.

use std::collections::BTreeMap;

use serde::Serialize;
use tofu_oci_types::{Digest, OciModuleSource, PackageHash};

/// What is in a module's package, and what is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleContents {
    /// The digest of the zip.
    pub zip: Digest,
    /// The size of the zip in bytes.
    pub size: u64,
    /// How many files are in it.
    pub files: usize,
    /// The `h1:` checksum of the files.
    pub h1: PackageHash,
    /// The annotations of the manifest.
    pub annotations: BTreeMap<String, String>,
    /// The ignore file that counted, if the folder has one.
    pub ignore_file: Option<&'static str>,
    /// What was left out, sorted by name.
    pub left_out: Vec<LeftOutFile>,
}

/// A file or folder that is not in the package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutFile {
    /// Its name, with a slash at the end if it is a folder.
    pub name: String,
    /// A stable name of the reason.
    pub reason: &'static str,
    /// The reason for people.
    pub text: String,
}

/// A module as it is pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleParts {
    /// The source by which a configuration calls the module; `None` if it lies in a directory.
    pub source: Option<OciModuleSource>,
    /// The digest of the manifest.
    pub manifest: Digest,
    #[serde(flatten)]
    pub contents: ModuleContents,
}

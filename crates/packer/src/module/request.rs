//! What is asked of a push of a module.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tofu_oci_types::Version;

use crate::{ReplaceTag, Signer};

/// Whether the files of a module are looked at before they are published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModuleChecks {
    /// What `OpenTofu` could not read ends the push before anything is sent.
    #[default]
    Run,
    /// They are published as they are.
    Skip,
}

/// Which files of a folder are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PackedFiles {
    /// Those that belong to a module: what may hold secrets of its author, and what the ignore file names, stays out.
    #[default]
    Chosen,
    /// All of them: the folder is a package that was published elsewhere.
    All,
}

/// One module to push.
#[derive(Clone, Debug)]
pub struct ModulePushRequest<'a> {
    /// The folder with the module.
    pub dir: &'a Path,
    pub version: &'a Version,
    /// Annotations of the manifest beside those that say what the package is.
    pub annotations: BTreeMap<String, String>,
    /// What happens when the tag is taken.
    pub replace: ReplaceTag,
    /// Whether the files are looked at as `OpenTofu` will.
    pub checks: ModuleChecks,
    /// Which files of the folder are packed.
    pub files: PackedFiles,
    /// Who signs the manifest; `None` to sign nothing.
    pub signer: Option<Signer<'a>>,
    /// An existing folder, the system's for temporary files. The zip lies in a folder of its own in it.
    pub work_dir: PathBuf,
}

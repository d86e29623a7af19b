//! What is asked of a push of a module.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tofu_oci_types::Version;

use crate::ReplaceTag;

/// One module to push.
#[derive(Clone, Debug)]
pub struct ModulePushRequest<'a> {
    /// The folder with the module.
    pub dir: &'a Path,
    /// The version.
    pub version: &'a Version,
    /// Annotations of the manifest beside those that say what the package is.
    pub annotations: BTreeMap<String, String>,
    /// What happens when the tag is taken.
    pub replace: ReplaceTag,
    /// An existing folder, the system's for temporary files. The zip lies in a folder of its own in it.
    pub work_dir: PathBuf,
}

//! Where links of a folder of packages may lead.

use std::path::PathBuf;

/// What becomes of a package that is a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FolderLinks {
    /// It is where the link leads, as `OpenTofu` has it.
    Followed,
    /// The same, if it is in this folder. Whoever may put links there may not read all that this user may.
    KeptIn(PathBuf),
}

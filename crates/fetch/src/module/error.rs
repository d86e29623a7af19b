//! Why a module's package was not fetched, or not put in its place.

use std::path::PathBuf;

use tofu_oci_archive::ArchiveError;
use tofu_oci_disk::FileError;
use tofu_oci_fault::Fault;
use tofu_oci_source::ModuleError;
use tofu_oci_trust::{TrustRefusal, TrustRule};
use tofu_oci_types::{Place, Subdir, Version};

use crate::FetchError;

/// Why a module's package could not be fetched, or put in its place. No part of it is visible then.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ModuleFetchError {
    /// The place failed or does not have the package.
    #[error(transparent)]
    #[fault(of = _0)]
    Module(#[from] ModuleError),
    #[error("the package from {place} cannot be unpacked")]
    #[fault(of = source)]
    Archive {
        place: Place,
        #[source]
        source: ArchiveError,
    },
    /// the package has no such folder, or a file of this name
    #[error("the package from {place} has no folder `{folder}`")]
    #[fault("subdir-missing", todo = "name one of the folders that the error names")]
    #[hint(if found.is_empty() => "the package has no folders: omit //SUB from the source")]
    #[hint(if !found.is_empty() => "it has {}", found.join(", "))]
    FolderMissing {
        place: Place,
        folder: Subdir,
        /// The folders in the package's root, sorted, at most 20.
        found: Vec<String>,
    },
    #[error("`{folder}` is a file of the package from {place}, and a module is a folder")]
    #[fault(code = "subdir-missing")]
    #[hint("name the folder that the file is in")]
    FolderIsFile { place: Place, folder: Subdir },
    /// a pattern after `//` matches several folders of the package
    #[error("`{folder}` matches {} folders of the package from {place}", found.len())]
    #[fault("subdir-ambiguous", todo = "name one of them")]
    #[hint("name one of them: {}", found.join(", "))]
    SeveralFolders {
        place: Place,
        folder: Subdir,
        /// The folders, sorted.
        found: Vec<String>,
    },
    #[error("the module from {place} is not trusted: {refusal}")]
    #[fault(code = refusal.code())]
    Untrusted {
        place: Place,
        /// The one that was asked for, else the one that it says it is.
        version: Option<Version>,
        refusal: Box<TrustRefusal>,
        rule: Box<TrustRule>,
    },
    /// the folder has other files than the module
    #[error("{} is not empty, and has other files than the module", path.display())]
    #[fault("folder-not-empty", todo = "name another folder, or add `--force`, which removes them")]
    #[hint("name another folder, or add --force, which removes everything that is in this one")]
    NotEmpty { path: PathBuf },
    /// what lies there is a link, a file, a git repository or the current folder, and is never replaced; or the
    /// folder would complete a bare git repository
    #[error("{} is {what}", path.display())]
    #[fault("folder-not-replaced", end = Usage, todo = "name another folder")]
    NotReplaced { path: PathBuf, what: &'static str },
    /// The file system failed.
    #[error(transparent)]
    #[fault(of = _0)]
    Io(#[from] FileError),
    /// A folder of its own could not be used in another way.
    #[error(transparent)]
    #[fault(of = _0)]
    Fetch(Box<FetchError>),
}

/// Errors of temporary folders.
impl From<FetchError> for ModuleFetchError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Io(error) => Self::Io(error),
            other => Self::Fetch(Box::new(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_out_of_the_tree_became_a_folder_that_cannot_be_prepared() {
        let error = ModuleFetchError::from(FetchError::LinkOutOfTree { link: "a/b".into(), tree: "a".into() });
        let said = (error.code(), error.to_string());
        assert_eq!(said, ("link-out-of-tree", "a/b is a symbolic link that leads out of a".to_owned()));
    }
}

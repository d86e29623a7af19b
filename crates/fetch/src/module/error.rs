//! Why a module's package was not fetched, or not put in its place.

use std::io;
use std::path::PathBuf;

use tofu_oci_archive::ArchiveError;
use tofu_oci_source::ModuleError;
use tofu_oci_trust::{TrustRefusal, TrustRule};
use tofu_oci_types::{Place, Subdir};

use crate::FetchError;

/// Why a module's package could not be fetched, or put in its place. No part of it is visible then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleFetchError {
    /// The place failed or does not have the package.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The archive was refused or could not be written.
    #[error("the package from {place} cannot be unpacked")]
    Archive {
        place: Place,
        #[source]
        source: ArchiveError,
    },
    /// The folder that was named is not in the package.
    #[error("the package from {place} has no folder `{folder}`")]
    FolderMissing {
        place: Place,
        folder: Subdir,
        /// The folders in the package's root, sorted, at most 20.
        found: Vec<String>,
    },
    /// What was named as a folder is a file of the package.
    #[error("`{folder}` is a file of the package from {place}, and a module is a folder")]
    FolderIsFile { place: Place, folder: Subdir },
    #[error("`{folder}` matches {} folders of the package from {place}", found.len())]
    SeveralFolders {
        place: Place,
        folder: Subdir,
        /// The folders, sorted.
        found: Vec<String>,
    },
    /// The trust policy refuses the package.
    #[error("the module from {place} is not trusted: {refusal}")]
    Untrusted { place: Place, refusal: Box<TrustRefusal>, rule: Box<TrustRule> },
    /// Other files lie in the place.
    #[error("{} is not empty, and has other files than the module", path.display())]
    NotEmpty { path: PathBuf },
    /// What lies in the place is not a folder that may be replaced.
    #[error("{} is {what}", path.display())]
    NotReplaced { path: PathBuf, what: &'static str },
    /// The file system failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// `create`, `rename`, `read`.
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl ModuleFetchError {
    /// A stable kebab-case name of what went wrong: the name of `OpenTofu`'s reason if it refuses too.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Module(error) => error.code(),
            Self::Archive { source, .. } => source.code(),
            Self::FolderMissing { .. } | Self::FolderIsFile { .. } => "subdir-missing",
            Self::SeveralFolders { .. } => "subdir-ambiguous",
            Self::Untrusted { refusal, .. } => refusal.code(),
            Self::NotEmpty { .. } => "folder-not-empty",
            Self::NotReplaced { .. } => "folder-not-replaced",
            Self::Io { .. } => "io",
        }
    }
}

/// Errors of temporary folders.
impl From<FetchError> for ModuleFetchError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Io { action, path, source } => Self::Io { action, path, source },
            other => Self::Io { action: "prepare", path: PathBuf::new(), source: io::Error::other(other.to_string()) },
        }
    }
}

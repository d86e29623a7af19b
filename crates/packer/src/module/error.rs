//! Why a module is not published.

use std::path::PathBuf;

use tofu_oci_types::{Digest, InvalidOciModuleSource, ModuleAddr, Place, RepositoryRef, Tag, Version};

/// What stands against publishing a module.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleFault {
    /// There is no such folder.
    #[error("{} does not exist", path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The path is not a folder.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The name of the repository is one from which `OpenTofu` installs no module.
    #[error("OpenTofu could not install a module from {repository}")]
    Repository {
        /// The repository.
        repository: RepositoryRef,
        /// Why.
        #[source]
        source: InvalidOciModuleSource,
    },
    /// `OpenTofu` could not read the files.
    #[error(transparent)]
    Unreadable(Box<UnreadableModule>),
    /// An annotation that the push writes itself.
    #[error("the annotation {key} is written by the push itself")]
    OwnAnnotation {
        /// Its key.
        key: String,
    },
    /// The tag points at something else.
    #[error(transparent)]
    TagTaken(Box<ModuleTagTaken>),
    /// The repository is kept for another module.
    #[error(transparent)]
    OtherModule(Box<OtherModule>),
}

/// A module, and the other one that a repository is kept for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} holds {kept} (its version {version} says so), but this module is {given}")]
pub struct OtherModule {
    /// The repository.
    pub place: Place,
    /// The module that the package there names.
    pub kept: ModuleAddr,
    /// The version of that package.
    pub version: Version,
    /// The module that this package names.
    pub given: ModuleAddr,
}

/// A module that `OpenTofu` could not read from its package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("OpenTofu could not read this module: {}", first)]
pub struct UnreadableModule {
    /// The first fault, with its place in the package.
    pub first: String,
    /// The other faults, at most nine.
    pub others: Vec<String>,
    /// Whether a call leads out of the package.
    pub leads_out: bool,
}

/// A tag, its present target, and the target of this push.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} has a tag {tag} already: {}", difference.in_words())]
pub struct ModuleTagTaken {
    /// The repository.
    pub place: Place,
    /// The tag.
    pub tag: Tag,
    /// Where it points.
    pub existing: Digest,
    /// Where it would point.
    pub new: Digest,
    /// What differs.
    pub difference: PackageDifference,
}

/// What differs between two module packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageDifference {
    /// The files.
    Files,
    /// The files are the same, and the annotations of the manifest differ.
    Annotations,
    /// One of the two is not a module package.
    NotAModule,
}

impl PackageDifference {
    fn in_words(self) -> &'static str {
        match self {
            Self::Files => "it points at a module with other files",
            Self::Annotations => "it points at a module with the same files and other annotations",
            Self::NotAModule => "it points at something that is not a module package",
        }
    }
}

impl ModuleFault {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "no-folder",
            Self::NotAFolder { .. } => "not-a-folder",
            Self::Repository { .. } => "module-repository-name",
            Self::Unreadable(_) => "module-unreadable",
            Self::OwnAnnotation { .. } => "own-annotation",
            Self::TagTaken(_) => "tag-taken",
            Self::OtherModule(_) => "kept-for-another",
        }
    }
}

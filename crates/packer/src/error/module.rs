//! Why a module is not published.

use std::path::PathBuf;

use tofu_oci_fault::Fault;
use tofu_oci_types::{Digest, InvalidOciModuleSource, ModuleAddr, Place, RepositoryRef, Tag, Version};

/// What stands against publishing a module.
#[derive(Clone, Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ModuleFault {
    /// There is no such folder.
    #[error("{} does not exist", path.display())]
    #[fault(code = "no-folder")]
    #[hint("name the folder with the module's .tf files")]
    NoFolder { path: PathBuf },
    /// The path is not a folder.
    #[error("{} is not a folder", path.display())]
    #[fault(code = "not-a-folder", end = Usage)]
    #[hint("name the folder with the module's .tf files")]
    NotAFolder { path: PathBuf },
    /// the name of the repository ends like an archive, so `OpenTofu` could not install a module from it
    #[error("OpenTofu could not install a module from {repository}")]
    #[fault("module-repository-name", todo = "push to a repository of another name")]
    #[hint("name a repository of another name: with this one every call would need archive=false")]
    Repository {
        repository: RepositoryRef,
        #[source]
        source: InvalidOciModuleSource,
    },
    /// `OpenTofu` could not read the module: a file does not parse, or a call leads out of the package
    #[error(transparent)]
    #[fault(
        "module-unreadable",
        todo = "correct the file, push the folder above, or publish all the same with \
            `--skip-checks`"
    )]
    Unreadable(Box<UnreadableModule>),
    /// `--annotation` names an annotation that `module push` writes itself
    #[error("the annotation {key} is written by the push itself")]
    #[fault("own-annotation", todo = "omit it")]
    #[hint("omit it; --version and the files say what it holds")]
    OwnAnnotation { key: String },
    /// The tag points at something else.
    #[error(transparent)]
    #[fault(code = "tag-taken")]
    #[hint("{}", _0.difference.advice())]
    #[hint("to move the tag all the same, add --replace-tag")]
    TagTaken(Box<ModuleTagTaken>),
    /// The repository is kept for another module.
    #[error(transparent)]
    #[fault(code = "kept-for-another")]
    OtherModule(Box<OtherModule>),
}

/// A module, and the other one that a repository is kept for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} holds {kept} (its version {version} says so), but this module is {given}")]
pub struct OtherModule {
    pub place: Place,
    pub kept: ModuleAddr,
    pub version: Version,
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
    pub leads_out: bool,
}

/// A tag, its present target, and the target of this push.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} has a tag {tag} already: {}", difference.in_words())]
pub struct ModuleTagTaken {
    pub place: Place,
    pub tag: Tag,
    pub existing: Digest,
    pub new: Digest,
    pub difference: PackageDifference,
}

/// What differs between two module packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageDifference {
    Files,
    /// The files are the same, and the annotations of the manifest differ.
    Annotations,
    /// One of the two is not a module package.
    NotAModule,
}

impl PackageDifference {
    /// What to do about it.
    fn advice(self) -> &'static str {
        match self {
            Self::Files => "publish the change as a new version: others have this one already",
            Self::Annotations => "push with the same annotations as before, and nothing has to be sent",
            Self::NotAModule => "check that this is the repository you mean",
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Files => "it points at a module with other files",
            Self::Annotations => "it points at a module with the same files and other annotations",
            Self::NotAModule => "it points at something that is not a module package",
        }
    }
}

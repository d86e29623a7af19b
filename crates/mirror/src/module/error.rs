//! Why a module was not mirrored.

use tofu_oci_fault::Fault;
use tofu_oci_fetch::ModuleFetchError;
use tofu_oci_mapper::MapError;
use tofu_oci_packer::PackError;
use tofu_oci_source::{GitNamer, ModuleError, wanted_text};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Constraints, ModuleAddr, Place, Version};

use crate::MirrorError;

/// Why a module could not be mirrored. No part of it is visible at the destination then.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ModuleMirrorError {
    /// Its registry or repository failed, or does not have it.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Module(#[from] ModuleError),
    /// Its package was refused, or is not trusted.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Fetch(#[from] ModuleFetchError),
    /// The destination refused it or failed.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Pack(#[from] PackError),
    /// The template of the destination gives it no repository.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Map(#[from] MapError),
    /// The destination cannot be opened or read.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Store(#[from] StoreError),
    /// The bundle, or what earlier runs have written at the destination, cannot be read or written.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Bundle(#[from] MirrorError),
    /// The mapping has no repository for it.
    #[error("no [[module_mirror]] covers {address}")]
    #[fault(code = "no-module-mirror", end = Usage)]
    #[hint("name a destination for it: --to 'REGISTRY/${{namespace}}/${{name}}-${{target_system}}'")]
    NoMirror { address: ModuleAddr },
    /// Two modules would lie in one repository, where their versions would mix.
    #[error("{first} and {second} would both go to {place}")]
    #[fault(code = "shared-repository", end = Usage)]
    #[hint(
        "write a template that tells them apart: \
            REGISTRY/${{hostname}}/${{namespace}}/${{name}}/${{target_system}}"
    )]
    SharedRepository { place: Place, first: Box<ModuleAddr>, second: Box<ModuleAddr> },
    /// Another run has put another module into the repository.
    #[error("{place} holds {kept}, and a repository holds one module: {address} does not go there")]
    #[fault(code = "shared-repository")]
    #[hint("name another repository, or a template with ${{namespace}}, ${{name}} and ${{target_system}}")]
    OtherModule { place: Place, kept: Box<ModuleAddr>, address: Box<ModuleAddr> },
    /// The version there is one of another module.
    #[error("{place} has {version} as {kept}, and not as {address}")]
    #[fault(code = "shared-repository")]
    #[hint("name another repository, or another version: --as {address}@NEWVERSION")]
    OtherVersion { place: Place, version: Version, kept: Box<ModuleAddr>, address: Box<ModuleAddr> },
    /// Its place offers a package that says it is another module.
    #[error("{from} has {version} as {published_as}, not as {address}")]
    #[fault(code = "other-address")]
    OtherAddress { address: ModuleAddr, version: Version, published_as: Box<ModuleAddr>, from: Place },
    /// No version that its registry lists meets the constraint.
    #[error("{address} has no version{}", wanted_text(wanted))]
    #[fault(code = "no-matching-version")]
    Unmet { address: ModuleAddr, wanted: Constraints, offered: Vec<Version> },
    /// The destination has other bytes under the version.
    #[error("{from} offers other bytes of {address} {version} than {to} has, which stay")]
    #[fault(code = "upstream-changed")]
    #[hint("a version must never change: ask its publisher what happened")]
    UpstreamChanged { address: ModuleAddr, version: Version, from: Place, to: Place },
    /// `module mirror`: the branch or tag of a git repository names another commit than the one that the destination's
    /// version was packed from; that version stays
    #[error("{repository} names the commit {now} now, and {to} has {address} {version} of {recorded}, which stays")]
    #[fault(
        "module-ref-moved",
        todo = "if the change is meant, mirror it as another version: `--as \
            ADDRESS@NEWVERSION`. Otherwise ask the publisher why the tag has moved"
    )]
    #[hint(if *named_by == GitNamer::User => "if the change is meant, mirror it as another version: --as \
            {address}@NEWVERSION")]
    #[hint("the tag of a version must never move: ask its publisher what happened")]
    RefMoved {
        address: ModuleAddr,
        version: Version,
        /// The git repository with its branch or tag, without secrets.
        repository: String,
        now: String,
        to: Place,
        recorded: String,
        named_by: GitNamer,
    },
    /// the registry names a folder of a package, and a module in it calls another folder of the package; the folder
    /// alone would be broken
    #[error(
        "the package of {address} {version} is the folder `{folder}` of what its place offers, and {at} calls `{source_text}` outside of it"
    )]
    #[fault(
        "module-leaves-folder",
        todo = "publish the whole package with `tofu-oci module push`, and call the \
            folder with `//`"
    )]
    #[hint("fetch the whole package, publish it with `tofu-oci module push`, and call the folder in it with //FOLDER")]
    LeavesFolder { address: ModuleAddr, version: Version, folder: String, at: String, source_text: String },
    /// The modules that are wanted lead to more than a run mirrors.
    #[error("the modules lead to more than {limit} versions, and a run mirrors no more")]
    #[fault(code = "too-many-modules")]
    TooMany { limit: usize },
}

//! What can go wrong between a folder and a release.

mod attach;
mod module;
mod signing;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_archive::ArchiveError;
use tofu_oci_disk::FileError;
use tofu_oci_fault::Fault;
use tofu_oci_layout::LayoutError;
use tofu_oci_store::{CopyError, StoreError};
use tofu_oci_tfconfig::is_configuration_file;
use tofu_oci_trust::OpenPgpFault;
use tofu_oci_types::{Digest, InvalidVersion, PackageHash, Place, Platform, Tag, Version};

pub use attach::AttachError;
pub use module::{ModuleFault, ModuleTagTaken, OtherModule, PackageDifference, UnreadableModule};
pub use signing::SignError;
pub use state::StateError;

use crate::advice::{BUILD_AGAIN, verifiable, well_formed};
use crate::{DistKind, KeptForOther, OtherAddress, OtherPlatform, SumsFile, TagTaken, WithdrawnVersion, WrongSum};

/// Why a release could not be read, planned, pushed or copied.
#[derive(Clone, Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum PackError {
    /// the folder of the release files does not exist
    #[error("there is no folder {}", path.display())]
    #[fault("no-folder", todo = "name the folder that the build wrote, such as `dist`")]
    #[hint("name the folder that holds the release files, such as dist")]
    NoFolder { path: PathBuf },
    /// the path of the release files is not a folder
    #[error("{} is not a folder", path.display())]
    #[fault("not-a-folder", end = Usage, todo = "name the folder that holds the file")]
    #[hint("name the folder that holds the release files, such as dist")]
    NotAFolder { path: PathBuf },
    /// the folder holds no provider packages
    #[error("{} holds no provider packages", path.display())]
    #[fault("no-packages", todo = "read the hint: it says what tofu-oci looked for and what it found")]
    #[hint("looked for {}", looked_for.join("; "))]
    #[hint(if seen.iter().any(|name| is_configuration_file(name)) => "to publish a folder with a module: tofu-oci \
            module push DIR REPOSITORY --version V")]
    #[hint(if seen.is_empty() => "the folder is empty")]
    #[hint(if !seen.is_empty() => "found {}", seen.join(", "))]
    NothingFound {
        path: PathBuf,
        looked_for: Vec<&'static str>,
        /// Some of the names in it, sorted; at most five.
        seen: Vec<String>,
    },
    /// one platform has two packages, and neither runs on more machines
    #[error("{platform} has two packages: {} and {}", first.display(), second.display())]
    #[fault(
        "two-packages",
        todo = "remove the one that does not belong to the release; of a GoReleaser folder, let \
            the build make one"
    )]
    #[hint(if *kind == DistKind::GoReleaser => "a release has one package for each platform: let `archives`, \
            `builds` or `ignore` of .goreleaser.yaml make one, and build again")]
    #[hint(if *kind != DistKind::GoReleaser => "remove the one that does not belong to this release")]
    TwoPackages { platform: Platform, first: PathBuf, second: PathBuf, kind: DistKind },
    /// a package is for a platform that Go does not know
    #[error("{} is for `{found}`, which is not a platform that Go knows", path.display())]
    #[fault("unknown-platform", todo = "correct the name, or allow it with `--any-platform`")]
    #[hint(if let Some(meant) = meant => "did you mean {meant}?")]
    #[hint(if meant.is_none() => "platforms are named OS_ARCH as Go names them, such as linux_amd64 or darwin_arm64")]
    UnknownPlatform { found: String, path: PathBuf, meant: Option<Platform> },
    /// a file names a text in the place of the version that is not one
    #[error("{} names no usable version", path.display())]
    #[fault("invalid-version", todo = "write MAJOR.MINOR.PATCH, such as `1.4.0`")]
    #[hint(if let Some(meant) = meant => "write {meant}")]
    #[hint(if meant.is_none() => "versions read MAJOR.MINOR.PATCH, such as 1.4.0 or 2.0.0-beta.1")]
    InvalidVersion {
        found: String,
        path: PathBuf,
        #[source]
        source: Box<InvalidVersion>,
        /// The version that may have been meant, such as `1.2.3` for `v1.2.3`.
        meant: Option<Box<Version>>,
    },
    /// `--version` names another version than the files, and not a prerelease
    #[error("version {given} was asked for, but {} holds {found}", path.display())]
    #[fault("version-conflict", todo = "omit `--version`, or build the other version")]
    #[hint("omit the version, or write {found}")]
    VersionConflict { given: Box<Version>, found: Box<Version>, path: PathBuf },
    /// neither the files nor `--version` say the version
    #[error("nothing in {} tells the version", path.display())]
    #[fault("version-unknown", todo = "add `--version`")]
    #[hint("say it: --version 1.4.0")]
    VersionUnknown { path: PathBuf },
    /// the folder holds packages of several versions
    #[error("{} holds packages of several versions: {}", path.display(), versions.iter().map(Version::to_string).collect::<Vec<_>>().join(", "))]
    #[fault("several-versions", todo = "choose one with `--version`")]
    #[hint(if let Some(newest) = versions.last() => "choose one: --version {newest}")]
    SeveralVersions { path: PathBuf, versions: Vec<Version> },
    /// the folder holds packages of several providers
    #[error("{} holds packages of several providers: {}", path.display(), types.join(", "))]
    #[fault("several-types")]
    #[hint("publish each provider from a folder of its own")]
    SeveralTypes {
        path: PathBuf,
        /// The types, sorted.
        types: Vec<String>,
    },
    /// `--address` names another provider than the files
    #[error("the address names the provider `{given}`, but {} holds `{found}`", path.display())]
    #[fault("type-conflict", todo = "end the address with the type that the error shows")]
    #[hint("the last part of --address is the provider's type: {found}")]
    TypeConflict { given: String, found: String, path: PathBuf },
    /// the name of a zip does not say what it is
    #[error("{} is not named terraform-provider-TYPE_VERSION_OS_ARCH.zip", path.display())]
    #[fault("unreadable-name", todo = "rename it to `terraform-provider-TYPE_VERSION_OS_ARCH.zip`, or move it away")]
    #[hint("rename it, or move it out of the folder")]
    UnreadableName { path: PathBuf },
    /// a package is not a zip archive
    #[error("{} is a {format} archive; packages are zip archives", path.display())]
    #[fault("archive-format", todo = "let the build write zip archives")]
    #[hint("set `formats: [zip]` in the archives of .goreleaser.yaml")]
    WrongFormat {
        path: PathBuf,
        /// Its format, such as `tar.gz`.
        format: String,
    },
    /// a metadata file of the build is malformed
    #[error("cannot understand {}: {problem}", path.display())]
    #[fault("metadata-invalid", todo = "build the release again")]
    #[hint("{}", well_formed(path))]
    Malformed {
        path: PathBuf,
        /// What is wrong, with the place in the file if that is known.
        problem: String,
    },
    /// the metadata of the build names a file that does not exist
    #[error("{} names {}, which is not in that folder", by.display(), path.display())]
    #[fault("file-missing", todo = "build the release again")]
    #[hint("{BUILD_AGAIN}")]
    Missing { path: PathBuf, by: PathBuf },
    /// a file does not match its line in `SHA256SUMS`
    #[error(transparent)]
    #[fault("wrong-checksum", todo = "build the release again")]
    #[hint("the file or the checksum file is not the one of the release; build the release again")]
    WrongSum(Box<WrongSum>),
    /// `SHA256SUMS` has no line for a package
    #[error("{} has no line for {}", sums.display(), path.display())]
    #[fault("checksum-missing", todo = "build the release again, or remove the checksum file")]
    #[hint("a checksum file must name every package, or not be there")]
    NoSum { path: PathBuf, sums: PathBuf },
    #[error("{} holds no `terraform-provider-{provider_type}` executable", path.display())]
    #[fault(code = "executable-not-found")]
    #[hint("the program lies in the package's root as terraform-provider-{provider_type}[_vVERSION]")]
    #[hint(if !found.is_empty() => "it holds {}", found.join(", "))]
    NoExecutable {
        path: PathBuf,
        provider_type: String,
        /// Some of the names in it, sorted; at most five.
        found: Vec<String>,
    },
    /// the program in a package is for another platform than the package's name says
    #[error(transparent)]
    #[fault(
        "other-platform",
        todo = "of a release of your own: build it for that platform, or correct the name; of one that was installed: \
                tell the publisher; \
            `tofu-oci check --deep` reports it"
    )]
    #[hint("build the package again for {}, or name it for the platform of its program", _0.platform)]
    #[hint("to publish it all the same, add --skip-executable-check")]
    OtherPlatform(Box<OtherPlatform>),
    /// the other versions in the repository name another provider or module
    #[error(transparent)]
    #[fault(
        "kept-for-another",
        todo = "publish under that address; `--predecessor HOST=PREDECESSOR` if the hosts \
            share the repository; `--rename` puts it there all the same"
    )]
    OtherAddress(Box<OtherAddress>),
    /// The repository is kept for versions of another kind.
    #[error(transparent)]
    #[fault(of = _0)]
    KeptForOther(Box<KeptForOther>),
    /// the small layer of a package expands so much that installers would refuse it
    #[error("the small layer of {platform} could not be installed")]
    #[fault("small-layer-too-dense", todo = "push without `--small`")]
    #[hint("publish the release without --small")]
    SmallLayerTooDense {
        platform: Platform,
        #[source]
        source: Arc<ArchiveError>,
    },
    /// a layer that was made of a package has other files than its zip, which is a bug
    #[error("the layer of {platform} holds other files than its zip: {layer} and {zip}")]
    #[fault("layers-differ", todo = "report it with the zip")]
    #[hint("this is a bug: please report it with the zip")]
    LayersDiffer { platform: Platform, zip: PackageHash, layer: PackageHash },
    #[error(transparent)]
    #[fault(code = "withdrawn")]
    Withdrawn(Box<WithdrawnVersion>),
    /// the version is published already, and what is published differs
    #[error(transparent)]
    #[fault("tag-taken", todo = "publish a new version; `--replace-tag` moves the tag")]
    #[hint("{}", _0.difference.advice())]
    TagTaken(Box<TagTaken>),
    /// the registry took content and does not have it any more
    #[error("{place} took {digest}, but does not have it now")]
    #[fault("vanished", end = Unexpected, todo = "run the command again, and tell the operator of the registry")]
    #[hint("the registry lost or deletes it; run the same command again, and tell its operator")]
    Vanished { place: Place, digest: Digest },
    /// the version is too long for a tag
    #[error("version {version} cannot be a tag: {reason}")]
    #[fault("version-without-tag")]
    #[hint("shorten the prerelease or the build metadata")]
    NoTag { version: Box<Version>, reason: String },
    /// The source has no such release.
    #[error("{place} has no version {tag}")]
    #[fault(code = "tag-not-found")]
    #[hint(if !offered.is_empty() => "it has {}", offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", \
            "))]
    NoRelease { place: Place, tag: Tag, offered: Vec<Version> },
    /// the source of a copy has no versions
    #[error("{place} has no releases")]
    #[fault("no-releases", todo = "check the name; `tofu-oci versions REPOSITORY` lists what it has")]
    #[hint(
        "`tofu-oci versions REPOSITORY` lists what is there; of a module: `tofu-oci module versions \
            oci://REPOSITORY`"
    )]
    NothingToCopy { place: Place },
    #[error(transparent)]
    #[fault(code = _0.error.code())]
    Copy(#[from] CopyError),
    /// The file system reported an error.
    #[error(transparent)]
    #[fault(of = _0)]
    #[hint(if _0.action == "create a folder in" => "set TMPDIR to a folder that you may write to")]
    Io(#[from] FileError),
    /// A store reported an error.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Store(#[from] StoreError),
    /// A manifest cannot be planned.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Layout(#[from] LayoutError),
    /// A package cannot be read or packed.
    #[error("{} cannot be published", path.display())]
    #[fault(of = source, end = Fixable)]
    Archive {
        path: PathBuf,
        #[source]
        source: Arc<ArchiveError>,
    },
    /// there is no folder of `--docs`, or it has no page of documentation
    #[error("{} is not a folder with pages of documentation", path.display())]
    #[fault("no-docs", todo = "name the folder with `index.md`, often `docs` or `website/docs`")]
    #[hint(if let Some(inside) = inside => "name the folder in it: --docs {}", inside.display())]
    #[hint("pages are index.md, and .md files in resources, data-sources, functions, guides and the like")]
    NoDocs {
        path: PathBuf,
        /// A folder in it that may be meant.
        inside: Option<PathBuf>,
    },
    /// two files of the folder of `--docs` are one page
    #[error("{} and {} are both the page {page}", first.display(), second.display())]
    #[fault("two-pages")]
    #[hint("remove one of the two")]
    TwoPages { page: String, first: PathBuf, second: PathBuf },
    /// a private key lies in the folder of the release, or is an argument of the command
    #[error("{} holds a private key", path.display())]
    #[fault("private-key", todo = "move it out of the folder, or name its file or variable; nothing was sent")]
    #[hint("nothing was sent; move it out of the folder, and check where the folder has been before")]
    PrivateKey {
        /// The file; nothing of it has been sent.
        path: PathBuf,
    },
    /// a signature or key beside `SHA256SUMS` is too large, or there are too many
    #[error("{} is larger than {limit} bytes, and no more are read of {}", path.display(), kind.in_words())]
    #[fault("sums-limit", todo = "keep those that clients need")]
    LargeSumsFile {
        /// The file; nothing has been sent.
        path: PathBuf,
        kind: SumsFile,
        /// The most bytes that are read.
        limit: usize,
    },
    #[error("{} is one too many: no more than {limit} files with {} are read", path.display(), kind.in_words())]
    #[fault(code = "sums-limit")]
    TooManySumsFiles {
        /// The first that would not be read; nothing has been sent.
        path: PathBuf,
        kind: SumsFile,
        limit: usize,
    },
    /// a checksum file is signed and has other checksums than SHA-256, or does not name the packages so that platform and version
    /// can be read
    #[error(
        "the signed {} does not cover the release: {}",
        path.display(),
        names.as_ref().map_or_else(
            || "its checksums are not of SHA-256".to_owned(),
            |names| format!("it names {}, and not {}", names.0, names.1)
        )
    )]
    #[fault(
        "sums-unverifiable",
        todo = "name the archives as OpenTofu does, with SHA-256 checksums, or publish \
            without the signature: `--sums skip`"
    )]
    #[hint("{}", verifiable(names.as_deref()))]
    #[hint("to publish the release without this signature: --sums skip")]
    UnverifiableSums {
        /// The checksum file; nothing has been sent.
        path: PathBuf,
        /// The name of the first such package, and the usual one; `None` if there are no SHA-256 checksums.
        names: Option<Box<(String, String)>>,
    },
    /// a signature beside `SHA256SUMS` is damaged, or the key beside it did not make it
    #[error("{} does not sign {sums}", path.display())]
    #[fault("wrong-sums-signature", todo = "sign the file again, or omit it: `--sums skip`")]
    #[hint("nothing was sent; sign the file again, or omit it with its signatures: --sums skip")]
    WrongSumsSignature {
        /// The signature; nothing has been sent.
        path: PathBuf,
        sums: String,
        #[source]
        fault: Box<OpenPgpFault>,
    },
    /// A module cannot be published.
    #[error(transparent)]
    #[fault(of = _0)]
    Module(Box<ModuleFault>),
    /// Something could not be attached to a release.
    #[error(transparent)]
    #[fault(of = _0)]
    Sign(Box<SignError>),
    /// A file could not be put beside a release.
    #[error(transparent)]
    #[fault(of = _0)]
    Attach(Box<AttachError>),
    /// The state of a release could not be changed.
    #[error(transparent)]
    #[fault(of = _0)]
    State(Box<StateError>),
    /// The work was stopped before it was done.
    #[error("stopped")]
    #[fault(code = "interrupted")]
    Stopped,
}

impl PackError {
    /// An error about a package.
    pub(crate) fn archive(path: &Path, error: ArchiveError) -> Self {
        let path = path.to_owned();
        match error {
            ArchiveError::NoExecutable { provider_type, mut found } => {
                found.truncate(5);
                Self::NoExecutable { path, provider_type, found }
            }
            ArchiveError::Cancelled => Self::Stopped,
            error => Self::Archive { path, source: Arc::new(error) },
        }
    }

    /// An error of the file system.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io(FileError::new(action, path, source))
    }
}

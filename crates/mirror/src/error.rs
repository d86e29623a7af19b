//! Why a release was not carried.

use std::io;
use std::path::PathBuf;

use tofu_oci_disk::FileError;
use tofu_oci_fault::Fault;
use tofu_oci_fetch::FetchError;
use tofu_oci_mapper::MapError;
use tofu_oci_packer::PackError;
use tofu_oci_source::{SourceError, wanted_text};
use tofu_oci_store::{CopyError, StoreError};
use tofu_oci_types::{Constraints, PackageHash, Place, Platform, ProviderAddr, Tag, Version, versions_in_words};

/// Why a release could not be carried to a place. No part of it is visible there then.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum MirrorError {
    /// The place that offers the release failed, or does not have it.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Source(#[from] SourceError),
    /// No listed version meets the constraints of the rules.
    #[error("{address} has no version{}", wanted_text(wanted))]
    #[fault(code = "no-matching-release")]
    #[hint("{}", versions_in_words("it has", offered))]
    NoMatchingVersion { address: Box<ProviderAddr>, wanted: Constraints, offered: Vec<Version> },
    /// A package was refused, or the trust policy refuses the release.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Fetch(#[from] FetchError),
    /// The destination refused or failed, or a copy from one repository to another stopped.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Pack(#[from] PackError),
    /// The template of the destination gives this provider no repository.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Map(#[from] MapError),
    /// The destination cannot be opened, read or written.
    #[error(transparent)]
    #[fault(code = _0.code())]
    Store(#[from] StoreError),
    /// A release could not be read from where it was collected, or the bundle not be written.
    #[error(transparent)]
    #[fault(code = _0.error.code())]
    Copy(#[from] CopyError),
    /// the place of attestations of upstream releases does not answer, or a file of it cannot be read
    #[error("the attestations in {name} cannot be read: {problem}")]
    #[fault("attestations-unread", end = Unexpected, todo = "correct `attestations` in `mirror.toml`, and run the command again")]
    Attestations { name: String, problem: String },
    /// a path in `attestations` does not exist, or an address there is invalid
    #[error("`attestations` names {}, which does not exist", path.display())]
    #[fault("attestations-missing", end = Usage, todo = "correct `attestations` in `mirror.toml` or `serve.toml`")]
    #[hint("make the folder if no release has attestations yet: a release without a file is no error")]
    NoAttestations { path: PathBuf },
    #[error("`attestations` leads to {address}, which is not an address: {problem}")]
    #[fault(code = "attestations-missing", end = Usage)]
    #[hint("write a path, or an address with https://")]
    AttestationAddress { address: String, problem: String },
    /// two providers or two modules would lie in one repository, or an earlier run has brought another one
    #[error("{first} and {second} would both go to {place}")]
    #[fault("shared-repository", end = Usage, todo = "write a template that tells them apart: \
            `REGISTRY/${hostname}/${namespace}/${type}`, for modules \
            `REGISTRY/${hostname}/${namespace}/${name}/${target_system}`; if an earlier run brought the other one \
            and both belong there, add `--rename`")]
    #[hint("write a template that tells them apart: REGISTRY/${{hostname}}/${{namespace}}/${{type}}")]
    SharedRepository { place: Place, first: Box<ProviderAddr>, second: Box<ProviderAddr> },
    #[error("{place} holds {kept}, and a repository holds one provider: {address} does not go there")]
    #[fault(code = "shared-repository")]
    #[hint("name another repository, or a template with ${{hostname}}, ${{namespace}} and ${{type}}")]
    OtherProvider { place: Place, kept: Box<ProviderAddr>, address: Box<ProviderAddr> },
    /// a file of a static tree should be `index.json` or `VERSION.json` and is something else
    #[error("{} is not a document of a network mirror", path.display())]
    #[fault("not-a-mirror", todo = "move the file away, or name another folder")]
    #[hint(
        "a tree has index.json and VERSION.json as `tofu providers mirror` writes them: move the file away, or \
            name another folder"
    )]
    NotAMirror {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("a link leads out of the static tree {}, on the way to {}", tree.display(), folder.display())]
    #[fault(code = "link-out-of-tree")]
    #[hint("remove the link, or name the folder that it leads to")]
    LinkOutOfTree { folder: PathBuf, tree: PathBuf },
    /// the destination has another package of this version for a platform; nothing was stored
    #[error(
        "{from} offers another package of {address} {version} for {platform} than {to} has: {offered}, not {there}"
    )]
    #[fault(
        "upstream-changed",
        todo = "ask the publisher: a version must never change. Keep it out with `deny` in \
            `mirror.toml` until then"
    )]
    #[hint("a version must never change: ask its publisher what happened")]
    #[hint("until then keep it out: deny = [\"HOST/NAMESPACE/TYPE@VERSION\"] in mirror.toml")]
    UpstreamChanged {
        address: ProviderAddr,
        version: Version,
        platform: Platform,
        from: Place,
        to: Place,
        offered: PackageHash,
        there: PackageHash,
    },
    /// the destination has the version without some of the wanted platforms, and its tag may not be moved
    #[error("{to} has {address} {version} without {}", list(missing))]
    #[fault("fewer-platforms", todo = "let the tag move, or `tofu-oci withdraw` the version and mirror it again")]
    FewerPlatforms {
        address: ProviderAddr,
        version: Version,
        to: Place,
        /// The platforms that it lacks, sorted.
        missing: Vec<Platform>,
    },
    /// the tag `first-seen` holds something else than the record of a mirror
    #[error("the tag {tag} in {place} is not the record of a mirror")]
    #[fault(
        "not-sightings",
        todo = "mirror to another repository; whoever deletes the tag loses what earlier runs \
            recorded"
    )]
    #[hint("mirror to another repository; whoever deletes the tag loses what earlier runs recorded")]
    NotSightings { place: Place, tag: Tag },
    /// other programs kept writing the tag `first-seen`
    #[error("other programs keep writing the tag {tag} in {place}")]
    #[fault("sightings-contended", todo = "run it again when they are done")]
    #[hint("run it again when the other programs are done")]
    SightingsContended { place: Place, tag: Tag },
    /// another program put another release in the place of the mirrored one
    #[error("{place} has another release under {version} than the mirror put there, so it stays as it is")]
    #[fault("not-mirrored", todo = "look at it with `tofu-oci show`; withdraw it by hand if that is right")]
    NotMirrored { place: Place, version: Version },
    /// the source lists more than half of the mirrored versions no longer, or the last one; with `gone = "withdraw"`
    /// they stay
    #[error("{from} no longer lists {gone} of the {of} mirrored versions of {address}, and they stay")]
    #[fault("all-gone", todo = "look at what it lists; if they are really gone, add `--allow-all-gone`")]
    #[hint("look at what the place lists; if they are really gone, add --allow-all-gone")]
    AllGone { address: String, from: Place, gone: usize, of: usize },
    /// the destination has no place for notices, so no version can be withdrawn or deprecated there
    #[error("{place} takes no notices: a version there is neither withdrawn nor deprecated")]
    #[fault("no-notices", todo = "delete the files, or mirror to a repository or `oci:DIR`")]
    #[hint("delete its files, or mirror to a repository or oci:DIR")]
    NoNotices { place: Place },
    /// the record of first sightings beside a tree of files cannot be read or written
    #[error("the record of first sightings {} cannot be used", path.display())]
    #[fault(
        "sightings-file",
        todo = "check the rights of `.first-seen.json`; delete a damaged file, and its \
            versions count as seen anew"
    )]
    #[hint(each = FileError::hint("write", path, source))]
    #[hint(if is_damaged(source) => "it is damaged: delete it, and its versions count as seen anew")]
    SightingsFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Whether the text of a file is at fault.
fn is_damaged(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

fn list(platforms: &[Platform]) -> String {
    platforms.iter().map(Platform::to_string).collect::<Vec<_>>().join(", ")
}

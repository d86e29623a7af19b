//! What can go wrong when a file is put beside a release.

use std::path::PathBuf;

use tofu_oci_fault::Fault;
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Digest, Version};

/// Why a file is not put beside a release.
#[derive(Clone, Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum AttachError {
    /// the file of `attach` does not say what it is
    #[error("{} does not say what it is", path.display())]
    #[fault("attach-type-unknown", end = Usage, todo = "name its media type with `--type`")]
    #[hint(
        "Sigstore bundles, SPDX and CycloneDX (both in JSON) are recognised; name any other media type: --type TYPE"
    )]
    UnknownType { path: PathBuf },
    /// the file of `attach` is empty
    #[error("{} is empty", path.display())]
    #[fault("attach-empty", end = Usage, todo = "look at what was to write the file")]
    Empty { path: PathBuf },
    /// the file of `attach` is of another type than `--type` says
    #[error("{} is {found}, and --type says {wanted}", path.display())]
    #[fault("attach-other-type", end = Usage, todo = "omit `--type`, or name the right one")]
    #[hint(if found.contains('/') => "omit --type: the file says itself what it is")]
    #[hint(if !found.contains('/') => "name its own media type: --type TYPE")]
    OtherType { path: PathBuf, wanted: String, found: String },
    /// no installer could read the Sigstore bundle of `attach`
    #[error("{} is not a Sigstore bundle that can be attached: {problem}", path.display())]
    #[fault("not-a-bundle", todo = "read the problem; cosign 3 and `actions/attest` write bundles v0.3")]
    #[hint("cosign 3 and actions/attest-build-provenance write bundles v0.3 with a statement in it")]
    NotABundle { path: PathBuf, problem: String },
    /// the Sigstore bundle of `attach` is about something else
    #[error("{} is not about {of} {version}: it is about {about}", path.display())]
    #[fault("bundle-of-another", todo = "attach it to the release that it is about")]
    #[hint("a bundle must be about the index or manifest {index}, one of its leaves, or one of its zips")]
    OtherSubject {
        path: PathBuf,
        of: Box<VersionOf>,
        version: Box<Version>,
        index: Digest,
        /// What it is about, as the signer names it.
        about: String,
    },
}

//! What is asked of a transfer, and what it did.

use std::path::Path;

use serde::Serialize;
use tofu_oci_archive::Limits;
use tofu_oci_packer::{ReplaceTag, Signing, Transfers};
use tofu_oci_types::{Digest, Platform};

/// How one release is carried. Its address and version are those of the release.
#[derive(Clone, Debug)]
pub struct TransferRequest<'a> {
    /// The platforms to carry; the release must have each of them. A release in a repository is copied whole: its signatures
    /// are about the whole.
    pub platforms: Vec<Platform>,
    /// Who signs the release at its destination; `None` to sign nothing.
    pub signing: Option<Signing<'a>>,
    /// Whether the version's tag may move, if the destination has the release for fewer platforms.
    pub replace: ReplaceTag,
    /// What a package may hold.
    pub limits: &'a Limits,
    /// How many packages move at a time, at least 1.
    pub jobs: usize,
    /// An existing folder, for packages that must lie on disk while they are verified.
    pub work_dir: &'a Path,
}

/// What [`transfer()`](crate::transfer()) did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transferred {
    /// The digest of the index at the destination; `None` if the destination is not a repository.
    pub index: Option<Digest>,
    /// The platforms that the destination has now, sorted.
    pub platforms: Vec<Platform>,
    /// What was sent and what was there.
    pub transfers: Transfers,
    /// Whether the destination had all of it before.
    pub unchanged: bool,
}

//! One release into a store.
//!
//! ```text
//! a release with an index   copied byte for byte, with everything that refers to it
//! any other                 its zips become a release of the artifact layout
//! ```

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_archive::Limits;
use tofu_oci_packer::{CopyRequest, ReplaceTag, Signing, Transfers, copy_release};
use tofu_oci_source::Release;
use tofu_oci_store::Store;
use tofu_oci_types::{Digest, Platform, Reporter};

use crate::MirrorError;

/// How one release is carried. Its address and version are those of the release.
#[derive(Clone, Debug)]
pub struct TransferRequest<'a> {
    /// The platforms to carry; the release must have each of them. A release with an index is copied whole: its signatures
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

/// What [`transfer`] did.
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

/// Carries a release into a store, its tag last of all.
///
/// Nobody but the caller judges whether the release is trusted. A transfer that breaks off leaves no tag; running it again
/// sends only what is missing.
///
/// # Errors
/// [`MirrorError`] says which end failed. Nothing of the release is visible at the destination then.
pub async fn transfer(
    request: &TransferRequest<'_>,
    release: Arc<dyn Release>,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    let id = release.id();
    let from = release.store().expect("only repositories are read so far");
    let copy = CopyRequest {
        versions: vec![id.version.clone()],
        withdrawn: Vec::new(),
        replace: request.replace,
        jobs: request.jobs,
    };
    let copied = copy_release(&*from, to, &copy, reporter).await?;
    let copied = copied.into_iter().next().expect("one version was asked for");
    Ok(Transferred {
        index: Some(copied.index),
        platforms: release.platforms().await?,
        transfers: copied.transfers,
        unchanged: copied.unchanged,
    })
}

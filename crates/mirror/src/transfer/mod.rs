//! One release into a store.
//!
//! ```text
//! a release in a repository   copied byte for byte, with everything that refers to it            copied.rs
//! any other                   its zips become a release of the artifact layout                   published.rs
//!   compare    with what the destination has under the version's tag                             present.rs
//!   package    streamed if its digest and size are known, else fetched and verified on disk      package.rs, streamed.rs
//!   evidence   SHA256SUMS, its signatures and keys                                               evidence.rs
//! ```

mod copied;
mod evidence;
mod package;
mod present;
mod published;
mod streamed;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_archive::Limits;
use tofu_oci_packer::{PackError, Rename, ReplaceTag, SignAddress, SignRequest, Signing, Transfers};
use tofu_oci_source::{Release, ReleaseId};
use tofu_oci_store::{ReadStore, Store, StoreError};
use tofu_oci_types::{Descriptor, Digest, Platform, Reference, Reporter, Tag};

pub(crate) use self::package::hashed;
use crate::MirrorError;

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
/// The caller has judged whether the release is trusted. A transfer that breaks off leaves no tag; running it again sends
/// only what is missing. A release that the destination has costs one small request there.
///
/// # Errors
/// [`MirrorError`] says which end failed. The destination offers what it offered before.
pub async fn transfer(
    request: &TransferRequest<'_>,
    release: Arc<dyn Release>,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    match release.store() {
        Some(from) => copied::copied(request, &*release, &*from, to, reporter).await,
        None => published::published(request, release, to, reporter).await,
    }
}

/// The tag of the release's version.
fn tag_of(id: &ReleaseId) -> Result<Tag, PackError> {
    Tag::for_version(&id.version).map_err(|error| {
        let (version, reason) = (Box::new(id.version.clone()), error.to_string());
        PackError::NoTag { version, reason }
    })
}

/// What the tag names; `None` if it does not exist.
async fn resolve(store: &dyn ReadStore, tag: &Tag) -> Result<Option<Descriptor>, StoreError> {
    match store.resolve(&Reference::Tag(tag.clone())).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The destination has the release: it gets the signature that it lacks.
async fn unchanged(
    request: &TransferRequest<'_>,
    id: &ReleaseId,
    index: Digest,
    platforms: Vec<Platform>,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    let mut done = Transferred { index: Some(index), platforms, transfers: Transfers::default(), unchanged: true };
    if let Some(signing) = request.signing {
        let address = SignAddress::Given(id.address.clone());
        let sign = SignRequest { version: &id.version, address, rename: Rename::Refuse, signing };
        let signed = tofu_oci_packer::sign(to, &sign, reporter).await?;
        (done.transfers, done.unchanged) = (signed.transfers, signed.unchanged);
    }
    Ok(done)
}

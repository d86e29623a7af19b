//! The tag of a version at the destination.

use tofu_oci_packer::{PackError, SignAddress, SignRequest, Signer, Transfers};
use tofu_oci_source::ReleaseId;
use tofu_oci_store::{ReadStore, Store, StoreError};
use tofu_oci_types::{Descriptor, Digest, Platform, Reference, Reporter, Tag};

use super::request::{TransferRequest, Transferred};
use crate::MirrorError;
use crate::attestations::attach;

/// The tag of the release's version.
pub(super) fn tag_of(id: &ReleaseId) -> Result<Tag, PackError> {
    Tag::for_version(&id.version).map_err(|error| {
        let (version, reason) = (Box::new(id.version.clone()), error.to_string());
        PackError::NoTag { version, reason }
    })
}

/// What the tag names; `None` if it does not exist.
pub(crate) async fn resolve(store: &dyn ReadStore, tag: &Tag) -> Result<Option<Descriptor>, StoreError> {
    match store.resolve(&Reference::Tag(tag.clone())).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The destination has the release: it gets the signature that it lacks.
pub(super) async fn unchanged(
    request: &TransferRequest<'_>,
    id: &ReleaseId,
    index: Digest,
    platforms: Vec<Platform>,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    let mut done = Transferred { index: Some(index), platforms, transfers: Transfers::default(), unchanged: true };
    if !request.files.is_empty() {
        let attached = attach(to, id, request.files, reporter).await?;
        (done.transfers, done.unchanged) = (attached.transfers, attached.unchanged);
    }
    if let Some(signing) = request.signing {
        let address = SignAddress::Given(id.address.clone());
        let TransferRequest { rename, predecessors, .. } = *request;
        let sign = SignRequest {
            version: &id.version,
            address,
            rename,
            predecessors,
            signer: Signer::Key(signing),
            note: None,
        };
        let signed = tofu_oci_packer::sign(to, &sign, reporter).await?;
        done.transfers.add(signed.transfers);
        done.unchanged &= signed.unchanged;
    }
    Ok(done)
}

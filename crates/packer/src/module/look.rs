//! What the repository has before a module is pushed: its tag, and another's versions, which refuse the module.

use tofu_oci_layout::ModuleManifest;
use tofu_oci_store::ReadStore;
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Digest, Reference, Reporter, Tag};

use super::request::ModulePushRequest;
use crate::error::{ModuleFault, ModuleTagTaken, PackageDifference};
use crate::kept_for::neighbours;
use crate::push::withdrawn;
use crate::tags::before;
use crate::{PackError, ReplaceTag};

/// Where the tag points; `None` if it does not exist.
///
/// # Errors
/// [`PackError::KeptForOther`] if a provider's versions lie in the repository: `OpenTofu` takes every tag of such a
/// repository for a version of the provider. [`PackError::Withdrawn`] if the version was withdrawn, and nothing may take its
/// place.
pub(super) async fn look(
    store: &dyn ReadStore,
    tag: &Tag,
    request: &ModulePushRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<Option<Descriptor>, PackError> {
    let (existing, tags) = before(store, tag, request.replace, reporter).await?;
    if existing.is_none()
        && request.replace == ReplaceTag::Refuse
        && let Some(kept) = Tag::withdrawn(request.version).ok().filter(|kept| tags.contains(kept))
    {
        return Err(withdrawn(store, kept, &VersionOf::Module, request.version).await);
    }
    neighbours(store, &tags, (tag, existing.as_ref()), &VersionOf::Module).await?;
    Ok(existing)
}

/// The zip of a module; `None` if the manifest cannot be read or is not that of a module.
pub(crate) async fn zip_of(store: &dyn ReadStore, manifest: &Descriptor) -> Result<Option<Digest>, PackError> {
    match store.manifest(&Reference::Digest(manifest.digest.clone())).await {
        Ok((found, bytes)) => {
            Ok(ModuleManifest::parse(&found, &bytes).ok().map(|module| module.package().digest.clone()))
        }
        Err(error) if error.is_transient() => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// The refusal of a tag that points at something else than the module with this manifest and this zip.
pub(crate) async fn taken(
    store: &dyn ReadStore,
    existing: &Descriptor,
    (manifest, zip): (&Digest, &Digest),
    tag: &Tag,
) -> PackError {
    let difference = match store.manifest(&Reference::Digest(existing.digest.clone())).await {
        Ok((descriptor, bytes)) => match ModuleManifest::parse(&descriptor, &bytes) {
            Ok(there) if *zip == there.package().digest => PackageDifference::Annotations,
            Ok(_) => PackageDifference::Files,
            Err(_) => PackageDifference::NotAModule,
        },
        Err(error) if error.is_not_found() => PackageDifference::NotAModule,
        Err(error) => return error.into(),
    };
    let taken = ModuleTagTaken {
        place: store.place(),
        tag: tag.clone(),
        existing: existing.digest.clone(),
        new: manifest.clone(),
        difference,
    };
    ModuleFault::TagTaken(Box::new(taken)).into()
}

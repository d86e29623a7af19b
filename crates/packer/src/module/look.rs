//! The repository before a push of a module.

use tofu_oci_layout::ModuleManifest;
use tofu_oci_source::{Neighbour, newest_neighbour, provider_of};
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Descriptor, Reference, Reporter, Tag, Version};

use super::build::BuiltModule;
use super::error::{KeptForProvider, ModuleFault, ModuleTagTaken, PackageDifference};
use crate::PackError;
use crate::push::{resolve, tags_unknown};

/// The one tag of a version. 0.0.0 has one too: a module's version is never "no version".
pub(super) fn tag_of(version: &Version) -> Result<Tag, PackError> {
    Tag::for_version(version)
        .map_err(|error| PackError::NoTag { version: Box::new(version.clone()), reason: error.to_string() })
}

/// Where the tag points; `None` if it does not exist.
///
/// # Errors
/// [`ModuleFault::KeptForProvider`] if a provider's versions lie in the repository: `OpenTofu` takes every tag of such a
/// repository for a version of the provider.
pub(super) async fn look(
    store: &dyn ReadStore,
    tag: &Tag,
    version: &Version,
    reporter: &dyn Reporter,
) -> Result<Option<Descriptor>, PackError> {
    let existing = resolve(store, &Reference::Tag(tag.clone())).await?;
    let kept = |address, version| {
        let place = store.place();
        PackError::from(ModuleFault::KeptForProvider(Box::new(KeptForProvider { place, address, version })))
    };
    if let Some(existing) = &existing
        && let Some(address) = provider_of(store, existing).await?
    {
        return Err(kept(address, version.clone()));
    }
    let tags = match store.tags().await {
        Ok(tags) => tags,
        Err(error) if error.is_not_found() => Vec::new(),
        Err(error) => {
            reporter.event(&tags_unknown(&error));
            Vec::new()
        }
    };
    match newest_neighbour(store, &tags, tag).await? {
        Some(Neighbour { version, address }) => Err(kept(address, version)),
        None => Ok(existing),
    }
}

/// The refusal of a tag that points at something else.
pub(super) async fn taken(store: &dyn ReadStore, existing: &Descriptor, built: &BuiltModule, tag: &Tag) -> PackError {
    let difference = match store.manifest(&Reference::Digest(existing.digest.clone())).await {
        Ok((descriptor, bytes)) => match ModuleManifest::parse(&descriptor, &bytes) {
            Ok(there) if there.package().digest == built.contents.zip => PackageDifference::Annotations,
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
        new: built.plan.manifest.descriptor.digest.clone(),
        difference,
    };
    ModuleFault::TagTaken(Box::new(taken)).into()
}

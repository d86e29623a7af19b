//! Which provider a repository is kept for, as the releases in it say.
//!
//! A repository holds the versions of one provider. Whoever forgets its address publishes, or signs, under a name that
//! no client asks for; the releases that are there tell.

use tofu_oci_layout::{MAX_DOCUMENT, ReleaseIndex};
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_types::{Descriptor, ProviderAddr, Reference, Tag, Version};

/// Most releases that are read to find out.
const MOST: usize = 2;

/// What a release of a repository says about its provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub(crate) version: Version,
    pub(crate) address: ProviderAddr,
}

/// The newest of the two newest versions that says which provider it is of; the version of the tag `own` and tags that
/// no version has as its canonical one do not count. At most two requests.
///
/// # Errors
/// If a release could not be read for a reason that may pass. What is damaged, and what is no release, says nothing.
pub(crate) async fn newest(store: &dyn ReadStore, tags: &[Tag], own: &Tag) -> Result<Option<Neighbour>, StoreError> {
    let canonical = |tag: &Tag| tag.version().filter(|version| Tag::for_version(version).as_ref() == Ok(tag));
    let mut versions: Vec<Version> = tags.iter().filter(|tag| *tag != own).filter_map(canonical).collect();
    versions.sort_by(|one, other| other.precedence(one));
    for version in versions.into_iter().take(MOST) {
        let Ok(tag) = Tag::for_version(&version) else { continue };
        let (index, bytes) = match store.manifest(&Reference::Tag(tag)).await {
            Ok(found) => found,
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => continue,
        };
        if let Some(address) = address(&index, &bytes) {
            return Ok(Some(Neighbour { version, address }));
        }
    }
    Ok(None)
}

/// The provider that a release says it is of; `None` if it says nothing, or is no release.
///
/// # Errors
/// As [`newest`].
pub(crate) async fn of(store: &dyn ReadStore, index: &Descriptor) -> Result<Option<ProviderAddr>, StoreError> {
    match fetch_bytes(store, index, MAX_DOCUMENT).await {
        Ok(bytes) => Ok(address(index, &bytes)),
        Err(error) if error.is_transient() => Err(error),
        Err(_) => Ok(None),
    }
}

fn address(index: &Descriptor, bytes: &[u8]) -> Option<ProviderAddr> {
    ReleaseIndex::parse(index, bytes).ok()?.claims().address
}

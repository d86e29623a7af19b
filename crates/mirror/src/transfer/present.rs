//! When a release that the destination has under the version's tag stays, grows or is refused.

use std::collections::BTreeMap;

use tofu_oci_layout::{Leaf, LeafKind, MAX_DOCUMENT, PlatformClaims, ReleaseIndex};
use tofu_oci_source::{Offer, ReleaseId, read_release};
use tofu_oci_store::{Store, StoreError, fetch_bytes};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Place, Platform, ProviderAddr, Reference};

use super::tag::tag_of;
use crate::MirrorError;

/// The release that the destination has.
pub(super) struct PresentRelease {
    pub(super) place: Place,
    pub(super) descriptor: Descriptor,
    /// The provider that it says it is of.
    pub(super) published_as: Option<ProviderAddr>,
    /// The checksums of its packages.
    pub(super) packages: BTreeMap<Platform, PresentPackage>,
}

/// A package that the destination has.
pub(super) struct PresentPackage {
    /// Of its zip; `None` if it has no zip.
    zh: Option<PackageHash>,
    /// Of its contents, by the word of the index.
    pub(super) h1: Option<PackageHash>,
    ch: PackageHash,
}

impl PresentRelease {
    /// One request, if the index says which zips it has. `None` if there is no release under the tag; what else is there
    /// refuses the publication.
    pub(super) async fn read(id: &ReleaseId, to: &dyn Store) -> Result<Option<Self>, MirrorError> {
        let (descriptor, bytes) = match to.manifest(&Reference::Tag(tag_of(id)?)).await {
            Ok(found) => found,
            Err(error) if error.is_not_found() => return Ok(None),
            // A layout gets the index again if it is the same.
            Err(error) if error.is_of_content() && matches!(to.place(), Place::Layout(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Ok(mut index) = ReleaseIndex::parse(&descriptor, &bytes) else { return Ok(None) };
        for nested in index.nested() {
            if let Some(child) = read_release(to, &nested).await? {
                // What cannot be absorbed stays unknown, and the publication refuses to replace it.
                let _ = index.absorb(&nested.digest, child);
            }
        }
        let claims = index.claims();
        let (published_as, mut claims) = (claims.address, claims.platforms);
        let mut packages = BTreeMap::new();
        for platform in index.platforms() {
            let PlatformClaims { h1, zh, .. } = claims.remove(&platform).unwrap_or_default();
            if let Some(package) = PresentPackage::read(&index, &platform, (h1, zh), to).await? {
                packages.insert(platform, package);
            }
        }
        Ok(Some(Self { place: to.place(), descriptor, published_as, packages }))
    }
}

impl PresentPackage {
    async fn read(
        index: &ReleaseIndex,
        platform: &Platform,
        (h1, mut zh): (Option<PackageHash>, Option<PackageHash>),
        to: &dyn Store,
    ) -> Result<Option<Self>, StoreError> {
        let leaves = index.candidates(platform);
        let Some(first) = leaves.first() else { return Ok(None) };
        let artifact = leaves.iter().find(|leaf| index.kind(leaf) == LeafKind::Artifact);
        if let Some(artifact) = artifact.filter(|_| zh.is_none()) {
            let bytes = fetch_bytes(to, artifact, MAX_DOCUMENT).await?;
            let leaf = Leaf::parse(artifact, &bytes).ok();
            zh = leaf.and_then(|leaf| PackageHash::zh(&leaf.package_layer()?.digest));
        }
        Ok(Some(Self { zh: zh.filter(|_| artifact.is_some()), h1, ch: PackageHash::ch(&first.digest) }))
    }

    /// Whether an offered package is this one; `None` if its bytes alone can tell.
    pub(super) fn is_offered(&self, offer: &Offer) -> Option<bool> {
        if let Some(zh) = offer.zh() {
            return Some(self.zh.as_ref() == Some(&zh));
        }
        let own: Vec<&PackageHash> = [&self.zh, &self.h1].into_iter().flatten().collect();
        let comparable = |hash: &&PackageHash| own.iter().any(|known| known.scheme() == hash.scheme());
        if own.iter().any(|known| offer.allowed.contains(known)) {
            return Some(true);
        }
        offer.allowed.iter().any(|hash| comparable(&hash)).then_some(false)
    }

    /// Whether this is the zip with the digest.
    pub(super) fn is_zip(&self, digest: &Digest) -> bool {
        self.zh.is_some() && self.zh == PackageHash::zh(digest)
    }

    /// The checksum that names it best.
    pub(super) fn checksum(&self) -> PackageHash {
        self.zh.clone().unwrap_or_else(|| self.ch.clone())
    }
}

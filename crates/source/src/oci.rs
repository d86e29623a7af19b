//! A repository as a source.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tofu_oci_layout::{ImageConfig, LayoutError, Leaf, LeafKind, MAX_DOCUMENT, ReleaseIndex, check_release, select};
use tofu_oci_store::{ByteStream, ReadStore, StoreError, fetch_bytes, is_manifest_type};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Platform, ProviderAddr, Reference, Tag, Version};

use crate::{Listing, NotOffered, Offer, Source, SourceError};

/// One repository that holds one provider's releases.
///
/// A tag is resolved once; index, leaf, config and package are then fetched by the digests that the document before
/// names, so that nothing can be exchanged on the way.
pub struct OciSource {
    store: Arc<dyn ReadStore>,
}

impl OciSource {
    /// The repository as a source.
    pub fn new(store: Arc<dyn ReadStore>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl Source for OciSource {
    fn place(&self) -> String {
        self.store.place()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        match self.store.tags().await {
            Ok(tags) => Ok(Listing::of(&tags)),
            Err(StoreError::UnknownRepository { .. }) => Err(self.not_offered(address, NotOffered::UnknownProvider)),
            Err(error) => Err(error.into()),
        }
    }

    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        let release = Release { source: self, address, version };
        let (_, _, mut index) = release.index().await?;
        while release.absorb(&mut index, None).await? {}
        Ok(index.platforms())
    }

    async fn offer(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
        Release { source: self, address, version }.offer(platform).await
    }

    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        let release = Release { source: self, address: &offer.address, version: &offer.version };
        let index = release.parse(&offer.index).await?;
        let mut hashes = offer.claims.clone();
        for platform in index.platforms() {
            for entry in index.candidates(&platform) {
                if index.kind(&entry) == LeafKind::Artifact {
                    let zh = release.leaf(&entry).await?.package_layer().and_then(|zip| PackageHash::zh(&zip.digest));
                    hashes.entry(platform.clone()).or_default().extend(zh);
                }
            }
        }
        Ok(hashes)
    }

    async fn open(&self, offer: &Offer, part: usize) -> Result<ByteStream, SourceError> {
        let part = &offer.parts[part];
        self.store.fetch(part).await.map_err(|error| missing(part, error).into())
    }
}

impl OciSource {
    fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place(), what }
    }
}

/// One release while it is read.
struct Release<'a> {
    source: &'a OciSource,
    address: &'a ProviderAddr,
    version: &'a Version,
}

impl Release<'_> {
    async fn offer(&self, platform: &Platform) -> Result<Offer, SourceError> {
        let (tag, descriptor, mut index) = self.index().await?;
        while self.absorb(&mut index, Some(platform)).await? {}
        let selected = match select(&index, platform) {
            Ok(selected) => selected,
            Err(LayoutError::PlatformNotOffered { platform, offered }) => {
                let version = self.version.clone();
                let what = NotOffered::PlatformMissing { version, platform, offered };
                return Err(self.source.not_offered(self.address, what));
            }
            Err(error) => return Err(self.layout(error)),
        };
        let leaf = self.leaf(&selected.descriptor).await?;
        let diff_ids = match leaf.kind() {
            LeafKind::Artifact => Vec::new(),
            LeafKind::Image => self.image(&leaf, platform).await?,
        };
        let said = index.claims();
        Ok(Offer {
            address: self.address.clone(),
            version: self.version.clone(),
            platform: platform.clone(),
            place: self.source.place(),
            tag,
            index: descriptor,
            leaf: selected.descriptor,
            kind: leaf.kind(),
            parts: leaf.parts(),
            diff_ids,
            offered: index.platforms(),
            protocols: said.protocols,
            published_as: said.address,
            claims: claims(&index),
        })
    }

    /// The index that the version's canonical tag names.
    async fn index(&self) -> Result<(Tag, Descriptor, ReleaseIndex), SourceError> {
        let tag = Tag::for_version(self.version).map_err(|error| self.unusable(error.to_string()))?;
        let descriptor = match self.source.store.resolve(&Reference::Tag(tag.clone())).await {
            Ok(descriptor) => descriptor,
            Err(error) if error.is_not_found() => return Err(self.version_missing(&tag).await),
            Err(error) => return Err(error.into()),
        };
        let index = self.parse(&descriptor).await?;
        Ok((tag, descriptor, index))
    }

    async fn parse(&self, descriptor: &Descriptor) -> Result<ReleaseIndex, SourceError> {
        let bytes = self.document(descriptor).await?;
        ReleaseIndex::parse(descriptor, &bytes).map_err(|error| self.layout(error))
    }

    async fn leaf(&self, entry: &Descriptor) -> Result<Leaf, SourceError> {
        let bytes = self.document(entry).await?;
        Leaf::parse(entry, &bytes).map_err(|error| self.layout(error))
    }

    async fn version_missing(&self, tag: &Tag) -> SourceError {
        match self.source.versions(self.address).await {
            // The tag is listed, its manifest is gone: a registry's garbage collection, or a copy that is not whole.
            Ok(listing) if listing.versions.contains(self.version) => {
                StoreError::NotFound { place: self.source.place(), what: format!("manifest for its tag {tag}") }.into()
            }
            Ok(listing) => {
                let version = self.version.clone();
                let what = NotOffered::VersionMissing { version, offered: listing.versions };
                self.source.not_offered(self.address, what)
            }
            Err(error) => error,
        }
    }

    /// Reads the nested indexes that matter for the platform (all, without one); false when there are none left.
    async fn absorb(&self, index: &mut ReleaseIndex, platform: Option<&Platform>) -> Result<bool, SourceError> {
        let unread = platform.map_or_else(|| index.nested(), |platform| index.unread(platform));
        for nested in &unread {
            check_release(nested).map_err(|error| self.layout(error))?;
            let child = self.parse(nested).await?;
            index.absorb(&nested.digest, child).map_err(|error| self.layout(error))?;
        }
        Ok(!unread.is_empty())
    }

    /// Checks that the image is a provider's, by its config; gives the digests of the uncompressed layers.
    async fn image(&self, leaf: &Leaf, platform: &Platform) -> Result<Vec<Digest>, SourceError> {
        let bytes = self.document(leaf.config()).await?;
        let config = ImageConfig::parse(&bytes).map_err(|error| self.layout(error))?;
        config.require_provider_label().map_err(|error| self.layout(error))?;
        if let Some(other) = config.platform().filter(|found| found != platform) {
            return Err(self.unusable(format!("the index lists it for {platform}, its config is for {other}")));
        }
        let (layers, diff_ids) = (leaf.layers().len(), config.diff_ids().len());
        // Hand-made images may name none: the layers are known by their own digests all the same.
        if diff_ids != 0 && layers != diff_ids {
            return Err(self.unusable(format!("the image has {layers} layers, its config names {diff_ids}")));
        }
        Ok(config.diff_ids().to_vec())
    }

    async fn document(&self, descriptor: &Descriptor) -> Result<Bytes, SourceError> {
        let fetched = fetch_bytes(&*self.source.store, descriptor, MAX_DOCUMENT).await;
        fetched.map_err(|error| missing(descriptor, error).into())
    }

    fn layout(&self, source: LayoutError) -> SourceError {
        let (address, version) = (self.address.clone(), self.version.clone());
        SourceError::Layout { address, version, place: self.source.place(), source }
    }

    fn unusable(&self, problem: String) -> SourceError {
        let (address, version) = (self.address.clone(), self.version.clone());
        SourceError::Unusable { address, version, place: self.source.place(), problem }
    }
}

/// Once a tag has led to a release, the repository is known, whatever the registry says of it: what lacks is the content.
fn missing(descriptor: &Descriptor, error: StoreError) -> StoreError {
    match error {
        StoreError::UnknownRepository { place } => {
            let kind = if is_manifest_type(&descriptor.media_type) { "manifest" } else { "blob" };
            StoreError::NotFound { place, what: format!("{kind} {}", descriptor.digest) }
        }
        other => other,
    }
}

/// What the index says about checksums: the leaves' own digests, and annotations.
fn claims(index: &ReleaseIndex) -> BTreeMap<Platform, BTreeSet<PackageHash>> {
    let mut claims: BTreeMap<Platform, BTreeSet<PackageHash>> = BTreeMap::new();
    for platform in index.platforms() {
        let leaves = index.candidates(&platform).into_iter().map(|leaf| PackageHash::ch(&leaf.digest));
        claims.entry(platform).or_default().extend(leaves);
    }
    for (platform, said) in index.claims().platforms {
        claims.entry(platform).or_default().extend([said.h1, said.zh].into_iter().flatten());
    }
    claims
}

#[cfg(test)]
mod answers;
#[cfg(test)]
pub(crate) mod tests;

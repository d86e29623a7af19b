//! A release while it is read: tag, index, nested indexes, leaves.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use tofu_oci_layout::{ImageConfig, LayoutError, Leaf, LeafKind, ReleaseIndex, check_release, select};
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_types::{Descriptor, Digest, DigestHasher, PackageHash, Platform, ProviderAddr, Tag, Version};

use super::{OciSource, missing};
use crate::{NotOffered, Offer, Release, Source as _, SourceError};

/// One release while it is read.
pub(super) struct Reading<'a> {
    pub(super) source: &'a OciSource,
    pub(super) address: &'a ProviderAddr,
    pub(super) version: &'a Version,
}

impl Reading<'_> {
    pub(super) async fn offer(&self, platform: &Platform) -> Result<Offer, SourceError> {
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
        let index_sha512 = self.sha512(&descriptor).await?;
        Ok(Offer {
            index_sha512,
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

    /// What the index says, as far as a package can be installed from it.
    pub(super) async fn release(&self) -> Result<Release, SourceError> {
        let (tag, descriptor, index) = self.whole_index().await?;
        let index_sha512 = self.sha512(&descriptor).await?;
        self.described(tag, descriptor, index_sha512, &index).map_err(|error| *error)
    }

    /// The same of the index that an offer is from.
    pub(super) async fn release_of(&self, offer: &Offer) -> Result<Release, SourceError> {
        let mut index = self.parse(&offer.index).await?;
        while self.absorb(&mut index, None).await? {}
        let (tag, index_sha512) = (offer.tag.clone(), offer.index_sha512.clone());
        self.described(tag, offer.index.clone(), index_sha512, &index).map_err(|error| *error)
    }

    fn described(
        &self,
        tag: Tag,
        descriptor: Descriptor,
        index_sha512: Digest,
        index: &ReleaseIndex,
    ) -> Result<Release, Box<SourceError>> {
        let mut kinds = BTreeMap::new();
        let mut refused = None;
        for platform in index.platforms() {
            match select(index, &platform) {
                Ok(selected) => drop(kinds.insert(platform, selected.kind)),
                Err(error) => drop(refused.get_or_insert(error)),
            }
        }
        if kinds.is_empty() {
            // Without any platform there is none that it could be asked for: this one tells what is there instead.
            let error = refused.map_or_else(|| select(index, &Platform::current()).err(), Some);
            let nothing = || self.unusable("it has no package".to_owned());
            return Err(Box::new(error.map_or_else(nothing, |error| self.layout(error))));
        }
        let said = index.claims();
        let zips = said.platforms.iter().filter_map(|(platform, said)| Some((platform.clone(), said.zh.clone()?)));
        let mut claims = claims(index);
        claims.retain(|platform, _| kinds.contains_key(platform));
        Ok(Release {
            address: self.address.clone(),
            version: self.version.clone(),
            place: self.source.place(),
            tag,
            index: descriptor,
            index_sha512,
            layout: index.layout(),
            platforms: kinds.keys().cloned().collect(),
            zips: zips.filter(|(platform, _)| kinds.contains_key(platform)).collect(),
            kinds,
            claims,
            protocols: said.protocols,
            published_as: said.address,
        })
    }

    /// The claims, and the `zh:` of every zip.
    pub(super) async fn hashes(
        &self,
        index: &ReleaseIndex,
        claims: BTreeMap<Platform, BTreeSet<PackageHash>>,
    ) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        let mut hashes = claims;
        for platform in index.platforms() {
            for entry in index.candidates(&platform) {
                if index.kind(&entry) == LeafKind::Artifact {
                    let zh = self.leaf(&entry).await?.package_layer().and_then(|zip| PackageHash::zh(&zip.digest));
                    hashes.entry(platform.clone()).or_default().extend(zh);
                }
            }
        }
        Ok(hashes)
    }

    /// The index that the version's canonical tag names, with everything that nested ones have.
    pub(super) async fn whole_index(&self) -> Result<(Tag, Descriptor, ReleaseIndex), SourceError> {
        let (tag, descriptor, mut index) = self.index().await?;
        while self.absorb(&mut index, None).await? {}
        Ok((tag, descriptor, index))
    }

    /// The index that the version's canonical tag names.
    pub(super) async fn index(&self) -> Result<(Tag, Descriptor, ReleaseIndex), SourceError> {
        let tag = Tag::for_version(self.version).map_err(|error| self.unusable(error.to_string()))?;
        let descriptor = match self.source.memory.resolve(&*self.source.store, &tag).await {
            Ok(descriptor) => descriptor,
            Err(error) if error.is_not_found() => return Err(self.version_missing(&tag).await),
            Err(error) => return Err(error.into()),
        };
        let index = self.parse(&descriptor).await?;
        Ok((tag, descriptor, index))
    }

    /// The SHA-512 of the index, which has been read.
    async fn sha512(&self, descriptor: &Descriptor) -> Result<Digest, SourceError> {
        let mut hasher = DigestHasher::sha512();
        hasher.update(&self.document(descriptor).await?);
        Ok(hasher.finish())
    }

    pub(super) async fn parse(&self, descriptor: &Descriptor) -> Result<ReleaseIndex, SourceError> {
        let bytes = self.document(descriptor).await?;
        ReleaseIndex::parse(descriptor, &bytes).map_err(|error| self.layout(error))
    }

    pub(super) async fn leaf(&self, entry: &Descriptor) -> Result<Leaf, SourceError> {
        let bytes = self.document(entry).await?;
        Leaf::parse(entry, &bytes).map_err(|error| self.layout(error))
    }

    async fn version_missing(&self, tag: &Tag) -> SourceError {
        match self.source.versions(self.address).await {
            // The tag is listed, its manifest is gone: a registry's garbage collection, or a copy that is not whole.
            Ok(listing) if listing.versions.contains(self.version) => {
                StoreError::NotFound { place: self.source.place(), what: StoreItem::ManifestOfTag(tag.clone()) }.into()
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
    pub(super) async fn absorb(
        &self,
        index: &mut ReleaseIndex,
        platform: Option<&Platform>,
    ) -> Result<bool, SourceError> {
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
        let fetched = self.source.memory.document(&*self.source.store, descriptor).await;
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

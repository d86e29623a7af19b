//! A release of a repository: its index, nested indexes, leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_layout::{ImageConfig, LayoutError, Leaf, LeafKind, ReleaseIndex, check_release, select};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::{Evidence, Notice, ReleaseState};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Platform, Tag};
use tokio::sync::OnceCell;

use super::repository::{OpenedRepository, missing};
use crate::evidence::EvidenceReader;
use crate::{
    ClaimedHashes, Created, CreatedBy, Layer, Locator, NotOffered, Offer, Opened, Package, Part, Release,
    ReleaseDescription, ReleaseId, Search, SourceError,
};

/// A release whose index has been read.
pub(super) struct OciRelease {
    repository: Arc<OpenedRepository>,
    id: ReleaseId,
    tag: Tag,
    descriptor: Descriptor,
    /// The index that the tag names, without nested ones.
    root: ReleaseIndex,
    /// The index with all nested ones.
    whole: OnceCell<ReleaseIndex>,
    description: OnceCell<ReleaseDescription>,
}

impl OciRelease {
    pub(super) fn new(
        repository: Arc<OpenedRepository>,
        id: ReleaseId,
        tag: Tag,
        descriptor: Descriptor,
        root: ReleaseIndex,
    ) -> Self {
        Self { repository, id, tag, descriptor, root, whole: OnceCell::new(), description: OnceCell::new() }
    }

    async fn whole(&self) -> Result<&ReleaseIndex, SourceError> {
        self.whole.get_or_try_init(|| self.index(None)).await
    }

    /// The index with the nested ones that matter for the platform; with all of them for `None`.
    async fn index(&self, platform: Option<&Platform>) -> Result<ReleaseIndex, SourceError> {
        let mut index = self.root.clone();
        loop {
            let unread = platform.map_or_else(|| index.nested(), |platform| index.unread(platform));
            if unread.is_empty() {
                return Ok(index);
            }
            for nested in &unread {
                check_release(nested).map_err(|error| self.layout(error))?;
                let bytes = self.repository.document(nested).await?;
                let child = ReleaseIndex::parse(nested, &bytes).map_err(|error| self.layout(error))?;
                index.absorb(&nested.digest, child).map_err(|error| self.layout(error))?;
            }
        }
    }

    async fn described(&self) -> Result<ReleaseDescription, SourceError> {
        let index = self.whole().await?;
        let mut kinds = BTreeMap::new();
        let mut refused = None;
        for platform in index.platforms() {
            match select(index, &platform) {
                Ok(selected) => drop(kinds.insert(platform, selected.kind)),
                Err(error) => drop(refused.get_or_insert(error)),
            }
        }
        if kinds.is_empty() {
            // The error for an index without platforms says what it has instead.
            let error = refused.or_else(|| select(index, &Platform::current()).err());
            return Err(error.map_or_else(|| self.unusable("it has no package".to_owned()), |error| self.layout(error)));
        }
        let found = index.claims();
        let zips = found.platforms.iter().filter_map(|(platform, found)| Some((platform.clone(), found.zh.clone()?)));
        let mut claims = claims(index);
        claims.retain(|platform, _| kinds.contains_key(platform));
        Ok(ReleaseDescription {
            tag: Some(self.tag.clone()),
            layout: Some(index.layout()),
            platforms: kinds.keys().cloned().collect(),
            zips: zips.filter(|(platform, _)| kinds.contains_key(platform)).collect(),
            kinds,
            claims,
            protocols: found.protocols,
            published_as: found.address,
        })
    }

    async fn leaf(&self, entry: &Descriptor) -> Result<Leaf, SourceError> {
        let bytes = self.repository.document(entry).await?;
        Leaf::parse(entry, &bytes).map_err(|error| self.layout(error))
    }

    /// The digests of the uncompressed layers, after a check by the config that the image is a provider's.
    async fn diff_ids(&self, leaf: &Leaf, platform: &Platform) -> Result<Vec<Digest>, SourceError> {
        let bytes = self.repository.document(leaf.config()).await?;
        let config = ImageConfig::parse(&bytes).map_err(|error| self.layout(error))?;
        config.require_provider_label().map_err(|error| self.layout(error))?;
        if let Some(other) = config.platform().filter(|found| found != platform) {
            return Err(self.unusable(format!("the index lists it for {platform}, its config is for {other}")));
        }
        let (layers, diff_ids) = (leaf.layers().len(), config.diff_ids().len());
        // Hand-made images may name none: then the layers' own digests suffice.
        if diff_ids != 0 && layers != diff_ids {
            return Err(self.unusable(format!("the image has {layers} layers, its config names {diff_ids}")));
        }
        Ok(config.diff_ids().to_vec())
    }

    fn layout(&self, source: LayoutError) -> SourceError {
        let ReleaseId { address, version, place, .. } = self.id.clone();
        SourceError::Layout { address, version, place, source }
    }

    fn unusable(&self, problem: String) -> SourceError {
        let ReleaseId { address, version, place, .. } = self.id.clone();
        SourceError::Unusable { address, version, place, problem }
    }
}

#[async_trait]
impl Release for OciRelease {
    fn id(&self) -> &ReleaseId {
        &self.id
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.description.get_or_try_init(|| self.described()).await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.whole().await?.platforms())
    }

    async fn created(&self) -> Result<Option<Created>, SourceError> {
        if let Some(at) = self.root.created() {
            return Ok(Some(Created { at, by: CreatedBy::Index }));
        }
        let index = self.whole().await?;
        let Some(first) = index.platforms().iter().find_map(|platform| select(index, platform).ok()) else {
            return Ok(None);
        };
        let leaf = self.leaf(&first.descriptor).await?;
        if let Some(at) = leaf.created().cloned() {
            return Ok(Some(Created { at, by: CreatedBy::Manifest }));
        }
        // The config of an artifact is not read: whoever writes one writes no time into it.
        if leaf.kind() == LeafKind::Artifact {
            return Ok(None);
        }
        let bytes = self.repository.document(leaf.config()).await?;
        let config = ImageConfig::parse(&bytes).map_err(|error| self.layout(error))?;
        Ok(config.created().cloned().map(|at| Created { at, by: CreatedBy::ImageConfig }))
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let index = self.index(Some(platform)).await?;
        let selected = match select(&index, platform) {
            Ok(selected) => selected,
            Err(LayoutError::PlatformNotOffered { platform, offered }) => {
                let ReleaseId { address, version, place, .. } = self.id.clone();
                let what = NotOffered::PlatformMissing { version, platform, offered };
                return Err(SourceError::NotOffered { address, place, what });
            }
            Err(error) => return Err(self.layout(error)),
        };
        let leaf = self.leaf(&selected.descriptor).await?;
        let mut parts = leaf.parts().into_iter().map(|part| Part {
            at: Locator::Blob(part.media_type),
            size: Some(part.size),
            digest: Some(part.digest),
        });
        let package = match leaf.kind() {
            LeafKind::Artifact => {
                let zip = parts.next().ok_or_else(|| self.unusable("it has no package".to_owned()))?;
                Package::Zip(zip)
            }
            LeafKind::Image => {
                let mut diff_ids = self.diff_ids(&leaf, platform).await?.into_iter();
                Package::Layers(parts.map(|part| Layer { part, diff_id: diff_ids.next() }).collect())
            }
        };
        Ok(Offer {
            platform: platform.clone(),
            manifest: Some(selected.descriptor.digest),
            package,
            published_as: index.claims().address,
            claims: claims(&index),
            allowed: Vec::new(),
            signed: BTreeSet::new(),
            release: self,
        })
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        let OpenedRepository { store, memory, .. } = &*self.repository;
        Ok(EvidenceReader::new(&**store, memory, &self.descriptor).search(search).await?)
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        let ReleaseId { address, version, .. } = &self.id;
        let Ok(tag) = Tag::deprecated(version) else { return Ok(None) };
        let OpenedRepository { store, memory, .. } = &*self.repository;
        if memory.listed().is_some_and(|tags| !tags.contains(&tag)) {
            return Ok(None);
        }
        let manifest = match memory.resolve(&**store, &tag).await {
            Ok(manifest) => manifest,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = EvidenceReader::new(&**store, memory, &self.descriptor).notice_of(&manifest).await?;
        let found = found.filter(|found| found.is_about(&self.descriptor.digest, address, version));
        Ok(found.map(|found| found.notice).filter(|notice| notice.state != ReleaseState::Available))
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        let (index, description) = (self.whole().await?, self.describe().await?);
        let mut hashes = description.claims.clone();
        for platform in &description.platforms {
            for entry in index.candidates(platform) {
                if index.kind(&entry) == LeafKind::Artifact {
                    let zh = self.leaf(&entry).await?.package_layer().and_then(|zip| PackageHash::zh(&zip.digest));
                    hashes.entry(platform.clone()).or_default().extend(zh);
                }
            }
        }
        Ok(hashes)
    }

    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        Some(Arc::clone(&self.repository.store))
    }

    async fn open(&self, part: &Part) -> Result<Opened, SourceError> {
        let (Locator::Blob(media_type), Some(size), Some(digest)) = (&part.at, part.size, &part.digest) else {
            return Err(self.unusable(format!("{part} is not a blob of a repository")));
        };
        let blob = Descriptor::new(media_type, digest.clone(), size);
        let stream = self.repository.store.fetch(&blob).await.map_err(|error| missing(&blob, error))?;
        Ok(Opened { size: Some(size), stream })
    }
}

/// What the index says about checksums: the leaves' own digests, and annotations.
fn claims(index: &ReleaseIndex) -> ClaimedHashes {
    let mut claims = ClaimedHashes::new();
    for platform in index.platforms() {
        let leaves = index.candidates(&platform).into_iter().map(|leaf| PackageHash::ch(&leaf.digest));
        claims.entry(platform).or_default().extend(leaves);
    }
    for (platform, found) in index.claims().platforms {
        claims.entry(platform).or_default().extend([found.h1, found.zh].into_iter().flatten());
    }
    claims
}

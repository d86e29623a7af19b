//! A release of a repository: its index, nested indexes, leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_layout::{
    ImageConfig, LayoutError, Leaf, LeafKind, PlatformClaims, ReleaseIndex, annotation, check_release, select,
};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Descriptor, Digest, PackageHash, Platform, ProviderAddr, Tag};
use tokio::sync::OnceCell;

use super::ahead::{OnItsWay, PackagesAhead};
use super::notice::{NoticeAhead, NoticeQuestion};
use super::repository::{OpenedRepository, missing};
use crate::evidence::{EvidenceReader, evidence_of_leaves};
use crate::memory::lock;
use crate::{
    ClaimedHashes, ClaimedPackage, CreatedBy, Layer, Locator, NotOffered, Offer, Package, Part, PartStream, Release,
    ReleaseDate, ReleaseDescription, ReleaseId, Search, SourceError, WantedAhead, WantedPackage, ZipNames,
};

/// A release whose index has been read.
pub(super) struct OciRelease {
    repository: Arc<OpenedRepository>,
    id: ReleaseId,
    tag: Tag,
    descriptor: Descriptor,
    /// The index that the tag names, without nested ones.
    root: Arc<ReadIndex>,
    /// The index with all nested ones.
    whole: OnceCell<Arc<ReadIndex>>,
    description: OnceCell<ReleaseDescription>,
    ahead: PackagesAhead,
    /// A notice that is asked for ahead.
    notice: Mutex<Option<NoticeAhead>>,
}

/// An index with those nested ones that were read, and what it says of checksums: all offers share it.
struct ReadIndex {
    index: ReleaseIndex,
    claims: Arc<ClaimedHashes>,
    published_as: Option<ProviderAddr>,
}

/// How many manifests of one release are read at a time.
const AT_ONCE: usize = 8;

impl OciRelease {
    pub(super) fn new(
        repository: Arc<OpenedRepository>,
        id: ReleaseId,
        tag: Tag,
        descriptor: Descriptor,
        root: ReleaseIndex,
    ) -> Self {
        let root = Arc::new(ReadIndex::of(root));
        let (whole, description) = (OnceCell::new(), OnceCell::new());
        let (ahead, notice) = (PackagesAhead::default(), Mutex::default());
        Self { repository, id, tag, descriptor, root, whole, description, ahead, notice }
    }

    async fn whole(&self) -> Result<&ReadIndex, SourceError> {
        let whole = self.whole.get_or_try_init(|| self.with_nested(ReleaseIndex::nested)).await?;
        Ok(whole)
    }

    /// The index as far as it matters for the platform; all of it if that has been read.
    async fn index(&self, platform: &Platform) -> Result<Arc<ReadIndex>, SourceError> {
        match self.whole.get() {
            Some(whole) => Ok(Arc::clone(whole)),
            None => self.with_nested(|index| index.unread(platform)).await,
        }
    }

    /// The index with the nested ones that `unread` names, until it names none.
    async fn with_nested(
        &self,
        unread: impl Fn(&ReleaseIndex) -> Vec<Descriptor>,
    ) -> Result<Arc<ReadIndex>, SourceError> {
        let mut wanted = unread(&self.root.index);
        if wanted.is_empty() {
            return Ok(Arc::clone(&self.root));
        }
        let mut index = self.root.index.clone();
        while !wanted.is_empty() {
            let children: Vec<_> = wanted.into_iter().map(|nested| self.nested(nested)).collect();
            let mut children = futures_util::stream::iter(children).buffered(AT_ONCE);
            while let Some((nested, child)) = children.try_next().await? {
                index.absorb(&nested, child).map_err(|error| self.layout(error))?;
            }
            wanted = unread(&index);
        }
        Ok(Arc::new(ReadIndex::of(index)))
    }

    async fn nested(&self, entry: Descriptor) -> Result<(Digest, ReleaseIndex), SourceError> {
        check_release(&entry).map_err(|error| self.layout(error))?;
        let bytes = self.repository.document(&entry).await?;
        let child = ReleaseIndex::parse(&entry, &bytes).map_err(|error| self.layout(error))?;
        Ok((entry.digest, child))
    }

    async fn described(&self) -> Result<ReleaseDescription, SourceError> {
        let ReadIndex { index, claims, .. } = self.whole().await?;
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
        let mut claims = ClaimedHashes::clone(claims);
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

    /// The offer; with `wanted`, a package that is wanted is asked for meanwhile.
    async fn offered(
        self: Arc<Self>,
        platform: &Platform,
        wanted: Option<&dyn WantedPackage>,
    ) -> Result<Offer, SourceError> {
        let read = self.index(platform).await?;
        let selected = match select(&read.index, platform) {
            Ok(selected) => selected,
            Err(LayoutError::PlatformNotOffered { platform, offered }) => {
                let ReleaseId { address, version, place, .. } = self.id.clone();
                let what = NotOffered::PlatformMissing { version, platform, offered };
                return Err(SourceError::NotOffered { address, place, what });
            }
            Err(error) => return Err(self.layout(error)),
        };
        let mut asked = WantedAhead::Nothing;
        if let Some(wanted) = wanted.filter(|_| selected.kind == LeafKind::Artifact) {
            asked = self.ask_ahead(&read, platform, wanted);
            self.ask_for_notice();
        }
        let leaf = self.leaf(&selected.descriptor).await?;
        let small = leaf.small_layer().filter(|_| asked != WantedAhead::Zip).cloned().map(blob_part);
        let mut parts = leaf.parts().into_iter().map(blob_part);
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
            small,
            claims: Arc::clone(&read.claims),
            allowed: Vec::new(),
            signed: BTreeSet::new(),
            release: self,
        })
    }

    /// Asks for the notice that is reported beside the download.
    fn ask_for_notice(&self) {
        let question = self.notice_question();
        let mut notice = lock(&self.notice);
        if notice.is_none() && question.takes_a_request() {
            *notice = OnItsWay::start(question.ask());
        }
    }

    fn notice_question(&self) -> NoticeQuestion {
        let (repository, id, release) = (Arc::clone(&self.repository), self.id.clone(), self.descriptor.clone());
        NoticeQuestion { repository, id, release }
    }

    /// Asks for what the index claims for a platform and is wanted of it. Gives what was asked for.
    fn ask_ahead(&self, read: &ReadIndex, platform: &Platform, wanted: &dyn WantedPackage) -> WantedAhead {
        let found = read.index.claims();
        let Some(PlatformClaims { zh: Some(zip), size, small, .. }) = found.platforms.get(platform) else {
            return WantedAhead::Nothing;
        };
        let Some(digest) = zip.archive() else { return WantedAhead::Nothing };
        let claimed = ClaimedPackage { platform, zip, small: small.as_ref(), claims: &read.claims };
        let (asked, digest) = match (wanted.wants(&claimed), small) {
            (WantedAhead::Nothing, _) => return WantedAhead::Nothing,
            // It has fewer bytes than the zip.
            (WantedAhead::SmallLayer, Some(small)) => (WantedAhead::SmallLayer, small),
            (WantedAhead::SmallLayer | WantedAhead::Zip, _) => (WantedAhead::Zip, &digest),
        };
        self.ahead.ask(&self.repository.store, digest, *size);
        asked
    }

    async fn leaf(&self, entry: &Descriptor) -> Result<Leaf, SourceError> {
        let bytes = self.repository.document(entry).await?;
        Leaf::parse(entry, &bytes).map_err(|error| self.layout(error))
    }

    /// The zip of every leaf that has one, with its platform.
    async fn zip_layers(&self) -> Result<Vec<(Platform, Descriptor)>, SourceError> {
        let (index, description) = (&self.whole().await?.index, self.describe().await?);
        let mut candidates = index.all_candidates();
        candidates.retain(|platform, _| description.kinds.contains_key(platform));
        let artifacts = candidates.into_iter().flat_map(|(platform, entries)| {
            let entries = entries.into_iter().filter(|entry| index.kind(entry) == LeafKind::Artifact);
            entries.map(move |entry| (platform.clone(), entry))
        });
        let zips = artifacts.map(|(platform, entry)| async move {
            let leaf = self.leaf(entry).await?;
            Ok::<_, SourceError>(leaf.package_layer().map(|zip| (platform, zip.clone())))
        });
        let zips: Vec<_> = zips.collect();
        let zips: Vec<_> = futures_util::stream::iter(zips).buffered(AT_ONCE).try_collect().await?;
        Ok(zips.into_iter().flatten().collect())
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

    fn published_as(&self) -> Option<&ProviderAddr> {
        self.root.published_as.as_ref()
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.description.get_or_try_init(|| self.described()).await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.whole().await?.index.platforms())
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        if let Some(at) = self.root.index.created() {
            return Ok(Some(ReleaseDate { at, by: CreatedBy::Index }));
        }
        let index = &self.whole().await?.index;
        let Some(first) = index.platforms().iter().find_map(|platform| select(index, platform).ok()) else {
            return Ok(None);
        };
        let leaf = self.leaf(&first.descriptor).await?;
        if let Some(at) = leaf.created().cloned() {
            return Ok(Some(ReleaseDate { at, by: CreatedBy::Manifest }));
        }
        // The config of an artifact is not read: whoever writes one writes no time into it.
        if leaf.kind() == LeafKind::Artifact {
            return Ok(None);
        }
        let bytes = self.repository.document(leaf.config()).await?;
        let config = ImageConfig::parse(&bytes).map_err(|error| self.layout(error))?;
        Ok(config.created().cloned().map(|at| ReleaseDate { at, by: CreatedBy::ImageConfig }))
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        self.offered(platform, None).await
    }

    async fn offer_to_fetch(
        self: Arc<Self>,
        platform: &Platform,
        wanted: &dyn WantedPackage,
    ) -> Result<Offer, SourceError> {
        self.offered(platform, Some(wanted)).await
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        let OpenedRepository { store, memory, .. } = &*self.repository;
        Ok(EvidenceReader::new(&**store, memory, &self.descriptor).search(search).await?)
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        let index = &self.whole().await?.index;
        let leaves = index.all_candidates().into_values().flatten();
        let artifacts = leaves.filter(|leaf| index.kind(leaf) == LeafKind::Artifact);
        let leaves: BTreeMap<&Digest, &Descriptor> = artifacts.map(|leaf| (&leaf.digest, leaf)).collect();
        let OpenedRepository { store, memory, .. } = &*self.repository;
        Ok(evidence_of_leaves(&**store, memory, leaves.into_values()).await?)
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        let asked = lock(&self.notice).take();
        match asked {
            Some(asked) => asked.answer().await.unwrap_or(Ok(None)),
            None => self.notice_question().ask().await,
        }
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        let mut hashes = self.describe().await?.claims.clone();
        for (platform, zip) in self.zip_layers().await? {
            hashes.entry(platform).or_default().extend(PackageHash::zh(&zip.digest));
        }
        Ok(hashes)
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        let layers = self.zip_layers().await?.into_iter();
        Ok(layers
            .filter_map(|(platform, mut zip)| Some((platform, zip.annotations.remove(annotation::TITLE)?)))
            .collect())
    }

    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        Some(Arc::clone(&self.repository.store))
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        let (Locator::Blob(media_type), Some(size), Some(digest)) = (&part.at, part.size, &part.digest) else {
            return Err(self.unusable(format!("{part} is not a blob of a repository")));
        };
        let blob = Descriptor::new(media_type, digest.clone(), size);
        let stream = match self.ahead.take(&self.repository.store, &blob).await {
            Some(stream) => stream,
            None => self.repository.store.fetch(&blob).await.map_err(|error| missing(&blob, error))?,
        };
        Ok(PartStream { size: Some(size), stream })
    }
}

/// A layer as what a package consists of.
fn blob_part(layer: Descriptor) -> Part {
    Part { at: Locator::Blob(layer.media_type), size: Some(layer.size), digest: Some(layer.digest) }
}

impl ReadIndex {
    fn of(index: ReleaseIndex) -> Self {
        let found = index.claims();
        let mut claims = ClaimedHashes::new();
        for (platform, leaves) in index.all_candidates() {
            claims.entry(platform).or_default().extend(leaves.into_iter().map(|leaf| PackageHash::ch(&leaf.digest)));
        }
        for (platform, found) in found.platforms {
            claims.entry(platform).or_default().extend([found.h1, found.zh].into_iter().flatten());
        }
        // A nested index that was not read says for which platform it is, and no more.
        for platform in index.platforms() {
            claims.entry(platform).or_default();
        }
        Self { index, claims: Arc::new(claims), published_as: found.address }
    }
}

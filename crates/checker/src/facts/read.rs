//! Reading a repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use tofu_oci_layout::media_type;
use tofu_oci_source::withdrawal;
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Counter, Descriptor, Digest, Reference, Reporter, Tag, Version};

use super::blobs::{LayerProgress, LayerReadAs, read_config, read_layer};
use super::budget::ReadBudget;
use super::{
    BlobContent, Depth, FaultKind, FoundBlob, FoundDocument, FoundLeaf, FoundManifest, FoundRelease, IndexEntry,
    LeafPart, ReadFault, RepositoryFacts, Versions, What,
};
use crate::go::GoDescriptor;
use crate::go::json::{GoIndex, GoManifest};

/// The largest manifest that is read, in bytes: as much as `OpenTofu` reads.
const MANIFEST_LIMIT: u64 = 5 * 1024 * 1024;
/// The largest number of versions, and of entries of an index, that are read.
const MOST: usize = 1000;
/// The number of requests at a time.
pub(super) const AT_ONCE: usize = 4;

/// Reads a repository: at most 1000 versions and 1000 entries of an index, at most 32 MiB of manifests and configs,
/// fewer if they are large once parsed; four requests at a time.
///
/// # Errors
/// If its tags cannot be listed. Everything else that fails is a fact.
pub async fn read(store: &dyn ReadStore, what: &What, reporter: &dyn Reporter) -> Result<RepositoryFacts, StoreError> {
    let tags = store.tag_texts().await?;
    let mut wanted: Vec<(Version, Vec<String>)> = Vec::new();
    // By text, because build metadata distinguishes versions here.
    let mut known: HashMap<String, usize> = HashMap::new();
    for tag in &tags {
        if let Some(version) = version_of(tag) {
            let at = *known.entry(version.to_string()).or_insert(wanted.len());
            match wanted.get_mut(at) {
                Some((_, texts)) => texts.push(tag.clone()),
                None => wanted.push((version, vec![tag.clone()])),
            }
        }
    }
    if let Versions::One(version) = &what.versions {
        wanted.retain(|(known, _)| known == version);
        if wanted.is_empty() {
            wanted.push((version.clone(), Vec::new()));
        }
    }
    wanted.sort_by(|(a, _), (b, _)| a.precedence(b));
    // The newest ones matter.
    wanted.drain(..wanted.len().saturating_sub(MOST));

    let budget = ReadBudget::new();
    let manifests = ManifestReading { store, budget: &budget };
    let reading = FactsReading { store, what, manifests, budget: &budget, moved: LayerProgress::new(reporter) };
    let count = Counter::new(reporter, "versions read", wanted.len());
    let indexes: Vec<(Version, Vec<String>, Option<Tag>, FoundManifest)> = stream::iter(wanted)
        .map(async |(version, read_from)| {
            let tag = Tag::for_version(&version).ok();
            let index = reading.tagged(tag.as_ref()).await;
            count.done();
            (version, read_from, tag, index)
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let mut releases: Vec<FoundRelease> = stream::iter(indexes)
        .map(async |(version, read_from, tag, index)| {
            let referrers = reading.referrers(&index).await;
            let (entries, entries_left_out) = (Vec::new(), 0);
            let withdrawn = if read_from.is_empty() { withdrawn(store, &version).await } else { None };
            FoundRelease { version, tag, read_from, withdrawn, index, entries, entries_left_out, referrers }
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    reading.leaves(&mut releases).await;
    Ok(RepositoryFacts { place: store.place(), depth: what.depth, tags, releases })
}

/// That a version without a tag of its own was withdrawn, and why; `None` if it was not.
pub(crate) async fn withdrawn(store: &dyn ReadStore, version: &Version) -> Option<String> {
    store.resolve(&Reference::Tag(Tag::withdrawn(version).ok()?)).await.ok()?;
    // The manifest says what it is a version of.
    let notice = withdrawal(store, &VersionOf::Module, version).await;
    let reason = notice.map(|notice| format!(": {}", notice.reason)).unwrap_or_default();
    Some(format!("version {version} was withdrawn{reason}"))
}

/// The version that `OpenTofu` reads a tag as, whether it is a tag by the grammar or not.
pub(crate) fn version_of(tag: &str) -> Option<Version> {
    tag.replace('_', "+").parse().ok()
}

/// Reads manifests within a budget.
pub(super) struct ManifestReading<'a> {
    pub(super) store: &'a dyn ReadStore,
    pub(super) budget: &'a ReadBudget,
}

impl ManifestReading<'_> {
    /// What a reference leads to; `asked` is its text.
    pub(super) async fn manifest(&self, asked: String, reference: Reference) -> FoundManifest {
        let found = self.document(reference).await;
        FoundManifest { asked, found }
    }

    async fn document(&self, reference: Reference) -> Result<FoundDocument, ReadFault> {
        self.budget.require_left()?;
        let sent = self.store.manifest_unverified(&reference, MANIFEST_LIMIT).await;
        let sent = sent.map_err(|error| ReadFault::from(&error))?;
        self.budget.take(&sent.bytes).await?;
        let known = match reference {
            Reference::Digest(digest) => Some(digest),
            Reference::Tag(_) => None,
        };
        Ok(FoundDocument::new(known, sent))
    }
}

struct FactsReading<'a> {
    store: &'a dyn ReadStore,
    what: &'a What,
    manifests: ManifestReading<'a>,
    budget: &'a ReadBudget,
    moved: LayerProgress<'a>,
}

/// An entry before its manifest has been read.
type UnreadPart = (usize, Value, GoDescriptor);

impl FactsReading<'_> {
    async fn tagged(&self, tag: Option<&Tag>) -> FoundManifest {
        match tag {
            Some(tag) => self.manifests.manifest(tag.to_string(), Reference::Tag(tag.clone())).await,
            None => FoundManifest {
                asked: String::new(),
                found: Err(ReadFault::new(FaultKind::Unaddressable, "the version is too long for a tag")),
            },
        }
    }

    async fn referrers(&self, index: &FoundManifest) -> Result<Vec<tofu_oci_types::Descriptor>, ReadFault> {
        match &index.found {
            Ok(document) => self.store.referrers(&document.digest).await.map_err(|error| ReadFault::from(&error)),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Reads every leaf and every blob once, whichever releases name it.
    async fn leaves(&self, releases: &mut [FoundRelease]) {
        let mut unread: Vec<Vec<UnreadPart>> = Vec::new();
        for release in releases.iter_mut() {
            let mut entries = release.index.found.as_ref().map_or_else(|_| Vec::new(), entries);
            release.entries_left_out = entries.len().saturating_sub(MOST);
            entries.truncate(MOST);
            unread.push(entries);
        }
        let asked = unread.iter().flatten().map(|(_, _, descriptor)| descriptor.digest.clone());
        let manifests: BTreeMap<String, FoundManifest> =
            once_each(asked, async |digest: String| self.by_digest(digest).await).await;

        // A digest that is a layer somewhere is read as a layer.
        let mut named: BTreeMap<String, (GoDescriptor, Option<LayerReadAs>)> = BTreeMap::new();
        for (config, _, _, descriptor) in manifests.values().flat_map(parts) {
            let is_tar = descriptor.media_type == media_type::LAYER_TAR_ZSTD;
            let (_, layer) = named.entry(descriptor.digest.clone()).or_insert((descriptor, None));
            match layer {
                _ if config => {}
                _ if is_tar => *layer = Some(LayerReadAs::Tar),
                None => *layer = Some(LayerReadAs::Zip),
                Some(_) => {}
            }
        }
        if self.what.depth == Depth::Packages {
            self.moved.begin(named.values().filter(|(_, layer)| layer.is_some()).map(|(layer, _)| layer.size));
        }
        let count = Counter::new(self.moved.reporter, "blobs looked at", named.len());
        let blobs: BTreeMap<String, Arc<FoundBlob>> = once_each(named.keys().cloned(), async |digest: String| {
            let (descriptor, layer) = named.get(&digest).cloned().unwrap_or_default();
            let blob = Arc::new(self.blob(&descriptor, layer).await);
            count.done();
            blob
        })
        .await;

        let leaves: BTreeMap<String, Arc<FoundLeaf>> =
            manifests.into_iter().map(|(digest, manifest)| (digest, Arc::new(leaf(manifest, &blobs)))).collect();
        for (release, entries) in releases.iter_mut().zip(unread) {
            for (position, raw, descriptor) in entries {
                if let Some(leaf) = leaves.get(&descriptor.digest) {
                    release.entries.push(IndexEntry { position, raw, leaf: Arc::clone(leaf), descriptor });
                }
            }
        }
    }

    async fn by_digest(&self, asked: String) -> FoundManifest {
        match asked.parse::<Digest>() {
            Ok(digest) => self.manifests.manifest(asked, Reference::Digest(digest)).await,
            Err(error) => {
                FoundManifest { asked, found: Err(ReadFault::new(FaultKind::Unaddressable, error.to_string())) }
            }
        }
    }

    async fn blob(&self, descriptor: &GoDescriptor, layer: Option<LayerReadAs>) -> FoundBlob {
        let digest = descriptor.digest.clone();
        let Some(asked) = descriptor.to_descriptor() else {
            let fault = ReadFault::new(FaultKind::Unaddressable, format!("`{digest}` is not a digest"));
            return FoundBlob { digest, content: Err(fault) };
        };
        let content = match (layer, self.what.depth) {
            (None, _) => read_config(self.store, &asked, self.budget).await,
            (Some(read_as), Depth::Packages) => {
                read_layer(self.store, (&asked, read_as), &self.what.work_dir, self.budget, &self.moved).await
            }
            (Some(_), Depth::Manifests) => match is_there(self.store, &asked).await {
                Ok(true) => Ok(BlobContent::There),
                Ok(false) => {
                    Err(ReadFault::new(FaultKind::Missing, format!("{} has no blob {digest}", self.store.place())))
                }
                Err(error) => Err(ReadFault::from(&error)),
            },
        };
        FoundBlob { digest, content }
    }
}

/// Whether a blob is there. Proxy caches answer 404 to HEAD for what they have not fetched yet: only a GET tells.
pub(super) async fn is_there(store: &dyn ReadStore, blob: &Descriptor) -> Result<bool, StoreError> {
    if store.exists(blob).await? {
        return Ok(true);
    }
    match store.fetch_unverified(blob).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Requests each digest once, four at a time.
async fn once_each<T>(asked: impl Iterator<Item = String>, ask: impl AsyncFn(String) -> T) -> BTreeMap<String, T> {
    let once: BTreeSet<String> = asked.collect();
    let ask = &ask;
    stream::iter(once)
        .map(async |digest| {
            let answer = ask(digest.clone()).await;
            (digest, answer)
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await
}

fn entries(document: &FoundDocument) -> Vec<UnreadPart> {
    let (index, _) = GoIndex::read(&document.bytes);
    let raw = |position| element(document, "manifests", position);
    index.manifests.into_iter().enumerate().map(|(position, read)| (position, raw(position), read)).collect()
}

fn element(document: &FoundDocument, list: &str, position: usize) -> Value {
    document.value().and_then(|value| value.get(list)?.get(position)).cloned().unwrap_or(Value::Null)
}

/// Config and layers of a manifest: whether it is the config, its position, as it is written, as Go reads it.
fn parts(manifest: &FoundManifest) -> Vec<(bool, usize, Value, GoDescriptor)> {
    let Ok(document) = &manifest.found else { return Vec::new() };
    let (read, _) = GoManifest::read(&document.bytes);
    let mut parts = Vec::new();
    if !read.config.digest.is_empty() {
        let raw = document.value().and_then(|value| value.get("config")).cloned().unwrap_or(Value::Null);
        parts.push((true, 0, raw, read.config));
    }
    for (position, layer) in read.layers.into_iter().enumerate().take(MOST) {
        parts.push((false, position, element(document, "layers", position), layer));
    }
    parts
}

fn leaf(manifest: FoundManifest, blobs: &BTreeMap<String, Arc<FoundBlob>>) -> FoundLeaf {
    let (mut config, mut layers) = (None, Vec::new());
    for (is_config, position, raw, descriptor) in parts(&manifest) {
        let Some(blob) = blobs.get(&descriptor.digest) else { continue };
        let part = LeafPart { position, raw, blob: Arc::clone(blob), descriptor };
        if is_config { config = Some(part) } else { layers.push(part) }
    }
    FoundLeaf { manifest, config, layers }
}

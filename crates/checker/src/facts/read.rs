//! Reading a repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Digest, Reference, Tag, Version};

use super::blobs::{read_config, read_layer};
use super::budget::Budget;
use super::{
    Blob, Content, Depth, Document, Entry, Facts, Fault, FaultKind, Leaf, Manifest, Part, Release, Versions, What,
};
use crate::opentofu::GoDescriptor;
use crate::opentofu::json::{GoIndex, GoManifest};

/// The largest manifest that is read, in bytes: as much as `OpenTofu` reads.
const MANIFEST_LIMIT: u64 = 5 * 1024 * 1024;
/// Most entries of an index that are read, and most versions.
const MOST: usize = 1000;
/// Requests at a time.
const AT_ONCE: usize = 4;

/// Reads a repository: at most 1000 versions and 1000 entries of an index, at most 32 MiB of manifests and configs,
/// fewer where they are large once parsed; four requests at a time.
///
/// # Errors
/// When its tags cannot be listed. Everything else that goes wrong is a fact.
pub async fn read(store: &dyn ReadStore, what: &What) -> Result<Facts, StoreError> {
    let tags = store.tag_texts().await?;
    let mut wanted: Vec<(Version, Vec<String>)> = Vec::new();
    // By text: build metadata tells versions apart too.
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
    // The newest are the ones that matter.
    wanted.drain(..wanted.len().saturating_sub(MOST));

    let reading = Reading { store, what, budget: Budget::new() };
    let indexes: Vec<(Version, Vec<String>, Option<Tag>, Manifest)> = stream::iter(wanted)
        .map(async |(version, read_from)| {
            let tag = Tag::for_version(&version).ok();
            let index = reading.tagged(tag.as_ref()).await;
            (version, read_from, tag, index)
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let mut releases: Vec<Release> = stream::iter(indexes)
        .map(async |(version, read_from, tag, index)| {
            let referrers = reading.referrers(&index).await;
            let (entries, entries_left_out) = (Vec::new(), 0);
            Release { version, tag, read_from, index, entries, entries_left_out, referrers }
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    reading.leaves(&mut releases).await;
    Ok(Facts { place: store.place(), depth: what.depth, tags, releases })
}

/// The version that `OpenTofu` reads a tag as, whether it is a tag by the grammar or not.
pub(crate) fn version_of(tag: &str) -> Option<Version> {
    tag.replace('_', "+").parse().ok()
}

struct Reading<'a> {
    store: &'a dyn ReadStore,
    what: &'a What,
    budget: Budget,
}

/// An entry before its manifest has been read.
type Unread = (usize, Value, GoDescriptor);

impl Reading<'_> {
    async fn tagged(&self, tag: Option<&Tag>) -> Manifest {
        match tag {
            Some(tag) => self.manifest(tag.to_string(), Reference::Tag(tag.clone())).await,
            None => Manifest {
                asked: String::new(),
                found: Err(Fault::new(FaultKind::Unaddressable, "the version is too long for a tag")),
            },
        }
    }

    async fn manifest(&self, asked: String, reference: Reference) -> Manifest {
        let found = self.document(reference).await;
        Manifest { asked, found }
    }

    async fn document(&self, reference: Reference) -> Result<Document, Fault> {
        self.budget.require_left()?;
        let sent = self.store.manifest_unverified(&reference, MANIFEST_LIMIT).await;
        let sent = sent.map_err(|error| Fault::from(&error))?;
        self.budget.take(&sent.bytes).await?;
        let known = match reference {
            Reference::Digest(digest) => Some(digest),
            Reference::Tag(_) => None,
        };
        Ok(Document::new(known, sent))
    }

    async fn referrers(&self, index: &Manifest) -> Result<Vec<tofu_oci_types::Descriptor>, Fault> {
        match &index.found {
            Ok(document) => self.store.referrers(&document.digest).await.map_err(|error| Fault::from(&error)),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Reads every leaf and every blob once, whichever releases name it.
    async fn leaves(&self, releases: &mut [Release]) {
        let mut unread: Vec<Vec<Unread>> = Vec::new();
        for release in releases.iter_mut() {
            let mut entries = release.index.found.as_ref().map_or_else(|_| Vec::new(), entries);
            release.entries_left_out = entries.len().saturating_sub(MOST);
            entries.truncate(MOST);
            unread.push(entries);
        }
        let asked = unread.iter().flatten().map(|(_, _, descriptor)| descriptor.digest.clone());
        let manifests: BTreeMap<String, Manifest> =
            once_each(asked, async |digest: String| self.by_digest(digest).await).await;

        // A digest that is a layer somewhere is read as a layer.
        let mut named: BTreeMap<String, (GoDescriptor, bool)> = BTreeMap::new();
        for (config, _, _, descriptor) in manifests.values().flat_map(parts) {
            let (_, layer) = named.entry(descriptor.digest.clone()).or_insert((descriptor, false));
            *layer |= !config;
        }
        let blobs: BTreeMap<String, Arc<Blob>> = once_each(named.keys().cloned(), async |digest: String| {
            let (descriptor, layer) = named.get(&digest).cloned().unwrap_or_default();
            Arc::new(self.blob(&descriptor, layer).await)
        })
        .await;

        let leaves: BTreeMap<String, Arc<Leaf>> =
            manifests.into_iter().map(|(digest, manifest)| (digest, Arc::new(leaf(manifest, &blobs)))).collect();
        for (release, entries) in releases.iter_mut().zip(unread) {
            for (position, raw, descriptor) in entries {
                if let Some(leaf) = leaves.get(&descriptor.digest) {
                    release.entries.push(Entry { position, raw, leaf: Arc::clone(leaf), descriptor });
                }
            }
        }
    }

    async fn by_digest(&self, asked: String) -> Manifest {
        match asked.parse::<Digest>() {
            Ok(digest) => self.manifest(asked, Reference::Digest(digest)).await,
            Err(error) => Manifest { asked, found: Err(Fault::new(FaultKind::Unaddressable, error.to_string())) },
        }
    }

    async fn blob(&self, descriptor: &GoDescriptor, layer: bool) -> Blob {
        let digest = descriptor.digest.clone();
        let Some(asked) = descriptor.to_descriptor() else {
            let fault = Fault::new(FaultKind::Unaddressable, format!("`{digest}` is not a digest"));
            return Blob { digest, content: Err(fault) };
        };
        let content = match (layer, self.what.depth) {
            (false, _) => read_config(self.store, &asked, &self.budget).await,
            (true, Depth::Packages) => read_layer(self.store, &asked, &self.what.work_dir, &self.budget).await,
            (true, Depth::Manifests) => match self.store.exists(&asked).await {
                Ok(true) => Ok(Content::There),
                Ok(false) => {
                    Err(Fault::new(FaultKind::Missing, format!("{} has no blob {digest}", self.store.place())))
                }
                Err(error) => Err(Fault::from(&error)),
            },
        };
        Blob { digest, content }
    }
}

/// Asks for each digest once, four at a time.
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

fn entries(document: &Document) -> Vec<Unread> {
    let (index, _) = GoIndex::read(&document.bytes);
    let raw = |position| element(document, "manifests", position);
    index.manifests.into_iter().enumerate().map(|(position, read)| (position, raw(position), read)).collect()
}

fn element(document: &Document, list: &str, position: usize) -> Value {
    document.value().and_then(|value| value.get(list)?.get(position)).cloned().unwrap_or(Value::Null)
}

/// Config and layers of a manifest: whether it is the config, its position, as it is written, as Go reads it.
fn parts(manifest: &Manifest) -> Vec<(bool, usize, Value, GoDescriptor)> {
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

fn leaf(manifest: Manifest, blobs: &BTreeMap<String, Arc<Blob>>) -> Leaf {
    let (mut config, mut layers) = (None, Vec::new());
    for (is_config, position, raw, descriptor) in parts(&manifest) {
        let Some(blob) = blobs.get(&descriptor.digest) else { continue };
        let part = Part { position, raw, blob: Arc::clone(blob), descriptor };
        if is_config { config = Some(part) } else { layers.push(part) }
    }
    Leaf { manifest, config, layers }
}

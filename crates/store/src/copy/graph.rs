//! What hangs below some manifests.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use tofu_oci_types::{Descriptor, Digest};

use crate::manifest::{MAX_MANIFEST, Manifest, is_manifest_type};
use crate::{ReadStore, StoreError, fetch_bytes};

/// How deep manifests may nest.
const MAX_DEPTH: usize = 8;

/// How many manifests are copied at once.
const MAX_MANIFESTS: usize = 20_000;

/// Most bytes of all these manifests together: they are held in memory.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Manifests with their bytes, and the blobs that they name.
pub(super) struct Graph {
    nodes: HashMap<Digest, Node>,
    /// The order in which manifests were found.
    order: Vec<Digest>,
    blobs: Vec<Descriptor>,
    configs: HashSet<Digest>,
}

struct Node {
    descriptor: Descriptor,
    bytes: Bytes,
    manifest: Manifest,
}

impl Graph {
    /// Reads every manifest below the roots, except those in `seen` and what is below them.
    pub(super) async fn read(
        from: &dyn ReadStore,
        roots: Vec<Descriptor>,
        subject: Option<&Digest>,
        seen: &HashSet<Digest>,
        jobs: usize,
    ) -> Result<Self, StoreError> {
        let mut graph = Self { nodes: HashMap::new(), order: Vec::new(), blobs: Vec::new(), configs: HashSet::new() };
        let mut asked: HashSet<Digest> = seen.clone();
        let mut level: Vec<Descriptor> = roots;
        let mut bytes = 0;
        for depth in 0.. {
            level.retain(|entry| asked.insert(entry.digest.clone()));
            if level.is_empty() {
                break;
            }
            if depth == MAX_DEPTH || asked.len() - seen.len() > MAX_MANIFESTS {
                let problem = format!("more than {MAX_DEPTH} levels or {MAX_MANIFESTS} manifests hang together");
                return Err(StoreError::Malformed { place: from.place(), problem });
            }
            let work: Vec<_> = level.iter().map(|entry| Node::read(from, entry).boxed()).collect();
            let mut nodes = futures_util::stream::iter(work).buffered(jobs);
            let mut below = Vec::new();
            while let Some(node) = nodes.try_next().await? {
                bytes += node.bytes.len() as u64;
                if bytes > MAX_BYTES {
                    let what = "the manifests that hang together".to_owned();
                    return Err(StoreError::TooLarge { place: from.place(), what, limit: MAX_BYTES });
                }
                if depth == 0 && subject.is_some() && node.manifest.subject() != subject {
                    continue;
                }
                for child in node.manifest.children() {
                    if is_manifest_type(&child.media_type) { &mut below } else { &mut graph.blobs }.push(child.clone());
                }
                graph.configs.extend(node.manifest.config().map(|config| config.digest.clone()));
                graph.order.push(node.descriptor.digest.clone());
                graph.nodes.insert(node.descriptor.digest.clone(), node);
            }
            drop(nodes);
            level = below;
        }
        let mut known = asked;
        graph.blobs.retain(|blob| known.insert(blob.digest.clone()));
        Ok(graph)
    }

    /// The digests of all manifests and blobs.
    pub(super) fn digests(&self) -> impl Iterator<Item = Digest> {
        self.order.iter().chain(self.blobs.iter().map(|blob| &blob.digest)).cloned()
    }

    /// The digests of all manifests, in the order in which they were found.
    pub(super) fn manifests(&self) -> Vec<Digest> {
        self.order.clone()
    }

    /// Manifests that refer to others, each with its subject.
    pub(super) fn referrers(&self) -> impl Iterator<Item = (&Digest, &Descriptor)> {
        let nodes = self.order.iter().filter_map(|digest| self.nodes.get(digest));
        nodes.filter_map(|node| Some((node.manifest.subject()?, &node.descriptor)))
    }

    /// Every blob once, in the order in which they were found.
    pub(super) fn blobs(&self) -> Vec<&Descriptor> {
        self.blobs.iter().collect()
    }

    /// Whether a blob is the config of a manifest: so small that nobody wants to watch it.
    pub(super) fn is_config(&self, blob: &Descriptor) -> bool {
        self.configs.contains(&blob.digest)
    }

    /// The manifests in groups: each group needs only those before it. A manifest comes after its subject as well,
    /// because some registries refuse it otherwise.
    pub(super) fn levels(&self) -> Vec<Vec<(&Descriptor, &Bytes)>> {
        let mut heights = HashMap::new();
        let mut levels: BTreeMap<usize, Vec<(&Descriptor, &Bytes)>> = BTreeMap::new();
        for digest in &self.order {
            if let Some(node) = self.nodes.get(digest) {
                levels.entry(self.height(digest, &mut heights)).or_default().push((&node.descriptor, &node.bytes));
            }
        }
        levels.into_values().collect()
    }

    /// The length of the longest way down from here. Digests make circles impossible.
    fn height<'a>(&'a self, digest: &'a Digest, known: &mut HashMap<&'a Digest, usize>) -> usize {
        if let Some(height) = known.get(digest) {
            return *height;
        }
        let Some(node) = self.nodes.get(digest) else { return 0 };
        let below = node.manifest.children().map(|child| &child.digest).chain(node.manifest.subject());
        let height = 1 + below.map(|below| self.height(below, known)).max().unwrap_or(0);
        known.insert(digest, height);
        height
    }
}

impl Node {
    async fn read(from: &dyn ReadStore, descriptor: &Descriptor) -> Result<Self, StoreError> {
        let bytes = fetch_bytes(from, descriptor, MAX_MANIFEST).await?;
        let manifest = Manifest::parse(&bytes).map_err(|error| StoreError::Malformed {
            place: from.place(),
            problem: format!("manifest {} is malformed: {error}", descriptor.digest),
        })?;
        Ok(Self { descriptor: descriptor.clone(), bytes, manifest })
    }
}

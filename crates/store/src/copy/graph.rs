//! The manifests and blobs below some roots.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use tofu_oci_types::{Descriptor, Digest};

use super::budget::CopyBudget;
use crate::error::{StoreError, StoreItem};
use crate::manifest::{MAX_MANIFEST, ManifestEdges, is_manifest_type};
use crate::traits::{ReadStore, fetch_bytes};

/// How many levels of indexes are followed.
const MAX_DEPTH: usize = 8;

/// The longest chain of manifests in which each one needs the next: as an entry, or as its subject.
const MAX_ROW: usize = 16;

/// The largest blob that is copied, in bytes: 10 GiB. Registries in use take no larger ones, and a package has 2 GiB at most.
const MAX_BLOB: u64 = 10 << 30;

/// Manifests with their bytes, and the blobs that they name.
#[derive(Default)]
pub(super) struct Graph {
    nodes: HashMap<Digest, ManifestNode>,
    /// The order in which manifests were found.
    order: Vec<Digest>,
    /// The manifests in groups: each group needs only those before it.
    levels: Vec<Vec<Digest>>,
    blobs: Vec<Descriptor>,
    configs: HashSet<Digest>,
    /// The first manifest that names each blob, as its index describes it.
    manifests_of: HashMap<Digest, Digest>,
}

struct ManifestNode {
    descriptor: Descriptor,
    bytes: Bytes,
    manifest: ManifestEdges,
}

impl Graph {
    /// Reads every manifest below the roots, except those in `seen` and what is below them, as far as the budget goes.
    pub(super) async fn read(
        from: &dyn ReadStore,
        roots: Vec<Descriptor>,
        subject: Option<&Digest>,
        seen: &HashSet<Digest>,
        (budget, jobs): (&CopyBudget, usize),
    ) -> Result<Self, StoreError> {
        let mut graph = Self::default();
        // Not a copy of `seen`: one run reads as many graphs as it has subjects.
        let mut asked: HashSet<Digest> = HashSet::new();
        let mut level: Vec<Descriptor> = roots;
        for depth in 0.. {
            level.retain(|entry| !seen.contains(&entry.digest) && asked.insert(entry.digest.clone()));
            if level.is_empty() {
                break;
            }
            if depth == MAX_DEPTH {
                return Err(StoreError::TooDeep { place: from.place(), relation: "list each other", limit: MAX_DEPTH });
            }
            budget.take(&from.place(), level.iter().map(|entry| entry.size.min(MAX_MANIFEST)))?;
            let work: Vec<_> = level.iter().map(|entry| ManifestNode::read(from, entry).boxed()).collect();
            let mut nodes = futures_util::stream::iter(work).buffered(jobs);
            let mut below = Vec::new();
            while let Some(node) = nodes.next().await {
                let node = match node {
                    // A registry may go on to list a referrer that was deleted.
                    Err(error) if depth == 0 && subject.is_some() && error.is_not_found() => continue,
                    node => node?,
                };
                if depth == 0 && subject.is_some() && node.manifest.subject() != subject {
                    continue;
                }
                for child in node.manifest.children() {
                    let known = graph.manifests_of.entry(child.digest.clone());
                    known.or_insert_with(|| node.descriptor.digest.clone());
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
        graph.blobs.retain(|blob| !seen.contains(&blob.digest) && known.insert(blob.digest.clone()));
        if let Some(blob) = graph.blobs.iter().find(|blob| blob.size > MAX_BLOB) {
            return Err(StoreError::TooLarge {
                place: from.place(),
                what: StoreItem::of(blob).to_string(),
                limit: MAX_BLOB,
            });
        }
        graph.levels = graph.arrange().ok_or_else(|| StoreError::TooDeep {
            place: from.place(),
            relation: "need each other",
            limit: MAX_ROW,
        })?;
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

    /// The first manifest that names the blob, as its index describes it.
    pub(super) fn manifest_of(&self, blob: &Descriptor) -> Option<&Descriptor> {
        self.nodes.get(self.manifests_of.get(&blob.digest)?).map(|node| &node.descriptor)
    }

    /// Whether a blob is the config of a manifest: too small to be worth a report.
    pub(super) fn is_config(&self, blob: &Descriptor) -> bool {
        self.configs.contains(&blob.digest)
    }

    /// The manifests in groups: each group needs only those before it. A manifest comes after its subject as well,
    /// because some registries refuse it otherwise.
    pub(super) fn levels(&self) -> Vec<Vec<(&Descriptor, &Bytes)>> {
        let node = |digest: &Digest| self.nodes.get(digest).map(|node| (&node.descriptor, &node.bytes));
        self.levels.iter().map(|level| level.iter().filter_map(node).collect()).collect()
    }

    /// The groups, or `None` if there would be more than [`MAX_ROW`].
    fn arrange(&self) -> Option<Vec<Vec<Digest>>> {
        let mut levels = Vec::new();
        let mut placed: HashSet<&Digest> = HashSet::new();
        let mut open: Vec<&Digest> = self.order.iter().collect();
        while !open.is_empty() {
            let is_ready = |digest: &&Digest| self.needs(digest).all(|needed| placed.contains(needed));
            let (ready, later): (Vec<_>, Vec<_>) = open.into_iter().partition(is_ready);
            if ready.is_empty() || levels.len() == MAX_ROW {
                return None;
            }
            placed.extend(&ready);
            levels.push(ready.into_iter().cloned().collect());
            open = later;
        }
        Some(levels)
    }

    /// Those of these manifests that must be there before this one.
    fn needs(&self, digest: &Digest) -> impl Iterator<Item = &Digest> {
        let manifest = self.nodes.get(digest).map(|node| &node.manifest).into_iter();
        let named =
            manifest.flat_map(|manifest| manifest.children().map(|child| &child.digest).chain(manifest.subject()));
        named.filter(|named| self.nodes.contains_key(*named))
    }
}

impl ManifestNode {
    async fn read(from: &dyn ReadStore, descriptor: &Descriptor) -> Result<Self, StoreError> {
        let bytes = fetch_bytes(from, descriptor, MAX_MANIFEST).await?;
        let manifest = ManifestEdges::parse(&bytes).map_err(|error| StoreError::Malformed {
            place: from.place(),
            problem: format!("manifest {} is malformed: {error}", descriptor.digest),
        })?;
        Ok(Self { descriptor: descriptor.clone(), bytes, manifest })
    }
}

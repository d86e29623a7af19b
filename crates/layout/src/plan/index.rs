//! The index of a release.

use std::collections::BTreeMap;

use serde::Serialize;
use tofu_oci_types::{Descriptor, PackageHash, Platform, ProviderAddr, Version};

use super::{LeafPlan, Planned};
use crate::{LeafKind, PackageLayout, annotation, artifact_type, media_type};

/// What the index says about the release beyond its leaves.
#[derive(Clone, Debug)]
pub struct IndexFacts {
    pub address: ProviderAddr,
    pub version: Version,
    /// The plugin protocol versions, such as `5.0`; empty when they are not known.
    pub protocols: Vec<String>,
    /// What a lock file needs, by platform. A platform without leaves is left out of the index.
    pub hashes: BTreeMap<Platform, PlatformHashes>,
}

/// What a lock file and a reader need to know of one platform's package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformHashes {
    /// The checksum of the package's contents, if it has been computed.
    pub h1: Option<PackageHash>,
    /// The checksum of the release's zip, if there is one.
    pub zh: Option<PackageHash>,
    /// The size of the zip (or of the layer, if there is no zip) in bytes.
    pub size: u64,
    /// The file name of the release's zip.
    pub filename: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Index<'a> {
    schema_version: u8,
    media_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<&'a str>,
    manifests: Vec<Descriptor>,
    annotations: BTreeMap<&'static str, String>,
}

/// The index over these leaves: images first, then artifacts, each group sorted by platform, whatever the order of
/// `leaves`. A client that takes the first entry of its platform gets the image; released `OpenTofu` skips it.
///
/// Leaves of a kind that `layout` does not have are left out. The index has the provider's artifact type unless the
/// layout is [`PackageLayout::Image`], which some registries need to be a plain container image.
pub fn plan_index(leaves: &[LeafPlan], facts: &IndexFacts, layout: PackageLayout) -> Planned {
    let mut leaves: Vec<&LeafPlan> = leaves.iter().filter(|leaf| layout.has(leaf.kind)).collect();
    leaves.sort_by(|a, b| (a.kind, &a.platform).cmp(&(b.kind, &b.platform)));
    let artifact = layout.has(LeafKind::Artifact).then_some(artifact_type::PROVIDER);
    let mut planned = Planned::json(
        media_type::OCI_INDEX,
        &Index {
            schema_version: 2,
            media_type: media_type::OCI_INDEX,
            artifact_type: artifact,
            manifests: leaves.into_iter().map(|leaf| entry(leaf, facts.hashes.get(&leaf.platform))).collect(),
            annotations: index_annotations(facts),
        },
    );
    planned.descriptor.artifact_type = artifact.map(ToOwned::to_owned);
    planned
}

fn entry(leaf: &LeafPlan, hashes: Option<&PlatformHashes>) -> Descriptor {
    let mut entry = leaf.manifest.descriptor.clone();
    let Some(hashes) = hashes else { return entry };
    let mut annotate = |key: &str, value: String| entry.annotations.insert(key.to_owned(), value);
    if let Some(h1) = &hashes.h1 {
        annotate(annotation::H1, h1.to_string());
    }
    if let Some(zh) = &hashes.zh {
        annotate(annotation::ZH, zh.to_string());
    }
    annotate(annotation::SIZE, hashes.size.to_string());
    if let Some(small) = leaf.small() {
        annotate(annotation::SMALL, small.digest.to_string());
    }
    annotate(annotation::FILENAME, hashes.filename.clone());
    entry
}

fn index_annotations(facts: &IndexFacts) -> BTreeMap<&'static str, String> {
    let mut annotations = BTreeMap::from([
        (annotation::ADDRESS, facts.address.to_string()),
        (annotation::VERSION, facts.version.to_string()),
        (annotation::TITLE, format!("terraform-provider-{}", facts.address.provider_type())),
        (annotation::IMAGE_VERSION, facts.version.to_string()),
    ]);
    if !facts.protocols.is_empty() {
        annotations.insert(annotation::PROTOCOLS, facts.protocols.join(","));
    }
    annotations
}

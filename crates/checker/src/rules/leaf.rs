//! Rules about leaves: entries of an index, their manifests and the layers that these name.

use std::collections::BTreeMap;

use serde_json::Value;
use tofu_oci_layout::{LeafKind, annotation, artifact_type, media_type};
use tofu_oci_types::{Platform, is_known_to_go};

use super::catalogue::index::MANIFEST_DIGEST;
use super::catalogue::leaf::{
    DUPLICATE_PLATFORM, ENTRY_ARTIFACT_TYPE, EXTRA_LAYER, FOREIGN_URLS, LAYER_DIGEST_ALGORITHM, LAYER_PLATFORM,
    LEAF_ARTIFACT_TYPE, LEAF_MEDIA_TYPE, LEAF_MISSING, LEAF_WITHOUT_PLATFORM, NO_ZIP_LAYER, OS_VERSION,
    SEVERAL_PACKAGES, UNKNOWN_PLATFORM, VARIANT,
};
use super::document::{self, has, text};
use super::places::{Findings, manifest_place, quoted};
use crate::facts::{FoundRelease, IndexEntry, LeafPart};

/// The kind of an entry of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexEntryKind {
    /// A leaf that `OpenTofu` reads.
    Provider,
    Image,
    /// A build attestation of an image.
    Attestation,
    Nested,
    /// Something else, which every client skips.
    Other,
}

impl IndexEntryKind {
    pub(crate) fn of(entry: &IndexEntry) -> Self {
        let descriptor = &entry.descriptor;
        let unknown =
            descriptor.platform.as_ref().is_some_and(|one| one.os == "unknown" || one.architecture == "unknown");
        let annotated = entry.raw.get("annotations").is_some_and(|all| has(all, annotation::DOCKER_REFERENCE_TYPE));
        if descriptor.artifact_type == artifact_type::PROVIDER_TARGET {
            Self::Provider
        } else if unknown || annotated || descriptor.artifact_type == artifact_type::DOCKER_ATTESTATION {
            Self::Attestation
        } else if media_type::is_index(&descriptor.media_type) {
            Self::Nested
        } else if descriptor.artifact_type.is_empty() && media_type::is_leaf(&descriptor.media_type) {
            Self::Image
        } else {
            Self::Other
        }
    }
}

/// The manifest's own artifact type.
pub(super) fn body_artifact_type(entry: &IndexEntry) -> &str {
    let document = entry.leaf.manifest.found.as_ref().ok();
    document.and_then(|document| document.value()).map_or("", |value| text(value, "artifactType"))
}

/// The rules for the faults of a leaf's manifest.
const OF_LEAVES: document::OfContent =
    document::OfContent { missing: &LEAF_MISSING, size: &MANIFEST_DIGEST, digest: &MANIFEST_DIGEST };

/// The findings about one leaf.
pub(super) fn check(entry: &IndexEntry) -> Findings {
    let kind = IndexEntryKind::of(entry);
    if matches!(kind, IndexEntryKind::Attestation | IndexEntryKind::Nested | IndexEntryKind::Other) {
        return Findings::new();
    }
    let place = manifest_place(entry);
    let mut found = Findings::new();
    found.extend(names(entry, kind, &place));
    match &entry.leaf.manifest.found {
        Err(fault) => found.extend(document::unreadable(&OF_LEAVES, &place, fault)),
        Ok(document) => {
            let descriptor = &entry.descriptor;
            found.extend(document::check(&place, document, &descriptor.media_type, Some(descriptor.size)));
            let own = body_artifact_type(entry);
            if kind == IndexEntryKind::Provider && own != artifact_type::PROVIDER_TARGET {
                found
                    .push(LEAF_ARTIFACT_TYPE.at(&place, format!("the manifest's own artifactType is {}", quoted(own))));
            }
            if kind == IndexEntryKind::Image && own == artifact_type::PROVIDER_TARGET {
                let said = format!("entry {} of the index has no artifactType, the manifest has", entry.position);
                found.push(ENTRY_ARTIFACT_TYPE.at(&place, said));
            }
            if is_package_leaf(entry) {
                found.extend(layers(entry, &place));
            }
        }
    }
    found.extend(urls(entry));
    found.into_iter().map(|finding| finding.of_platform(entry.descriptor.platform().as_ref())).collect()
}

/// Whether this is meant to be a leaf with a zip: by its entry, or by itself.
pub(super) fn is_package_leaf(entry: &IndexEntry) -> bool {
    IndexEntryKind::of(entry) == IndexEntryKind::Provider || body_artifact_type(entry) == artifact_type::PROVIDER_TARGET
}

/// The small layer of a leaf that is meant to have a zip.
pub(super) fn small_layer(entry: &IndexEntry) -> Option<&LeafPart> {
    let small = LeafKind::Artifact.small_layer(&entry.leaf.layers, |layer| &layer.descriptor.media_type);
    small.filter(|_| is_package_leaf(entry))
}

/// The findings about the type and platform of the entry.
fn names(entry: &IndexEntry, kind: IndexEntryKind, place: &str) -> Findings {
    let mut found = Findings::new();
    let descriptor = &entry.descriptor;
    if kind == IndexEntryKind::Provider && descriptor.media_type != media_type::OCI_MANIFEST {
        let said = format!("entry {} has the media type {}", entry.position, quoted(&descriptor.media_type));
        found.push(LEAF_MEDIA_TYPE.at(place, said));
    }
    let Some(platform) = &descriptor.platform else {
        if kind == IndexEntryKind::Provider {
            let said = format!("entry {} of the index has no platform", entry.position);
            found.push(LEAF_WITHOUT_PLATFORM.at(place, said));
        }
        return found;
    };
    let name = format!("{}_{}", platform.os, platform.architecture);
    if !is_known_to_go(&platform.os, &platform.architecture) {
        found.push(UNKNOWN_PLATFORM.at(place, format!("it is for `{name}`, which Go does not know")));
    }
    if !platform.os_version.is_empty() && kind == IndexEntryKind::Provider {
        found.push(OS_VERSION.at(place, format!("its platform has os.version `{}`", platform.os_version)));
    }
    if !platform.variant.is_empty() {
        found.push(VARIANT.at(place, format!("its platform is {name}, variant `{}`", platform.variant)));
    }
    found
}

/// The findings about the layers of a leaf with a zip.
fn layers(entry: &IndexEntry, place: &str) -> Findings {
    let mut found = Findings::new();
    let (zips, others): (Vec<&LeafPart>, Vec<&LeafPart>) =
        entry.leaf.layers.iter().partition(|layer| layer.descriptor.media_type == media_type::ARCHIVE_ZIP);
    let types: Vec<String> = others.iter().map(|layer| quoted(&layer.descriptor.media_type)).collect();
    let beside = others.iter().filter(|layer| small_layer(entry).is_none_or(|small| small.position != layer.position));
    let beside: Vec<String> = beside.map(|layer| quoted(&layer.descriptor.media_type)).collect();
    match zips.len() {
        0 if types.is_empty() => found.push(NO_ZIP_LAYER.at(place, "it has no layers")),
        0 => {
            let said = format!("its layers are of type {}, not archive/zip", types.join(", "));
            found.push(NO_ZIP_LAYER.at(place, said));
        }
        1 if !beside.is_empty() => {
            found.push(EXTRA_LAYER.at(place, format!("beside its zip it has layers of type {}", beside.join(", "))));
        }
        1 => {}
        several => found.push(SEVERAL_PACKAGES.at(place, format!("it has {several} layers of type archive/zip"))),
    }
    for zip in zips {
        let digest = &zip.descriptor.digest;
        if !digest.starts_with("sha256:") {
            found.push(LAYER_DIGEST_ALGORITHM.at(place, format!("the digest of its package is {}", quoted(digest))));
        }
        let (own, of_entry) = (&zip.descriptor.platform, &entry.descriptor.platform);
        if let (Some(own), Some(of_entry)) = (own, of_entry)
            && (&own.os, &own.architecture) != (&of_entry.os, &of_entry.architecture)
        {
            let said = format!(
                "its package is said to be for {}_{}, itself for {}_{}",
                own.os, own.architecture, of_entry.os, of_entry.architecture
            );
            found.push(LAYER_PLATFORM.at(place, said));
        }
    }
    found
}

fn urls(entry: &IndexEntry) -> Findings {
    let place = manifest_place(entry);
    let parts = entry.leaf.layers.iter().chain(&entry.leaf.config).map(|part| &part.raw).chain([&entry.raw]);
    let named = |raw: &&Value| raw.get("urls").and_then(Value::as_array).is_some_and(|urls| !urls.is_empty());
    let said = |raw: &Value| format!("the descriptor of {} names `urls`", quoted(text(raw, "digest")));
    parts.filter(named).map(|raw| FOREIGN_URLS.at(&place, said(raw))).collect()
}

/// The findings about the leaves of a release together.
pub(super) fn together(release: &FoundRelease) -> Findings {
    let mut by_platform: BTreeMap<Platform, Vec<&IndexEntry>> = BTreeMap::new();
    for entry in &release.entries {
        let skipped = entry.descriptor.platform.as_ref().is_some_and(|platform| !platform.os_version.is_empty());
        if let (IndexEntryKind::Provider, false, Some(platform)) =
            (IndexEntryKind::of(entry), skipped, entry.descriptor.platform())
        {
            by_platform.entry(platform).or_default().push(entry);
        }
    }
    let several = by_platform.into_iter().filter(|(_, entries)| entries.len() > 1);
    several
        .map(|(platform, entries)| {
            let digests: Vec<&str> = entries.iter().map(|entry| entry.descriptor.digest.as_str()).collect();
            let said = format!("{} leaves are for {platform}: {}", entries.len(), digests.join(", "));
            DUPLICATE_PLATFORM.at(super::places::index_place(release), said).of_platform(Some(&platform))
        })
        .collect()
}

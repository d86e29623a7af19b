//! Manifests: types, children, HEAD, sizes.

use serde_json::{Value, json};
use tofu_oci_remote::RawMethod;
use tofu_oci_store::StoreError;

use super::report::CapabilityState;
use super::scratch::{
    EMPTY_TYPE, OCI_INDEX, OCI_MANIFEST, ScratchContent, ScratchRepository, descriptor, document, tag_name,
};

const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const ZIP: &str = "archive/zip";
const IMAGE_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const IMAGE_LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CUSTOM_CONFIG: &str = "application/vnd.tofu-oci.probe.config.v1+json";

/// The size that every registry must accept, in bytes.
const LARGE: usize = 4 * 1024 * 1024;

pub(super) async fn try_all(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let (Some(layer), Some(empty)) = (scratch.layer.clone(), scratch.empty.clone()) else { return Ok(()) };
    images(scratch, &layer).await?;
    let leaf = leaf(&layer, (EMPTY_TYPE, &empty), Some(TARGET), ZIP);
    if !put(scratch, ("artifact-type", "a manifest with an artifactType and the empty config"), &leaf).await? {
        return Ok(());
    }
    let custom = self::leaf(&layer, (CUSTOM_CONFIG, &empty), None, ZIP);
    put(scratch, ("config-type", "a manifest with a config type of its own"), &custom).await?;
    scratch.leaf = Some(leaf.clone());
    indexes(scratch, &leaf).await?;
    heads(scratch, &leaf).await?;
    large(scratch, &layer, &empty).await
}

/// A manifest with one layer.
pub(super) fn leaf(
    layer: &ScratchContent,
    config: (&str, &ScratchContent),
    artifact_type: Option<&str>,
    layer_type: &str,
) -> ScratchContent {
    let mut body = json!({
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "config": descriptor(config.0, config.1),
        "layers": [descriptor(layer_type, layer)],
    });
    if let Some(artifact_type) = artifact_type {
        body["artifactType"] = json!(artifact_type);
    }
    document(&body)
}

async fn put(
    scratch: &mut ScratchRepository<'_>,
    (name, what): (&'static str, &'static str),
    stored: &ScratchContent,
) -> Result<bool, StoreError> {
    let answer = scratch.put_manifest(None, OCI_MANIFEST, stored).await?;
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row(name, what, state, format!("PUT {}", answer.summary()));
    Ok(answer.is_success())
}

/// Ordinary container images, and images with a layer that is a zip.
async fn images(scratch: &mut ScratchRepository<'_>, layer: &ScratchContent) -> Result<(), StoreError> {
    let config = json!({ "architecture": "amd64", "os": "linux", "rootfs": { "type": "layers", "diff_ids": [] } });
    let config = document(&config);
    let stored = scratch.put_shared_blob(&config).await?;
    if !stored.is_success() {
        let said = format!("PUT of the config {}", stored.summary());
        scratch.row("image", "a container image", CapabilityState::NotTried, said);
        return Ok(());
    }
    let image = leaf(layer, (IMAGE_CONFIG, &config), None, IMAGE_LAYER);
    put(scratch, ("image", "a container image"), &image).await?;
    let zipped = leaf(layer, (IMAGE_CONFIG, &config), None, ZIP);
    put(scratch, ("layer-type", "an image with a layer of type archive/zip"), &zipped).await?;
    Ok(())
}

pub(super) fn index(entries: &[Value]) -> ScratchContent {
    document(&json!({
        "schemaVersion": 2,
        "mediaType": OCI_INDEX,
        "artifactType": PROVIDER,
        "manifests": entries,
    }))
}

fn entry(leaf: &ScratchContent) -> Value {
    let mut entry = descriptor(OCI_MANIFEST, leaf);
    entry["artifactType"] = json!(TARGET);
    entry["platform"] = json!({ "os": "linux", "architecture": "amd64" });
    entry
}

async fn indexes(scratch: &mut ScratchRepository<'_>, leaf: &ScratchContent) -> Result<(), StoreError> {
    let whole = index(&[entry(leaf)]);
    let answer = scratch.put_manifest(None, OCI_INDEX, &whole).await?;
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row("index", "an index of provider type", state, format!("PUT {}", answer.summary()));
    if answer.is_success() {
        scratch.index = Some(whole);
    }
    let missing = scratch.content("a leaf that is not there");
    let half = index(&[entry(&missing)]);
    let answer = scratch.put_manifest(None, OCI_INDEX, &half).await?;
    let (state, said) = if answer.is_success() {
        (CapabilityState::Differs, format!("PUT {}: it is taken", answer.summary()))
    } else {
        (CapabilityState::Works, format!("PUT {}", answer.summary()))
    };
    scratch.row("index-checked", "an index whose leaf is missing is refused", state, said);
    Ok(())
}

/// HEAD and GET as `OpenTofu` makes them.
async fn heads(scratch: &mut ScratchRepository<'_>, leaf: &ScratchContent) -> Result<(), StoreError> {
    let Some(index) = scratch.index.clone() else { return Ok(()) };
    let tag = tag_name("head");
    scratch.put_manifest(Some(&tag), OCI_INDEX, &index).await?;
    for (name, what, reference, stored, media_type) in [
        ("head-tag", "HEAD of a tag names type, length and digest", tag.as_str(), &index, OCI_INDEX),
        ("head-digest", "HEAD of a digest names type and length", leaf.digest.as_str(), leaf, OCI_MANIFEST),
    ] {
        let answer = scratch.ask(RawMethod::Head, &format!("manifests/{reference}")).await?;
        let mut lacks = Vec::new();
        let essence = answer.header("content-type").map(|text| text.split(';').next().unwrap_or_default().trim());
        if essence != Some(media_type) {
            lacks.push(format!("Content-Type {}", essence.unwrap_or("none")));
        }
        if answer.header("content-length") != Some(stored.bytes.len().to_string().as_str()) {
            lacks.push(format!("Content-Length {}", answer.header("content-length").unwrap_or("none")));
        }
        let digest = answer.header("docker-content-digest");
        if digest != Some(stored.digest.as_str()) && (name == "head-tag" || digest.is_some()) {
            lacks.push(format!("Docker-Content-Digest {}", digest.unwrap_or("none")));
        }
        let (state, said) = match (answer.status, lacks.is_empty()) {
            (200, true) => (CapabilityState::Works, "HEAD 200".to_owned()),
            (200, false) => (CapabilityState::Differs, format!("HEAD 200 with {}", lacks.join(", "))),
            (status, _) => (CapabilityState::Missing, format!("HEAD {status}")),
        };
        scratch.row(name, what, state, said);
    }
    let answer = scratch.ask(RawMethod::Get, &format!("manifests/{}", leaf.digest)).await?;
    let (state, said) = match answer.is_success() {
        true if answer.body == leaf.bytes => (CapabilityState::Works, format!("GET {}", answer.summary())),
        true => (CapabilityState::Differs, "its bytes are not those that were pushed".to_owned()),
        false => (CapabilityState::Missing, format!("GET {}", answer.summary())),
    };
    scratch.row("manifest-by-digest", "a manifest comes back byte for byte", state, said);
    Ok(())
}

async fn large(
    scratch: &mut ScratchRepository<'_>,
    layer: &ScratchContent,
    empty: &ScratchContent,
) -> Result<(), StoreError> {
    let mut body = json!({
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "artifactType": TARGET,
        "config": descriptor(EMPTY_TYPE, empty),
        "layers": [descriptor(ZIP, layer)],
        "annotations": { "padding": "" },
    });
    let room = LARGE - body.to_string().len();
    body["annotations"]["padding"] = json!("x".repeat(room));
    let answer = scratch.put_manifest(None, OCI_MANIFEST, &document(&body)).await?;
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row("manifest-4-mib", "a manifest of 4 MiB", state, format!("PUT {}", answer.summary()));
    Ok(())
}

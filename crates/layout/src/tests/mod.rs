//! Tests that need more than one module, and what they share.

mod oracle;
mod planning;
mod properties;
mod reading;
mod refusals;
mod vectors;

use serde_json::Value;
use tofu_oci_types::{Descriptor, Digest, Platform};

use crate::{LayerBlob, LayoutError, Leaf, PlatformPackage, ReleaseIndex, Selected, artifact_type, media_type, select};

pub(super) fn linux() -> Platform {
    "linux_amd64".parse().unwrap()
}

/// A package with a zip and a layer whose digests depend on the platform.
pub(super) fn package(platform: &str) -> PlatformPackage {
    PlatformPackage {
        platform: platform.parse().unwrap(),
        filename: format!("terraform-provider-widget_1.4.0_{platform}.zip"),
        zip: Some((Digest::sha256(format!("zip {platform}").as_bytes()), 1000)),
        layer: Some(LayerBlob {
            digest: Digest::sha256(format!("layer {platform}").as_bytes()),
            size: 1100,
            diff_id: Digest::sha256(format!("tar {platform}").as_bytes()),
        }),
        small: None,
    }
}

/// The same package with a small layer.
pub(super) fn small_package(platform: &str) -> PlatformPackage {
    let small = LayerBlob {
        digest: Digest::sha256(format!("small {platform}").as_bytes()),
        size: 700,
        diff_id: Digest::sha256(format!("tar {platform}").as_bytes()),
    };
    PlatformPackage { small: Some(small), ..package(platform) }
}

/// The descriptor of a document, with the media type that it has itself or else this one.
pub(super) fn descriptor_of(document: &Value, default: &str) -> (Descriptor, Vec<u8>) {
    let bytes = serde_json::to_vec(document).unwrap();
    let media_type = document.get("mediaType").and_then(Value::as_str).unwrap_or(default);
    (Descriptor::of(media_type, &bytes), bytes)
}

pub(super) fn parse_index(document: &Value) -> Result<ReleaseIndex, LayoutError> {
    let (descriptor, bytes) = descriptor_of(document, media_type::OCI_INDEX);
    ReleaseIndex::parse(&descriptor, &bytes)
}

pub(super) fn select_linux(document: &Value) -> Result<Selected, LayoutError> {
    select(&parse_index(document)?, &linux())
}

/// Reads a leaf as an index entry with this artifact type would lead to it.
pub(super) fn parse_leaf(document: &Value, artifact: Option<&str>) -> Result<Leaf, LayoutError> {
    let (mut descriptor, bytes) = descriptor_of(document, media_type::OCI_MANIFEST);
    descriptor.artifact_type = artifact.map(ToOwned::to_owned);
    descriptor.platform = Some((&linux()).into());
    Leaf::parse(&descriptor, &bytes)
}

pub(super) fn parse_artifact_leaf(document: &Value) -> Result<Leaf, LayoutError> {
    parse_leaf(document, Some(artifact_type::PROVIDER_TARGET))
}

/// The text of a refusal, with every digest's digits left out.
#[track_caller]
pub(super) fn refusal<T>(result: Result<T, LayoutError>) -> String {
    let Err(error) = result else { panic!("must be refused") };
    let text = error.to_string();
    let Some(start) = text.find("sha256:") else { return text };
    format!("{}{}", &text[..start + 7], &text[start + 71..])
}

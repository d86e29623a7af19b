//! A manifest without content that takes the place of a release under a tag until both are deleted.

use bytes::Bytes;
use serde_json::json;
use tofu_oci_types::{Descriptor, Digest, Tag};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The type of an image's config: registries that store only the types of a list take it.
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// The annotation that names the tag. It gives each tag a tombstone of its own.
const TAG: &str = "org.opentofu.tofu-oci.deleted-tag";

/// The tombstone of one tag: the same tag always has the same one, so that the next run recognises it.
pub(crate) struct Tombstone {
    pub(crate) config: (Descriptor, Bytes),
    pub(crate) manifest: (Descriptor, Bytes),
}

/// Whether the manifest is the tombstone of the tag: then the tag is about to go.
pub fn is_tombstone(tag: &Tag, manifest: &Digest) -> bool {
    Tombstone::of(tag).manifest.0.digest == *manifest
}

impl Tombstone {
    pub(crate) fn of(tag: &Tag) -> Self {
        let described = |media_type: &str, document: serde_json::Value| {
            let bytes = Bytes::from(document.to_string());
            (Descriptor::of(media_type, &bytes), bytes)
        };
        let rootfs = json!({"type": "layers", "diff_ids": []});
        let config = described(CONFIG, json!({"architecture": "unknown", "os": "unknown", "rootfs": rootfs}));
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.0,
            "layers": [],
            "annotations": {TAG: tag.as_str()},
        });
        Self { manifest: described(MANIFEST, manifest), config }
    }
}

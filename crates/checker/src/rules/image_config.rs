//! The config of an image.

use serde_json::Value;
use tofu_oci_layout::{LABEL, LABEL_PROVIDER};
use tofu_oci_types::Digest;

use super::leaf::IndexEntryKind;
use crate::facts::{BlobContent, IndexEntry};

/// The config of an entry's manifest, if it could be read.
pub(super) fn config(entry: &IndexEntry) -> Option<&Value> {
    match &entry.leaf.config.as_ref()?.blob.content {
        Ok(BlobContent::Document { intact: true, value: Some(value), .. }) => Some(value),
        _ => None,
    }
}

/// Whether the entry is an image with the label of a provider package.
pub(super) fn is_labelled(entry: &IndexEntry) -> bool {
    IndexEntryKind::of(entry) == IndexEntryKind::Image && label(entry) == Some(LABEL_PROVIDER)
}

/// Whether the entry is an image for whose manifest or config the store did not answer.
pub(super) fn is_label_unasked(entry: &IndexEntry) -> bool {
    let manifest = entry.leaf.manifest.found.as_ref().err();
    let config = entry.leaf.config.as_ref().and_then(|config| config.blob.content.as_ref().err());
    IndexEntryKind::of(entry) == IndexEntryKind::Image
        && manifest.into_iter().chain(config).any(|fault| fault.unasked().is_some())
}

pub(super) fn label(entry: &IndexEntry) -> Option<&str> {
    config(entry)?.get("config")?.get("Labels")?.get(LABEL)?.as_str()
}

/// The digests of the uncompressed layers that the config names.
pub(super) fn diff_ids(entry: &IndexEntry) -> Vec<Digest> {
    let ids = config(entry).and_then(|config| config.get("rootfs")?.get("diff_ids")?.as_array());
    ids.into_iter().flatten().filter_map(|id| id.as_str()?.parse().ok()).collect()
}

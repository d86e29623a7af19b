//! Tests of the stores and of copying, and what they share.

mod copy_limits;
mod copying;
mod dir_links;
mod dir_power_cut;
mod dir_reading;
mod dir_turns;
mod dir_unverified;
mod dir_writing;
mod streams;
mod untagging;

use std::error::Error as _;
use std::path::Path;

use bytes::Bytes;
use serde_json::{Value, json};
use tofu_oci_disk::{KEPT_INDEX_NAME, LOCK_NAME};
use tofu_oci_types::{Descriptor, Reference, Tag};

use crate::manifest::{OCI_INDEX, OCI_MANIFEST};
use crate::{Pushed, Store, StoreError};

/// A release in miniature: two leaves below an index, one config for both.
pub(super) struct Release {
    pub(super) index: Descriptor,
    pub(super) leaves: Vec<Descriptor>,
    pub(super) blobs: Vec<Descriptor>,
}

pub(super) fn tag(text: &str) -> Tag {
    text.parse().unwrap()
}

pub(super) fn by_tag(text: &str) -> Reference {
    Reference::Tag(tag(text))
}

pub(super) async fn push(store: &dyn Store, media_type: &str, bytes: &[u8]) -> Descriptor {
    let descriptor = Descriptor::of(media_type, bytes);
    let pushed = store.push(&descriptor, &Bytes::copy_from_slice(bytes)).await.unwrap();
    assert!(matches!(pushed, Pushed::Uploaded | Pushed::Present));
    descriptor
}

pub(super) async fn push_json(store: &dyn Store, media_type: &str, document: &Value) -> Descriptor {
    push(store, media_type, document.to_string().as_bytes()).await
}

/// Pushes a release without a tag.
pub(super) async fn push_release(store: &dyn Store) -> Release {
    let config = push(store, "application/vnd.oci.image.config.v1+json", b"{}").await;
    let (mut leaves, mut blobs) = (Vec::new(), vec![config.clone()]);
    for platform in ["linux", "darwin"] {
        let zip = push(store, "archive/zip", format!("zip of {platform}").repeat(1000).as_bytes()).await;
        let leaf = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [zip] });
        leaves.push(push_json(store, OCI_MANIFEST, &leaf).await);
        blobs.push(zip);
    }
    let index = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": leaves });
    Release { index: push_json(store, OCI_INDEX, &index).await, leaves, blobs }
}

/// A manifest that refers to `subject`.
pub(super) async fn push_referrer(store: &dyn Store, subject: &Descriptor, what: &str) -> Descriptor {
    let layer = push(store, "application/json", what.as_bytes()).await;
    let empty = push(store, "application/vnd.oci.empty.v1+json", b"{}").await;
    let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "artifactType": "application/vnd.example.sig",
        "config": empty, "layers": [layer], "subject": subject, "annotations": { "what": what } });
    push_json(store, OCI_MANIFEST, &manifest).await
}

/// An error's text with those of its causes, and the folder's own path left out.
#[track_caller]
pub(super) fn text_of<T>(result: Result<T, StoreError>, folder: &Path) -> String {
    let Err(error) = result else { panic!("must be refused") };
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text.replace(&folder.display().to_string(), "DIR")
}

/// Names of our own temporary files that were left in a folder.
pub(super) fn leftovers(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.starts_with(".tofu-oci-") && ![LOCK_NAME, KEPT_INDEX_NAME].contains(&name.as_str()))
        .collect()
}

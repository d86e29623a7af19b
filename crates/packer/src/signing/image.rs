//! The manifest under the tag `sha256-HEX.sig`: one layer a signature, of as many signers as there are.
//!
//! What others wrote into it is kept as it is, with members that are not known here.
//!
//! Spec: cosign `specs/SIGNATURE_SPEC.md`, "Storage", "Tag-based Discovery".

use bytes::Bytes;
use serde_json::{Map, Value, json};
use tofu_oci_layout::{MAX_DOCUMENT, media_type};
use tofu_oci_source::LAYER_LIMIT;
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_trust::{CosignTagSignature, PublicKey, SIGNATURE_ANNOTATION, SIMPLE_SIGNING_TYPE, open_cosign_tag};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use super::artifact::Artifact;
use super::seen::{Saying, says};
use crate::PackError;
use crate::SignError;

/// The largest payload that is read, in bytes.
const MAX_PAYLOAD: u64 = 1 << 20;

/// The time that cosign writes for "no time".
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// Signatures of one manifest.
#[derive(Clone, Debug)]
pub(crate) struct SignatureImage {
    tag: Tag,
    /// Where the tag points; `None` if the tag does not exist.
    pub(crate) found: Option<Descriptor>,
    manifest: Map<String, Value>,
    config: Option<Map<String, Value>>,
    config_type: String,
    added: Vec<(Descriptor, Bytes)>,
}

/// The tag under which cosign keeps what belongs to a manifest.
pub(crate) fn cosign_tag(subject: &Digest, suffix: &str) -> Option<Tag> {
    format!("{}-{}.{suffix}", subject.algorithm_name(), subject.encoded()).parse().ok()
}

impl SignatureImage {
    /// What is under the tag; an image without signatures if the tag does not exist.
    ///
    /// # Errors
    /// [`SignError::NotSignatures`] if the tag points at something to which nothing can be added.
    pub(crate) async fn read(store: &dyn ReadStore, tag: Tag) -> Result<Self, PackError> {
        let place = store.place();
        let Some(found) = crate::found::resolve(store, &Reference::Tag(tag.clone())).await? else {
            return Ok(Self::empty(tag));
        };
        let wrong = |problem: &str| SignError::NotSignatures {
            place: place.clone(),
            tag: tag.clone(),
            problem: problem.to_owned(),
        };
        if !media_type::is_leaf(&found.media_type) {
            return Err(wrong(&format!("it is of the type {}", found.media_type)).into());
        }
        let bytes = fetch_bytes(store, &found, MAX_DOCUMENT).await?;
        let manifest: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|_| wrong("it is not a JSON object"))?;
        if !manifest.get("layers").is_some_and(Value::is_array) {
            return Err(wrong("it has no layers").into());
        }
        let config: Descriptor = manifest
            .get("config")
            .and_then(|config| serde_json::from_value(config.clone()).ok())
            .ok_or_else(|| wrong("it has no config"))?;
        // A config of another kind needs no change when a layer is added.
        let document = if media_type::is_image_config(&config.media_type) {
            serde_json::from_slice(&fetch_bytes(store, &config, MAX_DOCUMENT).await?).ok()
        } else {
            None
        };
        let config_type = config.media_type;
        Ok(Self { tag, found: Some(found), manifest, config: document, config_type, added: Vec::new() })
    }

    /// Spec: cosign writes this config; its only time is the one that means none.
    fn empty(tag: Tag) -> Self {
        let config = json!({
            "architecture": "", "created": NO_TIME, "history": [], "os": "",
            "rootfs": {"type": "layers", "diff_ids": []}, "config": {},
        });
        let manifest = json!({
            "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST, "config": null, "layers": [],
        });
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        Self {
            tag,
            found: None,
            manifest: object(manifest),
            config: Some(object(config)),
            config_type: media_type::OCI_CONFIG.to_owned(),
            added: Vec::new(),
        }
    }

    /// The layers as the manifest lists them.
    pub(crate) fn layers(&self) -> &[Value] {
        self.manifest.get("layers").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Whether so many layers more can be added, if the image may have this many.
    ///
    /// # Errors
    /// [`SignError::Full`]: installers read no more layers.
    pub(super) fn demand_room(&self, store: &dyn ReadStore, more: usize, most: usize) -> Result<(), SignError> {
        let layers = self.layers().len();
        if layers + more <= most {
            return Ok(());
        }
        Err(SignError::Full { place: store.place(), tag: self.tag.clone(), layers, more, most })
    }

    /// Whether one of the layers that installers read holds this key's signature of the subject.
    pub(super) async fn is_signed(
        &self,
        store: &dyn ReadStore,
        key: &PublicKey,
        said: Saying<'_>,
    ) -> Result<bool, StoreError> {
        for layer in self.layers().iter().take(LAYER_LIMIT) {
            let Ok(layer) = serde_json::from_value::<Descriptor>(layer.clone()) else { continue };
            let Some(signature) = layer.annotations.get(SIGNATURE_ANNOTATION) else { continue };
            if layer.media_type != SIMPLE_SIGNING_TYPE {
                continue;
            }
            match fetch_bytes(store, &layer, MAX_PAYLOAD).await {
                Ok(payload) if says(&open_cosign_tag(&payload, signature, std::slice::from_ref(key)), said) => {
                    return Ok(true);
                }
                Err(error) if error.is_transient() => return Err(error),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Adds a signature after those that are there.
    pub(super) fn add(&mut self, signature: &CosignTagSignature) {
        let payload = Bytes::copy_from_slice(&signature.payload);
        let mut layer = Descriptor::of(SIMPLE_SIGNING_TYPE, &payload);
        layer.annotations.insert(SIGNATURE_ANNOTATION.to_owned(), signature.signature.clone());
        let entry = serde_json::to_value(&layer).expect("a descriptor always serialises");
        self.add_layer(entry, json!(layer.digest));
        self.added.push((layer, payload));
    }

    /// Adds layers as another manifest lists them; their content is not looked at.
    pub(super) fn add_layers(&mut self, layers: Vec<Value>) {
        for layer in layers {
            let digest = layer.get("digest").cloned().unwrap_or_default();
            self.add_layer(layer, digest);
        }
    }

    /// A payload is not compressed, so that its digest is its `diff_id` as well.
    fn add_layer(&mut self, layer: Value, diff_id: Value) {
        if let Some(layers) = self.manifest.get_mut("layers").and_then(Value::as_array_mut) {
            layers.push(layer);
        }
        let Some(config) = &mut self.config else { return };
        if let Some(diff_ids) = config.get_mut("rootfs").and_then(|rootfs| rootfs.get_mut("diff_ids")?.as_array_mut()) {
            diff_ids.push(diff_id);
        }
        if let Some(history) = config.get_mut("history").and_then(Value::as_array_mut) {
            history.push(json!({"created": NO_TIME}));
        }
    }

    /// Everything to push before the tag is written.
    pub(crate) fn into_artifact(mut self) -> (Tag, Artifact) {
        let mut blobs = self.added;
        if let Some(config) = self.config {
            let bytes = Bytes::from(Value::Object(config).to_string());
            let descriptor = Descriptor::of(&self.config_type, &bytes);
            self.manifest.insert("config".to_owned(), json!(descriptor));
            blobs.push((descriptor, bytes));
        }
        let media_type = match &self.found {
            Some(found) => found.media_type.clone(),
            None => media_type::OCI_MANIFEST.to_owned(),
        };
        let bytes = Bytes::from(Value::Object(self.manifest).to_string());
        (self.tag, Artifact { blobs, manifest: (Descriptor::of(&media_type, &bytes), bytes) })
    }
}

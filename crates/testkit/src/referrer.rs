//! Manifests that refer to a release: signatures and checksums as signers write them, and broken ones.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use tofu_oci_types::Descriptor;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
const SUMS: &str = "application/vnd.opentofu.provider.shasums.v1";

/// Whether a layer's descriptor contains the layer's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inline {
    /// It does (`data`), as our own signer writes it.
    Yes,
    /// It is a blob only, as cosign writes it.
    No,
}

/// A manifest with layers that refers to another manifest.
#[derive(Clone, Debug)]
pub struct Referrer {
    members: Map<String, Value>,
    layers: Vec<(Value, Bytes)>,
    artifact_type: Option<String>,
}

impl Referrer {
    /// A manifest about the subject with an artifact type and no layers yet.
    pub fn new(subject: &Descriptor, artifact_type: &str) -> Self {
        let mut members = Map::new();
        members.insert("schemaVersion".to_owned(), json!(2));
        members.insert("mediaType".to_owned(), json!(MANIFEST));
        members.insert("artifactType".to_owned(), json!(artifact_type));
        let config = Descriptor::of(EMPTY, b"{}");
        members.insert("config".to_owned(), serde_json::to_value(config).expect("a descriptor is plain data"));
        let subject = Descriptor::new(&subject.media_type, subject.digest.clone(), subject.size);
        members.insert("subject".to_owned(), serde_json::to_value(subject).expect("a descriptor is plain data"));
        Self { members, layers: Vec::new(), artifact_type: Some(artifact_type.to_owned()) }
    }

    /// A Sigstore bundle.
    pub fn bundle(subject: &Descriptor, bundle: &[u8], inline: Inline) -> Self {
        Self::new(subject, BUNDLE).layer(BUNDLE, bundle, &[], inline)
    }

    /// `SHA256SUMS` with a signature.
    pub fn sums(subject: &Descriptor, sums: &[u8], signature: &[u8], inline: Inline) -> Self {
        let title = ("org.opencontainers.image.title", "SHA256SUMS");
        let whole = Self::new(subject, SUMS).layer("text/plain", sums, &[title], inline);
        whole.layer("application/pgp-signature", signature, &[], inline)
    }

    /// The manifest under cosign's tag `sha256-HEX.sig`; it has no subject.
    pub fn cosign_tag(payload: &[u8], signature: &str, inline: Inline) -> Self {
        let nothing = Descriptor::of(MANIFEST, b"");
        let mut made = Self::new(&nothing, "").layer(SIMPLE_SIGNING, payload, &[(SIGNATURE, signature)], inline);
        for member in ["artifactType", "subject"] {
            made.members.remove(member);
        }
        made.member("config", json!(Descriptor::of("application/vnd.oci.image.config.v1+json", b"{}")))
    }

    /// With one more layer.
    #[must_use]
    pub fn layer(mut self, media_type: &str, bytes: &[u8], annotations: &[(&str, &str)], inline: Inline) -> Self {
        let mut descriptor = Descriptor::of(media_type, bytes);
        let pairs = annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        descriptor.annotations = pairs.collect::<BTreeMap<_, _>>();
        let mut layer = serde_json::to_value(descriptor).expect("a descriptor is plain data");
        if inline == Inline::Yes {
            layer["data"] = json!(STANDARD.encode(bytes));
        }
        self.layers.push((layer, Bytes::copy_from_slice(bytes)));
        self
    }

    /// With another value of a member of the manifest.
    #[must_use]
    pub fn member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// With another value of a member of the last layer's descriptor.
    #[must_use]
    pub fn layer_member(mut self, name: &str, value: Value) -> Self {
        if let Some((layer, _)) = self.layers.last_mut() {
            layer[name] = value;
        }
        self
    }

    /// With another artifact type in the list of referrers, or without one, as some tools write it.
    #[must_use]
    pub fn listed_as(mut self, artifact_type: Option<&str>) -> Self {
        self.artifact_type = artifact_type.map(ToOwned::to_owned);
        self
    }

    /// The manifest's bytes.
    pub fn manifest(&self) -> Bytes {
        let mut members = self.members.clone();
        let layers = self.layers.iter().map(|(layer, _)| layer.clone()).collect();
        members.insert("layers".to_owned(), Value::Array(layers));
        Bytes::from(Value::Object(members).to_string())
    }

    /// How the manifest is listed.
    pub fn descriptor(&self) -> Descriptor {
        let mut descriptor = Descriptor::of(MANIFEST, &self.manifest());
        descriptor.artifact_type.clone_from(&self.artifact_type);
        descriptor
    }

    /// Everything that the manifest points at, in the order of a push: the config, then the layers' contents.
    pub fn blobs(&self) -> Vec<(Descriptor, Bytes)> {
        let layers = self.layers.iter().map(|(layer, bytes)| {
            let media_type = layer["mediaType"].as_str().unwrap_or_default();
            (Descriptor::of(media_type, bytes), bytes.clone())
        });
        let config = (Descriptor::of(EMPTY, b"{}"), Bytes::from_static(b"{}"));
        std::iter::once(config).chain(layers).collect()
    }
}

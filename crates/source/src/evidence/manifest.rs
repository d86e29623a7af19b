//! Manifests that hold evidence, read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tofu_oci_trust::{NOTICE_ARTIFACT_TYPE, SIMPLE_SIGNING_TYPE, SUMS_ARTIFACT_TYPE};
use tofu_oci_types::{Descriptor, Digest, parse_strictly};

/// How many layers of one manifest are read. Writers of signatures stop there too, because no reader would find the
/// next one.
pub const LAYER_LIMIT: usize = 100;

/// What every version's media type of a Sigstore bundle begins with.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle";

/// The artifact type of cosign's signatures as a referrer.
///
/// Spec: cosign 3, `--registry-referrers-mode=oci-1-1` without bundles.
const COSIGN_REFERRER: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

/// What a manifest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvidenceKind {
    Bundle,
    CosignTag,
    Sums,
    Notice,
    /// Not evidence: an SBOM, an attestation of another kind, a part of the release.
    Foreign,
}

/// A manifest that may hold evidence, as a view of its bytes.
pub(super) struct EvidenceManifest {
    artifact_type: String,
    layers: Vec<EvidenceLayer>,
    /// How many layers it has, unread ones included.
    layers_in_all: usize,
    subject: Option<Descriptor>,
}

/// A layer, with its content if the descriptor carries it.
#[derive(Deserialize)]
pub(super) struct EvidenceLayer {
    #[serde(flatten)]
    pub(super) descriptor: Descriptor,
    /// Spec: OCI image-spec 1.1.1, descriptor.md, "data": base64 of the content.
    #[serde(default)]
    pub(super) data: Option<String>,
}

/// Whether this is the media type or artifact type of a Sigstore bundle of any version.
pub(super) fn is_bundle(media_type: &str) -> bool {
    media_type.starts_with(BUNDLE)
}

impl EvidenceManifest {
    /// Reads a manifest whose bytes have been verified. A repeated member is an error: another program may read the
    /// other one.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut members = match parse_strictly(bytes) {
            Ok(Value::Object(members)) => members,
            Ok(_) => return Err("it is not a manifest".to_owned()),
            Err(error) => return Err(format!("it is not a manifest: {error}")),
        };
        let artifact_type: Option<String> = member(&members, "artifactType")?;
        let config: Option<Value> = member(&members, "config")?;
        let config_type = config.as_ref().and_then(|config| config.get("mediaType")).and_then(Value::as_str);
        let mut layers_in_all = 0;
        if let Some(Value::Array(layers)) = members.get_mut("layers") {
            layers_in_all = layers.len();
            layers.truncate(LAYER_LIMIT);
        }
        let layers: Option<Vec<EvidenceLayer>> = member(&members, "layers")?;
        Ok(Self {
            artifact_type: artifact_type
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| config_type.unwrap_or_default().to_owned()),
            layers: layers.unwrap_or_default(),
            layers_in_all,
            subject: member(&members, "subject")?,
        })
    }

    /// What it holds, by its own types; those in a list of referrers do not count.
    pub(super) fn kind(&self) -> EvidenceKind {
        let mut types = self.layers.iter().map(|layer| layer.descriptor.media_type.as_str());
        if self.artifact_type == NOTICE_ARTIFACT_TYPE {
            EvidenceKind::Notice
        } else if is_bundle(&self.artifact_type) || (self.layers_in_all == 1 && types.clone().all(is_bundle)) {
            EvidenceKind::Bundle
        } else if self.artifact_type == SUMS_ARTIFACT_TYPE {
            EvidenceKind::Sums
        } else if self.artifact_type == COSIGN_REFERRER || types.any(|layer| layer == SIMPLE_SIGNING_TYPE) {
            EvidenceKind::CosignTag
        } else {
            EvidenceKind::Foreign
        }
    }

    pub(super) fn subject(&self) -> Option<&Digest> {
        self.subject.as_ref().map(|subject| &subject.digest)
    }

    /// The layers that are read.
    pub(super) fn layers(&self) -> &[EvidenceLayer] {
        &self.layers
    }

    pub(super) fn layers_in_all(&self) -> usize {
        self.layers_in_all
    }
}

fn member<T: DeserializeOwned>(members: &Map<String, Value>, name: &str) -> Result<Option<T>, String> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => T::deserialize(value).map(Some).map_err(|error| format!("its member {name}: {error}")),
    }
}

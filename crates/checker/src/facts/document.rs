//! Manifests as the store sends them.

use bytes::Bytes;
use serde_json::Value;
use tofu_oci_store::UnverifiedManifest;
use tofu_oci_types::Digest;

use super::ReadFault;

/// The answer to a request for a manifest.
#[derive(Clone, Debug)]
pub struct FoundManifest {
    /// The tag or digest that was asked for.
    pub asked: String,
    pub found: Result<FoundDocument, ReadFault>,
}

/// The bytes of a manifest, unverified.
#[derive(Clone, Debug)]
pub struct FoundDocument {
    /// The media type that the repository sends it as, without parameters; `None` if it names none.
    pub media_type: Option<String>,
    /// The digest that it was asked for by; for a tag, the one that the repository gives it, or that of its bytes.
    pub digest: Digest,
    /// The digest that the repository sends with it, if any.
    pub sent_digest: Option<Digest>,
    pub bytes: Bytes,
    /// The bytes as JSON.
    pub json: FoundJson,
}

/// Bytes read as JSON.
#[derive(Clone, Debug)]
pub enum FoundJson {
    /// A JSON value; a member that occurs twice has its last value.
    Value(Value),
    Not {
        /// The message of the parser.
        problem: String,
    },
}

impl FoundDocument {
    /// A document that was asked for by a digest, or by a tag.
    pub(crate) fn new(asked: Option<Digest>, sent: UnverifiedManifest) -> Self {
        let UnverifiedManifest { media_type, digest: sent_digest, bytes } = sent;
        let digest = asked.or_else(|| sent_digest.clone()).unwrap_or_else(|| Digest::sha256(&bytes));
        let json = match serde_json::from_slice(&bytes) {
            Ok(value) => FoundJson::Value(value),
            Err(error) => FoundJson::Not { problem: error.to_string() },
        };
        Self { media_type, digest, sent_digest, bytes, json }
    }

    /// The digest of the bytes, in the algorithm of the digest that was asked for; SHA-256 if that is unknown.
    pub fn actual_digest(&self) -> Digest {
        match self.digest.hasher() {
            Some(mut hasher) => {
                hasher.update(&self.bytes);
                hasher.finish()
            }
            None => Digest::sha256(&self.bytes),
        }
    }

    /// The document, if it is JSON.
    pub fn value(&self) -> Option<&Value> {
        match &self.json {
            FoundJson::Value(value) => Some(value),
            FoundJson::Not { .. } => None,
        }
    }
}

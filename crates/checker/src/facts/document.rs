//! Manifests as they lie there.

use bytes::Bytes;
use serde_json::Value;
use tofu_oci_types::Digest;

use super::Fault;

/// What was found where a manifest was asked for.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The tag or digest that was asked for.
    pub asked: String,
    /// What came.
    pub found: Result<Document, Fault>,
}

/// The bytes of a manifest, unverified.
#[derive(Clone, Debug)]
pub struct Document {
    /// The media type that the repository sends it as, without parameters; none when it names none.
    pub media_type: Option<String>,
    /// The digest that the repository gives it.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Bytes,
    /// What they say.
    pub json: Json,
}

/// What bytes say as JSON.
#[derive(Clone, Debug)]
pub enum Json {
    /// A document; members that occur twice have their last value here.
    Value(Value),
    /// None, and why.
    Not {
        /// What the parser says.
        problem: String,
    },
}

impl Document {
    /// A document of these bytes.
    pub(crate) fn new(media_type: Option<String>, digest: Digest, bytes: Bytes) -> Self {
        let json = match serde_json::from_slice(&bytes) {
            Ok(value) => Json::Value(value),
            Err(error) => Json::Not { problem: error.to_string() },
        };
        Self { media_type, digest, bytes, json }
    }

    /// The digest of the bytes, in the algorithm of the digest that was asked for; SHA-256 where that is unknown.
    pub fn actual_digest(&self) -> Digest {
        match self.digest.hasher() {
            Some(mut hasher) => {
                hasher.update(&self.bytes);
                hasher.finish()
            }
            None => Digest::sha256(&self.bytes),
        }
    }

    /// The document, where it is JSON.
    pub fn value(&self) -> Option<&Value> {
        match &self.json {
            Json::Value(value) => Some(value),
            Json::Not { .. } => None,
        }
    }
}

//! Manifests as the store sends them.

use bytes::Bytes;
use serde_json::Value;
use tofu_oci_store::UnverifiedManifest;
use tofu_oci_types::{Digest, JsonKind, JsonValue};

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
    /// A JSON value; a member that occurs twice has its last value. At the 128th level, null stands for lists and objects.
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
            Err(error) => match shallow(&bytes).filter(|_| error.to_string().starts_with("recursion limit exceeded")) {
                Some(value) => FoundJson::Value(value),
                None => FoundJson::Not { problem: error.to_string() },
            },
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

/// What Go reads, without what nests too deep for this program.
fn shallow(bytes: &[u8]) -> Option<Value> {
    JsonValue::parse_as_go(std::str::from_utf8(bytes).ok()?).ok().map(|json| value_of(&json))
}

fn value_of(json: &JsonValue<'_>) -> Value {
    match &json.kind {
        JsonKind::Null | JsonKind::Deep => Value::Null,
        JsonKind::Bool(value) => Value::Bool(*value),
        JsonKind::Number(text) => serde_json::from_str(text).unwrap_or_default(),
        JsonKind::String(text) => Value::String(text.text().to_string()),
        JsonKind::Array(items) => items.iter().map(value_of).collect(),
        JsonKind::Object(members) => {
            members.iter().map(|member| (member.name.text().to_string(), value_of(&member.value))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_of_128_levels_was_no_json() {
        let of = |levels| {
            let bytes = format!("{{\"x\":{}{},\"a\":[1,\"b\",true]}}", "[".repeat(levels), "]".repeat(levels)).into();
            FoundDocument::new(None, UnverifiedManifest { media_type: None, digest: None, bytes })
        };
        for levels in [126, 127, 9_999] {
            let document = of(levels);
            assert_eq!(document.value().map(|value| &value["a"]), Some(&serde_json::json!([1, "b", true])), "{levels}");
        }
        assert!(of(10_000).value().is_none());
    }
}

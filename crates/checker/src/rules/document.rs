//! Rules about manifests of every kind, as documents.

use serde_json::Value;
use tofu_oci_layout::MAX_DOCUMENT;
use tofu_oci_types::{StrictJsonError, parse_strictly};

use super::catalogue::index::{
    BODY_MEDIA_TYPE, CONTENT_UNREADABLE, DUPLICATE_MEMBER, INDEX_BOTH_KINDS, MANIFEST_DIGEST, MANIFEST_NOT_JSON,
    MANIFEST_TOO_LARGE, SCHEMA_VERSION,
};
use super::catalogue::package::NOT_READ;
use super::places::{Findings, quoted};
use crate::facts::{FaultKind, FoundDocument, FoundJson, ReadFault};
use crate::model::{CheckRule, Finding};

/// The findings about a document whose descriptor has this media type.
pub(super) fn check(place: &str, document: &FoundDocument, media_type: &str, size: Option<i64>) -> Findings {
    let mut found = Findings::new();
    let bytes = document.bytes.len();
    if document.actual_digest() != document.digest {
        let said = format!("its bytes have the digest {}", document.actual_digest());
        found.push(MANIFEST_DIGEST.at(place, said));
    } else if size.is_some_and(|size| u64::try_from(size).ok() != Some(bytes as u64)) {
        let said = format!("its descriptor says {} bytes, it has {bytes}", size.unwrap_or_default());
        found.push(MANIFEST_DIGEST.at(place, said));
    }
    if bytes as u64 > MAX_DOCUMENT {
        found.push(MANIFEST_TOO_LARGE.at(place, format!("it has {bytes} bytes, and at most {MAX_DOCUMENT} travel")));
    }
    let value = match &document.json {
        FoundJson::Value(value @ Value::Object(_)) => value,
        FoundJson::Value(_) => {
            found.push(MANIFEST_NOT_JSON.at(place, "it is not a JSON object"));
            return found;
        }
        FoundJson::Not { problem } => {
            found.push(MANIFEST_NOT_JSON.at(place, format!("it is not JSON: {problem}")));
            return found;
        }
    };
    if let Err(problem @ StrictJsonError::Repeated { .. }) = parse_strictly(&document.bytes) {
        found.push(DUPLICATE_MEMBER.at(place, problem.to_string()));
    }
    if has(value, "manifests")
        && let Some(member) = ["layers", "config", "fsLayers"].into_iter().find(|member| has(value, member))
    {
        found.push(INDEX_BOTH_KINDS.at(place, format!("it has both `manifests` and `{member}`")));
    }
    if value.get("schemaVersion").and_then(Value::as_u64) != Some(2) {
        let said = value.get("schemaVersion").map_or_else(|| "none".to_owned(), ToString::to_string);
        found.push(SCHEMA_VERSION.at(place, format!("its schemaVersion is {said}")));
    }
    let own = text(value, "mediaType");
    if own.is_empty() {
        found.push(BODY_MEDIA_TYPE.at(place, format!("it has no mediaType; it is served as {}", quoted(media_type))));
    } else if own != media_type {
        let said = format!("its mediaType is `{own}`, but it is named as {}", quoted(media_type));
        found.push(BODY_MEDIA_TYPE.at(place, said));
    }
    let served = document.media_type.as_deref().unwrap_or_default();
    if !served.is_empty() && served != media_type && served != own {
        let said = format!("it is served as `{served}`, but named as {}", quoted(media_type));
        found.push(BODY_MEDIA_TYPE.at(place, said));
    }
    found
}

/// The rules for the faults of one kind of content.
pub(super) struct OfContent {
    /// It does not exist.
    pub(super) missing: &'static CheckRule,
    /// It has another size.
    pub(super) size: &'static CheckRule,
    /// It has another digest.
    pub(super) digest: &'static CheckRule,
}

/// The finding for an unreadable manifest or blob; `None` if the store did not answer, because the content is unknown.
pub(super) fn unreadable(rules: &OfContent, place: &str, fault: &ReadFault) -> Option<Finding> {
    let rule = match fault.kind {
        FaultKind::Unasked => return None,
        FaultKind::Missing | FaultKind::Unaddressable => rules.missing,
        FaultKind::WrongSize => rules.size,
        FaultKind::WrongDigest => rules.digest,
        FaultKind::TooLarge => &MANIFEST_TOO_LARGE,
        FaultKind::NotRead => &NOT_READ,
        FaultKind::Unusable => &CONTENT_UNREADABLE,
    };
    Some(rule.at(place, fault.text.clone()))
}

/// Whether an object has a member that is not null.
pub(super) fn has(value: &Value, member: &str) -> bool {
    value.get(member).is_some_and(|member| !member.is_null())
}

/// The text of a member, or an empty one.
pub(super) fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

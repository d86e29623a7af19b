//! Blobs: whole, by range, gone.
//!
//! Spec: distribution-spec 1.1.1, "Pulling blobs"; RFC 9110 section 14.

use axum::http::header::{IF_NONE_MATCH, RANGE};
use tofu_oci_types::Digest;

use super::behaviour::{Deletion, Switch};
use super::endpoint::Endpoint;
use crate::fault::{Answer, RequestHead};

pub(crate) fn get(endpoint: &Endpoint, repository: &str, digest: &Digest, head: &RequestHead) -> Answer {
    let Some(bytes) = endpoint.content.lock().blob(repository, digest.as_str()) else { return unknown() };
    let etag = format!("\"{digest}\"");
    let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    let has_digest = endpoint.behaviour().digest_header == Switch::On;
    let answer = |status| {
        let answer = Answer::new(status)
            .header("Content-Type", "application/octet-stream")
            .header("Accept-Ranges", "bytes")
            .header("Cache-Control", "max-age=31536000")
            .header("Etag", etag.clone());
        if has_digest { answer.header("Docker-Content-Digest", digest.to_string()) } else { answer }
    };
    if text(IF_NONE_MATCH) == Some(etag.as_str()) {
        return answer(304);
    }
    let range = text(RANGE).filter(|_| text(axum::http::header::IF_RANGE).is_none_or(|tag| tag == etag));
    match range.map(|range| wanted(range, bytes.len())) {
        None | Some(WantedRange::Everything) => answer(200).body(bytes),
        Some(WantedRange::Nothing) => Answer::text(416, "invalid range: failed to overlap\n")
            .header("Content-Range", format!("bytes */{}", bytes.len())),
        Some(WantedRange::Part(first, last)) => answer(206)
            .header("Content-Range", format!("bytes {first}-{last}/{}", bytes.len()))
            .body(bytes.slice(first..=last)),
    }
}

pub(crate) fn delete(endpoint: &Endpoint, repository: &str, digest: &Digest) -> Answer {
    if endpoint.behaviour().deletion == Deletion::Disabled {
        return Answer::error(405, "UNSUPPORTED", "The operation is unsupported.");
    }
    match endpoint.content.lock().repository(repository).blobs.remove(digest.as_str()) {
        Some(_) => Answer::new(202),
        None => unknown(),
    }
}

fn unknown() -> Answer {
    Answer::error(404, "BLOB_UNKNOWN", "blob unknown to registry")
}

enum WantedRange {
    Everything,
    Nothing,
    Part(usize, usize),
}

/// One range of bytes; several ranges, or an unreadable one, mean the whole blob.
fn wanted(range: &str, length: usize) -> WantedRange {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return WantedRange::Everything;
    };
    let end = length.saturating_sub(1);
    let (first, last) = match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(end)),
        (Ok(first), Err(_)) if last.is_empty() => (first, end),
        (Err(_), Ok(suffix)) if first.is_empty() => (length.saturating_sub(suffix), end),
        _ => return WantedRange::Everything,
    };
    if first > last || first >= length { WantedRange::Nothing } else { WantedRange::Part(first, last) }
}

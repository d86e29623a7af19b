//! Blobs: whole, by range, gone.
//!
//! Spec: distribution-spec 1.1.1, "Pulling blobs".

use axum::http::header::IF_NONE_MATCH;
use tofu_oci_types::Digest;

use super::behaviour::{Deletion, Switch};
use super::endpoint::Endpoint;
use crate::fault::{Answer, RequestHead};
use crate::ranges;

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
    ranges::give(head, &etag, bytes, answer)
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

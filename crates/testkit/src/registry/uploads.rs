//! Upload sessions: begin (or mount), append, finish, cancel.
//!
//! Spec: distribution-spec 1.1.1, "Pushing blobs".

use axum::http::header::CONTENT_RANGE;
use bytes::Bytes;
use tofu_oci_types::Digest;

use super::behaviour::{Behaviour, Chunks, Location, Mounting, Switch};
use super::endpoint::{Endpoint, Incoming};
use super::query;
use crate::fault::{Answer, RequestHead};

pub(crate) async fn begin(
    endpoint: &Endpoint,
    repository: &str,
    head: &RequestHead,
    incoming: &mut Incoming,
) -> Answer {
    let behaviour = endpoint.behaviour();
    if !endpoint.content.lock().takes(repository, &behaviour.names) {
        return behaviour.names.refusal(repository);
    }
    if let (Some(digest), Some(from), Mounting::Supported) =
        (query::value(&head.query, "mount"), query::value(&head.query, "from"), behaviour.mounting)
    {
        let mut content = endpoint.content.lock();
        if let Some(bytes) = content.blob(&from, &digest) {
            content.repository(repository).blobs.insert(digest.clone(), bytes);
            return stored(endpoint, &behaviour, head, repository, &digest);
        }
    }
    let digest = query::value(&head.query, "digest");
    if let (Some(digest), Switch::On) = (digest, behaviour.single_post) {
        let Ok(bytes) = incoming.read_all().await else { return cut_short() };
        return store(endpoint, &behaviour, head, repository, &digest, bytes);
    }
    let id = endpoint.content.lock().begin_upload(repository);
    let answer = session(endpoint, &behaviour, head, Session { repository, id: &id, status: 202, length: 0, state: 1 });
    match behaviour.chunk_min_length {
        Some(length) => answer.header("OCI-Chunk-Min-Length", length.to_string()),
        None => answer,
    }
}

pub(crate) fn status(endpoint: &Endpoint, repository: &str, id: &str, head: &RequestHead) -> Answer {
    let (length, state) = match open(endpoint, repository, id, head) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    session(endpoint, &endpoint.behaviour(), head, Session { repository, id, status: 204, length, state })
}

pub(crate) async fn append(
    endpoint: &Endpoint,
    repository: &str,
    id: &str,
    head: &RequestHead,
    incoming: &mut Incoming,
) -> Answer {
    let behaviour = endpoint.behaviour();
    let (length, state) = match open(endpoint, repository, id, head) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let range = head.headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let first = range.and_then(|range| range.split_once('-')).and_then(|(first, _)| first.parse::<usize>().ok());
    if behaviour.content_range == Switch::On && range.is_some() && first != Some(length) {
        return session(endpoint, &behaviour, head, Session { repository, id, status: 416, length, state });
    }
    let Ok(mut bytes) = incoming.read_all().await else {
        endpoint.content.lock().uploads.remove(id);
        return cut_short();
    };
    if let Some(keep) = incoming.keep_only {
        bytes.truncate(usize::try_from(keep).unwrap_or(usize::MAX));
    }
    let earlier = endpoint.content.lock().uploads.get(id).map_or(0, |upload| upload.chunks);
    match behaviour.chunks {
        Chunks::FirstAlone(refused) if earlier > 0 => return refused.answer(repository, "", ""),
        Chunks::AtMost(most) if range.is_some() && bytes.len() > most => {
            return session(endpoint, &behaviour, head, Session { repository, id, status: 416, length, state });
        }
        Chunks::FirstKept if earlier > 0 => bytes.clear(),
        _ => {}
    }
    let mut content = endpoint.content.lock();
    let Some(upload) = content.uploads.get_mut(id).filter(|upload| upload.state == state) else { return unknown() };
    upload.bytes.extend_from_slice(&bytes);
    upload.state += 1;
    upload.chunks += 1;
    let (length, state) = (upload.bytes.len(), upload.state);
    drop(content);
    session(endpoint, &behaviour, head, Session { repository, id, status: behaviour.patch_status, length, state })
}

pub(crate) async fn finish(
    endpoint: &Endpoint,
    repository: &str,
    id: &str,
    head: &RequestHead,
    incoming: &mut Incoming,
) -> Answer {
    if let Err(refusal) = open(endpoint, repository, id, head) {
        return refusal;
    }
    let Ok(last) = incoming.read_all().await else {
        endpoint.content.lock().uploads.remove(id);
        return cut_short();
    };
    let Some(upload) = endpoint.content.lock().uploads.remove(id) else { return unknown() };
    let mut bytes = upload.bytes;
    bytes.extend_from_slice(&last);
    let digest = query::value(&head.query, "digest").unwrap_or_default();
    store(endpoint, &endpoint.behaviour(), head, repository, &digest, bytes)
}

pub(crate) fn cancel(endpoint: &Endpoint, repository: &str, id: &str, head: &RequestHead) -> Answer {
    if let Err(refusal) = open(endpoint, repository, id, head) {
        return refusal;
    }
    endpoint.content.lock().uploads.remove(id);
    Answer::new(204)
}

/// Length and state of the session, when the URL is the one that was handed out last.
fn open(endpoint: &Endpoint, repository: &str, id: &str, head: &RequestHead) -> Result<(usize, u64), Answer> {
    let content = endpoint.content.lock();
    let upload = content.uploads.get(id).filter(|upload| upload.repository == repository).ok_or_else(unknown)?;
    let state = query::value(&head.query, "_state").and_then(|state| state.parse::<u64>().ok());
    if state != Some(upload.state) {
        return Err(Answer::error(404, "BLOB_UPLOAD_INVALID", "blob upload invalid"));
    }
    Ok((upload.bytes.len(), upload.state))
}

fn store(
    endpoint: &Endpoint,
    behaviour: &Behaviour,
    head: &RequestHead,
    repository: &str,
    digest: &str,
    bytes: Vec<u8>,
) -> Answer {
    let invalid = || Answer::error(400, "DIGEST_INVALID", "provided digest did not match uploaded content");
    let Ok(digest) = digest.parse::<Digest>() else { return invalid() };
    if !digest.matches(&bytes) {
        return invalid();
    }
    let canonical = Digest::sha256(&bytes).to_string();
    let bytes = Bytes::from(bytes);
    let mut content = endpoint.content.lock();
    let blobs = &mut content.repository(repository).blobs;
    blobs.insert(digest.to_string(), bytes.clone());
    blobs.insert(canonical.clone(), bytes);
    drop(content);
    stored(endpoint, behaviour, head, repository, &canonical)
}

fn stored(endpoint: &Endpoint, behaviour: &Behaviour, head: &RequestHead, repository: &str, digest: &str) -> Answer {
    let location = location(endpoint, behaviour, head, &format!("/v2/{repository}/blobs/{digest}"));
    let answer = Answer::new(201).header("Location", location);
    if behaviour.digest_header == Switch::On { answer.header("Docker-Content-Digest", digest) } else { answer }
}

#[derive(Clone, Copy)]
struct Session<'a> {
    repository: &'a str,
    id: &'a str,
    status: u16,
    length: usize,
    state: u64,
}

fn session(endpoint: &Endpoint, behaviour: &Behaviour, head: &RequestHead, session: Session<'_>) -> Answer {
    let Session { repository, id, status, length, state } = session;
    let path = format!("/v2/{repository}/blobs/uploads/{id}?_state={state}");
    Answer::new(status)
        .header("Location", location(endpoint, behaviour, head, &path))
        .header("Range", format!("0-{}", length.saturating_sub(1)))
        .header("Docker-Upload-Uuid", id)
}

fn location(endpoint: &Endpoint, behaviour: &Behaviour, head: &RequestHead, path: &str) -> String {
    // A blob host's own sessions stay below its prefix.
    let below = head.path.strip_prefix("/signed/").map_or("", |_| "/signed");
    match &behaviour.location {
        Location::Elsewhere(prefix) if path.contains("/blobs/uploads/") => format!("{prefix}{path}"),
        Location::Absolute | Location::Elsewhere(_) => format!("{}{below}{path}", endpoint.origin),
        Location::Relative => format!("{below}{path}"),
    }
}

fn unknown() -> Answer {
    Answer::error(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry")
}

fn cut_short() -> Answer {
    Answer::error(400, "BLOB_UPLOAD_INVALID", "the body ended early")
}

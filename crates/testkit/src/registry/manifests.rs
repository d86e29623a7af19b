//! Manifests, tags and referrers.
//!
//! Spec: distribution-spec 1.1.1, "Pulling manifests", "Pushing manifests", "Listing referrers", "Listing tags".

use axum::http::header::{ACCEPT, CONTENT_TYPE, IF_NONE_MATCH};
use serde_json::{Value, json};
use tofu_oci_types::Digest;

use super::behaviour::{Behaviour, Deletion, ListedType, Location, Paging, ReferrersSupport, Switch, Tags, Types};
use super::content::{ContentState, StoredManifest};
use super::endpoint::{Endpoint, Incoming};
use super::query;
use crate::fault::{Answer, RequestHead};

const MANIFEST_TYPES: [&str; 4] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];
const LARGEST: usize = 4 * 1024 * 1024;

pub(crate) fn get(endpoint: &Endpoint, repository: &str, reference: &str, head: &RequestHead) -> Answer {
    let behaviour = endpoint.behaviour();
    let alias = reference.replacen('-', ":", 1).parse::<Digest>().ok().map(|digest| digest.to_string());
    let reference = alias.as_deref().filter(|_| behaviour.digest_alias == Switch::On).unwrap_or(reference);
    let Some((digest, manifest)) = endpoint.content.lock().manifest(repository, reference) else { return unknown() };
    let accepted = head.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut accepted = accepted.flat_map(|value| value.split(',')).map(essence);
    if behaviour.accept_check == Switch::On && !accepted.any(|one| one == manifest.media_type) {
        return Answer::error(404, "MANIFEST_UNKNOWN", "manifest found, but accept header does not support it");
    }
    let etag = format!("\"{digest}\"");
    let status = if head.headers.get(IF_NONE_MATCH).is_some_and(|tag| tag == etag.as_str()) { 304 } else { 200 };
    let answer = Answer::new(status).header("Content-Type", manifest.media_type).header("Etag", etag);
    let has_digest = behaviour.digest_header == Switch::On;
    let answer = if has_digest { answer.header("Docker-Content-Digest", digest) } else { answer };
    answer.body(manifest.bytes)
}

pub(crate) async fn put(
    endpoint: &Endpoint,
    repository: &str,
    reference: &str,
    head: &RequestHead,
    incoming: &mut Incoming,
) -> Answer {
    let Ok(bytes) = incoming.read_all().await else { return Answer::text(400, "unexpected EOF\n") };
    let behaviour = endpoint.behaviour();
    let media_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map_or("", essence);
    let digest = Digest::sha256(&bytes);
    let asked: Option<Digest> = reference.parse().ok();
    if asked.as_ref().is_some_and(|asked| !asked.matches(&bytes)) {
        return Answer::error(400, "DIGEST_INVALID", "provided digest did not match uploaded content");
    }
    let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut content = endpoint.content.lock();
    if !content.takes(repository, &behaviour.names) {
        return behaviour.names.refusal(repository);
    }
    let written = WrittenManifest { repository, reference, document: &document, digest: &digest };
    if let Err(refusal) = fits(&content, &behaviour, written) {
        return refusal;
    }
    if behaviour.manifest_check == Switch::On
        && let Err(refusal) = check(&content, repository, media_type, &document, bytes.len())
    {
        return refusal;
    }
    let stored = StoredManifest { media_type: media_type.to_owned(), bytes: bytes.into() };
    let entry = content.repository(repository);
    entry.manifests.insert(digest.to_string(), stored);
    if asked.is_none() {
        entry.tags.insert(reference.to_owned(), digest.to_string());
    }
    drop(content);
    let mut answer = Answer::new(201);
    if behaviour.digest_header == Switch::On {
        answer = answer.header("Docker-Content-Digest", digest.to_string());
    }
    if behaviour.manifest_location == Switch::On {
        let prefix = if behaviour.location == Location::Relative { "" } else { endpoint.origin.as_str() };
        answer = answer.header("Location", format!("{prefix}/v2/{repository}/manifests/{digest}"));
    }
    let says_subject = matches!(
        behaviour.referrers,
        ReferrersSupport::Supported | ReferrersSupport::SubjectHeaderOnly | ReferrersSupport::Losing
    );
    match document["subject"]["digest"].as_str() {
        Some(subject) if says_subject => answer.header("OCI-Subject", subject),
        _ => answer,
    }
}

/// A manifest that is being pushed.
#[derive(Clone, Copy)]
struct WrittenManifest<'a> {
    repository: &'a str,
    reference: &'a str,
    document: &'a Value,
    digest: &'a Digest,
}

/// What this registry alone minds: moved tags, types that it does not list, subjects that are not there.
fn fits(content: &ContentState, behaviour: &Behaviour, written: WrittenManifest<'_>) -> Result<(), Answer> {
    let WrittenManifest { repository, reference, document, digest } = written;
    let tagged = content.repositories.get(repository).and_then(|repository| repository.tags.get(reference));
    let refused = match (behaviour.tags, tagged) {
        (Tags::WrittenOnce(refused), Some(_)) => Some(refused),
        (Tags::Fixed(refused), Some(tagged)) if *tagged != digest.to_string() => Some(refused),
        _ => None,
    };
    if let Some(refused) = refused {
        return Err(refused.answer(repository, reference, ""));
    }
    if let Types::Listed(listed, refused) = behaviour.types {
        let named = [&document["artifactType"], &document["config"]["mediaType"]];
        let unknown = named.into_iter().filter_map(Value::as_str).find(|kind| !listed.contains(kind));
        if let Some(unknown) = unknown {
            return Err(refused.answer(repository, reference, unknown));
        }
    }
    match document["subject"]["digest"].as_str() {
        Some(subject) if behaviour.subject_check == Switch::On && content.manifest(repository, subject).is_none() => {
            Err(Answer::error(404, "MANIFEST_BLOB_UNKNOWN", "blob unknown to registry"))
        }
        _ => Ok(()),
    }
}

/// What registry:2 checks: type, size, JSON, equal media types, children present.
fn check(
    content: &ContentState,
    repository: &str,
    media_type: &str,
    document: &Value,
    size: usize,
) -> Result<(), Answer> {
    let invalid = |message: &str| Err(Answer::error(400, "MANIFEST_INVALID", message));
    if size > LARGEST {
        return invalid("http: request body too large");
    }
    if !MANIFEST_TYPES.contains(&media_type) || !document.is_object() {
        return invalid("manifest invalid");
    }
    if document["mediaType"].as_str().is_some_and(|inside| inside != media_type) {
        return invalid("if present, mediaType in manifest must be that of the content type");
    }
    let digests = |name: &str| -> Vec<String> {
        let entries = document[name].as_array().cloned().unwrap_or_default();
        entries.iter().filter_map(|entry| entry["digest"].as_str().map(ToOwned::to_owned)).collect()
    };
    let mut blobs = digests("layers");
    blobs.extend(document["config"]["digest"].as_str().map(ToOwned::to_owned));
    let missing_blob = blobs.iter().find(|digest| content.blob(repository, digest).is_none());
    let children = digests("manifests");
    let missing_child = children.iter().find(|digest| content.manifest(repository, digest).is_none());
    match missing_blob.or(missing_child) {
        Some(digest) => {
            let detail = json!({"errors": [{"code": "MANIFEST_BLOB_UNKNOWN", "message": "blob unknown to registry", "detail": {"digest": digest}}]});
            Err(Answer::new(400).header("Content-Type", "application/json; charset=utf-8").body(detail.to_string()))
        }
        None => Ok(()),
    }
}

pub(crate) fn delete(endpoint: &Endpoint, repository: &str, reference: &str) -> Answer {
    let behaviour = endpoint.behaviour();
    let unsupported = || Answer::error(405, "UNSUPPORTED", "The operation is unsupported.");
    let by_tag = reference.parse::<Digest>().is_err();
    match (behaviour.deletion, by_tag) {
        (Deletion::Disabled, _) | (Deletion::TagsAlone | Deletion::ManifestsByTag, false) => return unsupported(),
        (Deletion::Enabled, true) => {
            return Answer::error(400, "DIGEST_INVALID", "provided digest did not match uploaded content");
        }
        _ => {}
    }
    let mut content = endpoint.content.lock();
    let entry = content.repository(repository);
    let digest = if by_tag { entry.tags.get(reference).cloned().unwrap_or_default() } else { reference.to_owned() };
    let tagged = entry.tags.iter().find(|(_, tagged)| **tagged == digest).map(|(tag, _)| tag.clone());
    if let (Tags::Fixed(refused) | Tags::WrittenOnce(refused), Some(tag)) = (behaviour.tags, tagged) {
        return refused.answer(repository, &tag, "");
    }
    let takes_all = matches!(behaviour.deletion, Deletion::Manifests | Deletion::ManifestsByTag);
    let found = if by_tag && !takes_all {
        entry.tags.remove(reference).is_some()
    } else {
        entry.tags.retain(|_, tagged| *tagged != digest);
        entry.manifests.remove(&digest).is_some()
    };
    if found { Answer::new(202) } else { unknown() }
}

pub(crate) fn tags(endpoint: &Endpoint, repository: &str, head: &RequestHead) -> Answer {
    let behaviour = endpoint.behaviour();
    let wanted = query::value(&head.query, "n").and_then(|n| n.parse::<usize>().ok());
    if behaviour.largest_n.zip(wanted).is_some_and(|(largest, wanted)| wanted > largest) {
        return Answer::error(400, "PAGINATION_NUMBER_INVALID", "invalid number of results requested");
    }
    let content = endpoint.content.lock();
    let known =
        content.repositories.get(repository).filter(|entry| !entry.manifests.is_empty() || !entry.tags.is_empty());
    if known.is_none() && content.made.contains(repository) {
        return json_answer(&json!({"name": repository, "tags": []}), "application/json; charset=utf-8");
    }
    let Some(entry) = known else {
        return Answer::error(404, "NAME_UNKNOWN", "repository name not known to registry");
    };
    let mut tags: Vec<&String> = entry.tags.keys().collect();
    let (page, absolute) = match behaviour.paging {
        Paging::Ignored => {
            // In no order, but in the same one each time.
            tags.sort_by_key(|tag| tag.chars().rev().collect::<String>());
            return list(repository, &tags);
        }
        Paging::Relative(page) => (page, ""),
        Paging::Absolute(page) => (page, endpoint.origin.as_str()),
    };
    let page = wanted.unwrap_or(page).min(page);
    if let Some(last) = query::value(&head.query, "last") {
        tags.retain(|tag| **tag > last);
    }
    let more = tags.len() > page;
    tags.truncate(page);
    let answer = list(repository, &tags);
    match tags.last() {
        Some(last) if more => {
            let next = format!("<{absolute}/v2/{repository}/tags/list?last={last}&n={page}>; rel=\"next\"");
            answer.header("Link", next)
        }
        _ => answer,
    }
}

fn list(repository: &str, tags: &[&String]) -> Answer {
    // As registry:2 does, a repository without tags has the list `null`.
    let tags = if tags.is_empty() { Value::Null } else { json!(tags) };
    json_answer(&json!({"name": repository, "tags": tags}), "application/json; charset=utf-8")
}

pub(crate) fn catalog(endpoint: &Endpoint) -> Answer {
    let content = endpoint.content.lock();
    let names: Vec<&String> = content.repositories.keys().collect();
    json_answer(&json!({"repositories": names}), "application/json; charset=utf-8")
}

pub(crate) fn referrers(endpoint: &Endpoint, repository: &str, digest: &Digest, head: &RequestHead) -> Answer {
    if matches!(endpoint.behaviour().referrers, ReferrersSupport::Unsupported | ReferrersSupport::SubjectHeaderOnly) {
        return Answer::text(404, "404 page not found\n");
    }
    let wanted = query::value(&head.query, "artifactType");
    let content = endpoint.content.lock();
    let mut found = Vec::new();
    let lists = !matches!(endpoint.behaviour().referrers, ReferrersSupport::EmptyList | ReferrersSupport::Losing);
    for (own, manifest) in content.repositories.get(repository).iter().flat_map(|entry| &entry.manifests) {
        let document: Value = serde_json::from_slice(&manifest.bytes).unwrap_or_default();
        if !lists || document["subject"]["digest"].as_str() != Some(digest.as_str()) {
            continue;
        }
        let kind = document["artifactType"].as_str().or_else(|| document["config"]["mediaType"].as_str());
        if wanted.is_some() && kind != wanted.as_deref() {
            continue;
        }
        let mut entry = json!({"mediaType": manifest.media_type, "digest": own, "size": manifest.bytes.len()});
        let listed = match endpoint.behaviour().listed_type {
            ListedType::Own => kind,
            ListedType::OfConfig => document["config"]["mediaType"].as_str(),
            ListedType::Missing => None,
        };
        if let Some(listed) = listed {
            entry["artifactType"] = json!(listed);
        }
        if document["annotations"].is_object() {
            entry["annotations"] = document["annotations"].clone();
        }
        found.push(entry);
    }
    let index = json!({"schemaVersion": 2, "mediaType": MANIFEST_TYPES[0], "manifests": found});
    let answer = json_answer(&index, MANIFEST_TYPES[0]);
    if wanted.is_some() { answer.header("OCI-Filters-Applied", "artifactType") } else { answer }
}

fn json_answer(document: &Value, media_type: &str) -> Answer {
    Answer::new(200).header("Content-Type", media_type).body(document.to_string())
}

/// A media type without its parameters.
fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

fn unknown() -> Answer {
    Answer::error(404, "MANIFEST_UNKNOWN", "manifest unknown")
}

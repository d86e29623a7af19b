//! Which path means what, and what it needs.
//!
//! Spec: distribution-spec 1.1.1, "Endpoints".

use axum::http::header::AUTHORIZATION;
use tofu_oci_types::{Digest, Tag};

use super::auth::NeededAccess;
use super::endpoint::{Endpoint, Incoming, Role};
use super::{blobs, manifests, query, uploads};
use crate::fault::{Answer, RequestHead};

/// A parsed path below `/v2/`.
#[derive(Debug)]
enum ApiRoute<'a> {
    Base,
    Catalog,
    Tags(&'a str),
    Manifest(&'a str, &'a str),
    Referrers(&'a str, Digest),
    Blob(&'a str, Digest),
    Uploads(&'a str),
    Upload(&'a str, &'a str),
}

pub(crate) async fn answer(endpoint: &Endpoint, head: &RequestHead, incoming: &mut Incoming) -> Answer {
    let path = match &endpoint.role {
        Role::Registry | Role::Token if head.path == endpoint.auth.token_path() => {
            let Ok(body) = incoming.read_all().await else { return Answer::text(400, "unexpected EOF\n") };
            return endpoint.auth.token(head, &body);
        }
        Role::Web(pages) => {
            let Ok(body) = incoming.read_all().await else { return Answer::text(400, "unexpected EOF\n") };
            return pages.answer(head, &body);
        }
        Role::Token => return Answer::not_found(),
        Role::Registry => head.path.as_str(),
        Role::BlobHost if head.headers.contains_key(AUTHORIZATION) => {
            let text = "<Error><Code>InvalidArgument</Code><Message>Only one auth mechanism allowed</Message></Error>";
            return Answer::new(400).header("Content-Type", "application/xml").body(text);
        }
        Role::BlobHost => head.path.strip_prefix("/signed").unwrap_or_default(),
    };
    let Some(route) = parse(path) else {
        if path.ends_with("/blobs/uploads") {
            return Answer::new(301).header("Location", format!("{path}/"));
        }
        return Answer::not_found();
    };
    let needed = needed(&route, head, endpoint.behaviour().tags_action);
    if let Err(refusal) = endpoint.auth.check(head, &needed) {
        return refusal;
    }
    match (head.method.as_str(), route) {
        ("GET" | "HEAD", ApiRoute::Base) => Answer::new(200)
            .header("Content-Type", "application/json; charset=utf-8")
            .header("Docker-Distribution-Api-Version", "registry/2.0")
            .body("{}"),
        ("GET", ApiRoute::Catalog) => manifests::catalog(endpoint),
        ("GET", ApiRoute::Tags(repository)) => manifests::tags(endpoint, repository, head),
        ("GET" | "HEAD", ApiRoute::Manifest(repository, reference)) => {
            manifests::get(endpoint, repository, reference, head)
        }
        ("PUT", ApiRoute::Manifest(repository, reference)) => {
            manifests::put(endpoint, repository, reference, head, incoming).await
        }
        ("DELETE", ApiRoute::Manifest(repository, reference)) => manifests::delete(endpoint, repository, reference),
        ("GET", ApiRoute::Referrers(repository, digest)) => manifests::referrers(endpoint, repository, &digest, head),
        ("GET" | "HEAD", ApiRoute::Blob(repository, digest)) => blobs::get(endpoint, repository, &digest, head),
        ("DELETE", ApiRoute::Blob(repository, digest)) => blobs::delete(endpoint, repository, &digest),
        ("POST", ApiRoute::Uploads(repository)) => uploads::begin(endpoint, repository, head, incoming).await,
        ("GET", ApiRoute::Upload(repository, id)) => uploads::status(endpoint, repository, id, head),
        ("PATCH", ApiRoute::Upload(repository, id)) => uploads::append(endpoint, repository, id, head, incoming).await,
        ("PUT", ApiRoute::Upload(repository, id)) => uploads::finish(endpoint, repository, id, head, incoming).await,
        ("DELETE", ApiRoute::Upload(repository, id)) => uploads::cancel(endpoint, repository, id, head),
        _ => Answer::error(405, "UNSUPPORTED", "The operation is unsupported."),
    }
}

fn needed(route: &ApiRoute<'_>, head: &RequestHead, tags_action: Option<&str>) -> Vec<NeededAccess> {
    let repository = match route {
        ApiRoute::Base => return Vec::new(),
        ApiRoute::Catalog => return vec![NeededAccess::catalog()],
        ApiRoute::Tags(name)
        | ApiRoute::Manifest(name, _)
        | ApiRoute::Referrers(name, _)
        | ApiRoute::Blob(name, _)
        | ApiRoute::Uploads(name)
        | ApiRoute::Upload(name, _) => name,
    };
    let actions: &[&str] = match head.method.as_str() {
        "GET" | "HEAD" => &["pull"],
        "DELETE" => &["delete"],
        _ => &["pull", "push"],
    };
    let actions: Vec<&str> = match route {
        ApiRoute::Tags(_) => actions.iter().copied().chain(tags_action).collect(),
        _ => actions.to_vec(),
    };
    let mut needed = vec![NeededAccess::repository(repository, &actions)];
    if let (ApiRoute::Uploads(_), Some(from)) = (route, query::value(&head.query, "from")) {
        needed.push(NeededAccess::repository(&from, &["pull"]));
    }
    needed
}

fn parse(path: &str) -> Option<ApiRoute<'_>> {
    let rest = path.strip_prefix("/v2/")?;
    if rest.is_empty() {
        return Some(ApiRoute::Base);
    }
    if rest == "_catalog" {
        return Some(ApiRoute::Catalog);
    }
    let named = |name: &str| is_repository_name(name);
    if let Some(name) = rest.strip_suffix("/tags/list").filter(|name| named(name)) {
        return Some(ApiRoute::Tags(name));
    }
    if let Some((name, id)) = rest.rsplit_once("/blobs/uploads/").filter(|(name, _)| named(name)) {
        return Some(if id.is_empty() { ApiRoute::Uploads(name) } else { ApiRoute::Upload(name, id) });
    }
    let (rest, last) = rest.rsplit_once('/')?;
    let (name, kind) = rest.rsplit_once('/').filter(|(name, _)| named(name))?;
    match kind {
        "blobs" => Some(ApiRoute::Blob(name, last.parse().ok()?)),
        "referrers" => Some(ApiRoute::Referrers(name, last.parse().ok()?)),
        "manifests" if last.parse::<Tag>().is_ok() || last.parse::<Digest>().is_ok() => {
            Some(ApiRoute::Manifest(name, last))
        }
        _ => None,
    }
}

/// The grammar of repository names: `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*` between slashes.
fn is_repository_name(name: &str) -> bool {
    name.split('/').all(|part| {
        let mut words = part.split(|letter: char| !letter.is_ascii_alphanumeric());
        let lower = part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
        let edges = words.clone().next().is_some_and(|word| !word.is_empty())
            && words.next_back().is_some_and(|word| !word.is_empty());
        let separators = part.split(|letter: char| letter.is_ascii_alphanumeric()).filter(|text| !text.is_empty());
        let mut separators = separators.map(|text| matches!(text, "." | "_" | "__") || text.bytes().all(|b| b == b'-'));
        lower && edges && separators.all(|good| good)
    })
}

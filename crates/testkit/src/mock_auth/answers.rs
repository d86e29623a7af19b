//! How the mock answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use axum::http::header::HOST;
use serde_json::{Value, json};

use super::arrival::{Arrival, ArrivalKind, ShownLogin};
use super::releases::{MockRelease, MockReleases};
use super::script::{MockScheme, MockScript};
use crate::fault::{Answer, RequestHead};
use crate::registry::query::values;

/// The mock's state, shared by all of its listeners.
#[derive(Debug)]
pub(super) struct World {
    pub(super) script: MockScript,
    pub(super) releases: MockReleases,
    /// The provider types of repositories that hold another one than the first.
    pub(super) holds: BTreeMap<String, String>,
    pub(super) memory: Mutex<MockMemory>,
}

/// What has happened so far.
#[derive(Debug, Default)]
pub(super) struct MockMemory {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) issued: Vec<String>,
    dead: BTreeSet<ShownLogin>,
    refused_once: bool,
}

/// A request taken apart.
struct MockRequest<'a> {
    head: &'a RequestHead,
    kind: ArrivalKind,
    host: String,
    repository: String,
    /// A tag or a digest.
    reference: String,
    shown: ShownLogin,
}

impl World {
    /// Answers a request that came over `https` or `http`.
    pub(super) fn answer(&self, scheme: &str, head: &RequestHead, body: &[u8]) -> Answer {
        let asked = self.take_apart(scheme, head, body);
        let answer = match asked.kind {
            ArrivalKind::Token | ArrivalKind::TokenTarget => self.token(&asked),
            ArrivalKind::Cdn => self.cdn(&asked),
            _ => self.registry(&asked),
        };
        self.memory().arrivals.push(Arrival {
            kind: asked.kind,
            host: asked.host,
            repository: asked.repository,
            shown: asked.shown,
            scopes: values(&format!("{}&{}", head.query, String::from_utf8_lossy(body)), "scope"),
            status: answer.status,
        });
        answer
    }

    pub(super) fn memory(&self) -> std::sync::MutexGuard<'_, MockMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_apart<'a>(&self, scheme: &str, head: &'a RequestHead, body: &[u8]) -> MockRequest<'a> {
        let host = head.headers.get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
        let host = host.unwrap_or_default();
        let shown = ShownLogin::of(head, body);
        let asked = |kind, repository: &str, reference: &str| MockRequest {
            head,
            kind,
            host: host.clone(),
            repository: repository.to_owned(),
            reference: reference.to_owned(),
            shown: shown.clone(),
        };
        if let Some(digest) = head.path.strip_prefix("/cdn/") {
            return asked(ArrivalKind::Cdn, "", digest);
        }
        let Some(path) = head.path.strip_prefix("/v2/") else {
            let here = format!("{scheme}://{host}{}", head.path);
            let target = self.script.token.redirect.as_deref().and_then(|target| target.split('?').next());
            let kind = if target == Some(here.as_str()) { ArrivalKind::TokenTarget } else { ArrivalKind::Token };
            return asked(kind, "", "");
        };
        if let Some(repository) = path.strip_suffix("/tags/list") {
            return asked(ArrivalKind::Tags, repository, "");
        }
        for (word, kind) in [("/manifests/", ArrivalKind::Manifest), ("/blobs/", ArrivalKind::Blob)] {
            if let Some((repository, reference)) = path.rsplit_once(word) {
                return asked(kind, repository, reference);
            }
        }
        asked(ArrivalKind::Ping, "", "")
    }

    fn registry(&self, asked: &MockRequest<'_>) -> Answer {
        let challenge = || {
            let lines = self.script.challenges(&asked.repository);
            let answer = Answer::error(401, "UNAUTHORIZED", "authentication required");
            lines.into_iter().fold(answer, |answer, line| answer.header("WWW-Authenticate", line))
        };
        match self.script.status.get(&asked.kind) {
            Some(401) if !self.script.bare401 => return challenge(),
            Some(status) => return scripted(*status),
            None => {}
        }
        if self.script.demands(asked.kind) && !self.lets_in(asked) {
            return challenge();
        }
        self.content(asked)
    }

    /// Whether what was shown opens the door.
    fn lets_in(&self, asked: &MockRequest<'_>) -> bool {
        let (scheme, login) = match &asked.shown {
            ShownLogin::Basic(login) => (MockScheme::Basic, login),
            ShownLogin::Bearer(token) => (MockScheme::Bearer, token),
            _ => return false,
        };
        let mut memory = self.memory();
        let accepted = self.script.accept.as_ref().is_none_or(|accept| accept.contains(login));
        if !accepted || !self.script.knows(scheme) || memory.dead.contains(&asked.shown) {
            return false;
        }
        if self.script.once == Some(asked.kind) && !memory.refused_once {
            memory.refused_once = true;
            if scheme == MockScheme::Bearer {
                memory.dead.insert(asked.shown.clone());
            }
            return false;
        }
        true
    }

    fn content(&self, asked: &MockRequest<'_>) -> Answer {
        let release = self.releases.get(self.holds.get(&asked.repository).map(String::as_str));
        match asked.kind {
            ArrivalKind::Tags => json_answer(200, &json!({"name": asked.repository, "tags": MockRelease::tags()})),
            ArrivalKind::Manifest => match release.manifest_at(&asked.reference) {
                Some((digest, media_type, bytes)) => Answer::new(200)
                    .header("Content-Type", media_type)
                    .header("Docker-Content-Digest", digest)
                    .body(bytes.clone()),
                None => Answer::error(404, "MANIFEST_UNKNOWN", "manifest unknown"),
            },
            ArrivalKind::Blob => {
                if let Some(prefix) = &self.script.blob_redirect {
                    // The target knows content by its digest alone.
                    return Answer::new(307).header("Location", format!("{prefix}{}", asked.reference));
                }
                blob(release, &asked.reference)
            }
            _ => json_answer(200, &json!({})),
        }
    }

    /// The host that blobs are redirected to: it has the first release alone.
    fn cdn(&self, asked: &MockRequest<'_>) -> Answer {
        let refused = Answer::error(401, "UNAUTHORIZED", "authentication required");
        match self.script.cdn_challenge {
            Some(MockScheme::Basic) => refused.header("WWW-Authenticate", "Basic realm=\"cdn\""),
            Some(MockScheme::Bearer) => {
                let realm = format!("Bearer realm=\"{}\",service=\"cdn\"", super::script::REALM);
                refused.header("WWW-Authenticate", realm)
            }
            Some(MockScheme::None) | None => blob(self.releases.get(None), &asked.reference),
        }
    }

    fn token(&self, asked: &MockRequest<'_>) -> Answer {
        let script = &self.script.token;
        if let (Some(target), ArrivalKind::Token) = (&script.redirect, asked.kind) {
            let query = &asked.head.query;
            let location = if query.is_empty() { target.clone() } else { format!("{target}?{query}") };
            return Answer::new(302).header("Location", location);
        }
        if script.demand && asked.shown == ShownLogin::Nothing {
            return Answer::error(401, "UNAUTHORIZED", "log in to get a token");
        }
        let status = script.status.unwrap_or(200);
        match &script.body {
            Some(Value::String(text)) => {
                Answer::new(status).header("Content-Type", "application/json").body(text.clone())
            }
            Some(document) => json_answer(status, document),
            None if status >= 300 => Answer::error(status, "REFUSED", "no token"),
            None => {
                let mut memory = self.memory();
                let token = format!("mock-token-{}-of-the-token-server", memory.issued.len() + 1);
                memory.issued.push(token.clone());
                json_answer(status, &json!({"token": token, "access_token": token, "expires_in": 300}))
            }
        }
    }
}

fn blob(release: &MockRelease, digest: &str) -> Answer {
    match release.blob_at(digest) {
        Some(bytes) => Answer::new(200).header("Content-Type", "application/octet-stream").body(bytes.clone()),
        None => Answer::error(404, "BLOB_UNKNOWN", "blob unknown"),
    }
}

/// An answer that a script demands, in the words that registries use for it.
fn scripted(status: u16) -> Answer {
    match status {
        401 => Answer::error(401, "UNAUTHORIZED", "authentication required"),
        403 => Answer::error(403, "DENIED", "requested access to the resource is denied"),
        404 => Answer::error(404, "NAME_UNKNOWN", "repository name not known to registry"),
        429 => Answer::error(429, "TOOMANYREQUESTS", "too many requests"),
        _ => Answer::error(status, "UNKNOWN", "scripted"),
    }
}

fn json_answer(status: u16, document: &Value) -> Answer {
    Answer::new(status).header("Content-Type", "application/json").body(document.to_string())
}

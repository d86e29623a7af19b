//! Single requests and their bare answers, for a probe of a registry.
//!
//! Access, redirects, warnings and the masking of secrets are those of every other request; only these
//! differ: nothing is repeated, no status is an error, and nothing in an answer is interpreted.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use reqwest::Method;
use tofu_oci_http::{HeldUrl, clean, same_origin};
use tofu_oci_store::{ReadStore as _, StoreError, Transport};
use tofu_oci_types::{Digest, RepositoryRef, Tag};

use crate::answer::RegistryAnswer;
use crate::body::CallBody;
use crate::call::{CallTarget, RegistryCall};
use crate::client::RegistryClient;
use crate::fault::unreachable;
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;

/// Most bytes of an answer that are kept; a manifest of 4 MiB and what a registry wraps around it.
const KEPT: usize = 5 * 1024 * 1024;

/// One repository, asked in single requests that may write.
pub struct RawStore {
    store: RemoteStore,
}

/// What a raw request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawMethod {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
}

/// Where a raw request goes.
#[derive(Clone, Copy, Debug)]
pub enum RawTarget<'a> {
    /// Below `/v2/NAME/`, with its query. The caller makes sure that it follows the grammars.
    Path(&'a str),
    /// The location that the registry gave for an upload.
    Session(&'a RawLocation),
    /// The same, with the digest that ends the upload.
    Closing(&'a RawLocation, &'a Digest),
}

/// One request.
#[derive(Clone, Debug)]
pub struct RawRequest<'a> {
    pub method: RawMethod,
    pub target: RawTarget<'a>,
    /// Its headers; names in lower case.
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<Bytes>,
    /// The repository of the same registry that it takes a blob from.
    pub from: Option<&'a RepositoryRef>,
}

/// Where an upload goes on. Its query may hold secrets, so it is never shown.
#[derive(Clone)]
pub struct RawLocation {
    to: HeldUrl,
    elsewhere: bool,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    pub status: u16,
    /// The body, at most 5 MiB of it.
    pub body: Bytes,
    /// Where an upload goes on; an error if the rules forbid that address.
    pub location: Result<Option<RawLocation>, String>,
    headers: Vec<(String, String)>,
}

impl RegistryClient {
    /// A repository for single requests.
    pub fn raw(self: &Arc<Self>, repository: RepositoryRef) -> RawStore {
        RawStore { store: self.store(repository) }
    }
}

impl RawStore {
    pub fn repository(&self) -> &RepositoryRef {
        &self.store.repository
    }

    /// How the registry is reached. What was learned from earlier requests counts.
    pub async fn transport(&self) -> Transport {
        self.store.transport().await
    }

    /// Every tag: all pages of the list.
    ///
    /// # Errors
    /// Those of listing tags: any answer that is not a complete list.
    pub async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.store.list_tags().await
    }

    /// Makes the request once.
    ///
    /// # Errors
    /// If no answer comes, or a rule of access forbids the request. A status is never an error.
    pub async fn send(&self, request: RawRequest<'_>) -> Result<RawAnswer, StoreError> {
        let access = match request.from {
            Some(from) => RequestedAccess::mount(&self.store.repository, from.name()),
            None => self.store.push.clone(),
        };
        let target = match request.target {
            RawTarget::Path(path) => CallTarget::Registry(format!("/v2/{}/{path}", self.store.repository.name())),
            RawTarget::Session(location) => CallTarget::Address(location.to.clone()),
            RawTarget::Closing(location, digest) => {
                let mut to = location.to.clone();
                to.url.query_pairs_mut().append_pair("digest", digest.as_str());
                CallTarget::Address(to)
            }
        };
        let mut call = RegistryCall::to(request.method.into(), target, &access).once();
        for (name, value) in &request.headers {
            call = call.header(name, value);
        }
        if let Some(body) = &request.body {
            call = call.body(CallBody::Bytes(body));
        }
        let answer = self.store.client.send(&call).await.map_err(|error| self.store.scrub(error))?;
        self.read(answer).await.map_err(|error| self.store.scrub(error))
    }

    async fn read(&self, mut answer: RegistryAnswer) -> Result<RawAnswer, StoreError> {
        let status = answer.status();
        let location = match answer.header("location") {
            Some(_) if (200..300).contains(&status) => {
                let to = self.store.location(&answer).map_err(|error| error.to_string());
                to.map(|to| Some(RawLocation { elsewhere: !same_origin(&to.url, answer.url()), to }))
            }
            _ => Ok(None),
        };
        let scrubber = self.store.client.network.scrubber();
        let headers = answer.all_headers().iter().filter(|(name, _)| name.as_str() != "location");
        let headers = headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), scrubber.hide(value.to_str().ok()?))))
            .collect();
        let mut body = BytesMut::new();
        while let Some(piece) = answer.piece().await.map_err(|problem| unreachable(answer.place.clone(), problem))? {
            let room = KEPT - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.len() >= room {
                break;
            }
        }
        Ok(RawAnswer { status, body: body.freeze(), location, headers })
    }
}

impl RawLocation {
    /// Whether it lies on another origin than the registry.
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere
    }
}

impl std::fmt::Debug for RawLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawLocation").field("elsewhere", &self.elsewhere).finish_non_exhaustive()
    }
}

impl RawAnswer {
    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The status and the first error that the registry names, for people: `400 MANIFEST_INVALID`.
    pub fn summary(&self) -> String {
        let document: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let code = document["errors"][0]["code"].as_str().map(clean).filter(|code| !code.is_empty());
        match code {
            Some(code) if !self.is_success() => format!("{} {code}", self.status),
            _ => self.status.to_string(),
        }
    }
}

impl From<RawMethod> for Method {
    fn from(method: RawMethod) -> Self {
        match method {
            RawMethod::Get => Self::GET,
            RawMethod::Head => Self::HEAD,
            RawMethod::Post => Self::POST,
            RawMethod::Put => Self::PUT,
            RawMethod::Patch => Self::PATCH,
            RawMethod::Delete => Self::DELETE,
        }
    }
}

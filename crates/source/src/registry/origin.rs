//! Requests to an origin registry.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tofu_oci_http::{HostTokens, HttpAnswer, WebClient, WebRequest, host_of, shown_url};
use tofu_oci_layout::MAX_DOCUMENT;
use tofu_oci_types::{Event, Hostname, Place, Secret};
use url::Url;

use super::signature_demands::SignatureDemands;
use crate::{Failure, SourceError};

/// What the origin registries of a run share.
#[derive(Clone)]
pub struct RegistryAccess {
    pub web: WebClient,
    pub tokens: Arc<dyn HostTokens>,
    /// How long each try of a document may take; `--timeout` scales it.
    pub timeout: Duration,
    /// What their signatures must be.
    pub demands: SignatureDemands,
    /// The time that the expiry of their keys is compared with.
    pub now: SystemTime,
}

/// The registry of one host.
pub(crate) struct Origin {
    pub(crate) access: RegistryAccess,
    pub(crate) host: Hostname,
    pub(crate) place: Place,
    base: Url,
}

impl Origin {
    pub(crate) fn new(host: Hostname, base: Url, access: RegistryAccess) -> Self {
        Self { place: Place::from(&host), access, host, base }
    }

    /// The address of the service.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// A document of the protocol; `None` for 404.
    ///
    /// Spec: `opentofu-behaviour.md` §8.4.
    pub(crate) async fn document(&self, path: &str) -> Result<Option<HttpAnswer>, SourceError> {
        self.answer(path, &[200]).await.map_err(|failure| self.failed(failure))
    }

    /// An answer of the protocol with one of these statuses; `None` for 404. The token of the host goes along, wherever the
    /// service is, and no redirect takes it to another host.
    pub(crate) async fn answer(&self, path: &str, good: &[u16]) -> Result<Option<HttpAnswer>, Failure> {
        let url = self.url(path)?;
        let token = if self.may_see_tokens(&url) { self.access.tokens.token(&self.host).await? } else { None };
        let answer = self.get(url, "application/json", token.as_ref(), MAX_DOCUMENT).await?;
        match answer.status() {
            status if good.contains(&status) => Ok(Some(answer)),
            404 => Ok(None),
            status => Err(of_registry(Failure::of_status(status, &shown_url(answer.url())))),
        }
    }

    /// The address of a path of the protocol.
    pub(crate) fn url(&self, path: &str) -> Result<Url, Failure> {
        self.base.join(path).map_err(|error| {
            Failure::InvalidService(format!("{} cannot be followed by {path}: {error}", shown_url(&self.base)))
        })
    }

    /// A file that a document names. It gets no token.
    pub(crate) async fn file(&self, url: &Url, limit: usize) -> Result<Vec<u8>, SourceError> {
        let answer = self.get(url.clone(), "*/*", None, limit as u64).await.map_err(|failure| self.failed(failure))?;
        match answer.status() {
            200 => Ok(answer.body().to_vec()),
            // A 403 counts as a 401, as in the other answers of a registry.
            status @ (401 | 403) => Err(self.failed(Failure::PackageRefused {
                status: 401,
                problem: format!("{} answered {status}", shown_url(answer.url())),
            })),
            status => Err(self.failed(of_registry(Failure::of_status(status, &shown_url(answer.url()))))),
        }
    }

    async fn get(
        &self,
        url: Url,
        accept: &'static str,
        token: Option<&Secret>,
        limit: u64,
    ) -> Result<HttpAnswer, Failure> {
        let request = WebRequest { url, accept, token, timeout: self.access.timeout, limit };
        let answer = self.access.web.get(&request, |answer| answer.status() == 200).await;
        answer.map_err(|error| of_registry(Failure::from(&error)))
    }

    /// Plain HTTP shows a token to the whole way, so only hosts that the user names for it see one.
    fn may_see_tokens(&self, url: &Url) -> bool {
        url.scheme() == "https" || self.access.web.root(&host_of(url)).is_ok_and(|root| root.scheme() == url.scheme())
    }

    /// An error of this registry.
    pub(crate) fn failed(&self, failure: Failure) -> SourceError {
        SourceError::Failed { place: self.place.clone(), failure }
    }

    pub(crate) fn warn(&self, code: &'static str, text: String) {
        self.access.web.reporter().event(&Event::warning(code, text));
    }
}

/// `OpenTofu` takes a registry's 403 as 401.
///
/// Spec: `real-clients.md` §3 (measured).
fn of_registry(failure: Failure) -> Failure {
    match failure {
        Failure::Denied(text) => Failure::Unauthorized(text),
        other => other,
    }
}

//! Single documents over HTTP, for protocols that are not a registry's: the same connections, proxies and certificates.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Request, Response};
use tofu_oci_credentials::Secret;
use tofu_oci_store::NetworkFault;
use tofu_oci_types::{NoReporter, Reporter};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::body::Progress;
use crate::clean::{NetworkProblem, network_problem};
use crate::client::{ClientError, RegistryClient};
use crate::hosts::Hosts;
use crate::http::Http;
use crate::options::ClientOptions;
use crate::origin::{FromHttps, MAX_REDIRECTS, host_of, next_hop, same_origin};
use crate::token::bearer;
use crate::waiting::Waiting;
use crate::witness::shown_url;

/// Gets single documents. Nothing is retried, nothing is kept.
///
/// Redirects: at most 10; never from HTTPS to HTTP, nor to an address with a user info; the token stays with the origin
/// that it was meant for.
#[derive(Clone)]
pub struct WebClient {
    http: Arc<Http>,
    hosts: Arc<Hosts>,
    reporter: Arc<dyn Reporter>,
}

/// What to get.
#[derive(Debug)]
pub struct WebRequest<'a> {
    /// The address.
    pub url: Url,
    /// The value of `Accept`.
    pub accept: &'static str,
    /// What shows who asks, as a bearer token.
    pub token: Option<&'a Secret>,
    /// How long all of it may take: redirects and body included.
    pub timeout: Duration,
}

/// The head of the last answer, its body unread.
#[derive(Debug)]
pub struct WebAnswer {
    response: Response,
    deadline: Instant,
    timeout: Duration,
    now: SystemTime,
}

/// Why there is no document.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{url}: {problem}")]
pub struct WebError {
    /// The address that was asked last, without user info, query and fragment.
    pub url: String,
    /// The kind of fault.
    pub fault: WebFault,
    /// What happened, for people.
    pub problem: String,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebFault {
    /// The network's.
    Network(NetworkFault),
    /// A redirect to where no request may go, or too many of them.
    Redirect,
    /// The document is larger than the limit.
    TooLarge,
}

impl RegistryClient {
    /// A reader of single documents over this client's connections.
    pub fn web(&self) -> WebClient {
        let hosts = Arc::new(Hosts::new(&self.options.plain_http, &[]));
        WebClient { http: Arc::clone(&self.http), hosts, reporter: Arc::clone(&self.reporter) }
    }
}

impl WebClient {
    /// A reader with connections of its own.
    pub fn new(options: &ClientOptions) -> Result<Self, ClientError> {
        let hosts = Arc::new(Hosts::new(&options.plain_http, &[]));
        Ok(Self { http: Arc::new(Http::new(options)?), hosts, reporter: Arc::new(NoReporter) })
    }

    /// The root of a host: `https://HOST[:PORT]/`, or with `http:` where the options say that it speaks no TLS. Unlike a
    /// registry, a host of this machine is not asked which of the two it speaks.
    ///
    /// # Errors
    /// When the host cannot be in an address.
    pub fn root(&self, host: &str) -> Result<Url, WebError> {
        let secure = format!("https://{host}/");
        let address = |text: &str| {
            Url::parse(text).map_err(|error| {
                let problem = NetworkProblem::no_address(error);
                WebError { url: text.to_owned(), fault: WebFault::Network(problem.fault), problem: problem.text }
            })
        };
        let root = address(&secure)?;
        if self.hosts.names_as_plain(host) { address(&format!("http://{host}/")) } else { Ok(root) }
    }

    /// The last answer, after all redirects. Any status is an answer.
    pub async fn get(&self, request: &WebRequest<'_>) -> Result<WebAnswer, WebError> {
        let deadline = Instant::now() + request.timeout;
        let mut url = request.url.clone();
        let mut crossed = false;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.exchange(request, &url, crossed, deadline).await?;
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location.filter(|_| matches!(response.status().as_u16(), 301..=303 | 307 | 308))
            else {
                let (timeout, now) = (request.timeout, self.http.now());
                return Ok(WebAnswer { response, deadline, timeout, now });
            };
            let next =
                next_hop(&url, location, &self.hosts.plain_rule(&url, FromHttps::Refused)).map_err(|detour| {
                    let problem = format!("its redirect is not followed: {}", detour.problem);
                    WebError { url: shown_url(&url), fault: WebFault::Redirect, problem }
                })?;
            crossed |= !same_origin(&next, &request.url);
            url = next;
        }
        let problem = format!("it redirects more than {MAX_REDIRECTS} times");
        Err(WebError { url: shown_url(&request.url), fault: WebFault::Redirect, problem })
    }

    async fn exchange(
        &self,
        request: &WebRequest<'_>,
        url: &Url,
        crossed: bool,
        deadline: Instant,
    ) -> Result<Response, WebError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(request.accept));
        if let Some(token) = request.token.filter(|_| !crossed).and_then(bearer) {
            headers.insert(AUTHORIZATION, token);
        }
        let mut sent = Request::new(Method::GET, url.clone());
        *sent.headers_mut() = headers;
        tracing::debug!(method = "GET", host = host_of(url), path = url.path(), "request");
        let waiting = Waiting {
            http: Arc::clone(&self.http),
            reporter: Arc::clone(&self.reporter),
            host: host_of(url),
            request: format!("GET {}", url.path()),
            said: Arc::default(),
        };
        let progress = Progress::default();
        let answer = self.http.execute(sent, &progress, request.timeout, &waiting);
        match timeout_at(deadline, answer).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(no_answer)) => Err(network(url, no_answer.problem)),
            Err(_) => Err(network(url, NetworkProblem::timed_out("no answer", request.timeout))),
        }
    }
}

impl WebAnswer {
    /// The status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The address that answered, after all redirects: what relative addresses in the document are relative to. It may
    /// carry a query: [`WebAnswer::place`] is for people.
    pub fn url(&self) -> &Url {
        self.response.url()
    }

    /// The same without user info, query and fragment.
    pub fn place(&self) -> String {
        shown_url(self.response.url())
    }

    /// The value of `Content-Type` as it came.
    pub fn content_type(&self) -> Option<&str> {
        self.response.headers().get(CONTENT_TYPE)?.to_str().ok()
    }

    /// The body, when it has no more than `limit` bytes.
    pub async fn read(mut self, limit: u64) -> Result<Bytes, WebError> {
        let url = self.response.url().clone();
        let too_large = || {
            let problem = format!("its answer is larger than {limit} bytes");
            WebError { url: shown_url(&url), fault: WebFault::TooLarge, problem }
        };
        let announced = self.response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: u64| length > limit) {
            return Err(too_large());
        }
        let mut bytes = BytesMut::new();
        loop {
            match timeout_at(self.deadline, self.response.chunk()).await {
                Ok(Ok(Some(piece))) if bytes.len() as u64 + piece.len() as u64 > limit => return Err(too_large()),
                Ok(Ok(Some(piece))) => bytes.extend_from_slice(&piece),
                Ok(Ok(None)) => return Ok(bytes.freeze()),
                Ok(Err(error)) => return Err(network(&url, network_problem(error, self.now))),
                Err(_) => return Err(network(&url, NetworkProblem::timed_out("no end of the answer", self.timeout))),
            }
        }
    }
}

fn network(url: &Url, problem: NetworkProblem) -> WebError {
    WebError { url: shown_url(url), fault: WebFault::Network(problem.fault), problem: problem.text }
}

//! Single documents over HTTP, for protocols that are not a registry's: the same connections, proxies and certificates.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER,
};
use reqwest::{Method, Request, Response};
use tofu_oci_types::{Event, NoReporter, Reporter};
use tofu_oci_types::{NetworkFault, Secret};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::body::Progress;
use crate::clean::{NetworkProblem, network_problem};
use crate::client::{ClientError, RegistryClient};
use crate::exchange::shown_url;
use crate::hosts::Hosts;
use crate::http::Http;
use crate::limits::Limits;
use crate::named::NamedHosts;
use crate::options::ClientOptions;
use crate::origin::{FromHttps, MAX_REDIRECTS, host_of, next_hop, same_origin};
use crate::retry::{Asked, Attempts, Next, is_transient, retry_after};
use crate::token::bearer;
use crate::waiting::Waiting;

/// Gets single documents. What may pass is tried again, as with a registry; nothing is kept.
///
/// Redirects: at most 10; never from HTTPS to HTTP, nor to an address with a user info; the token stays with the origin
/// that it was meant for; never nearer, from the internet to a private network or to this machine.
#[derive(Clone)]
pub struct WebClient {
    http: Arc<Http>,
    hosts: Arc<Hosts>,
    private: Arc<NamedHosts>,
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
    /// How long no answer may come, all tries together, redirects and bodies included. `--timeout` scales it.
    pub timeout: Duration,
}

/// The last answer.
#[derive(Debug)]
pub struct WebAnswer {
    response: Response,
    deadline: Instant,
    timeout: Duration,
    now: SystemTime,
    body: Bytes,
}

/// An attempt without a document.
struct Failed {
    error: WebError,
    /// Whether the next attempt may end otherwise.
    passing: bool,
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
    /// A redirect to this machine or into a private network, from a host elsewhere.
    PrivateHost,
    /// The document is larger than the limit.
    TooLarge,
}

impl RegistryClient {
    /// A reader of single documents over this client's connections.
    pub fn web(&self) -> WebClient {
        let hosts = Arc::new(Hosts::new(&self.options.plain_http, &[]));
        WebClient { http: Arc::clone(&self.http), hosts, private: Arc::default(), reporter: Arc::clone(&self.reporter) }
    }
}

impl WebClient {
    /// A reader with connections of its own.
    pub fn new(options: &ClientOptions) -> Result<Self, ClientError> {
        let hosts = Arc::new(Hosts::new(&options.plain_http, &[]));
        Ok(Self { http: Arc::new(Http::new(options)?), hosts, private: Arc::default(), reporter: Arc::new(NoReporter) })
    }

    /// The same, and any host may name these, `HOST` (any port) or `HOST:PORT`, wherever they are.
    #[must_use]
    pub fn with_private_hosts(self, hosts: &[String]) -> Self {
        Self { private: Arc::new(NamedHosts::new(hosts)), ..self }
    }

    /// Whether what a host has answered may send this program to another host, `HOST[:PORT]`: one that is as far away or
    /// farther, or that [`WebClient::with_private_hosts`] allows.
    ///
    /// A name is looked up when a connection to it is made. If it then leads nearer, that connection fails with
    /// [`NetworkFault::PrivateAddress`], also for a [`RegistryClient`] with the same connections.
    pub fn may_name(&self, namer: &Url, host: &str) -> bool {
        is_host(host, |named| self.http.resolver().may_name(namer, named, &self.private))
    }

    /// Whether the text of an address may lead to a host, `HOST[:PORT]`: one that is not on this machine, or that
    /// [`WebClient::with_private_hosts`] allows. Names are held to it as by [`WebClient::may_name`].
    pub fn may_be_written(&self, host: &str) -> bool {
        is_host(host, |named| self.http.resolver().may_be_written(named, &self.private))
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

    /// The last answer, after all redirects. Any status is an answer; the body is read if the answer is `wanted`, at most
    /// `limit` bytes of it.
    ///
    /// # Errors
    /// What kept the document from coming, when all attempts have been made.
    pub async fn get(
        &self,
        request: &WebRequest<'_>,
        limit: u64,
        wanted: impl Fn(&WebAnswer) -> bool,
    ) -> Result<WebAnswer, WebError> {
        let options = self.http.options();
        let total = request.timeout.mul_f64(options.limits.total.div_duration_f64(Limits::DEFAULT_TOTAL));
        let mut attempts = Attempts::within(options.retry, total, options.max_retry_after);
        loop {
            let began = Instant::now();
            let got = self.attempt(request, attempts.left(), limit, &wanted).await;
            attempts.spend(began.elapsed());
            let (asked, reason) = match &got {
                Ok(answer) if is_transient(answer.status()) => (answer.asked(), format!("status {}", answer.status())),
                Err(Failed { error, passing: true }) => (Asked::Nothing, error.problem.clone()),
                _ => return got.map_err(|failed| failed.error),
            };
            let attempt = attempts.tries() + 1;
            let Next::Wait(wait) = attempts.next(asked) else { return got.map_err(|failed| failed.error) };
            self.reporter.event(&Event::Retrying {
                request: format!("GET {}", shown_url(&request.url)),
                attempt,
                after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                reason,
            });
            options.clock.sleep(wait).await;
        }
    }

    async fn attempt(
        &self,
        request: &WebRequest<'_>,
        left: Duration,
        limit: u64,
        wanted: &impl Fn(&WebAnswer) -> bool,
    ) -> Result<WebAnswer, Failed> {
        let mut answer = self.head(request, left).await?;
        if wanted(&answer) {
            answer.body = answer.read(limit).await?;
        }
        Ok(answer)
    }

    /// The head of the last answer.
    async fn head(&self, request: &WebRequest<'_>, left: Duration) -> Result<WebAnswer, Failed> {
        let deadline = Instant::now() + left;
        let mut url = request.url.clone();
        let mut crossed = false;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.exchange(request, &url, crossed, (left, deadline)).await?;
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location.filter(|_| matches!(response.status().as_u16(), 301..=303 | 307 | 308))
            else {
                let now = self.http.now();
                return Ok(WebAnswer { response, deadline, timeout: left, now, body: Bytes::new() });
            };
            let next =
                next_hop(&url, location, &self.hosts.plain_rule(&url, FromHttps::Refused)).map_err(|detour| {
                    let problem = format!("its redirect is not followed: {}", detour.problem);
                    lasting(WebError { url: shown_url(&url), fault: WebFault::Redirect, problem })
                })?;
            if !self.http.resolver().may_name(&url, &next, &self.private) {
                let problem = format!(
                    "its redirect to {} is not followed: that is on this machine or in a private network",
                    host_of(&next)
                );
                return Err(lasting(WebError { url: shown_url(&url), fault: WebFault::PrivateHost, problem }));
            }
            crossed |= !same_origin(&next, &request.url);
            url = next;
        }
        let problem = format!("it redirects more than {MAX_REDIRECTS} times");
        Err(lasting(WebError { url: shown_url(&request.url), fault: WebFault::Redirect, problem }))
    }

    async fn exchange(
        &self,
        request: &WebRequest<'_>,
        url: &Url,
        crossed: bool,
        (left, deadline): (Duration, Instant),
    ) -> Result<Response, Failed> {
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
        let answer = self.http.execute(sent, &progress, left, &waiting);
        match timeout_at(deadline, answer).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(no_answer)) => {
                let passing = !no_answer.lasting;
                Err(Failed { error: network(url, no_answer.problem), passing })
            }
            Err(_) => Err(passing(url, NetworkProblem::timed_out("no answer", left))),
        }
    }
}

/// Whether a text is a host of which this is true. A text that is not a host leads nowhere.
fn is_host(text: &str, is_true: impl Fn(&Url) -> bool) -> bool {
    Url::parse(&format!("https://{text}/")).is_ok_and(|url| is_true(&url))
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

    /// The body, if the answer was wanted.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// What a passing refusal says about the next attempt.
    fn asked(&self) -> Asked {
        let value = self.response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        Asked::of(self.status(), value.and_then(|value| retry_after(value, self.now)))
    }

    async fn read(&mut self, limit: u64) -> Result<Bytes, Failed> {
        let url = self.response.url().clone();
        let too_large = || {
            let problem = format!("its answer is larger than {limit} bytes");
            lasting(WebError { url: shown_url(&url), fault: WebFault::TooLarge, problem })
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
                Ok(Err(error)) => return Err(passing(&url, network_problem(error, self.now))),
                Err(_) => return Err(passing(&url, NetworkProblem::timed_out("no end of the answer", self.timeout))),
            }
        }
    }
}

fn lasting(error: WebError) -> Failed {
    Failed { error, passing: false }
}

fn passing(url: &Url, problem: NetworkProblem) -> Failed {
    Failed { error: network(url, problem), passing: true }
}

fn network(url: &Url, problem: NetworkProblem) -> WebError {
    WebError { url: shown_url(url), fault: WebFault::Network(problem.fault), problem: problem.text }
}

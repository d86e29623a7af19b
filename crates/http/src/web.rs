//! Documents and files of any host, for protocols that are not a registry's.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use tofu_oci_types::{Reporter, Secret};
use url::Url;

use crate::answer::HttpAnswer;
use crate::authorization::{bearer, split_login};
use crate::clean::{host_of, shown_url};
use crate::client::HttpClient;
use crate::held_url::HeldUrl;
use crate::limits::HttpLimits;
use crate::options::RetryPolicy;
use crate::problem::NetworkProblem;
use crate::redirect::{PlainRule, Protection, RedirectFault, next_hop};
use crate::requester::{HttpRequest, Requester, TimeLimit, WebFault};
use crate::resolver::NamedHost;

/// Gets documents and files over a client's connections. Passing faults are retried; nothing is cached.
///
/// Redirects: at most 10; never to an address with a user info, or nearer (from the internet to a private network or this
/// machine); from HTTPS to plain HTTP only if a digest protects the answer and the user names the host. Only the origin of
/// the first address gets the token, or the user info of that address as Basic.
#[derive(Clone)]
pub struct WebClient {
    pub(crate) http: Arc<HttpClient>,
    pub(crate) retry: RetryPolicy,
}

/// What to get.
#[derive(Debug)]
pub struct WebRequest<'a> {
    /// The address. Its user info is sent as Basic if there is no token.
    pub url: Url,
    /// The value of `Accept`.
    pub accept: &'static str,
    pub token: Option<&'a Secret>,
    /// The time of each attempt, its redirects and its body included. `--timeout` scales it; a shorter one leaves it as long as
    /// the beginning of an answer may take.
    pub timeout: Duration,
    /// Most bytes of the document.
    pub limit: u64,
}

/// Why there is no document or file.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{url}: {fault}")]
pub struct WebError {
    /// The address that was asked last, without user info, query and fragment.
    pub url: String,
    pub fault: WebFault,
}

impl WebClient {
    /// A reader of documents over the connections of a client.
    pub fn new(http: Arc<HttpClient>) -> Self {
        Self { retry: http.options().retry, http }
    }

    /// The same with so many attempts at most, the first one counted.
    #[must_use]
    pub fn with_attempts(self, attempts: u32) -> Self {
        Self { retry: RetryPolicy { attempts, ..self.retry }, ..self }
    }

    /// What hears of the requests.
    pub fn reporter(&self) -> &dyn Reporter {
        self.http.reporter()
    }

    /// Whether what a host has answered may send this program to another host, `HOST[:PORT]`: one that is as far away or
    /// farther, or that [`crate::HttpOptions::private_hosts`] allows.
    ///
    /// A name is looked up when a connection to it is made. If it then leads nearer, that connection fails with
    /// [`tofu_oci_types::NetworkFault::PrivateAddress`], also for a registry that is reached over the same connections.
    pub fn may_name(&self, namer: &Url, host: &str) -> bool {
        is_host(host, |named| self.http.resolver().may_name(namer, named, self.http.private_hosts()))
    }

    /// The same, after a look-up that does not take long: so a near name is refused at once, and not held to be far when the
    /// user asks it too.
    pub async fn may_lead_to(&self, namer: &Url, host: &str) -> bool {
        let moment = self.http.limits().connect / 5;
        let looked_up = tokio::time::timeout(moment, self.named_host(namer, host)).await;
        looked_up != Ok(NamedHost::TooNear) && self.may_name(namer, host)
    }

    /// The same for a host that another program connects to: it is looked up here first. A text that is not a host is too near.
    pub async fn named_host(&self, namer: &Url, host: &str) -> NamedHost {
        match Url::parse(&format!("https://{host}/")) {
            Ok(address) => self.http.named_host(namer, &address).await,
            Err(_) => NamedHost::TooNear,
        }
    }

    /// Whether the text of an address may lead to a host, `HOST[:PORT]`: one that is not on this machine, or that
    /// [`crate::HttpOptions::private_hosts`] allows. Names are held to it as by [`WebClient::may_name`].
    pub fn may_be_written(&self, host: &str) -> bool {
        is_host(host, |named| self.http.resolver().may_be_written(named, self.http.private_hosts()))
    }

    /// The address that a document of `from` names. It obeys the rules of redirects, and later requests to its host do as by
    /// [`WebClient::may_name`].
    ///
    /// # Errors
    /// The rule that forbids the address.
    pub fn named_by(&self, from: &Url, text: &str, protection: Protection) -> Result<Url, WebError> {
        let rule = PlainRule { began: from, named: self.http.plain_hosts(), protection };
        let refused = |fault| WebError { url: shown_url(from), fault };
        let named = next_hop(from, text, &rule).map_err(|fault| refused(WebFault::Redirect(fault)))?;
        if self.http.resolver().may_name(from, &named, self.http.private_hosts()) {
            Ok(named)
        } else {
            Err(refused(WebFault::PrivateHost(host_of(&named))))
        }
    }

    /// The root of a host: `https://HOST[:PORT]/`, or with `http:` if the options say that it speaks no TLS. Unlike a
    /// registry, a host of this machine is not asked which of the two it speaks.
    ///
    /// # Errors
    /// If the host cannot be in an address.
    pub fn root(&self, host: &str) -> Result<Url, WebError> {
        let address = |scheme: &str| {
            let text = format!("{scheme}://{host}/");
            Url::parse(&text)
                .map_err(|error| WebError { url: text, fault: WebFault::Network(NetworkProblem::no_address(error)) })
        };
        let (secure, plain) = (address("https")?, address("http")?);
        Ok(if self.http.plain_hosts().contain(&plain) { plain } else { secure })
    }

    /// The last answer, after all redirects. The body is read if the answer is `wanted`.
    ///
    /// # Errors
    /// What kept the document from coming, when all attempts have been made. A status that may be another one next time
    /// (408, 429, most of 5xx) is such an error, any other status is an answer.
    pub async fn get(
        &self,
        request: &WebRequest<'_>,
        wanted: impl Fn(&HttpAnswer) -> bool + Sync,
    ) -> Result<HttpAnswer, WebError> {
        let limits = self.http.limits();
        let scaled = request.timeout.mul_f64(limits.total.div_duration_f64(HttpLimits::DEFAULT_TOTAL));
        let each = scaled.max(request.timeout.min(limits.first_byte));
        let mut attempts = self.http.attempts().by(self.retry).each_within(each);
        let (url, login) = split_login(&request.url, self.http.scrubber());
        let sent = HttpRequest {
            method: Method::GET,
            to: HeldUrl::anywhere(url),
            accept: request.accept,
            authorization: request.token.and_then(bearer).or(login),
            headers: Vec::new(),
            form: None,
            limit: request.limit,
            time: TimeLimit::OfEachAttempt,
        };
        self.http.get(&sent, &mut attempts, &WebRequester { client: self, protection: Protection::Tls, wanted }).await
    }
}

/// Whether a text is a host of which this is true; false for a text that is not a host.
fn is_host(text: &str, is_true: impl Fn(&Url) -> bool) -> bool {
    Url::parse(&format!("https://{text}/")).is_ok_and(|url| is_true(&url))
}

/// The rules of answers of any host.
pub(crate) struct WebRequester<'a, W> {
    pub(crate) client: &'a WebClient,
    pub(crate) protection: Protection,
    pub(crate) wanted: W,
}

#[async_trait]
impl<W: Fn(&HttpAnswer) -> bool + Sync> Requester for WebRequester<'_, W> {
    type RequestError = WebError;

    fn next(&self, from: &HeldUrl, _: &HttpAnswer, location: &str) -> Result<HeldUrl, WebError> {
        let rule = PlainRule { began: &from.url, named: self.client.http.plain_hosts(), protection: self.protection };
        self.client.http.next_hop(from, location, &rule).map_err(|fault| {
            let fault = match fault {
                RedirectFault::PrivateHost(host) => WebFault::PrivateHost(host),
                other => WebFault::Redirect(other),
            };
            WebError { url: shown_url(&from.url), fault }
        })
    }

    fn wants(&self, answer: &HttpAnswer) -> bool {
        (self.wanted)(answer)
    }

    async fn refused(&self, answer: HttpAnswer) -> WebError {
        WebError { url: shown_url(answer.url()), fault: WebFault::Status(answer.status()) }
    }

    fn no_document(&self, url: &Url, fault: WebFault) -> WebError {
        WebError { url: shown_url(url), fault }
    }
}

//! Discovery over HTTP.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use serde_json::Value;
use tofu_oci_http::{HostTokens, HttpAnswer, WebClient, WebRequest, shown_url};
use tofu_oci_types::{Event, Hostname, RepositoryRef, Secret, printable};

use super::discover::Discover;
use super::error::DiscoveryError;
use super::services::{Publisher, Services, kind};
use crate::Failure;

/// Most bytes of a document.
const LIMIT: u64 = 1024 * 1024;
const PATH: &str = ".well-known/terraform.json";

/// The settings of an [`HttpDiscovery`].
#[derive(Clone)]
pub struct DiscoveryOptions {
    /// How long each try of a discovery may take, redirects and bodies included; `--timeout` scales it.
    pub timeout: Duration,
    /// Services that the user wrote down; these hosts get no request.
    pub overrides: BTreeMap<Hostname, Services>,
    /// The token to show to a host; no other host gets it.
    pub tokens: Arc<dyn HostTokens>,
}

impl Default for DiscoveryOptions {
    /// 10 seconds, no overrides, no tokens.
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), overrides: BTreeMap::new(), tokens: Arc::new(BTreeMap::new()) }
    }
}

type ServicesResult = Result<Services, DiscoveryError>;

/// Asks hosts for their documents, each once.
///
/// Spec: `OpenTofu` 1.12, opentofu/svchost/disco. Stricter than it: a redirect never leads to plain HTTP, and a token
/// never to another origin.
pub struct HttpDiscovery {
    shared: Arc<DiscoveryClient>,
    state: Mutex<HashMap<Hostname, Discovery>>,
}

struct DiscoveryClient {
    web: WebClient,
    options: DiscoveryOptions,
}

enum Discovery {
    Known(Services),
    /// A request is under way; it ends when its last waiter is dropped.
    Asked(WeakShared<BoxFuture<'static, ServicesResult>>),
}

impl HttpDiscovery {
    /// A discovery that has sent no request yet.
    pub fn new(web: WebClient, options: DiscoveryOptions) -> Self {
        Self { shared: Arc::new(DiscoveryClient { web, options }), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, HashMap<Hostname, Discovery>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, or the request that will bring it.
    fn begin(&self, host: &Hostname) -> Result<Services, Shared<BoxFuture<'static, ServicesResult>>> {
        let mut state = self.state();
        match state.get(host) {
            Some(Discovery::Known(services)) => return Ok(services.clone()),
            Some(Discovery::Asked(asked)) => {
                // A failed request is not shared: this caller makes a new one.
                if let Some(asked) = asked.upgrade().filter(|asked| asked.peek().is_none_or(Result::is_ok)) {
                    return Err(asked);
                }
            }
            None => {}
        }
        let (inner, asked) = (Arc::clone(&self.shared), host.clone());
        let request = async move { inner.ask(&asked).await }.boxed().shared();
        if let Some(weak) = request.downgrade() {
            state.insert(host.clone(), Discovery::Asked(weak));
        }
        Err(request)
    }
}

#[async_trait]
impl Discover for HttpDiscovery {
    async fn services(&self, host: &Hostname) -> ServicesResult {
        if let Some(services) = self.shared.options.overrides.get(host) {
            return Ok(services.clone());
        }
        let request = match self.begin(host) {
            Ok(services) => return Ok(services),
            Err(request) => request,
        };
        let services = request.await?;
        self.state().insert(host.clone(), Discovery::Known(services.clone()));
        Ok(services)
    }

    fn admit(&self, services: &Services, registry: &str) -> Result<(), DiscoveryError> {
        let Publisher::Document(address) = services.publisher() else { return Ok(()) };
        if self.shared.web.may_name(address, registry) {
            return Ok(());
        }
        let place = "on this machine or in a private network";
        Err(private_host(services.host(), services.origin(), registry, place))
    }

    fn admit_named(&self, host: &Hostname, repository: &RepositoryRef) -> Result<(), DiscoveryError> {
        let registry = repository.registry();
        if self.shared.web.may_be_written(registry) {
            return Ok(());
        }
        Err(private_host(host, &host.display(), registry, "on this machine or its link"))
    }
}

fn private_host(host: &Hostname, origin: &str, registry: &str, place: &str) -> DiscoveryError {
    let problem = format!("{origin} leads to the registry {registry}, which is {place}");
    DiscoveryError { host: host.clone(), failure: Failure::PrivateHost { host: registry.to_owned(), problem } }
}

impl DiscoveryClient {
    async fn ask(&self, host: &Hostname) -> ServicesResult {
        self.document(host).await.map_err(|failure| DiscoveryError { host: host.clone(), failure })
    }

    /// Most hosts show this document to everyone. Therefore a program that fails costs a warning only; in `OpenTofu` it costs
    /// nothing.
    async fn token(&self, host: &Hostname) -> Option<Secret> {
        match self.options.tokens.token(host).await {
            Ok(token) => token,
            Err(error) => {
                self.web.reporter().event(&Event::warning(error.code, error.to_string()).with_hint(error.hint));
                None
            }
        }
    }

    async fn document(&self, host: &Hostname) -> Result<Services, Failure> {
        let root = self.web.root(host.as_str()).map_err(|error| Failure::from(&error))?;
        let url = root.join(PATH).map_err(|error| Failure::BadRedirect(error.to_string()))?;
        let token = self.token(host).await;
        let request = WebRequest {
            url,
            accept: "application/json",
            token: token.as_ref(),
            timeout: self.options.timeout,
            limit: LIMIT,
        };
        let is_document = |answer: &HttpAnswer| answer.status() == 200 && check_media_type(answer, "").is_ok();
        let answer = self.web.get(&request, is_document).await.map_err(|error| Failure::from(&error))?;
        let place = shown_url(answer.url());
        match answer.status() {
            200 => {}
            404 => return Ok(Services::of_document(host.clone(), &answer, BTreeMap::new())),
            status => return Err(Failure::of_status(status, &place)),
        }
        check_media_type(&answer, &place)?;
        let values = parse(answer.body()).map_err(|problem| Failure::BadBody(format!("{place}: {problem}")))?;
        Ok(Services::of_document(host.clone(), &answer, values))
    }
}

pub(crate) fn check_media_type(answer: &HttpAnswer, place: &str) -> Result<(), Failure> {
    let Some(text) = answer.header("content-type") else {
        return Err(Failure::BadContentType(format!("{place} does not say that it is application/json")));
    };
    let media_type = text.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let found: String = printable(&media_type.chars().take(100).collect::<String>()).into_owned();
    Err(Failure::BadContentType(format!("{place} is `{found}`, and must be application/json")))
}

/// The members of the document. `null` is a document without any, as in `OpenTofu`.
pub(super) fn parse(bytes: &[u8]) -> Result<BTreeMap<String, Value>, String> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(members)) => Ok(members.into_iter().collect()),
        Ok(Value::Null) => Ok(BTreeMap::new()),
        Ok(other) => Err(format!("it is {}, and must be a JSON object", kind(&other))),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

#[cfg(test)]
mod tests;

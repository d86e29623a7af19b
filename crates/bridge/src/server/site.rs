//! What every request has in common, around the routes; at which socket the metrics are.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, HttpBody as _};
use futures_util::FutureExt as _;
use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING,
    USER_AGENT,
};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use tofu_oci_types::{Event, without_link};
use tokio::time::Instant;
use tower::ServiceExt as _;

use super::access_log::{reason_line, shortened};
use super::addresses::ConnectionsByAddress;
use super::client_address::{client_address, network_of};
use super::client_queue::ClientQueue;
use super::counted_body::CountedBody;
use super::metrics::Metrics;
use super::options::{ListenerKind, ServerOptions};
use super::own_route::OwnRoute;
use super::request_record::{RequestLedger, RequestRecord};
use super::watch::InFlight;
use crate::access::{with_path, with_query};
use crate::counts::Counts;
use crate::routes::CountedRoute;
use crate::{AddressRange, BaseUrl, Bridge, FailureReason, RefusalCode, ServerLimits, router};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The most characters of a request's number that a proxy gives.
const ID_LIMIT: usize = 64;

/// The form of `/metrics`.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The name of the client that sends a request, if it has one.
type ClientOf = Arc<dyn Fn(&Parts) -> Option<String> + Send + Sync>;

/// Looks at a folder.
pub(crate) type KeptBytes = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What is served.
pub struct ServedSite {
    pub(crate) router: Router,
    /// Where they are, as clients write it.
    pub(crate) base: BaseUrl,
    pub(crate) client: ClientOf,
    /// What is counted below the routes.
    pub(crate) counts: Counts,
    /// The bytes of the zips that are kept on disk.
    pub(crate) kept_bytes: KeptBytes,
}

impl ServedSite {
    pub fn of(bridge: Arc<Bridge>) -> Self {
        let (base, router) = (bridge.settings.base.clone(), router(Arc::clone(&bridge)));
        let counts = bridge.catalog.counts().clone();
        let with_packages = Arc::clone(&bridge);
        let kept_bytes: KeptBytes = Arc::new(move || with_packages.packages.kept_bytes());
        let client: ClientOf = Arc::new(move |request| {
            if !bridge.access.is_restricted() {
                return None;
            }
            // A link is signed for the path below that of the URL.
            let mut request = request.clone();
            request.uri = with_path(&request.uri, bridge.settings.base.strip(request.uri.path()));
            let admitted = bridge.access.admit(&request, None).ok()?;
            admitted.name().map(ToString::to_string)
        });
        Self { router, base, client, counts, kept_bytes }
    }
}

impl ServedSite {
    /// For a bridge with a secret in the path of its URL: it answers below that path alone, whereas a proxy may cut off
    /// the path of any other bridge.
    pub fn below_its_path(bridge: Arc<Bridge>) -> Self {
        let path = bridge.settings.base.path().to_owned();
        let site = Self::of(bridge);
        let inner = site.router;
        let guarded = move |request: Request<Body>| {
            let is_below = request.uri().path().starts_with(&path);
            let inner = inner.clone();
            async move {
                if is_below {
                    return inner.oneshot(request).await.unwrap_or_else(|never| match never {});
                }
                text(StatusCode::NOT_FOUND, "there is nothing at this address\n")
            }
        };
        Self { router: Router::new().fallback(guarded), ..site }
    }
}

/// Where all requests arrive.
pub(super) struct Reception {
    site: ServedSite,
    pub(super) limits: ServerLimits,
    pub(super) metrics: Arc<Metrics>,
    ledger: Arc<RequestLedger>,
    stopping: AtomicBool,
    proxies: Vec<AddressRange>,
    queue: Option<ClientQueue>,
    pub(super) addresses: ConnectionsByAddress,
    /// What the numbers of this process begin with.
    process: u32,
    requests: AtomicU64,
}

impl Reception {
    pub(super) fn new(site: ServedSite, options: &ServerOptions) -> Self {
        let metrics = Arc::new(Metrics::new(&site.counts));
        let ledger = RequestLedger {
            metrics: Arc::clone(&metrics),
            log: options.log.clone(),
            reporter: Arc::clone(&options.reporter),
            base: site.base.clone(),
        };
        Self {
            metrics,
            ledger: Arc::new(ledger),
            site,
            limits: options.limits.clone(),
            stopping: AtomicBool::new(false),
            proxies: options.proxies.clone(),
            queue: options.limits.requests_per_second.map(ClientQueue::new),
            addresses: ConnectionsByAddress::new(options.limits.connections_per_address, options.proxies.clone()),
            process: rand::random(),
            requests: AtomicU64::new(0),
        }
    }

    /// From here on the instance is not ready.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    /// The requests that are being answered.
    pub(super) fn in_flight(&self) -> i64 {
        self.metrics.in_flight()
    }

    /// Answers a request. Its record is written when the last byte of the answer has gone.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        kind: ListenerKind,
        in_flight: InFlight,
    ) -> Response<CountedBody> {
        let (mut parts, body) = request.into_parts();
        if let Some(uri) = with_query(&parts.uri) {
            parts.uri = uri;
        }
        let mut record = self.record(&parts, peer.ip());
        let has_body = !body.is_end_stream() || parts.headers.contains_key(TRANSFER_ENCODING);
        let mut response = if has_body {
            refused_body(parts.version)
        } else if !has_one_host(&parts) {
            closing(parts.version, text(StatusCode::BAD_REQUEST, "a request must have one Host header\n"))
        } else if let Some(response) = self.of_the_server(&parts, kind).await {
            response
        } else {
            self.of_the_site(parts, &record).await
        };
        if let Ok(id) = HeaderValue::from_str(&record.id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        record.status = Some(response.status());
        record.code = response.extensions().get::<RefusalCode>().map(|RefusalCode(code)| *code);
        record.reason = failure_reason(&response);
        record.route = response.extensions().get::<CountedRoute>().map(|CountedRoute(route)| *route);
        record.is_whole = record.method == Method::HEAD || response.body().is_end_stream();
        let length = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        response.map(|body| CountedBody { body, length, record, in_flight })
    }

    fn record(&self, request: &Parts, peer: IpAddr) -> RequestRecord {
        let address = client_address(peer, &request.headers, &self.proxies);
        let agent = request.headers.get(USER_AGENT).map(|agent| shortened(&String::from_utf8_lossy(agent.as_bytes())));
        RequestRecord {
            ledger: Arc::clone(&self.ledger),
            id: self.id(&request.headers, peer),
            client: (self.site.client)(request),
            address,
            method: request.method.clone(),
            path: shown_path(request.uri.path()),
            agent,
            begun: Instant::now(),
            status: None,
            code: None,
            reason: None,
            route: None,
            bytes: 0,
            is_whole: false,
            _open: self.metrics.request(),
        }
    }

    /// The number of a request: that of a known proxy, or one of our own.
    fn id(&self, headers: &HeaderMap, peer: IpAddr) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_id = |id: &&str| (1..=ID_LIMIT).contains(&id.len()) && id.bytes().all(is_plain);
        let given = headers.get(&REQUEST_ID).and_then(|id| id.to_str().ok()).filter(is_id);
        match given {
            Some(id) if self.proxies.iter().any(|range| range.contains(peer)) => id.to_owned(),
            _ => format!("{:08x}-{:x}", self.process, self.requests.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// The routes of the server itself.
    async fn of_the_server(&self, request: &Parts, kind: ListenerKind) -> Option<Response<Body>> {
        let response = match OwnRoute::of(self.site.base.strip(request.uri.path())) {
            Some(OwnRoute::Healthz) => text(StatusCode::OK, "alive\n"),
            Some(OwnRoute::Readyz) if self.stopping.load(Ordering::SeqCst) => {
                failing(StatusCode::SERVICE_UNAVAILABLE, "this instance is stopping")
            }
            Some(OwnRoute::Readyz) => text(StatusCode::OK, "ready\n"),
            Some(OwnRoute::Metrics) if kind == ListenerKind::Metrics => self.metrics().await,
            // Whoever reaches the site may be anyone: another user of this machine, or a client whose proxy runs on it.
            Some(OwnRoute::Metrics) => {
                text(StatusCode::NOT_FOUND, "the metrics are at the address that `listen_metrics` names\n")
            }
            None if kind == ListenerKind::Metrics => {
                text(StatusCode::NOT_FOUND, "here are /metrics, /healthz and /readyz\n")
            }
            None => return None,
        };
        Some(if matches!(request.method, Method::GET | Method::HEAD) {
            response
        } else {
            let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "this is read with GET\n");
            refused.headers_mut().insert(http::header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            refused
        })
    }

    async fn metrics(&self) -> Response<Body> {
        let look = Arc::clone(&self.site.kept_bytes);
        if let Ok(bytes) = tokio::task::spawn_blocking(move || look()).await {
            self.metrics.kept(bytes);
        }
        let mut response = text(StatusCode::OK, self.metrics.text());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
        response
    }

    async fn of_the_site(&self, request: Parts, record: &RequestRecord) -> Response<Body> {
        if let Some(queue) = &self.queue {
            match &record.client {
                Some(client) => queue.turn(client).await,
                None => queue.turn(&network_of(record.address)).await,
            }
        }
        let router = self.site.router.clone();
        let answered = AssertUnwindSafe(router.oneshot(Request::from_parts(request, Body::empty()))).catch_unwind();
        match answered.await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(_) => {
                let text_of_event = format!("request {} could not be answered: the program has a bug", record.id);
                self.ledger.reporter.event(&Event::warning("request-panicked", text_of_event));
                let mut response =
                    failing(StatusCode::INTERNAL_SERVER_ERROR, "the server failed, and its log says where");
                response.extensions_mut().insert(RefusalCode("request-panicked"));
                response
            }
        }
    }
}

/// Why the status is 5xx; `None` if it is another one.
fn failure_reason(response: &Response<Body>) -> Option<String> {
    let status = response.status();
    let given = response.extensions().get::<FailureReason>().map(|FailureReason(reason)| reason_line(reason));
    let named = || status.canonical_reason().unwrap_or("no reason is known").to_owned();
    status.is_server_error().then(|| given.unwrap_or_else(named))
}

/// The path without the signature of a link. Every link has `~` or `%`.
fn shown_path(path: &str) -> String {
    if path.contains(['~', '%']) { without_link(path) } else { path.to_owned() }
}

/// A text that goes with the answer, for the log.
fn failing(status: StatusCode, sentence: &'static str) -> Response<Body> {
    let mut response = text(status, format!("{sentence}\n"));
    response.extensions_mut().insert(FailureReason(sentence.to_owned()));
    response
}

/// No route takes a body. The connection ends, so that what follows is not taken for a request.
fn refused_body(version: Version) -> Response<Body> {
    closing(version, text(StatusCode::PAYLOAD_TOO_LARGE, "no route takes a body\n"))
}

/// Whether a proxy in front sees the same host. HTTP/1.0 and HTTP/2 need no header.
///
/// Spec: RFC 9112, 3.2.
fn has_one_host(request: &Parts) -> bool {
    match request.headers.get_all(HOST).iter().count() {
        0 => request.version != Version::HTTP_11,
        count => count == 1,
    }
}

/// An answer after which the connection ends.
fn closing(version: Version, mut response: Response<Body>) -> Response<Body> {
    if version < Version::HTTP_2 {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn text(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: Version, hosts: &[&str], want: bool) {
        let mut request = Request::builder().version(version);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        assert_eq!(has_one_host(&request.body(()).unwrap().into_parts().0), want, "{version:?} {hosts:?}");
    }

    #[test]
    fn a_second_host_does_not_pass_a_proxy_that_reads_the_first() {
        check(Version::HTTP_11, &["one.example"], true);
        check(Version::HTTP_11, &["one.example", "two.example"], false);
        check(Version::HTTP_2, &["one.example", "two.example"], false);
        check(Version::HTTP_11, &[], false);
        check(Version::HTTP_10, &[], true);
        check(Version::HTTP_2, &[], true);
    }
}

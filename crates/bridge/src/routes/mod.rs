//! From a request to its answer.
//!
//! ```text
//! path --Route--> discovery | mirror | registry     strict grammars over the path as it was sent
//!      --MixUp--> one sentence that says what to write instead
//! Route --Access--> who asks --Catalog, Packages, Signer--> document or archive, or Refusal
//! ```

mod answer;
mod exchange;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod module_exchange;
mod recent;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{HOST, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Method, StatusCode};
use tofu_oci_types::Hostname;
use tower::ServiceExt as _;

use self::exchange::RoutedRequest;
use self::recent::{Document, RecentDocuments};
use crate::access::{with_path, with_query};
use crate::page;
use crate::paths::{MixUp, Route, RouteFault};
use crate::protocol::discovery::{self, PublishedRepositories};
use crate::{AccessError, Bridge, RefusalCode, ServedAddress};

/// What the requests of an answer are counted as.
#[derive(Clone, Copy)]
pub(crate) struct CountedRoute(pub(crate) &'static str);

/// All routes, below the path of the base URL and without it: proxies may cut it off.
pub fn router(bridge: Arc<Bridge>) -> Router {
    let others = Router::new().fallback(nothing_here).with_state(Arc::clone(&bridge));
    let others = others.merge(page::routes(Arc::clone(&bridge)));
    let recent = Arc::<RecentDocuments>::default();
    Router::new().fallback(move |request: Request| answered(bridge, recent, others, request))
}

async fn answered(bridge: Arc<Bridge>, recent: Arc<RecentDocuments>, others: Router, request: Request) -> Response {
    let is_for_everyone = !bridge.access.is_restricted() && is_read(request.method());
    let path = bridge.settings.base.strip(request.uri().path());
    if is_for_everyone && let Some(Document { content_type, text, route }) = recent.get(path, &bridge) {
        return counted(route, answer::file(content_type, text, &bridge));
    }
    // Boxed: its future is large, and a recent document needs none of it.
    Box::pin(made(bridge, recent, others, request)).await
}

/// The answer to a request that no recent document answers.
async fn made(bridge: Arc<Bridge>, recent: Arc<RecentDocuments>, others: Router, mut request: Request) -> Response {
    if let Some(uri) = with_query(request.uri()) {
        *request.uri_mut() = uri;
    }
    let path = bridge.settings.base.strip(request.uri().path());
    let fault = match Route::parse(path) {
        Ok(route) => {
            let response = serve(&bridge, &recent, &route, request.into_parts().0).await;
            return counted(route.counted_as(), response);
        }
        Err(fault) => fault,
    };
    match fault {
        RouteFault::MixUp(MixUp::Unknown) => {
            let uri = with_path(request.uri(), path);
            let (mut parts, body) = request.into_parts();
            parts.uri = uri;
            others.oneshot(Request::from_parts(parts, body)).await.unwrap_or_else(|never| match never {})
        }
        fault => refused_path(&bridge, request.headers(), &fault),
    }
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn counted(route: &'static str, mut response: Response) -> Response {
    response.extensions_mut().insert(CountedRoute(route));
    response
}

async fn nothing_here(State(bridge): State<Arc<Bridge>>, headers: HeaderMap) -> Response {
    refused_path(&bridge, &headers, &RouteFault::MixUp(MixUp::Unknown))
}

fn refused_path(bridge: &Bridge, headers: &HeaderMap, fault: &RouteFault) -> Response {
    let text = fault.sentence(&bridge.settings);
    let mut response = match fault {
        RouteFault::MixUp(MixUp::OciRegistry) => answer::oci_error(fault.status(), &text),
        _ => answer::sentence(fault.status(), headers, &text),
    };
    if let Some(code) = fault.code() {
        response.extensions_mut().insert(RefusalCode(code));
    }
    response
}

async fn serve(bridge: &Bridge, recent: &RecentDocuments, route: &Route, mut request: Parts) -> Response {
    if !is_read(&request.method) {
        return answer::method_not_allowed(&request.headers);
    }
    let (path, address) = match route {
        Route::Discovery => return discovery_document(bridge, &request),
        Route::Provider(route) => (route.path(), ServedAddress::from(&route.address)),
        Route::Module(route) => (route.path(), ServedAddress::from(&route.address)),
    };
    let asked = bridge.settings.base.strip(request.uri.path()).to_owned();
    // A link is signed for the one path of its route, however a client spells the host.
    request.uri = with_path(&request.uri, &path);
    let client = match bridge.access.admit(&request, Some(&address)) {
        Ok(client) => client,
        Err(denied) => return refused_client(&request.headers, &denied),
    };
    let exchange = RoutedRequest { bridge, path: &asked, request: &request, client: &client, recent };
    match route {
        Route::Provider(route) => {
            exchange.answer(route).await.unwrap_or_else(|failure| exchange.failed(route, &failure))
        }
        Route::Module(route) => {
            exchange.module(route).await.unwrap_or_else(|failure| exchange.failure(&address, &failure))
        }
        Route::Discovery => unreachable!("it was answered"),
    }
}

/// Everyone may read it: a client learns from it where to show its token. Only a client that may see a provider of the
/// host learns where the repositories are.
fn discovery_document(bridge: &Bridge, request: &Parts) -> Response {
    let hosts = asked_hosts(request);
    let own = hosts.iter().find_map(|host| bridge.settings.own_host(&Hostname::with_punycode(host).ok()?));
    let Some(own) = own else {
        let text = bridge.settings.not_an_own_host(hosts.first().unwrap_or(&"this host"));
        return answer::sentence(StatusCode::NOT_FOUND, &request.headers, &text);
    };
    let repositories = match bridge.access.admit(request, None) {
        Ok(client) if client.may_see_providers_of(&own.hostname) => PublishedRepositories::Named,
        Ok(_) | Err(_) => PublishedRepositories::Hidden,
    };
    answer::document(&discovery::document(&bridge.settings, own, repositories), bridge)
}

/// The host that the client asked, with its port (HTTP/2 has it in the address); then the host that a proxy names which
/// changes `Host`. They select one of the own hosts, and nothing else depends on them.
fn asked_hosts(request: &Parts) -> Vec<&str> {
    let header = |name: HeaderName| request.headers.get(name)?.to_str().ok();
    let asked = request.uri.authority().map(Authority::as_str).or_else(|| header(HOST));
    let forwarded = header(HeaderName::from_static("x-forwarded-host")).and_then(|hosts| hosts.split(',').next());
    asked.into_iter().chain(forwarded.map(str::trim)).collect()
}

fn refused_client(headers: &HeaderMap, denied: &AccessError) -> Response {
    let mut response = answer::sentence(denied.status(), headers, &denied.to_string());
    for challenge in denied.challenges() {
        response.headers_mut().append(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    response.extensions_mut().insert(RefusalCode(denied.code()));
    response
}

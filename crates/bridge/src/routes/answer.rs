//! Answers: documents, and one sentence for a request that gets none.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::Bridge;

/// Clients refuse a document of any other type, and some of them parameters.
pub(super) const JSON: &str = "application/json";

/// A JSON document, as both protocols have them.
pub(super) fn document(value: &Value, bridge: &Bridge) -> Response {
    json_text(value.to_string().into(), bridge)
}

/// The text of a JSON document.
pub(super) fn json_text(text: Bytes, bridge: &Bridge) -> Response {
    file(JSON, text, bridge)
}

/// A file of another type. It may change at any time, as a list does that loses a version; if access is restricted,
/// documents hold links of one client.
pub(super) fn file(content_type: &'static str, bytes: impl Into<Bytes>, bridge: &Bridge) -> Response {
    let mut response = answer(StatusCode::OK, content_type, bytes.into());
    let caching = if bridge.access.is_restricted() { "private, no-store" } else { "no-cache" };
    put(&mut response, CACHE_CONTROL, caching);
    response
}

/// A sentence that says what went wrong: text for people, JSON for everyone else.
pub(super) fn sentence(status: StatusCode, headers: &HeaderMap, text: &str) -> Response {
    let mut response = if wants_text(headers) {
        answer(status, "text/plain; charset=utf-8", format!("{text}\n").into())
    } else {
        answer(status, JSON, json!({ "errors": [text] }).to_string().into())
    };
    put(&mut response, CACHE_CONTROL, "no-store");
    put(&mut response, VARY, "accept");
    // A sentence may quote what the client sent.
    put(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    response
}

/// The same sentence as OCI clients print it.
///
/// Spec: distribution-spec 1.1.1, "Error Codes".
pub(super) fn oci_error(status: StatusCode, text: &str) -> Response {
    let body = json!({ "errors": [{ "code": "UNSUPPORTED", "message": text }] });
    let mut response = answer(status, JSON, body.to_string().into());
    put(&mut response, CACHE_CONTROL, "no-store");
    response
}

/// The answer to a method that no route has.
pub(super) fn method_not_allowed(headers: &HeaderMap) -> Response {
    let mut response = sentence(StatusCode::METHOD_NOT_ALLOWED, headers, "only GET and HEAD are served here");
    put(&mut response, ALLOW, "GET, HEAD");
    response
}

/// Sets a header.
pub(super) fn put(response: &mut Response, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}

/// Whether the client names a type for people, and not JSON.
fn wants_text(headers: &HeaderMap) -> bool {
    let accepts = |name: &str| {
        let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        values
            .flat_map(|value| value.split(','))
            .any(|part| part.split(';').next().is_some_and(|part| part.trim() == name))
    };
    (accepts("text/html") || accepts("text/plain")) && !accepts(JSON)
}

/// Whether the client accepts nothing but JSON.
pub(super) fn wants_json_alone(headers: &HeaderMap) -> bool {
    let values: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let mut parts = values.iter().flat_map(|value| value.split(','));
    !values.is_empty() && parts.all(|part| part.split(';').next().is_some_and(|part| part.trim() == JSON))
}

fn answer(status: StatusCode, content_type: &'static str, bytes: Bytes) -> Response {
    let length = HeaderValue::from(bytes.len());
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    put(&mut response, CONTENT_TYPE, content_type);
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

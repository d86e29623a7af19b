//! One request from its first byte to the last of its answer: log, faults, routes.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, RANGE};
use axum::http::{HeaderName, HeaderValue, Response};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;

use super::connection::Connection;
use super::endpoint::{Endpoint, Incoming};
use super::routes;
use crate::fault::{Answer, Fault, Length, RequestHead};
use crate::gate::Gate;

/// How the answer leaves.
enum Delivery {
    Whole,
    CutAfter(usize),
    HeldAfter(usize, Gate),
    Flood(u64, Length),
}

pub(crate) async fn converse(endpoint: Arc<Endpoint>, connection: Connection, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let mut head = RequestHead {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
    };
    let entry = endpoint.log.begin(&head);
    let mut incoming = Incoming::new(body, entry.clone());
    let faults = endpoint.rules.fire(&head);

    let Some(answer) = before(&endpoint, &faults, &mut head, &mut incoming).await else {
        connection.cut();
        return Response::new(Body::empty());
    };
    let mut answer = if let Some(answer) = answer {
        answer
    } else {
        let answer = routes::answer(&endpoint, &head, &mut incoming).await;
        incoming.skip(u64::MAX).await;
        answer
    };
    if faults.iter().any(|fault| matches!(fault, Fault::LoseAnswer)) {
        connection.cut();
        return Response::new(Body::empty());
    }
    let delivery = after(&faults, &mut answer);
    entry.answered(answer.status);
    respond(answer, &delivery, &head, connection)
}

/// What happens before the request is looked at. `None`: the connection is to die. `Some(Some(..))`: the answer.
async fn before(
    endpoint: &Endpoint,
    faults: &[Fault],
    head: &mut RequestHead,
    incoming: &mut Incoming,
) -> Option<Option<Answer>> {
    for fault in faults {
        match fault {
            Fault::Hang => std::future::pending().await,
            Fault::Hold(gate) => gate.pass().await,
            Fault::InRounds(rounds) => rounds.arrive(format!("{} {}", head.method, head.path)).await,
            Fault::Disconnect => return None,
            Fault::ExpireTokens => endpoint.auth.expire_tokens(),
            Fault::IgnoreRange => drop(head.headers.remove(RANGE)),
            Fault::KeepOnly(bytes) => incoming.keep_only = Some(*bytes),
            Fault::Answer(answer) => {
                incoming.skip(u64::MAX).await;
                return Some(Some(answer.clone()));
            }
            Fault::Computed(computed) => {
                let body = incoming.read_all().await.ok()?;
                return Some(Some(computed.answer(head, &body)));
            }
            Fault::Redirect { status, prefix } => {
                incoming.skip(u64::MAX).await;
                let query = if head.query.is_empty() { String::new() } else { format!("?{}", head.query) };
                return Some(Some(Answer::new(*status).header("Location", format!("{prefix}{}{query}", head.path))));
            }
            Fault::RefuseUploadAfter { bytes, answer } => {
                incoming.skip(*bytes).await;
                return answer.clone().map(Some);
            }
            _ => {}
        }
    }
    Some(None)
}

/// Changes the answer as the faults say, in their order.
fn after(faults: &[Fault], answer: &mut Answer) -> Delivery {
    let mut delivery = Delivery::Whole;
    for fault in faults {
        match fault {
            Fault::CutBody(bytes) => delivery = Delivery::CutAfter(count(*bytes)),
            Fault::HoldBody { bytes, gate } => delivery = Delivery::HeldAfter(count(*bytes), gate.clone()),
            Fault::Flood { bytes, length } => delivery = Delivery::Flood(*bytes, *length),
            Fault::ShortenBody(bytes) => answer.body.truncate(count(*bytes)),
            Fault::CorruptBody(offset) => answer.body = corrupted(&answer.body, *offset),
            Fault::ReplaceBody(body) => answer.body = body.clone(),
            Fault::SetStatus(status) => answer.status = *status,
            Fault::SetHeader(name, value) => {
                answer.without(name);
                answer.headers.push((name.clone(), value.clone()));
            }
            Fault::DropHeader(name) => answer.without(name),
            _ => {}
        }
    }
    delivery
}

/// A count above the address space means all bytes.
fn count(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn corrupted(body: &Bytes, offset: i64) -> Bytes {
    let mut bytes = body.to_vec();
    let length = i64::try_from(bytes.len()).expect("a body in memory is shorter than 2^63 bytes");
    let at = if offset < 0 { length + offset } else { offset };
    if let Some(byte) = usize::try_from(at).ok().and_then(|at| bytes.get_mut(at)) {
        *byte ^= 1;
    }
    bytes.into()
}

fn respond(answer: Answer, delivery: &Delivery, head: &RequestHead, connection: Connection) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status.try_into().expect("a fault's status is between 100 and 999");
    for (name, value) in &answer.headers {
        let name: HeaderName = name.parse().expect("a fault's header name is valid");
        response.headers_mut().append(name, HeaderValue::from_str(value).expect("a fault's header value is valid"));
    }
    let length = match delivery {
        Delivery::Flood(bytes, Length::Declared) => Some(*bytes),
        Delivery::Flood(_, Length::Chunked) => None,
        Delivery::Whole | Delivery::CutAfter(_) | Delivery::HeldAfter(..) => Some(answer.body.len() as u64),
    };
    let empty_by_status = answer.status == 204 || answer.status == 304;
    if let Some(length) = length.filter(|_| !empty_by_status) {
        response.headers_mut().entry(CONTENT_LENGTH).or_insert(length.into());
    }
    if head.method != "HEAD" && !empty_by_status {
        *response.body_mut() = match delivery {
            Delivery::Whole => Body::from(answer.body),
            Delivery::CutAfter(bytes) => cut(answer.body.slice(..answer.body.len().min(*bytes)), connection),
            Delivery::HeldAfter(bytes, gate) => held(answer.body, *bytes, gate.clone()),
            Delivery::Flood(bytes, _) => flood(*bytes),
        };
    }
    response
}

/// The bytes, and once they have left, the end of the connection.
fn cut(bytes: Bytes, connection: Connection) -> Body {
    let first = (!bytes.is_empty()).then_some(Ok(bytes));
    let end = stream::once(async move {
        connection.flushed().await;
        connection.cut();
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
    });
    Body::from_stream(stream::iter(first).chain(end))
}

/// The first bytes, and once the gate is open, the others.
fn held(mut bytes: Bytes, first: usize, gate: Gate) -> Body {
    let first = bytes.split_to(bytes.len().min(first));
    let first = (!first.is_empty()).then_some(Ok::<_, std::io::Error>(first));
    let rest = stream::once(async move {
        gate.pass().await;
        Ok(bytes)
    });
    Body::from_stream(stream::iter(first).chain(rest))
}

fn flood(bytes: u64) -> Body {
    const PIECE: u64 = 64 * 1024;
    let spaces = Bytes::from(vec![b' '; usize::try_from(PIECE).expect("64 KiB fit every address space")]);
    Body::from_stream(stream::unfold(bytes, move |left| {
        let piece = usize::try_from(left.min(PIECE)).expect("64 KiB fit every address space");
        let bytes = spaces.slice(..piece);
        async move { (left > 0).then(|| (Ok::<_, std::io::Error>(bytes), left - piece as u64)) }
    }))
}

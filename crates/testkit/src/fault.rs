//! Scripted misbehaviour: one list of rules, and the first one that matches a request fires.
//!
//! ```text
//! Rule::on("GET", "/v2/*/blobs/*").after(1).times(2).then(Fault::CutBody(1000))
//!          method  path glob       skip 1   then twice     what happens (several run in order)
//! ```

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use bytes::Bytes;

use crate::gate::Gate;
use crate::rounds::Rounds;

/// The parts of a request that a rule sees.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// `GET`, `PUT`, ….
    pub method: String,
    /// The path without the query, as sent.
    pub path: String,
    /// The query without `?`, or the empty text.
    pub query: String,
    /// All headers.
    pub headers: HeaderMap,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Headers in order; names in any case. `Content-Length` is added from the body unless it is here.
    pub headers: Vec<(String, String)>,
    /// The body; a HEAD request gets its length only.
    pub body: Bytes,
}

impl Answer {
    /// An answer without headers and body.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::new() }
    }

    /// The registry's error document with one code, as JSON.
    ///
    /// Spec: distribution-spec 1.1.1, "Error Codes".
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let document = serde_json::json!({"errors": [{"code": code, "message": message}]});
        Self::new(status).header("Content-Type", "application/json; charset=utf-8").body(document.to_string())
    }

    /// A plain text answer.
    pub fn text(status: u16, text: &str) -> Self {
        Self::new(status).header("Content-Type", "text/plain; charset=utf-8").body(text.to_owned())
    }

    /// What a path without a page gets.
    pub(crate) fn not_found() -> Self {
        Self::text(404, "404 page not found\n")
    }

    /// A document.
    pub fn json(document: &serde_json::Value) -> Self {
        Self::new(200).header("Content-Type", "application/json").body(document.to_string())
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The same with this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn without(&mut self, name: &str) {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    }
}

/// Whether an answer says how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// `Content-Length` gives the true length.
    Declared,
    /// Chunked: the client finds out as it reads.
    Chunked,
}

/// A closure that answers requests.
#[derive(Clone)]
pub struct Computed(Arc<Answering>);

type Answering = dyn Fn(&RequestHead, &[u8]) -> Answer + Send + Sync;

impl Computed {
    /// The closure's answer to a request and its body.
    pub fn new(answer: impl Fn(&RequestHead, &[u8]) -> Answer + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    pub(crate) fn answer(&self, head: &RequestHead, body: &[u8]) -> Answer {
        (self.0)(head, body)
    }
}

impl fmt::Debug for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Computed")
    }
}

/// One thing that goes wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Gives this answer whatever the request is. The request's body is read to its end first.
    Answer(Answer),
    /// Gives the closure's answer to the request and its body.
    Computed(Computed),
    /// The connection ends without an answer; the request has no effect.
    Disconnect,
    /// The request has its full effect, then the connection ends without an answer.
    LoseAnswer,
    /// Never answers; the connection stays open until the listener is dropped.
    Hang,
    /// Waits until the gate opens, then goes on as if nothing had happened.
    Hold(Gate),
    /// Waits until the round of the request is complete, then goes on as if nothing had happened.
    InRounds(Rounds),
    /// Redirects to the prefix followed by the request's own path and query. The body is read first.
    Redirect {
        /// 301, 302, 303, 307 or 308.
        status: u16,
        /// Such as [`crate::BlobHost::signed_prefix`].
        prefix: String,
    },
    /// Reads this many bytes of the request's body, then answers and closes, or drops the connection without an answer.
    RefuseUploadAfter {
        /// Body bytes read before the refusal.
        bytes: u64,
        /// The answer, if there is one.
        answer: Option<Answer>,
    },
    /// A PATCH keeps only this many bytes of its body, and its `Range` says so.
    KeepOnly(u64),
    /// All tokens given out so far are refused from here on (this request included).
    ExpireTokens,
    /// A `Range` header is not seen: 200 with the whole body.
    IgnoreRange,
    /// The headers promise the whole body; the connection ends after this many bytes.
    CutBody(u64),
    /// Sends this many bytes of the body, waits until the gate opens, then sends the rest. A gate that is never opened
    /// is a stalled download.
    HoldBody {
        /// Body bytes sent at once.
        bytes: u64,
        /// What the rest waits for.
        gate: Gate,
    },
    /// A consistent answer with only the first so many bytes of the body.
    ShortenBody(u64),
    /// One bit of the byte at this offset is flipped; a negative offset counts from the end.
    CorruptBody(i64),
    /// Another body; `Content-Length` fits it.
    ReplaceBody(Bytes),
    /// Endless spaces, up to so many bytes, streamed without memory.
    Flood {
        /// Body bytes.
        bytes: u64,
        /// Whether the headers declare the length.
        length: Length,
    },
    /// Another status, all else untouched.
    SetStatus(u16),
    /// Sets a header of the answer.
    SetHeader(String, String),
    /// Removes a header of the answer.
    DropHeader(String),
}

impl Fault {
    /// An OCI error document with this status and code.
    pub fn status(status: u16, code: &str) -> Self {
        Self::Answer(Answer::error(status, code, "injected"))
    }

    /// Sets a header of the answer.
    pub fn header(name: &str, value: impl Into<String>) -> Self {
        Self::SetHeader(name.to_owned(), value.into())
    }

    /// A digest header that belongs to other content.
    pub fn wrong_digest_header() -> Self {
        Self::header("Docker-Content-Digest", format!("sha256:{}", "0".repeat(64)))
    }
}

type Predicate = Arc<dyn Fn(&RequestHead) -> bool + Send + Sync>;

/// Which requests meet which faults.
#[derive(Clone)]
pub struct Rule {
    matches: Predicate,
    after: usize,
    times: Option<usize>,
    seen: usize,
    faults: Vec<Fault>,
}

impl Rule {
    /// Matches a method (`*` for any) and a path; `*` in the path is any characters, `/` included.
    pub fn on(method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self::when(move |head| (method == "*" || method == head.method) && glob(&path, &head.path))
    }

    /// Matches the requests for which the closure is true.
    pub fn when(matches: impl Fn(&RequestHead) -> bool + Send + Sync + 'static) -> Self {
        Self { matches: Arc::new(matches), after: 0, times: None, seen: 0, faults: Vec::new() }
    }

    /// Lets the first `count` matching requests pass.
    #[must_use]
    pub fn after(mut self, count: usize) -> Self {
        self.after = count;
        self
    }

    /// Fires so many times, then never again.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.times = Some(count);
        self
    }

    /// Fires once.
    #[must_use]
    pub fn once(self) -> Self {
        self.times(1)
    }

    /// Adds a fault; those of one rule happen together, in this order.
    #[must_use]
    pub fn then(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    fn fire(&mut self, head: &RequestHead) -> Option<Vec<Fault>> {
        let fired = self.seen.saturating_sub(self.after);
        if self.times.is_some_and(|times| fired >= times) || !(self.matches)(head) {
            return None;
        }
        self.seen += 1;
        (self.seen > self.after).then(|| self.faults.clone())
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("after", &self.after)
            .field("times", &self.times)
            .field("seen", &self.seen)
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

/// The rules of one listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleList(Arc<Mutex<Vec<Rule>>>);

impl RuleList {
    pub(crate) fn add(&self, rule: Rule) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(rule);
    }

    /// The same before all present ones.
    pub(crate) fn add_first(&self, rule: Rule) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(0, rule);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Tells the rounds of all rules that a connection was opened.
    pub(crate) fn connected(&self) {
        let rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in rules.iter().flat_map(|rule| &rule.faults) {
            if let Fault::InRounds(rounds) = fault {
                rounds.connected();
            }
        }
    }

    /// The faults of the first rule that fires; empty if no rule fires.
    pub(crate) fn fire(&self, head: &RequestHead) -> Vec<Fault> {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rules.iter_mut().find_map(|rule| rule.fire(head)).unwrap_or_default()
    }
}

/// Whether `*` (any characters) and literal characters of the pattern make up the whole text.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let Some((literal, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(tail) = text.strip_prefix(literal) else { return false };
    (0..=tail.len()).any(|start| tail.is_char_boundary(start) && glob(rest, &tail[start..]))
}

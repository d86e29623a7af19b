//! A request of a protocol, and what the protocol says of its answers.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderValue;
use url::Url;

use crate::answer::HttpAnswer;
use crate::held_url::HeldUrl;
use crate::problem::NetworkProblem;

/// One request, as each attempt sends it.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub method: Method,
    pub to: HeldUrl,
    /// The value of `Accept`.
    pub accept: &'static str,
    /// The value of `Authorization`, shown to the origin of the first address alone.
    pub authorization: Option<HeaderValue>,
    pub headers: Vec<(&'static str, String)>,
    /// The form that it sends.
    pub form: Option<Bytes>,
    /// Most bytes of a body that is read.
    pub limit: u64,
    /// Which time its attempts have.
    pub time: TimeLimit,
}

/// Which time counts against the limit of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// The time without progress.
    WithoutProgress,
    /// The time of each attempt, its redirects and its body together.
    OfEachAttempt,
}

/// Why a request has no document.
#[derive(Debug)]
pub enum NoDocument {
    Network(NetworkProblem),
    /// The body is larger than the limit.
    TooLarge,
    /// The body comes with this content encoding.
    Encoded(String),
    /// There are more redirects than one request follows.
    TooManyRedirects,
    /// The server asks for a longer wait than this program is willing to make.
    TooLong(Duration),
}

/// The protocol that makes a request: its rules for redirects, and its errors.
#[async_trait]
pub trait Requester: Sync {
    type RequestError: Send;

    /// Where a redirect leads.
    ///
    /// # Errors
    /// If a rule forbids it.
    fn next(&self, from: &HeldUrl, answer: &HttpAnswer, location: &str) -> Result<HeldUrl, Self::RequestError>;

    /// Whether the body of an answer is read. The body of another answer is left to the requester.
    fn wants(&self, answer: &HttpAnswer) -> bool;

    /// The error if this answer, which may be another one next time, is the last. Called for each such answer.
    async fn refused(&self, answer: HttpAnswer) -> Self::RequestError;

    /// The error of a request that this address did not answer with a document. Called for each attempt that the network
    /// broke.
    fn no_document(&self, url: &Url, why: NoDocument) -> Self::RequestError;
}

//! A request of a protocol, and what the protocol says of its answers.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderValue;
use url::Url;

use crate::answer::HttpAnswer;
use crate::held_url::HeldUrl;
use crate::limits::shown_time;
use crate::problem::NetworkProblem;
use crate::redirect::{MAX_REDIRECTS, RedirectFault};

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

/// Why there is no document, or no whole file.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebFault {
    #[error("{0}")]
    Network(NetworkProblem),
    /// A status: for a document one that may be another one next time, for a file any other than that of a body.
    #[error("it answered {0}")]
    Status(u16),
    #[error("it asks for a wait of {}", shown_time(*.0))]
    Wait(Duration),
    #[error("its redirect is not followed: {0}")]
    Redirect(RedirectFault),
    #[error("it redirects more than {MAX_REDIRECTS} times")]
    TooManyRedirects,
    #[error("its redirect to {0} is not followed: that is on this machine or in a private network")]
    PrivateHost(String),
    #[error("its answer is larger than {0} bytes")]
    TooLarge(u64),
    #[error("it has {actual} bytes, and should have {expected}")]
    WrongSize {
        expected: u64,
        /// The bytes that are announced, or came.
        actual: u64,
    },
    #[error("it comes with the content encoding {0}")]
    Encoded(String),
    #[error("it changes while it is read")]
    Changed,
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
    fn no_document(&self, url: &Url, fault: WebFault) -> Self::RequestError;
}

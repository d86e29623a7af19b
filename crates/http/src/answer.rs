//! What a server answered, its body unread.

use std::io;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use serde::de::IgnoredAny;
use tofu_oci_types::NetworkFault;
use tokio::time::{Instant, timeout};
use url::Url;

use crate::address_scope::AddressScope;
use crate::body_rate::BodyRate;
use crate::decoding::Decoding;
use crate::held_url::HeldUrl;
use crate::limits::HttpLimits;
use crate::problem::NetworkProblem;
use crate::retry::{Attempts, RetryAfter, retry_after};
use crate::waiting::{Elapsed, Waiting};

/// The head of an answer, and its body as it comes.
pub struct HttpAnswer {
    response: Response,
    /// How near the host may be that it names.
    nearest: AddressScope,
    /// The whole body, if it has been read already.
    body: Option<Bytes>,
    /// How the body becomes what was asked for, if it comes compressed.
    decoding: Option<Box<Decoding>>,
    /// What reports a long wait for the body.
    waiting: Waiting,
    /// How the body comes.
    rate: BodyRate,
    limits: HttpLimits,
    now: SystemTime,
}

impl HttpAnswer {
    /// An answer of a host at this distance or farther. Reading its body counts towards the same attempts.
    pub(crate) fn new(
        response: Response,
        nearest: AddressScope,
        waiting: Waiting,
        limits: HttpLimits,
        left: Duration,
        now: SystemTime,
    ) -> Self {
        let nearest = HeldUrl::answered(response.url(), nearest, response.remote_addr());
        let rate = BodyRate::within(left);
        let mut answer = Self { response, nearest, body: None, decoding: None, waiting, rate, limits, now };
        answer.decoding = answer
            .header("content-encoding")
            .and_then(|encoding| Decoding::of(encoding.trim(), answer.is_of_compressed()))
            .map(Box::new);
        answer
    }

    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The address that answered, after all redirects. It may carry a query: [`crate::shown_url`] is for people.
    pub fn url(&self) -> &Url {
        self.response.url()
    }

    /// The address that answered, and how near the hosts may be that the answer names.
    pub fn held_url(&self) -> HeldUrl {
        HeldUrl { url: self.url().clone(), nearest: self.nearest }
    }

    /// The first header of this name, if it is a text. Servers write addresses in raw UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok())
    }

    /// All headers of this name that are texts, in order.
    pub fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    pub fn all_headers(&self) -> &reqwest::header::HeaderMap {
        self.response.headers()
    }

    /// The length of the body that the server announces, in bytes; `None` for one that comes compressed.
    pub fn length(&self) -> Option<u64> {
        if self.is_decoded() { None } else { self.announced() }
    }

    fn announced(&self) -> Option<u64> {
        self.header("content-length")?.trim().parse().ok()
    }

    /// Which part of the whole the body is.
    pub(crate) fn content_range(&self) -> Option<ContentRange> {
        self.header("content-range").and_then(content_range)
    }

    /// Whether the body comes compressed, so that places in it are not those in what was asked for.
    pub(crate) fn is_decoded(&self) -> bool {
        self.decoding.as_ref().is_some_and(|decoding| !decoding.is_as_it_is())
    }

    /// Takes the body as it comes if it has this length, or is a part of one that has: then it is what was asked for, and only
    /// labelled as compressed.
    pub(crate) fn known_to_have(&mut self, length: Option<u64>) {
        let whole = match self.status() {
            206 => self.content_range().and_then(|range| range.total),
            _ => self.announced(),
        };
        if length.is_some()
            && whole == length
            && let Some(decoding) = &mut self.decoding
        {
            decoding.take_as_it_is();
        }
    }

    /// Whether what was asked for is called a compressed file.
    fn is_of_compressed(&self) -> bool {
        let end = self.url().path().rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
        let of_type = self.media_type().is_some_and(|kind| kind.ends_with("gzip") || kind.ends_with("tgz"));
        of_type || end.is_some_and(|end| end == "gz" || end == "tgz")
    }

    /// The media type without parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let value = self.header("content-type")?.split(';').next()?.trim().to_ascii_lowercase();
        (!value.is_empty()).then_some(value)
    }

    /// The content encoding, if the body is encoded and is not decoded here.
    pub fn content_encoding(&self) -> Option<&str> {
        let encoding = self.header("content-encoding").map(str::trim);
        encoding.filter(|encoding| self.decoding.is_none() && !matches!(*encoding, "" | "identity"))
    }

    /// The `ETag`, if it is a strong one.
    pub fn strong_etag(&self) -> Option<&str> {
        self.header("etag").filter(|etag| etag.starts_with('"'))
    }

    /// The wait that the server asks for.
    pub fn asked_wait(&self) -> Option<Duration> {
        retry_after(self.header("retry-after")?, self.now)
    }

    /// What a passing refusal says about the next attempt.
    pub fn retry_after(&self) -> RetryAfter {
        RetryAfter::of(self.status(), self.asked_wait())
    }

    /// Counts the time that a broken body took without the progress that it should have made.
    pub fn spend_on(&self, attempts: &mut Attempts) {
        attempts.spend(self.rate.still());
    }

    /// The next piece of the body. Only the time that is waited here counts: the caller may be slow.
    ///
    /// # Errors
    /// If the connection breaks, or too little comes.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, NetworkProblem> {
        loop {
            if let Some(piece) =
                self.decoding.as_deref_mut().map(Decoding::next).transpose().map_err(damaged)?.flatten()
            {
                return Ok(Some(piece));
            }
            let came = self.receive().await?;
            let Some(decoding) = &mut self.decoding else { return Ok(came) };
            match came {
                Some(came) => decoding.add(&came),
                None => return decoding.end().map_err(damaged),
            }
        }
    }

    /// The next piece as it comes.
    async fn receive(&mut self) -> Result<Option<Bytes>, NetworkProblem> {
        let start = Instant::now();
        // What was waited before counts, as long as not enough has come since.
        let since = start.checked_sub(self.rate.stalled()).unwrap_or(start);
        let limit = self.rate.stalled().saturating_add(self.rate.time_left(&self.limits));
        let piece = self.waiting.until(limit, || since, self.response.chunk()).await;
        self.rate.waited(start.elapsed());
        match piece {
            Ok(Ok(piece)) => {
                self.rate.moved(piece.as_ref().map_or(0, |piece| piece.len() as u64), &self.limits);
                Ok(piece)
            }
            Ok(Err(error)) => Err(NetworkProblem::of(error, self.now)),
            Err(Elapsed) => Err(self.rate.too_slow(&self.limits)),
        }
    }

    /// The next piece, or `None` if nothing comes for a moment: for a body that has arrived, so that its end matters
    /// for the connection alone.
    ///
    /// # Errors
    /// If the connection breaks.
    pub async fn end(&mut self) -> Result<Option<Bytes>, NetworkProblem> {
        let moment = self.limits.window / 300;
        timeout(moment, self.piece()).await.unwrap_or(Ok(None))
    }

    /// The whole body, if it is not larger than `limit` bytes. A JSON document that is complete needs no end of
    /// the answer: a server may keep the connection open without saying how long the answer is.
    ///
    /// # Errors
    /// If it is larger, or breaks.
    pub async fn read(&mut self, limit: u64) -> Result<Bytes, UnreadBody> {
        self.read_until(limit, &is_document).await
    }

    /// The same; `is_all` says whether a document that may have no end is complete.
    ///
    /// # Errors
    /// If it is larger, or breaks.
    pub async fn read_until(
        &mut self,
        limit: u64,
        is_all: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Result<Bytes, UnreadBody> {
        if let Some(body) = &self.body {
            return Ok(Bytes::clone(body));
        }
        if self.length().is_some_and(|length| length > limit) {
            return Err(UnreadBody::TooLarge);
        }
        let moment = self.limits.window / 120;
        let mut bytes = BytesMut::new();
        loop {
            let is_open = self.length().is_none() && !bytes.is_empty();
            let piece = if is_open { timeout(moment, self.piece()).await.ok() } else { Some(self.piece().await) };
            let piece = match piece {
                Some(piece) => piece,
                None if is_all(&bytes) => Ok(None),
                None => {
                    self.rate.waited(moment);
                    match self.piece().await {
                        // A wrong digest explains more than a missing end.
                        Err(problem) if problem.fault == NetworkFault::TimedOut && is_document(&bytes) => Ok(None),
                        piece => piece,
                    }
                }
            };
            match piece {
                Ok(Some(piece)) if bytes.len() as u64 + piece.len() as u64 > limit => return Err(UnreadBody::TooLarge),
                Ok(Some(piece)) => bytes.extend_from_slice(&piece),
                Ok(None) => {
                    let bytes = bytes.freeze();
                    self.body = Some(Bytes::clone(&bytes));
                    return Ok(bytes);
                }
                Err(problem) => return Err(UnreadBody::Broken(problem)),
            }
        }
    }

    /// The whole body, if it has been read.
    pub fn body(&self) -> &[u8] {
        self.body.as_deref().unwrap_or_default()
    }

    /// The whole body, or no bytes if it does not come soon: for the server's explanation of an error.
    pub async fn read_soon(&mut self, limit: u64) -> Bytes {
        let read = timeout(self.limits.window, self.read(limit)).await;
        read.ok().and_then(Result::ok).unwrap_or_default()
    }
}

fn damaged(_: io::Error) -> NetworkProblem {
    let text = "the answer comes with the content encoding gzip, and is damaged or cut off";
    NetworkProblem { text: text.to_owned(), fault: NetworkFault::Lost }
}

impl AsMut<Self> for HttpAnswer {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

/// Why there is no body.
#[derive(Debug)]
pub enum UnreadBody {
    /// It is larger than the limit.
    TooLarge,
    Broken(NetworkProblem),
}

/// Whether these bytes are a whole JSON document.
pub fn is_document(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Whether these bytes are the beginning of a JSON document, and not all of it.
pub fn is_cut_short(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_err_and(|error| error.is_eof())
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) total: Option<u64>,
}

/// Spec: RFC 9110, section 14.4.
fn content_range(value: &str) -> Option<ContentRange> {
    let (range, total) = value.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
    let (start, end) = range.split_once('-')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some(ContentRange { start: start.parse().ok()?, end: end.parse().ok()?, total })
}

#[cfg(test)]
mod tests;

//! How a download goes on after a break (by Range), and which two answers are of one body.

use std::ops::Range;

use async_trait::async_trait;
use bytes::{Buf as _, Bytes};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use crate::answer::HttpAnswer;
use crate::clean::{clean, host_of};
use crate::client::{HttpClient, Setback};
use crate::problem::NetworkProblem;
use crate::redirect::Protection;
use crate::requester::WebFault;
use crate::retry::{Attempts, RetryAfter};

/// So many bytes count as progress: the attempts begin anew. A server that breaks after each 2 KiB still sends faster than the slowest body
/// that is accepted.
const PROGRESS: u64 = 2 * 1024;

/// How many times more bytes may be repeated from the start than are new: without a bound, a server could have a body
/// requested once for each of its pieces.
const REPEATED: u64 = 16;

/// What a download asks for, and how.
#[async_trait]
pub trait RangeSource: Send + Sync + 'static {
    /// An answer of the protocol.
    type PartAnswer: AsMut<HttpAnswer> + Send;
    type DownloadError: Send;

    /// The connections.
    fn http(&self) -> &HttpClient;

    /// What protects the body. If it is TLS alone, no two answers of different bodies may be joined.
    fn protection(&self) -> Protection;

    /// Method, host and path of the request, for people.
    fn label(&self) -> String;

    /// Sends the request with these headers besides its own, within these attempts.
    ///
    /// # Errors
    /// If no answer comes.
    async fn send(
        &self,
        headers: &[(&'static str, String)],
        attempts: &mut Attempts,
    ) -> Result<Self::PartAnswer, Self::DownloadError>;

    /// The error of an answer that is neither the body nor a part of it.
    async fn refused(&self, answer: Self::PartAnswer) -> Self::DownloadError;

    /// The error of a body that did not come whole.
    fn fault(&self, fault: WebFault) -> Self::DownloadError;
}

/// What is known of the size of a body, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodySize {
    /// It has this size.
    Known(u64),
    /// The server may say it, and it is at most this.
    AtMost(u64),
}

/// A body, after the head of its first answer has been seen.
pub struct Downloaded<E> {
    /// Its size in bytes; `None` if it was not known and the server does not announce it.
    pub size: Option<u64>,
    pub stream: BoxStream<'static, Result<Bytes, E>>,
}

/// One body being read.
pub struct Download<S: RangeSource> {
    source: S,
    /// The first answer that announces a size makes it known.
    size: BodySize,
    /// The host that answered last, as all requests name it.
    host: String,
    /// The position after the last byte that is wanted; `None` if that is the end of the body.
    end: Option<u64>,
    /// The position of the next byte that is handed on.
    offset: u64,
    /// Bytes of the current answer that have been handed on before.
    skip: u64,
    /// Bytes that the current answer, or the one that broke last, brought once more from the start.
    skipped: u64,
    /// Where the last break was.
    broke_at: u64,
    answer: Option<S::PartAnswer>,
    /// An earlier answer whose head is still unread.
    first: Option<S::PartAnswer>,
    /// The strong validator of the first answer.
    etag: Option<String>,
    /// Whether the server may still be asked for a part.
    parts: bool,
    attempts: Attempts,
}

impl<S: RangeSource> Download<S> {
    /// The stream, after the first answer's head has been seen.
    ///
    /// # Errors
    /// If no answer begins the body.
    pub async fn start(
        source: S,
        size: BodySize,
        attempts: Attempts,
    ) -> Result<Downloaded<S::DownloadError>, S::DownloadError> {
        Self { size, ..Self::new(source, attempts) }.started().await
    }

    /// The stream of a part, not empty, of a body of this size. A server without parts is asked for the whole body.
    ///
    /// # Errors
    /// If no answer begins the part.
    pub async fn part(
        source: S,
        size: u64,
        part: Range<u64>,
        attempts: Attempts,
    ) -> Result<Downloaded<S::DownloadError>, S::DownloadError> {
        let (size, end, offset, broke_at) = (BodySize::Known(size), Some(part.end), part.start, part.start);
        Self { size, end, offset, broke_at, ..Self::new(source, attempts) }.started().await
    }

    fn new(source: S, attempts: Attempts) -> Self {
        Self {
            source,
            size: BodySize::AtMost(u64::MAX),
            host: String::new(),
            end: None,
            offset: 0,
            skip: 0,
            skipped: 0,
            broke_at: 0,
            answer: None,
            first: None,
            etag: None,
            parts: true,
            attempts,
        }
    }

    /// The body of this answer as a stream.
    ///
    /// # Errors
    /// As [`Download::start`].
    pub async fn begun(
        source: S,
        answer: S::PartAnswer,
        size: BodySize,
        attempts: Attempts,
    ) -> Result<Downloaded<S::DownloadError>, S::DownloadError> {
        Self { size, first: Some(answer), ..Self::new(source, attempts) }.started().await
    }

    async fn started(mut self) -> Result<Downloaded<S::DownloadError>, S::DownloadError> {
        self.request().await?;
        let size = self.size.known();
        Ok(Downloaded { size, stream: futures_util::stream::try_unfold(self, Self::step).boxed() })
    }

    /// Asks for the bytes from `offset` on. Never asks beyond the end: servers in use answer that with a length
    /// that they do not keep.
    async fn request(&mut self) -> Result<(), S::DownloadError> {
        loop {
            let partial = (self.offset > 0 || self.end.is_some()) && self.parts;
            let mut headers = Vec::new();
            if partial {
                let last = self.end.map_or_else(String::new, |end| (end - 1).to_string());
                headers.push(("range", format!("bytes={}-{last}", self.offset)));
                headers.extend(self.etag.clone().map(|etag| ("if-range", etag)));
            }
            let mut answer = match self.first.take() {
                Some(answer) => answer,
                None => self.source.send(&headers, &mut self.attempts).await?,
            };
            let head = answer.as_mut();
            head.known_to_have(self.size.known());
            self.host = host_of(head.url());
            let short = self.size.known().zip(head.length()).filter(|(size, length)| length < size);
            match (head.status(), short) {
                (200, Some((expected, actual))) => self.broken(WebFault::WrongSize { expected, actual }).await?,
                (200, None) => return self.whole(answer),
                (206, _) if partial => match self.size_of_part(head).filter(|_| !head.is_decoded()) {
                    Some(size) => {
                        self.size = BodySize::Known(size);
                        (self.skip, self.skipped) = (0, 0);
                        self.answer = Some(answer);
                        return Ok(());
                    }
                    // Dropping the unread answer closes its connection.
                    None => self.parts = false,
                },
                (416, _) if partial => self.parts = false,
                _ => return Err(self.source.refused(answer).await),
            }
        }
    }

    fn whole(&mut self, mut answer: S::PartAnswer) -> Result<(), S::DownloadError> {
        let head = answer.as_mut();
        if let Some(encoding) = head.content_encoding() {
            return Err(self.source.fault(WebFault::Encoded(clean(encoding))));
        }
        if self.offset > 0 && !self.is_same(head) {
            return Err(self.source.fault(WebFault::Changed));
        }
        match (self.size, head.length()) {
            (BodySize::AtMost(limit), Some(length)) if length > limit => {
                return Err(self.source.fault(WebFault::TooLarge(limit)));
            }
            (BodySize::AtMost(_), Some(length)) => self.size = BodySize::Known(length),
            (BodySize::Known(expected), Some(actual)) if actual != expected => {
                return Err(self.source.fault(WebFault::WrongSize { expected, actual }));
            }
            _ => {}
        }
        self.etag = head.strong_etag().map(str::to_owned);
        self.parts &= !head.is_decoded();
        (self.skip, self.skipped) = (self.offset, self.offset);
        self.answer = Some(answer);
        Ok(())
    }

    /// The size of the whole body, if a partial answer begins where the last one broke, in the same body.
    fn size_of_part(&self, answer: &HttpAnswer) -> Option<u64> {
        let range = answer.content_range()?;
        let size = match self.size {
            BodySize::Known(size) => size,
            BodySize::AtMost(limit) => range.total.filter(|total| *total <= limit)?,
        };
        let continues = range.start == self.offset && range.end < size && range.total.is_none_or(|total| total == size);
        // A server that keeps to `If-Range` sends a part of the same body alone, and need not repeat the validator.
        let is_same = answer.strong_etag().is_none() || self.is_same(answer);
        (continues && is_same).then_some(size)
    }

    /// Whether an answer is about the body that the first one began. What a digest protects is compared at its end.
    fn is_same(&self, answer: &HttpAnswer) -> bool {
        match (self.source.protection(), &self.etag) {
            (Protection::Digest, _) => true,
            (Protection::Tls, Some(etag)) => answer.strong_etag() == Some(etag),
            (Protection::Tls, None) => self.size.known().is_some(),
        }
    }

    async fn step(mut self) -> Result<Option<(Bytes, Self)>, S::DownloadError> {
        loop {
            let Some(answer) = self.answer.as_mut().map(AsMut::as_mut) else {
                self.request().await?;
                continue;
            };
            if self.end == Some(self.offset) {
                // The answer may be longer than the part. If it ends here, its connection is of further use.
                let _ = answer.end().await;
                return Ok(None);
            }
            // A complete body needs no end of the answer: the connection may stay open.
            let is_complete = self.size == BodySize::Known(self.offset);
            let piece =
                if is_complete && answer.length().is_none() { answer.end().await } else { answer.piece().await };
            match piece {
                Ok(Some(mut piece)) => {
                    let known = self.skip.min(piece.len() as u64);
                    self.skip -= known;
                    piece.advance(usize::try_from(known).unwrap_or(piece.len()));
                    if let Some(end) = self.end {
                        piece.truncate(usize::try_from(end - self.offset).unwrap_or(usize::MAX));
                    }
                    if piece.is_empty() {
                        continue;
                    }
                    self.offset += piece.len() as u64;
                    match self.size {
                        BodySize::Known(expected) if self.offset > expected => {
                            let actual = self.offset;
                            return Err(self.source.fault(WebFault::WrongSize { expected, actual }));
                        }
                        BodySize::AtMost(limit) if self.offset > limit => {
                            return Err(self.source.fault(WebFault::TooLarge(limit)));
                        }
                        _ => {}
                    }
                    return Ok(Some((piece, self)));
                }
                _ if is_complete => return Ok(None),
                Ok(None) if self.size.known().is_none() && self.skip == 0 => return Ok(None),
                Ok(None) => self.broken(WebFault::Network(NetworkProblem::cut_off())).await?,
                Err(problem) => self.broken(WebFault::Network(problem)).await?,
            }
        }
    }

    /// Waits for the next attempt after a break, or ends.
    async fn broken(&mut self, end: WebFault) -> Result<(), S::DownloadError> {
        // The lost answer's wait counts before its progress, so that the progress cannot offset later waits.
        if let Some(mut answer) = self.answer.take() {
            answer.as_mut().spend_on(&mut self.attempts);
        }
        let bytes = self.offset - self.broke_at;
        if bytes >= PROGRESS.max(self.skipped / REPEATED) {
            self.attempts.progressed(bytes);
        }
        self.broke_at = self.offset;
        let reason = match &end {
            WebFault::Network(problem) => &problem.text,
            _ => "the answer is too short",
        };
        let reason = match self.size {
            BodySize::Known(size) => format!("{reason} (after {} of {size} bytes)", self.offset),
            BodySize::AtMost(_) => format!("{reason} (after {} bytes)", self.offset),
        };
        let (request, host) = (self.source.label(), self.host.clone());
        let setback = Setback { request, host, after: RetryAfter::Nothing, reason: &reason };
        // Neither a size nor a validator would tell another body from the one that has begun.
        let may_continue = self.offset == 0 || self.size.known().is_some() || self.etag.is_some();
        if may_continue && self.source.http().retry(&mut self.attempts, setback).await.is_ok() {
            return Ok(());
        }
        Err(self.source.fault(match end {
            WebFault::Network(problem) => WebFault::Network(NetworkProblem { text: reason, ..problem }),
            fault => fault,
        }))
    }
}

impl BodySize {
    fn known(self) -> Option<u64> {
        match self {
            Self::Known(size) => Some(size),
            Self::AtMost(_) => None,
        }
    }
}

//! A body of a known size on its way down: streamed, and resumed by Range after a break.

use async_trait::async_trait;
use bytes::{Buf as _, Bytes};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use crate::answer::HttpAnswer;
use crate::clean::{clean, host_of};
use crate::client::{HttpClient, Setback};
use crate::problem::NetworkProblem;
use crate::retry::{Attempts, RetryAfter};

/// So many bytes count as progress: the attempts begin anew.
const PROGRESS: u64 = 64 * 1024;

/// How many times more bytes may be repeated from the start than are new: without a bound, a server could have a body
/// requested once for each of its pieces.
const REPEATED: u64 = 16;

/// What a download asks for, and how.
#[async_trait]
pub trait RangeSource: Send + Sync + 'static {
    /// An answer of the protocol.
    type PartAnswer: AsMut<HttpAnswer> + Send;
    /// The error of a download.
    type DownloadError: Send;

    /// The connections.
    fn http(&self) -> &HttpClient;

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
    fn fault(&self, fault: DownloadFault) -> Self::DownloadError;
}

/// Why a body did not come whole.
#[derive(Debug)]
pub enum DownloadFault {
    /// The connection broke, and all attempts have been made.
    Network(NetworkProblem),
    /// The server announces, or sends at least, so many bytes.
    WrongSize(u64),
    /// The body comes with this content encoding.
    Encoded(String),
}

/// One body being read.
pub struct Download<S: RangeSource> {
    source: S,
    /// The size of the body in bytes.
    size: u64,
    /// The host that answered last, as all requests name it.
    host: String,
    /// Bytes that have been handed on.
    offset: u64,
    /// Bytes of the current answer that have been handed on before.
    skip: u64,
    /// Bytes that the current answer, or the one that broke last, brought once more from the start.
    skipped: u64,
    /// Where the last break was.
    broke_at: u64,
    answer: Option<S::PartAnswer>,
    /// The strong validator of the first answer.
    etag: Option<String>,
    /// Whether the server may still be asked for a part.
    parts: bool,
    attempts: Attempts,
}

/// How an answer ended before the end of the body.
enum Break {
    Network(NetworkProblem),
    /// It announces this length.
    Short(u64),
}

impl<S: RangeSource> Download<S> {
    /// The stream, after the first answer's head has been seen.
    ///
    /// # Errors
    /// If no answer begins the body.
    pub async fn start(
        source: S,
        size: u64,
    ) -> Result<BoxStream<'static, Result<Bytes, S::DownloadError>>, S::DownloadError> {
        let attempts = source.http().attempts();
        let mut download = Self {
            source,
            size,
            host: String::new(),
            offset: 0,
            skip: 0,
            skipped: 0,
            broke_at: 0,
            answer: None,
            etag: None,
            parts: true,
            attempts,
        };
        download.request().await?;
        Ok(futures_util::stream::try_unfold(download, Self::step).boxed())
    }

    /// Asks for the bytes from `offset` on. Never asks beyond the end: servers in use answer that with a length
    /// that they do not keep.
    async fn request(&mut self) -> Result<(), S::DownloadError> {
        loop {
            let partial = self.offset > 0 && self.parts;
            let mut headers = Vec::new();
            if partial {
                headers.push(("range", format!("bytes={}-", self.offset)));
                headers.extend(self.etag.clone().map(|etag| ("if-range", etag)));
            }
            let mut answer = self.source.send(&headers, &mut self.attempts).await?;
            let head = answer.as_mut();
            self.host = host_of(head.url());
            let short = head.length().filter(|length| *length < self.size);
            match (head.status(), short) {
                (200, Some(length)) => self.broken(Break::Short(length)).await?,
                (200, None) => return self.whole(answer),
                (206, _) if partial && self.continues(head) => {
                    (self.skip, self.skipped) = (0, 0);
                    self.answer = Some(answer);
                    return Ok(());
                }
                // Dropping the unread answer closes its connection.
                (206 | 416, _) if partial => self.parts = false,
                _ => return Err(self.source.refused(answer).await),
            }
        }
    }

    fn whole(&mut self, mut answer: S::PartAnswer) -> Result<(), S::DownloadError> {
        let head = answer.as_mut();
        if let Some(encoding) = head.content_encoding() {
            return Err(self.source.fault(DownloadFault::Encoded(clean(encoding))));
        }
        if let Some(length) = head.length().filter(|length| *length != self.size) {
            return Err(self.source.fault(DownloadFault::WrongSize(length)));
        }
        self.etag = head.strong_etag().map(str::to_owned);
        self.skip = self.offset;
        self.skipped = self.offset;
        self.answer = Some(answer);
        Ok(())
    }

    /// Whether a partial answer begins where the last one broke, in a body of the right size.
    fn continues(&self, answer: &HttpAnswer) -> bool {
        let Some(range) = answer.header("content-range").and_then(content_range) else { return false };
        range.start == self.offset && range.end < self.size && range.total.is_none_or(|total| total == self.size)
    }

    async fn step(mut self) -> Result<Option<(Bytes, Self)>, S::DownloadError> {
        loop {
            let Some(answer) = self.answer.as_mut().map(AsMut::as_mut) else {
                self.request().await?;
                continue;
            };
            // A complete body needs no end of the answer: the connection may stay open.
            let is_complete = self.offset == self.size && answer.length().is_none();
            let piece = if is_complete { answer.end().await } else { answer.piece().await };
            match piece {
                Ok(Some(mut piece)) => {
                    let known = self.skip.min(piece.len() as u64);
                    self.skip -= known;
                    piece.advance(usize::try_from(known).unwrap_or(piece.len()));
                    if piece.is_empty() {
                        continue;
                    }
                    self.offset += piece.len() as u64;
                    if self.offset > self.size {
                        return Err(self.source.fault(DownloadFault::WrongSize(self.offset)));
                    }
                    return Ok(Some((piece, self)));
                }
                _ if self.offset == self.size => return Ok(None),
                Ok(None) => self.broken(Break::Network(NetworkProblem::cut_off())).await?,
                Err(problem) => self.broken(Break::Network(problem)).await?,
            }
        }
    }

    /// Waits for the next attempt after a break, or ends.
    async fn broken(&mut self, end: Break) -> Result<(), S::DownloadError> {
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
            Break::Network(problem) => &problem.text,
            Break::Short(_) => "the answer is too short",
        };
        let reason = format!("{reason} (after {} of {} bytes)", self.offset, self.size);
        let (request, host) = (self.source.label(), self.host.clone());
        let setback = Setback { request, host, after: RetryAfter::Nothing, reason: &reason };
        if self.source.http().retry(&mut self.attempts, setback).await.is_ok() {
            return Ok(());
        }
        Err(self.source.fault(match end {
            Break::Short(length) => DownloadFault::WrongSize(length),
            Break::Network(problem) => DownloadFault::Network(NetworkProblem { text: reason, ..problem }),
        }))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct ContentRange {
    start: u64,
    end: u64,
    total: Option<u64>,
}

/// Spec: RFC 9110, section 14.4.
fn content_range(value: &str) -> Option<ContentRange> {
    let (range, total) = value.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
    let (start, end) = range.split_once('-')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some(ContentRange { start: start.parse().ok()?, end: end.parse().ok()?, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        let range = |start, end, total| Some(ContentRange { start, end, total });
        assert_eq!(content_range("bytes 5-9/10"), range(5, 9, Some(10)));
        assert_eq!(content_range("bytes 5-9/*"), range(5, 9, None));
        assert_eq!(content_range("bytes */10"), None);
        assert_eq!(content_range("lines 5-9/10"), None);
        assert_eq!(content_range("bytes 5-9"), None);
    }
}

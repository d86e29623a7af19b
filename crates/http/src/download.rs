//! A blob on its way down: streamed, and taken up again where it broke.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use futures_util::StreamExt as _;
use reqwest::Method;
use tofu_oci_store::{ByteStream, ReadStore as _, StoreError};
use tofu_oci_types::{Descriptor, NetworkFault};

use crate::again::Setback;
use crate::answer::Answer;
use crate::call::Call;
use crate::clean::{NetworkProblem, clean};
use crate::client::RegistryClient;
use crate::origin::host_of;
use crate::retry::{Asked, Attempts};
use crate::scope::Access;
use crate::store::RemoteStore;

/// So many bytes count as progress: the attempts begin anew.
const PROGRESS: u64 = 64 * 1024;

/// What comes once more from the start may be so many times what is new: otherwise a blob could be asked for as often as it
/// has pieces.
const AGAIN: u64 = 16;

/// One blob being read.
pub(crate) struct Download {
    client: Arc<RegistryClient>,
    access: Access,
    place: String,
    path: String,
    /// The host that answered last, as all requests name it.
    host: String,
    descriptor: Descriptor,
    /// Bytes that have been handed on.
    offset: u64,
    /// Bytes of the current answer that have been handed on before.
    skip: u64,
    /// Bytes that the current answer, or the one that broke last, brought once more from the start.
    skipped: u64,
    /// Where the last break was.
    broke_at: u64,
    answer: Option<Answer>,
    /// The strong validator of the first answer.
    etag: Option<String>,
    /// Whether the registry may still be asked for a part.
    parts: bool,
    attempts: Attempts,
}

/// How an answer ended before the end of the blob.
enum Break {
    Network(NetworkProblem),
    /// It announces this length.
    Short(u64),
}

impl Download {
    pub(crate) fn new(store: &RemoteStore, descriptor: &Descriptor) -> Self {
        Self {
            attempts: store.client.attempts(),
            client: Arc::clone(&store.client),
            access: store.pull.clone(),
            place: store.place(),
            host: store.repository.registry().to_owned(),
            path: store.path("blobs", descriptor.digest.as_str()),
            descriptor: descriptor.clone(),
            offset: 0,
            skip: 0,
            skipped: 0,
            broke_at: 0,
            answer: None,
            etag: None,
            parts: true,
        }
    }

    /// The stream, after the first answer's head has been seen.
    pub(crate) async fn start(mut self) -> Result<ByteStream, StoreError> {
        self.request().await?;
        Ok(futures_util::stream::try_unfold(self, Self::step).boxed())
    }

    /// Asks for the bytes from `offset` on. Never asks beyond the end: registries in use answer that with a length
    /// that they do not keep.
    async fn request(&mut self) -> Result<(), StoreError> {
        loop {
            let mut call = Call::new(Method::GET, &self.path, &self.access).by_digest();
            let partial = self.offset > 0 && self.parts;
            if partial {
                call = call.header("range", &format!("bytes={}-", self.offset));
                if let Some(etag) = &self.etag {
                    call = call.header("if-range", etag);
                }
            }
            let answer = self.client.send_within(&call, &mut self.attempts).await?;
            self.host = host_of(answer.url());
            let short = answer.length().filter(|length| *length < self.descriptor.size);
            match (answer.status(), short) {
                (200, Some(length)) => self.broken(Break::Short(length)).await?,
                (200, None) => return self.whole(answer),
                (206, _) if partial && self.continues(&answer) => {
                    (self.skip, self.skipped) = (0, 0);
                    self.answer = Some(answer);
                    return Ok(());
                }
                // Dropping the unread answer closes its connection.
                (206 | 416, _) if partial => self.parts = false,
                _ => return Err(answer.into_error(&format!("blob {}", self.descriptor.digest)).await),
            }
        }
    }

    fn whole(&mut self, answer: Answer) -> Result<(), StoreError> {
        if let Some(encoding) = answer.header("content-encoding").filter(|encoding| *encoding != "identity") {
            let problem =
                format!("blob {} comes with the content encoding {}", self.descriptor.digest, clean(encoding));
            return Err(StoreError::Malformed { place: self.place.clone(), problem });
        }
        if let Some(length) = answer.length().filter(|length| *length != self.descriptor.size) {
            return Err(self.wrong_size(length));
        }
        self.etag = answer.header("etag").filter(|etag| etag.starts_with('"')).map(str::to_owned);
        self.skip = self.offset;
        self.skipped = self.offset;
        self.answer = Some(answer);
        Ok(())
    }

    /// Whether a partial answer begins where we stopped, in a blob of the right size.
    fn continues(&self, answer: &Answer) -> bool {
        let Some(range) = answer.header("content-range").and_then(content_range) else { return false };
        range.start == self.offset
            && range.end < self.descriptor.size
            && range.total.is_none_or(|total| total == self.descriptor.size)
    }

    async fn step(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        loop {
            let Some(answer) = &mut self.answer else {
                self.request().await?;
                continue;
            };
            // What is all there needs no end of the answer: the connection may stay open.
            let is_complete = self.offset == self.descriptor.size && answer.length().is_none();
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
                    if self.offset > self.descriptor.size {
                        return Err(self.wrong_size(self.offset));
                    }
                    return Ok(Some((piece, self)));
                }
                _ if self.offset == self.descriptor.size => return Ok(None),
                Ok(None) => {
                    let text = "connection closed before the end of the answer".to_owned();
                    self.broken(Break::Network(NetworkProblem { text, fault: NetworkFault::Lost })).await?;
                }
                Err(problem) => self.broken(Break::Network(problem)).await?,
            }
        }
    }

    /// Waits for the next attempt after a break, or ends.
    async fn broken(&mut self, fault: Break) -> Result<(), StoreError> {
        // What the lost answer waited counts first, so that progress cannot make good what comes after it.
        self.attempts.spend(self.answer.take().map_or(Duration::ZERO, |answer| answer.pace.still()));
        let bytes = self.offset - self.broke_at;
        if bytes >= PROGRESS.max(self.skipped / AGAIN) {
            self.attempts.got_on(bytes);
        }
        self.broke_at = self.offset;
        let reason = match &fault {
            Break::Network(problem) => &problem.text,
            Break::Short(_) => "the answer is too short",
        };
        let reason = format!("{reason} (after {} of {} bytes)", self.offset, self.descriptor.size);
        let host = self.host.clone();
        let request = format!("GET {}{}", self.access.subject.registry(), self.path);
        let setback = Setback { request, host, asked: Asked::Nothing, reason: &reason };
        if self.client.again(&mut self.attempts, setback).await.is_ok() {
            return Ok(());
        }
        Err(match fault {
            Break::Short(length) => self.wrong_size(length),
            Break::Network(problem) => NetworkProblem { text: reason, ..problem }.at(self.place.clone()),
        })
    }

    fn wrong_size(&self, actual: u64) -> StoreError {
        StoreError::SizeMismatch {
            place: self.place.clone(),
            what: format!("blob {}", self.descriptor.digest),
            expected: self.descriptor.size,
            actual,
        }
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

//! A blob in chunks: for registries that refuse it in one piece.
//!
//! Registries treat a chunk that does not fit in different ways: they append it, drop it, or answer 416. So the upload
//! compares the offset that the registry names after each chunk. After a chunk that broke, it asks the registry how much
//! it has, and goes on there.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes};
use futures_util::TryStreamExt as _;
use reqwest::Method;
use tofu_oci_http::{Attempts, HeldUrl, RetryAfter, host_of, is_transient};
use tofu_oci_store::{ByteStream, ReadStore as _, RejectionReason, StoreError, StoreItem};
use tofu_oci_types::Descriptor;

use crate::answer::RegistryAnswer;
use crate::body::CallBody;
use crate::call::{CallTarget, RegistryCall};
use crate::repository::RemoteStore;
use crate::session::{BrokenTransfer, Sent};

/// How often in a row a registry may keep less of a chunk than [`SMALLEST_CHUNK`].
const MOST_SHORT: u32 = 10;

/// The size of a chunk: a large registry refuses longer ones.
const CHUNK: u64 = 4 * 1024 * 1024;
/// The largest chunk that a registry may ask for with `OCI-Chunk-Min-Length`; a chunk is held in memory.
const LARGEST_CHUNK: u64 = 16 * 1024 * 1024;
/// The smallest chunk that is tried.
const SMALLEST_CHUNK: u64 = 64 * 1024;

/// How long chunks are: shorter after one was refused or broke, and longer again while they arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkLength {
    next: u64,
    longest: u64,
    shortest: u64,
    /// How much a registry had at most, in whatever session: more than that is progress.
    furthest: u64,
}

/// How a chunk ended.
enum ChunkOutcome {
    /// The registry has taken it: where the session goes on, and what it has.
    Taken(HeldUrl, UploadState),
    /// It is longer than the registry takes.
    TooLong(Box<RegistryAnswer>),
    /// It broke; what the registry has of it is not known.
    Broken(BrokenTransfer),
}

impl ChunkLength {
    /// The usual length.
    pub(crate) fn usual() -> Self {
        Self { next: CHUNK, longest: CHUNK, shortest: SMALLEST_CHUNK, furthest: 0 }
    }

    /// Shorter than what was refused or broke in one piece.
    pub(crate) fn below(size: u64) -> Self {
        let mut length = Self::usual();
        while length.next >= size && length.shorten() {}
        length
    }

    /// How much a registry had at most.
    pub(crate) fn furthest(self) -> u64 {
        self.furthest
    }

    /// After a chunk was refused for its length. Whether a shorter one may be tried.
    fn refused(&mut self) -> bool {
        let may = self.shorten();
        self.longest = self.next;
        may
    }

    /// After a chunk broke: a proxy may hang up on long requests.
    fn broke(&mut self) {
        self.longest = (self.next / 2).max(self.longest.min(CHUNK / 4));
        self.shorten();
    }

    fn arrived(&mut self) {
        self.next = (self.next * 2).min(self.longest).max(self.shortest);
    }

    fn shorten(&mut self) -> bool {
        let shorter = (self.next / 4).max(self.shortest);
        std::mem::replace(&mut self.next, shorter) > shorter
    }

    fn at_least(&mut self, minimum: u64) {
        self.shortest = minimum.clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
        self.longest = self.longest.max(self.shortest);
        self.next = self.next.max(self.shortest);
    }
}

impl RemoteStore {
    /// Sends the blob in chunks through a session that has just been opened.
    pub(crate) async fn send_chunks(
        &self,
        mut session: HeldUrl,
        descriptor: &Descriptor,
        content: &dyn tofu_oci_store::Body,
        length: &mut ChunkLength,
        attempts: &mut Attempts,
    ) -> Result<Sent, StoreError> {
        let mut reader = ChunkReader::at(content, 0).await?;
        let (mut sent, mut short) = (0, 0);
        loop {
            let (pieces, size) = reader.chunk(length.next).await?;
            if size == 0 {
                break;
            }
            if sent + size > descriptor.size {
                return Err(self.wrong_length(descriptor, sent + size));
            }
            let known = match self.patch(&session, &pieces, sent, size, attempts).await? {
                ChunkOutcome::Taken(next, kept) => {
                    session = next;
                    length.at_least(kept.minimum.unwrap_or(length.shortest));
                    length.arrived();
                    let known = kept.offset.filter(|known| (sent + 1..=sent + size).contains(known));
                    let Some(known) = known else {
                        let kept = kept.offset.map_or("does not say how much".to_owned(), |kept| format!("{kept}"));
                        self.cancel(session).await;
                        let sent = sent + size;
                        let problem = format!("a chunked upload went wrong: of {sent} bytes it has kept {kept}");
                        return Err(self.chunks_lost(problem));
                    };
                    short = if known < sent + size.min(SMALLEST_CHUNK) { short + 1 } else { 0 };
                    if short > MOST_SHORT {
                        self.cancel(session).await;
                        let problem = format!(
                            "a chunked upload does not get on: {short} times in a row it kept less than {SMALLEST_CHUNK} bytes of a chunk"
                        );
                        return Err(self.chunks_lost(problem));
                    }
                    known
                }
                ChunkOutcome::TooLong(answer) if !length.refused() => return Ok(Sent::TooLong(answer)),
                ChunkOutcome::TooLong(_) => sent,
                ChunkOutcome::Broken(broken) => {
                    length.broke();
                    self.after_break(attempts, &broken).await?;
                    let Some((next, known)) = self.progress_of(&session, attempts).await? else {
                        return Ok(Sent::Lost);
                    };
                    session = next;
                    known
                }
            };
            if known > length.furthest {
                attempts.progressed(known - length.furthest);
                length.furthest = known;
            }
            if (sent..=sent + size).contains(&known) {
                reader.put_back(pieces, known - sent);
            } else if known <= descriptor.size {
                reader = ChunkReader::at(content, known).await?;
            } else {
                self.cancel(session).await;
                let problem = format!("a chunked upload went wrong: of {sent} bytes it has kept {known}");
                return Err(self.chunks_lost(problem));
            }
            sent = known;
        }
        if sent != descriptor.size {
            return Err(self.wrong_length(descriptor, sent));
        }
        let host = host_of(&session.url);
        let call = self.closing(session, &descriptor.digest);
        match self.client.send_within(&call, attempts).await {
            Ok(answer) => self.closed(answer, &descriptor.digest).await,
            Err(error @ StoreError::Unreachable { .. }) => {
                Ok(Sent::Broken(BrokenTransfer { error, after: RetryAfter::Nothing, host }))
            }
            Err(error) => Err(error),
        }
    }

    /// Sends one chunk.
    async fn patch(
        &self,
        session: &HeldUrl,
        pieces: &[Bytes],
        start: u64,
        size: u64,
        attempts: &mut Attempts,
    ) -> Result<ChunkOutcome, StoreError> {
        let call = RegistryCall::to(Method::PATCH, CallTarget::Address(session.clone()), &self.push)
            .header("content-type", "application/octet-stream")
            .header("content-range", &format!("{start}-{}", start + size - 1))
            .body(CallBody::Pieces(pieces, size))
            .step();
        let answer = match self.client.send_within(&call, attempts).await {
            Ok(answer) => answer,
            Err(error @ StoreError::Unreachable { .. }) => {
                return Ok(ChunkOutcome::Broken(BrokenTransfer {
                    error,
                    after: RetryAfter::Nothing,
                    host: host_of(&session.url),
                }));
            }
            Err(error) => return Err(error),
        };
        match answer.status() {
            200..=299 => {
                let next = if answer.header("location").is_some() { self.location(&answer)? } else { session.clone() };
                Ok(ChunkOutcome::Taken(next, upload_state(&answer)))
            }
            411 | 413 => Ok(ChunkOutcome::TooLong(Box::new(answer))),
            // 404: the session is lost. 416: the chunk is out of order. In both cases the registry says how much it has.
            status if is_transient(status) || matches!(status, 404 | 416) => {
                let (after, host) = (answer.retry_after(), host_of(answer.url()));
                let error = self.chunk_error(answer).await;
                Ok(ChunkOutcome::Broken(BrokenTransfer { error, after, host }))
            }
            _ => Err(self.chunk_error(answer).await),
        }
    }

    /// The error of a chunk that the registry refused.
    pub(crate) async fn chunk_error(&self, answer: RegistryAnswer) -> StoreError {
        let mut error = self.write_error(answer).await;
        if let StoreError::Rejected { status: 400..=412 | 414..=499, reason, .. } = &mut error
            && *reason != RejectionReason::WrongDigest
        {
            *reason = RejectionReason::Chunk;
        }
        error
    }

    fn chunks_lost(&self, problem: String) -> StoreError {
        StoreError::ChunksLost { place: self.place(), problem }
    }

    /// Where the session goes on and how much the registry has; `None` if it does not say so.
    ///
    /// Spec: OCI distribution-spec 1.1.1, "Pushing a blob in chunks": a `GET` of the session's location.
    async fn progress_of(
        &self,
        session: &HeldUrl,
        attempts: &mut Attempts,
    ) -> Result<Option<(HeldUrl, u64)>, StoreError> {
        let mut other = attempts.of_another_request();
        let call = RegistryCall::to(Method::GET, CallTarget::Address(session.clone()), &self.push);
        let answer = self.client.send_within(&call, &mut other).await;
        attempts.count(&other);
        let answer = match answer {
            Ok(answer) if (200..300).contains(&answer.status()) => answer,
            Ok(_) => return Ok(None),
            Err(error) => return Err(error),
        };
        let next = if answer.header("location").is_some() { self.location(&answer)? } else { session.clone() };
        // `0-0` means one byte, or none.
        Ok(upload_state(&answer).offset.filter(|offset| *offset > 1).map(|offset| (next, offset)))
    }

    fn wrong_length(&self, descriptor: &Descriptor, actual: u64) -> StoreError {
        StoreError::SizeMismatch {
            place: self.place(),
            what: StoreItem::Other("the content to send"),
            expected: descriptor.size,
            actual,
        }
    }
}

/// What a registry says about a session.
struct UploadState {
    /// How many bytes it has.
    offset: Option<u64>,
    /// How long a chunk must be.
    minimum: Option<u64>,
}

/// Spec: OCI distribution-spec 1.1.1, "Pushing a blob in chunks": `Range: 0-LAST`.
fn upload_state(answer: &RegistryAnswer) -> UploadState {
    let end = answer.header("range").and_then(|range| {
        let range = range.trim().trim_start_matches("bytes=");
        range.strip_prefix("0-")?.parse::<u64>().ok()
    });
    let minimum = answer.header("oci-chunk-min-length").and_then(|length| length.trim().parse().ok());
    // A fresh session has nothing, and registries write that as `0-0`, as they do for one byte.
    UploadState { offset: end.map(|end| end + 1), minimum }
}

/// Content cut to chunks.
struct ChunkReader {
    stream: ByteStream,
    /// What was read and comes next, in its order.
    rest: VecDeque<Bytes>,
}

impl ChunkReader {
    /// The content from this byte on.
    async fn at(content: &dyn tofu_oci_store::Body, mut offset: u64) -> Result<Self, StoreError> {
        let mut reader = Self { stream: content.open().await?, rest: VecDeque::new() };
        while offset > 0 {
            let (_, size) = reader.chunk(offset.min(SMALLEST_CHUNK)).await?;
            if size == 0 {
                break;
            }
            offset -= size;
        }
        Ok(reader)
    }

    /// The next `length` bytes, or fewer at the end, in the pieces that they come in.
    async fn chunk(&mut self, length: u64) -> Result<(Vec<Bytes>, u64), StoreError> {
        let mut pieces = Vec::new();
        let mut size = 0;
        while size < length {
            let Some(mut piece) = (match self.rest.pop_front() {
                Some(piece) => Some(piece),
                None => self.stream.try_next().await?,
            }) else {
                break;
            };
            let room = usize::try_from(length - size).unwrap_or(usize::MAX);
            let taken = piece.split_to(piece.len().min(room));
            if !piece.is_empty() {
                self.rest.push_front(piece);
            }
            size += taken.len() as u64;
            pieces.push(taken);
        }
        Ok((pieces, size))
    }

    /// Puts back what was read last, except its first bytes.
    fn put_back(&mut self, pieces: Vec<Bytes>, first: u64) {
        let mut left = first;
        let mut kept = Vec::new();
        for mut piece in pieces {
            let done = left.min(piece.len() as u64);
            left -= done;
            piece.advance(usize::try_from(done).unwrap_or(piece.len()));
            kept.push(piece);
        }
        for piece in kept.into_iter().rev().filter(|piece| !piece.is_empty()) {
            self.rest.push_front(piece);
        }
    }
}

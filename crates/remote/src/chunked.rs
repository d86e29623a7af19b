//! A blob in chunks: for registries that refuse it in one piece.
//!
//! Registries differ in what they make of a chunk that does not fit: they append it, drop it, or answer 416. So the
//! offset that the registry names is compared after each chunk, and the session is given up when it is another one.

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use reqwest::Method;
use tofu_oci_store::{ByteStream, Content, ReadStore as _, StoreError};
use tofu_oci_types::Descriptor;
use url::Url;

use crate::answer::Answer;
use crate::body::Body;
use crate::call::{Call, Target};
use crate::retry::is_transient;
use crate::store::RemoteStore;
use crate::upload::Sent;

/// The size of a chunk: more is refused by a large registry.
pub(crate) const CHUNK: u64 = 4 * 1024 * 1024;
/// The largest chunk that a registry may ask for with `OCI-Chunk-Min-Length`; a chunk is held in memory.
const LARGEST_CHUNK: u64 = 16 * 1024 * 1024;

impl RemoteStore {
    /// Sends the blob in chunks through a session that has just been opened.
    pub(crate) async fn send_chunks(
        &self,
        location: Url,
        descriptor: &Descriptor,
        content: &Content<'_>,
    ) -> Result<Sent, StoreError> {
        match self.chunks(location, descriptor, content).await {
            Err(error @ StoreError::Unreachable { .. }) => Ok(Sent::Broken { error, asked: None }),
            other => other,
        }
    }

    async fn chunks(
        &self,
        mut location: Url,
        descriptor: &Descriptor,
        content: &Content<'_>,
    ) -> Result<Sent, StoreError> {
        let mut reader = Reader { stream: content.open().await?, rest: Bytes::new() };
        let mut length = CHUNK;
        let mut sent = 0;
        loop {
            let (pieces, size) = reader.chunk(length).await?;
            if size == 0 {
                break;
            }
            if sent + size > descriptor.size {
                return Err(self.wrong_length(descriptor, sent + size));
            }
            let answer = self.patch(&location, &pieces, sent, size).await?;
            // 404: the session is lost.
            if is_transient(answer.status()) || answer.status() == 404 {
                let asked = answer.asked_wait();
                return Ok(Sent::Broken { error: self.write_error(answer, "place for a chunk").await, asked });
            }
            let (next, kept) = self.acknowledged(answer, &location).await?;
            location = next;
            sent += size;
            if kept.offset != Some(sent) {
                let kept = kept.offset.map_or("does not say how much".to_owned(), |kept| format!("{kept}"));
                self.cancel(location).await;
                return Err(self.malformed(format!("a chunked upload went wrong: of {sent} bytes it has kept {kept}")));
            }
            length = kept.minimum.unwrap_or(length).clamp(CHUNK, LARGEST_CHUNK);
        }
        if sent != descriptor.size {
            return Err(self.wrong_length(descriptor, sent));
        }
        let answer = self.client.send(&self.closing(location, &descriptor.digest)).await?;
        self.closed(answer, &descriptor.digest).await
    }

    /// Sends one chunk. When the registry says that it is out of order, its own view decides whether it goes out again.
    async fn patch(&self, location: &Url, pieces: &[Bytes], start: u64, size: u64) -> Result<Answer, StoreError> {
        let call = || {
            Call::to(Method::PATCH, Target::Address(location.clone()), &self.push)
                .header("content-type", "application/octet-stream")
                .header("content-range", &format!("{start}-{}", start + size - 1))
                .body(Body::Pieces(pieces, size))
                .once()
        };
        let answer = self.client.send(&call()).await?;
        if answer.status() != 416 {
            return Ok(answer);
        }
        drop(answer);
        let status = Call::to(Method::GET, Target::Address(location.clone()), &self.push);
        let answer = self.client.send(&status).await?;
        if kept(&answer).offset == Some(start) { self.client.send(&call()).await } else { Ok(answer) }
    }

    /// Where the session goes on after a chunk, and what the registry has of it.
    async fn acknowledged(&self, answer: Answer, session: &Url) -> Result<(Url, Kept), StoreError> {
        if !(200..300).contains(&answer.status()) {
            return Err(self.write_error(answer, "place for a chunk").await);
        }
        let next = if answer.header("location").is_some() { self.location(&answer)? } else { session.clone() };
        Ok((next, kept(&answer)))
    }

    fn wrong_length(&self, descriptor: &Descriptor, actual: u64) -> StoreError {
        StoreError::SizeMismatch {
            place: self.place(),
            what: "the content to send".to_owned(),
            expected: descriptor.size,
            actual,
        }
    }
}

/// What a registry says about a session.
struct Kept {
    /// How many bytes it has.
    offset: Option<u64>,
    /// How long a chunk must be.
    minimum: Option<u64>,
}

/// Spec: OCI distribution-spec 1.1.1, "Pushing a blob in chunks": `Range: 0-LAST`.
fn kept(answer: &Answer) -> Kept {
    let end = answer.header("range").and_then(|range| {
        let range = range.trim().trim_start_matches("bytes=");
        range.strip_prefix("0-")?.parse::<u64>().ok()
    });
    let minimum = answer.header("oci-chunk-min-length").and_then(|length| length.trim().parse().ok());
    // A fresh session has nothing, and registries write that as `0-0`, as they do for one byte.
    Kept { offset: end.map(|end| end + 1), minimum }
}

/// Content cut to chunks.
struct Reader {
    stream: ByteStream,
    rest: Bytes,
}

impl Reader {
    /// The next `length` bytes, or fewer at the end, in the pieces that they come in.
    async fn chunk(&mut self, length: u64) -> Result<(Vec<Bytes>, u64), StoreError> {
        let mut pieces = Vec::new();
        let mut size = 0;
        while size < length {
            if self.rest.is_empty() {
                match self.stream.try_next().await? {
                    Some(piece) => self.rest = piece,
                    None => break,
                }
            }
            let room = usize::try_from(length - size).unwrap_or(usize::MAX);
            let piece = self.rest.split_to(self.rest.len().min(room));
            size += piece.len() as u64;
            pieces.push(piece);
        }
        Ok((pieces, size))
    }
}

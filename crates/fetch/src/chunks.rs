//! Bytes from the network (async) to the unpacker (a blocking thread).

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_archive::{ArchiveError, ByteSource, Limits};
use tofu_oci_lockfile::PackageHashes;
use tofu_oci_source::{Offer, Package, Part, SourceError};
use tofu_oci_store::{ByteStream, StoreError};
use tofu_oci_types::{DigestHasher, Event, PackageHash, Reporter, WorkUnit};
use tokio::sync::mpsc;

use crate::error::package_error;
use crate::{FetchError, subject};

/// How many pieces may wait between the two sides.
///
/// Measured: a deeper queue costs memory and gains nothing.
const DEPTH: usize = 4;

/// How many bytes are read after a refusal, to see whether the download was damaged.
const MOST_AFTER_THE_END: u64 = 4 << 20;

enum QueuedChunk {
    Bytes(Bytes),
    EndOfPart,
}

/// The side that sends.
pub(crate) struct ChunkSender(mpsc::Sender<QueuedChunk>);

/// The side that a blocking thread reads, part by part.
pub(crate) struct ChunkReceiver {
    pieces: mpsc::Receiver<QueuedChunk>,
    /// Whether the current part has been read to its end.
    ended: bool,
}

/// A queue between the two.
pub(crate) fn queue() -> (ChunkSender, ChunkReceiver) {
    let (sender, receiver) = mpsc::channel(DEPTH);
    (ChunkSender(sender), ChunkReceiver { pieces: receiver, ended: true })
}

impl ChunkSender {
    /// Sends these parts of the offer, verified on the way, and gives the `zh:` of a zip whose digest was not known. `received`
    /// counts their bytes. It ends early and without an error if the receiver is dropped, and with one if more bytes come than
    /// the limits admit.
    pub(crate) async fn send(
        self,
        offer: &Offer,
        parts: &[&Part],
        limits: &Limits,
        received: &AtomicU64,
        reporter: &dyn Reporter,
    ) -> Result<Option<PackageHash>, FetchError> {
        let subject = subject(offer.address(), offer.version(), &offer.platform);
        let mut hasher = match &offer.package {
            Package::Zip(Part { digest: None, .. }) => Some(DigestHasher::sha256()),
            Package::Zip(_) | Package::Layers(_) | Package::Folder(_) => None,
        };
        let mut done = 0;
        for part in parts {
            let opened = offer.release.open(part).await?;
            limits.check_packed(opened.size.unwrap_or(0)).map_err(|error| package_error(offer, error))?;
            let stream = part.checked(offer.place(), opened.stream).map_err(SourceError::from)?;
            let look = |chunk: &Bytes| {
                done += chunk.len() as u64;
                received.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                limits.check_packed(done).map_err(|error| package_error(offer, error))?;
                if let Some(hasher) = &mut hasher {
                    hasher.update(chunk);
                }
                reporter.event(&Event::Progress { subject: subject.clone(), done });
                Ok(())
            };
            if self.part(stream, look, |error| broken(offer, error)).await? == Delivered::Unwanted {
                return Ok(None);
            }
        }
        if parts.iter().any(|part| part.size.is_none()) {
            // Until now no one knew that this was all.
            reporter.event(&Event::Working { subject, done, of: done, unit: WorkUnit::Bytes });
        }
        Ok(hasher.and_then(|hasher| PackageHash::zh(&hasher.finish())))
    }
}

/// Whether a part was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    Whole,
    /// The receiver was dropped before.
    Unwanted,
}

impl ChunkSender {
    /// Sends one part, each piece after `look` has seen it.
    pub(crate) async fn part<E>(
        &self,
        mut stream: ByteStream,
        mut look: impl FnMut(&Bytes) -> Result<(), E>,
        broken: impl Fn(StoreError) -> E,
    ) -> Result<Delivered, E> {
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(&broken)?;
            look(&chunk)?;
            if self.0.send(QueuedChunk::Bytes(chunk)).await.is_err() {
                return Ok(Delivered::Unwanted);
            }
        }
        let ended = self.0.send(QueuedChunk::EndOfPart).await;
        Ok(if ended.is_ok() { Delivered::Whole } else { Delivered::Unwanted })
    }
}

/// The error of a download. If a place names one checksum alone, that is the digest of the part, too.
fn broken(offer: &Offer, error: StoreError) -> FetchError {
    match error {
        StoreError::DigestMismatch { actual, .. } if !offer.allowed.is_empty() => {
            FetchError::not_the_offered(offer, PackageHashes { h1: None, zh: PackageHash::zh(&actual), ch: None })
        }
        error => SourceError::from(error).into(),
    }
}

impl ByteSource for ChunkReceiver {
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        if self.ended {
            return Ok(None);
        }
        match self.pieces.blocking_recv() {
            Some(QueuedChunk::Bytes(bytes)) => Ok(Some(bytes)),
            Some(QueuedChunk::EndOfPart) => {
                self.ended = true;
                Ok(None)
            }
            // The sender failed, or was dropped with the whole job.
            None => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the download has stopped")),
        }
    }
}

impl ChunkReceiver {
    /// Reads one part. It reads even a refused part to its end: only there it knows size and digest, and a damaged
    /// download is the better cause. It gives up soon if the bytes are not an archive or exceed a limit.
    pub(crate) fn read_part<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        // The part before has been read to its end.
        self.ended = false;
        let result = read(self);
        let complete = match &result {
            Err(error) if !error.is_refusal() => Ok(()),
            Err(error) if error.ends_reading() => self.drain(MOST_AFTER_THE_END),
            _ => self.drain(u64::MAX),
        };
        let value = result?;
        complete.map_err(ArchiveError::Input)?;
        Ok(value)
    }

    /// Reads the rest of the part, so that its size and digest are checked to the end. Gives up after `most` bytes.
    fn drain(&mut self, most: u64) -> io::Result<()> {
        let mut read = 0;
        while let Some(chunk) = self.next_chunk()? {
            read += chunk.len() as u64;
            if read > most {
                break;
            }
        }
        Ok(())
    }
}

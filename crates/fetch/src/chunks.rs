//! Bytes from the network (async) to the unpacker (a blocking thread).

use std::io;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_archive::ByteSource;
use tofu_oci_source::{Offer, SourceError};
use tofu_oci_types::{Event, Reporter};
use tokio::sync::mpsc;

/// How many pieces may wait between the two sides.
///
/// Measured: a deeper queue costs memory and gains nothing.
const DEPTH: usize = 4;

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
    /// Sends all parts of the offer, verified on the way. It ends early and without an error if the receiver is
    /// dropped.
    pub(crate) async fn send(self, offer: &Offer, subject: &str, reporter: &dyn Reporter) -> Result<(), SourceError> {
        let mut done = 0;
        for part in offer.package.parts() {
            let mut stream = part.checked(offer.place(), offer.release.open(part).await?.stream)?;
            while let Some(chunk) = stream.next().await {
                let chunk = chunk?;
                done += chunk.len() as u64;
                if self.0.send(QueuedChunk::Bytes(chunk)).await.is_err() {
                    return Ok(());
                }
                reporter.event(&Event::Progress { subject: subject.to_owned(), done });
            }
            if self.0.send(QueuedChunk::EndOfPart).await.is_err() {
                return Ok(());
            }
        }
        Ok(())
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
    /// Begins with the next part; the one before has been read to its end.
    pub(crate) fn begin_part(&mut self) {
        self.ended = false;
    }

    /// Reads the rest of the part, so that its size and digest are checked to the end. Gives up after `most` bytes.
    pub(crate) fn drain(&mut self, most: u64) -> io::Result<()> {
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

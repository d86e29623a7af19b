//! The other threads of unpacking: one hashes what the first one inflates, one hands it to a target.
//!
//! ```text
//! calling thread   ByteSource -> inflate -> 1 MiB buffer --(3 deep)--> SHA-256, CRC-32 --(2 deep)--> target
//!                                   ^------------------- empty buffers go back -------------------------'
//! ```
//!
//! At most eight buffers exist, however large the archive. Hashing and writing together take longer than inflating, so that
//! they would be the limit where there are cores for both; and a write that waits for the disk lets the others go on.
//!
//! Spec: project paper "Fast paths", section 2.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use sha2::{Digest as _, Sha256};

use tofu_oci_disk::FileError;

use crate::ArchiveError;

const BUFFER_BYTES: usize = 1 << 20;
const TO_HASH: usize = 3;
const TO_WRITE: usize = 2;
/// The channels', and those that are filled, hashed and written.
const BUFFERS: usize = TO_HASH + TO_WRITE + 3;

/// Takes the unpacked files, one after the other.
pub(crate) trait UnpackTarget: Send {
    /// A file begins. Its size and mode are known beforehand only when the archive is a file on disk.
    fn start(&mut self, name: &str, known: Option<KnownEntry>) -> Result<(), ArchiveError>;
    /// Bytes of the file that began last.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError>;
    /// That file is complete.
    fn finish(&mut self) -> Result<(), ArchiveError>;
    fn directory(&mut self, name: &str) -> Result<(), ArchiveError>;
}

/// What the central directory says about a file; a promise, checked afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownEntry {
    pub(crate) size: u64,
    pub(crate) mode: u32,
}

/// The target that keeps nothing.
pub(crate) struct Nowhere;

impl UnpackTarget for Nowhere {
    fn start(&mut self, _name: &str, _known: Option<KnownEntry>) -> Result<(), ArchiveError> {
        Ok(())
    }
    fn write(&mut self, _bytes: &[u8]) -> Result<(), ArchiveError> {
        Ok(())
    }
    fn finish(&mut self) -> Result<(), ArchiveError> {
        Ok(())
    }
    fn directory(&mut self, _name: &str) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// What an archive records of its files, to be compared with their bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryChecksums {
    /// The CRC-32 of each.
    Crc32,
    /// Nothing.
    Missing,
}

enum Message {
    Start(String, Option<KnownEntry>),
    Data(Vec<u8>, usize),
    /// The CRC-32 that the archive records, if its format has one.
    Finish(Option<u32>),
    Directory(String),
}

/// The calling thread's end.
pub(crate) struct Feed {
    messages: SyncSender<Message>,
    empty: Receiver<Vec<u8>>,
    made: usize,
}

impl Feed {
    pub(crate) fn start(&self, name: &str, known: Option<KnownEntry>) -> Result<(), ArchiveError> {
        self.send(Message::Start(name.to_owned(), known))
    }

    pub(crate) fn directory(&self, name: &str) -> Result<(), ArchiveError> {
        self.send(Message::Directory(name.to_owned()))
    }

    pub(crate) fn finish(&self, crc: u32) -> Result<(), ArchiveError> {
        self.send(Message::Finish(Some(crc)))
    }

    /// The same for a format without checksums.
    pub(crate) fn finish_unchecked(&self) -> Result<(), ArchiveError> {
        self.send(Message::Finish(None))
    }

    /// A buffer of 1 MiB to fill.
    pub(crate) fn buffer(&mut self) -> Result<Vec<u8>, ArchiveError> {
        if let Ok(buffer) = self.empty.try_recv() {
            return Ok(buffer);
        }
        if self.made < BUFFERS {
            self.made += 1;
            return Ok(vec![0; BUFFER_BYTES]);
        }
        self.empty.recv().map_err(|_| SINK_GONE)
    }

    /// The first `used` bytes of `buffer` belong to the file that began last.
    pub(crate) fn data(&self, buffer: Vec<u8>, used: usize) -> Result<(), ArchiveError> {
        self.send(Message::Data(buffer, used))
    }

    fn send(&self, message: Message) -> Result<(), ArchiveError> {
        self.messages.send(message).map_err(|_| SINK_GONE)
    }
}

/// Never seen by a caller: a later thread ends early only with an error of its own, which takes precedence.
const SINK_GONE: ArchiveError = ArchiveError::Cancelled;

/// Runs `walk` on this thread, and what follows on two others. Returns the result of `walk`, and the SHA-256 of each file in
/// order.
pub(crate) fn run<T>(
    target: &mut dyn UnpackTarget,
    checksums: EntryChecksums,
    walk: impl FnOnce(Feed) -> Result<T, ArchiveError>,
) -> Result<(T, Vec<[u8; 32]>), ArchiveError> {
    let (messages, inbox) = sync_channel(TO_HASH);
    let (onward, outbox) = sync_channel(TO_WRITE);
    let (give_back, empty) = channel();
    thread::scope(|scope| {
        let writer = start(scope, "unpack", move || write(&outbox, &give_back, target))?;
        let hashing = start(scope, "hash", move || hash(&inbox, &onward, checksums))?;
        let walked = walk(Feed { messages, empty, made: 0 });
        let hashes = hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let hashes = hashes?;
        Ok((walked?, hashes))
    })
}

fn start<'s, T: Send + 's>(
    scope: &'s thread::Scope<'s, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 's,
) -> Result<thread::ScopedJoinHandle<'s, T>, ArchiveError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work);
    Ok(thread.map_err(FileError::at("start a thread for", "the archive"))?)
}

/// Hashes the files and hands them on. A file whose checksum is wrong ends it.
fn hash(
    inbox: &Receiver<Message>,
    onward: &SyncSender<Message>,
    checksums: EntryChecksums,
) -> Result<Vec<[u8; 32]>, ArchiveError> {
    let mut hashes = Vec::new();
    let mut current = String::new();
    let mut sha256 = Sha256::new();
    let mut crc = crc32fast::Hasher::new();
    for message in inbox {
        match &message {
            Message::Start(name, _) => {
                current.clone_from(name);
                crc = crc32fast::Hasher::new();
            }
            Message::Data(buffer, used) => {
                let bytes = &buffer[..*used];
                sha256.update(bytes);
                if checksums == EntryChecksums::Crc32 {
                    crc.update(bytes);
                }
            }
            Message::Finish(recorded) => {
                if recorded.is_some_and(|recorded| crc.clone().finalize() != recorded) {
                    return Err(ArchiveError::BadChecksum { name: current });
                }
                hashes.push(sha256.finalize_reset().into());
            }
            Message::Directory(_) => {}
        }
        onward.send(message).map_err(|_| SINK_GONE)?;
    }
    Ok(hashes)
}

fn write(
    outbox: &Receiver<Message>,
    give_back: &std::sync::mpsc::Sender<Vec<u8>>,
    target: &mut dyn UnpackTarget,
) -> Result<(), ArchiveError> {
    for message in outbox {
        match message {
            Message::Start(name, known) => target.start(&name, known)?,
            Message::Data(buffer, used) => {
                target.write(&buffer[..used])?;
                // The walk may have ended already; then the buffer is not needed.
                let _ = give_back.send(buffer);
            }
            Message::Finish(_) => target.finish()?,
            Message::Directory(name) => target.directory(&name)?,
        }
    }
    Ok(())
}

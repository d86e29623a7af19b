//! The second half of unpacking: hashes what the first one inflates, and hands it to a target.
//!
//! ```text
//! calling thread   ByteSource -> inflate -> 1 MiB buffer --(channel, 4 deep)--> sink thread: SHA-256, CRC-32, target
//!                                   ^------------- empty buffers go back ------------'
//! ```
//!
//! At most six buffers exist, however large the archive. Two threads and not three: the network has its own. If other
//! archives keep the other cores busy, both halves take turns on the calling thread, over one buffer: as fast, with less
//! memory.
//!
//! Spec: project paper "Fast paths", section 2.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use sha2::{Digest as _, Sha256};

use crate::ArchiveError;

const BUFFER_BYTES: usize = 1 << 20;
/// The one buffer of a single thread.
const OWN_BUFFER_BYTES: usize = 256 << 10;
const DEPTH: usize = 4;
/// The channel's, the one being filled and the one being emptied.
const BUFFERS: usize = DEPTH + 2;

/// How many threads work on one archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadThreads {
    /// One inflates and hashes: the least memory, for whoever reads as many archives at once as there are cores.
    One,
    /// One inflates, the other hashes: one archive is read soonest.
    Two,
}

/// Takes the unpacked files, one after the other.
pub(crate) trait UnpackTarget: Send {
    /// A file begins. Its size and mode are known beforehand only when the archive is a file on disk.
    fn start(&mut self, name: &str, known: Option<KnownEntry>) -> Result<(), ArchiveError>;
    /// Bytes of the file that began last.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError>;
    /// That file is complete.
    fn finish(&mut self) -> Result<(), ArchiveError>;
    /// A directory.
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

pub(crate) enum Message {
    Start(String, Option<KnownEntry>),
    Data(Vec<u8>, usize),
    /// The CRC-32 that the archive records.
    Finish(u32),
    Directory(String),
}

/// Gives back the buffer of a message that has one.
type TakeMessage<'a> = dyn FnMut(Message) -> Result<Option<Vec<u8>>, ArchiveError> + 'a;

/// The end that is fed.
pub(crate) enum Feed<'a> {
    /// To the sink thread.
    Sent { messages: SyncSender<Message>, empty: Receiver<Vec<u8>>, made: usize },
    /// To the sink itself, on the calling thread.
    Taken { take: &'a mut TakeMessage<'a>, buffer: Vec<u8> },
}

impl Feed<'_> {
    pub(crate) fn start(&mut self, name: &str, known: Option<KnownEntry>) -> Result<(), ArchiveError> {
        self.feed(Message::Start(name.to_owned(), known))
    }

    pub(crate) fn directory(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.feed(Message::Directory(name.to_owned()))
    }

    pub(crate) fn finish(&mut self, crc: u32) -> Result<(), ArchiveError> {
        self.feed(Message::Finish(crc))
    }

    /// A buffer to fill.
    pub(crate) fn buffer(&mut self) -> Result<Vec<u8>, ArchiveError> {
        match self {
            Self::Sent { empty, made, .. } => {
                if let Ok(buffer) = empty.try_recv() {
                    return Ok(buffer);
                }
                if *made < BUFFERS {
                    *made += 1;
                    return Ok(vec![0; BUFFER_BYTES]);
                }
                empty.recv().map_err(|_| SINK_GONE)
            }
            Self::Taken { buffer, .. } if buffer.is_empty() => Ok(vec![0; OWN_BUFFER_BYTES]),
            Self::Taken { buffer, .. } => Ok(std::mem::take(buffer)),
        }
    }

    /// The first `used` bytes of `buffer` belong to the file that began last.
    pub(crate) fn data(&mut self, buffer: Vec<u8>, used: usize) -> Result<(), ArchiveError> {
        self.feed(Message::Data(buffer, used))
    }

    fn feed(&mut self, message: Message) -> Result<(), ArchiveError> {
        match self {
            Self::Sent { messages, .. } => messages.send(message).map_err(|_| SINK_GONE),
            Self::Taken { take, buffer } => {
                if let Some(emptied) = take(message)? {
                    *buffer = emptied;
                }
                Ok(())
            }
        }
    }
}

/// Never seen by a caller: the sink ends early only with an error of its own, which takes precedence.
const SINK_GONE: ArchiveError = ArchiveError::Cancelled;

/// Runs `walk` on this thread, and the sink on another or on this one too. Returns the result of `walk`, and the SHA-256
/// of each file in order.
pub(crate) fn run<T>(
    target: &mut dyn UnpackTarget,
    threads: ReadThreads,
    walk: impl FnOnce(Feed<'_>) -> Result<T, ArchiveError>,
) -> Result<(T, Vec<[u8; 32]>), ArchiveError> {
    let mut sink = Sink::new(target);
    if threads == ReadThreads::One {
        let walked = walk(Feed::Taken { take: &mut |message| sink.take(message), buffer: Vec::new() })?;
        return Ok((walked, sink.hashes));
    }
    let (messages, inbox) = sync_channel(DEPTH);
    let (give_back, empty) = channel();
    thread::scope(|scope| {
        let sink = thread::Builder::new()
            .name("unpack".to_owned())
            .spawn_scoped(scope, move || sink.drain(&inbox, &give_back))
            .map_err(|source| ArchiveError::Io { action: "start a thread for", path: "the archive".into(), source })?;
        let walked = walk(Feed::Sent { messages, empty, made: 0 });
        let hashes = sink.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((walked?, hashes))
    })
}

/// Hashes the files, compares their checksums, and hands them on.
pub(crate) struct Sink<'a> {
    target: &'a mut dyn UnpackTarget,
    hashes: Vec<[u8; 32]>,
    /// The file that began last.
    current: String,
    sha256: Sha256,
    crc: crc32fast::Hasher,
}

impl<'a> Sink<'a> {
    fn new(target: &'a mut dyn UnpackTarget) -> Self {
        Self {
            target,
            hashes: Vec::new(),
            current: String::new(),
            sha256: Sha256::new(),
            crc: crc32fast::Hasher::new(),
        }
    }

    /// Takes what comes until the other end is gone; emptied buffers go back.
    fn drain(mut self, inbox: &Receiver<Message>, give_back: &Sender<Vec<u8>>) -> Result<Vec<[u8; 32]>, ArchiveError> {
        for message in inbox {
            if let Some(emptied) = self.take(message)? {
                // The walk may have ended already; then the buffer is not needed.
                let _ = give_back.send(emptied);
            }
        }
        Ok(self.hashes)
    }

    /// Gives back the buffer of a message that has one.
    fn take(&mut self, message: Message) -> Result<Option<Vec<u8>>, ArchiveError> {
        match message {
            Message::Start(name, known) => {
                self.target.start(&name, known)?;
                self.current = name;
                self.crc = crc32fast::Hasher::new();
            }
            Message::Data(buffer, used) => {
                let bytes = &buffer[..used];
                self.sha256.update(bytes);
                self.crc.update(bytes);
                self.target.write(bytes)?;
                return Ok(Some(buffer));
            }
            Message::Finish(recorded) => {
                if self.crc.clone().finalize() != recorded {
                    let name = std::mem::take(&mut self.current);
                    return Err(ArchiveError::BadChecksum { name });
                }
                self.target.finish()?;
                self.hashes.push(self.sha256.finalize_reset().into());
            }
            Message::Directory(name) => self.target.directory(&name)?,
        }
        Ok(None)
    }
}

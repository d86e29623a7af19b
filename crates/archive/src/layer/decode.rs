//! From the compressed bytes of a layer to its tar, counted and perhaps hashed.

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use tofu_oci_types::DigestHasher;

use super::frames::{FRAME_MAGIC, FrameHeader, FramesAhead, HEADER_BYTES};
use crate::{ArchiveError, ByteSource, Limits};

/// How a layer's tar is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerCompression {
    /// Not at all.
    None,
    /// gzip, of one member or of several.
    Gzip,
    /// zstd, of one frame or of several, with a window of at most 128 MiB.
    Zstd,
}

/// The first error that happened below the decoders, and how many bytes went in.
#[derive(Clone, Default)]
pub(super) struct LayerFaults {
    first: Rc<RefCell<Option<ArchiveError>>>,
    bytes_in: Rc<Cell<u64>>,
}

impl LayerFaults {
    /// Keeps `error` and returns another one that can pass through a decoder.
    fn keep(&self, error: ArchiveError) -> io::Error {
        self.first.borrow_mut().get_or_insert(error);
        io::Error::other("stopped")
    }

    /// How many bytes went in.
    pub(super) fn bytes_in(&self) -> u64 {
        self.bytes_in.get()
    }

    pub(super) fn take(&self) -> Option<ArchiveError> {
        self.first.borrow_mut().take()
    }
}

/// A [`ByteSource`] as a reader.
pub(super) struct Consumed<'a> {
    source: &'a mut dyn ByteSource,
    chunk: Bytes,
    faults: LayerFaults,
    limits: Limits,
    /// Bytes that were delivered, those of the layers before among them.
    delivered: u64,
}

impl<'a> Consumed<'a> {
    /// The layers before this one had `packed_before` bytes.
    pub(super) fn new(source: &'a mut dyn ByteSource, limits: Limits, packed_before: u64) -> Self {
        Self { source, chunk: Bytes::new(), faults: LayerFaults::default(), limits, delivered: packed_before }
    }

    pub(super) fn faults(&self) -> LayerFaults {
        self.faults.clone()
    }

    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        let chunk = self.source.next_chunk().map_err(|error| self.faults.keep(ArchiveError::Input(error)))?;
        self.delivered += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        self.limits.check_delivered(self.delivered).map_err(|error| self.faults.keep(error))?;
        Ok(chunk)
    }

    /// Up to `count` of the next bytes without stepping over them; fewer only at the end.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.chunk.len() < count {
            let Some(more) = self.next_chunk()? else { break };
            self.chunk = [&self.chunk[..], &more].concat().into();
        }
        Ok(&self.chunk[..count.min(self.chunk.len())])
    }
}

impl BufRead for Consumed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.chunk.is_empty() {
            let Some(chunk) = self.next_chunk()? else { break };
            self.chunk = chunk;
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, count: usize) {
        self.chunk = self.chunk.split_off(count.min(self.chunk.len()));
        self.faults.bytes_in.set(self.faults.bytes_in.get() + count as u64);
    }
}

impl Read for Consumed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let chunk = self.fill_buf()?;
        let count = chunk.len().min(buffer.len());
        buffer[..count].copy_from_slice(&chunk[..count]);
        self.consume(count);
        Ok(count)
    }
}

/// The uncompressed bytes of `input`.
pub(super) fn decoder<'a>(input: Consumed<'a>, compression: LayerCompression) -> Box<dyn Read + 'a> {
    let limits = input.limits.clone();
    let window_log = limits.window_log;
    let (open, begins, what): (MemberOpener<'a>, Begins, _) = match compression {
        LayerCompression::None => return Box::new(input),
        LayerCompression::Gzip => (
            Box::new(|input| Ok(StreamMember::Gzip(Box::new(GzDecoder::new(input))))),
            |bytes| agrees(bytes, &[0x1f, 0x8b]),
            "gzip stream",
        ),
        LayerCompression::Zstd => (
            Box::new(move |input| {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?.single_frame();
                decoder.window_log_max(window_log)?;
                Ok(StreamMember::Zstd(decoder))
            }),
            // A frame, or one to be skipped.
            |bytes| {
                agrees(bytes, &FRAME_MAGIC)
                    || matches!(bytes, [0x50..=0x5f, rest @ ..] if agrees(rest, &[0x2a, 0x4d, 0x18]))
            },
            "zstd stream",
        ),
    };
    let faults = input.faults();
    let ahead = (compression == LayerCompression::Zstd).then(FramesAhead::default);
    let (state, whole) = (MemberState::Between(input), Cursor::default());
    Box::new(StreamMembers { state, ahead, whole, seen: 0, open, begins, what, limits, faults })
}

/// Whether a member may begin with these four bytes, or with these fewer that are all there are.
type Begins = fn(&[u8]) -> bool;

/// Whether the bytes are those of `magic`, as far as both go.
fn agrees(bytes: &[u8], magic: &[u8]) -> bool {
    bytes.iter().zip(magic).all(|(byte, magic)| byte == magic)
}

type MemberOpener<'a> = Box<dyn Fn(Consumed<'a>) -> io::Result<StreamMember<'a>> + 'a>;

enum StreamMember<'a> {
    Gzip(Box<GzDecoder<Consumed<'a>>>),
    Zstd(zstd::stream::read::Decoder<'static, Consumed<'a>>),
}

impl<'a> StreamMember<'a> {
    fn into_input(self) -> Consumed<'a> {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }
}

impl Read for StreamMember<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

enum MemberState<'a> {
    Between(Consumed<'a>),
    Inside(StreamMember<'a>),
    Done,
}

/// gzip members or zstd frames one after the other; then nothing, or zeros.
struct StreamMembers<'a> {
    state: MemberState<'a>,
    /// The zstd frames that other threads decompress; they come before what `state` gives.
    ahead: Option<FramesAhead>,
    /// What is left of the first of them.
    whole: Cursor<Vec<u8>>,
    /// Members that have begun.
    seen: usize,
    open: MemberOpener<'a>,
    begins: Begins,
    what: &'static str,
    limits: Limits,
    faults: LayerFaults,
}

impl StreamMembers<'_> {
    fn damaged(&self, source: io::Error) -> io::Error {
        let cut = source.kind() == io::ErrorKind::UnexpectedEof;
        let error = if cut { ArchiveError::Truncated } else { ArchiveError::Damaged { what: self.what, source } };
        self.faults.keep(error)
    }

    /// Counts a member that begins.
    fn count(&mut self) -> io::Result<()> {
        self.seen += 1;
        self.limits.check_members(self.seen).map_err(|error| self.faults.keep(error))
    }

    /// Has another thread decompress the next frame, if there is room and the frame fits into memory.
    fn start_ahead(&mut self, input: &mut Consumed<'_>) -> io::Result<bool> {
        let room = self.ahead.as_ref().is_some_and(FramesAhead::has_room);
        if !room || input.peek(FRAME_MAGIC.len())? != FRAME_MAGIC {
            return Ok(false);
        }
        let Some(header) = FrameHeader::parse(input.peek(HEADER_BYTES)?) else { return Ok(false) };
        self.count()?;
        let frame = header.take(input).map_err(|error| self.damaged(error))?;
        let started = self.ahead.as_mut().map_or(Ok(()), |ahead| ahead.start(header, frame));
        let no_thread = ArchiveError::io("start a thread for", Path::new("the archive"));
        started.map_err(|error| self.faults.keep(no_thread(error)))?;
        Ok(true)
    }

    /// Goes on to the bytes of the next frame that another thread decompresses, if there is one.
    fn next_whole(&mut self) -> io::Result<bool> {
        let used = std::mem::take(&mut self.whole).into_inner();
        let next = self.ahead.as_mut().map_or(Ok(None), |ahead| ahead.next(used));
        let next = next.map_err(|error| self.damaged(error))?;
        Ok(next.map(|bytes| self.whole = Cursor::new(bytes)).is_some())
    }
}

impl Read for StreamMembers<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let count = self.whole.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            match std::mem::replace(&mut self.state, MemberState::Done) {
                MemberState::Done => return Ok(0),
                MemberState::Inside(mut member) => {
                    let count = member.read(buffer).map_err(|error| self.damaged(error))?;
                    if count > 0 {
                        self.state = MemberState::Inside(member);
                        return Ok(count);
                    }
                    self.state = MemberState::Between(member.into_input());
                }
                MemberState::Between(mut input) => {
                    if self.start_ahead(&mut input)? || self.next_whole()? {
                        self.state = MemberState::Between(input);
                        continue;
                    }
                    match (input.peek(4)?, self.seen == 0) {
                        ([], true) => return Err(self.faults.keep(ArchiveError::Truncated)),
                        ([], false) => return Ok(0),
                        ([0, ..], false) => return only_zeros(&mut input, &self.faults),
                        (bytes, first) if !(self.begins)(bytes) => {
                            let error =
                                if first { ArchiveError::NotALayer { format: self.what } } else { AFTER_THE_END };
                            return Err(self.faults.keep(error));
                        }
                        _ => {}
                    }
                    self.count()?;
                    let member = (self.open)(input).map_err(|error| self.damaged(error))?;
                    self.state = MemberState::Inside(member);
                }
            }
        }
    }
}

/// Reads to the end, past zeros alone.
fn only_zeros(input: &mut dyn BufRead, faults: &LayerFaults) -> io::Result<usize> {
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(0);
        }
        if chunk.iter().any(|byte| *byte != 0) {
            return Err(faults.keep(AFTER_THE_END));
        }
        let count = chunk.len();
        input.consume(count);
    }
}

pub(super) const AFTER_THE_END: ArchiveError = ArchiveError::Malformed { reason: "something lies after its end" };

/// Counts the uncompressed bytes, and stops at the limits.
pub(super) struct Metered<R> {
    inner: R,
    limits: Limits,
    /// Of the layers before.
    bytes_before: u64,
    bytes: u64,
    faults: LayerFaults,
}

impl<R: Read> Metered<R> {
    pub(super) fn new(inner: R, limits: Limits, bytes_before: u64, faults: LayerFaults) -> Self {
        Self { inner, limits, bytes_before, bytes: 0, faults }
    }

    /// The bytes of this layer and of those before.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes_before + self.bytes
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes += count as u64;
        if self.bytes_before + self.bytes > self.limits.total_bytes {
            return Err(self.faults.keep(ArchiveError::TooLarge { limit: self.limits.total_bytes }));
        }
        self.limits.check_bytes(self.faults.bytes_in.get(), self.bytes).map_err(|error| self.faults.keep(error))?;
        Ok(count)
    }
}

/// Hashes what is read.
pub(super) struct Hashed<R> {
    pub(super) inner: R,
    pub(super) hasher: DigestHasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

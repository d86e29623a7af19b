//! Zstd frames that fit into memory whole, decompressed ahead of the reader by other threads.
//!
//! ```text
//! calling thread   header, blocks -> one whole frame --(a thread each, at most AHEAD)--> its bytes, in the frames' order
//! ```
//!
//! A frame ends where its last block does, so that it is found without being decompressed. A frame of an unknown size, of more
//! than [`FRAME_BYTES`], or so small that a thread costs more than it saves, is left to the reader of streams.
//!
//! Spec: RFC 8878, sections 3.1.1.1 (header) and 3.1.1.2 (blocks).

use std::collections::VecDeque;
use std::io::{self, BufRead, ErrorKind, Read as _};
use std::thread::{self, JoinHandle};

use crate::FRAME_BYTES;

/// How many frames are decompressed at a time. Two are faster than what follows: hashing and writing.
const AHEAD: usize = 2;

/// Bytes in the smallest frame that is worth a thread.
const LEAST_BYTES: usize = 256 << 10;

/// The longest header of such a frame: magic number, descriptor, window and size.
pub(super) const HEADER_BYTES: usize = 14;

/// What a frame begins with.
pub(super) const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What the header of a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    /// Bytes of the header itself.
    length: usize,
    /// Bytes that the frame holds, [`LEAST_BYTES`] to [`FRAME_BYTES`].
    content: usize,
    /// Whether a checksum follows the last block.
    checksum: bool,
}

impl FrameHeader {
    /// Reads the first [`HEADER_BYTES`] of a frame, or fewer at the end of the stream; `None` if the frame cannot be
    /// decompressed whole.
    pub(super) fn parse(head: &[u8]) -> Option<Self> {
        let descriptor = *head.strip_prefix(&FRAME_MAGIC)?.first()?;
        let (is_alone, has_dictionary) = (descriptor & 0x20 != 0, descriptor & 3 != 0);
        // A size in fewer bytes is below the least one.
        let of_size = match descriptor >> 6 {
            2 if !has_dictionary => 4,
            3 if !has_dictionary => 8,
            _ => return None,
        };
        let at = 5 + usize::from(!is_alone);
        let mut size = [0; 8];
        size[..of_size].copy_from_slice(head.get(at..at + of_size)?);
        let content = usize::try_from(u64::from_le_bytes(size)).ok();
        let content = content.filter(|size| (LEAST_BYTES..=FRAME_BYTES).contains(size))?;
        Some(Self { length: at + of_size, content, checksum: descriptor & 4 != 0 })
    }

    /// The whole frame, which `input` begins with.
    pub(super) fn take(self, input: &mut dyn BufRead) -> io::Result<Vec<u8>> {
        let mut frame = Vec::new();
        take(input, self.length, &mut frame)?;
        loop {
            let at = frame.len();
            take(input, 3, &mut frame)?;
            let header = u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], 0]);
            let size = match header >> 1 & 3 {
                0 | 2 => (header >> 3) as usize,
                1 => 1,
                _ => return Err(ErrorKind::InvalidData.into()),
            };
            if frame.len() + size > 2 * FRAME_BYTES {
                return Err(ErrorKind::InvalidData.into());
            }
            take(input, size, &mut frame)?;
            if header & 1 == 1 {
                break;
            }
        }
        if self.checksum {
            take(input, 4, &mut frame)?;
        }
        Ok(frame)
    }
}

fn take(input: &mut dyn BufRead, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
    let taken = input.take(count as u64).read_to_end(into)?;
    if taken < count { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// Frames that are decompressed, in the order in which they came.
#[derive(Default)]
pub(super) struct FramesAhead {
    running: VecDeque<JoinHandle<io::Result<Vec<u8>>>>,
    /// Buffers that are used again: an allocator may keep a large one that it gets back, and take another one all the same.
    spare: Vec<Vec<u8>>,
}

impl FramesAhead {
    /// Whether one more may be started.
    pub(super) fn has_room(&self) -> bool {
        self.running.len() < AHEAD
    }

    /// Starts to decompress a whole frame. An error says that no thread can be had.
    pub(super) fn start(&mut self, header: FrameHeader, frame: Vec<u8>) -> io::Result<()> {
        let mut content = self.spare.pop().unwrap_or_default();
        let decompress = move || {
            content.clear();
            content.reserve_exact(header.content);
            zstd::bulk::Decompressor::new()?.decompress_to_buffer(&frame, &mut content)?;
            Ok(content)
        };
        self.running.push_back(thread::Builder::new().name("zstd".to_owned()).spawn(decompress)?);
        Ok(())
    }

    /// The bytes of the first frame that has not been given yet, if one is there. `used` are those that were given before it.
    pub(super) fn next(&mut self, used: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        if used.capacity() > 0 {
            self.spare.push(used);
        }
        let Some(first) = self.running.pop_front() else { return Ok(None) };
        first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &[u8], compress: fn(&[u8]) -> Vec<u8>, is_whole: bool) {
        let frame = compress(content);
        let header = FrameHeader::parse(&frame[..frame.len().min(HEADER_BYTES)]);
        assert_eq!(header.map(|header| header.content), is_whole.then_some(content.len()));
        let Some(header) = header else { return };
        let (input, mut ahead) = ([&frame[..], b"next"].concat(), FramesAhead::default());
        let mut rest = input.as_slice();
        assert!(header.take(&mut rest).unwrap() == frame && rest == b"next");
        ahead.start(header, frame).unwrap();
        assert!(ahead.next(Vec::new()).unwrap().is_some_and(|bytes| bytes == content));
        assert_eq!(ahead.next(Vec::new()).unwrap(), None);
    }

    #[test]
    fn a_frame_of_a_known_size_that_fits_is_read_whole() {
        let sized = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).unwrap();
        let stream = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        let content: Vec<u8> = (0..=FRAME_BYTES).map(|at| ((at * at) >> 7).to_le_bytes()[0]).collect();
        check(&content[..LEAST_BYTES - 1], sized, false);
        check(&content[..LEAST_BYTES], sized, true);
        check(&content[..FRAME_BYTES], sized, true);
        check(&content, sized, false);
        check(&content[..LEAST_BYTES], stream, false);
        assert_eq!(FrameHeader::parse(b"no frame at all"), None);
    }
}

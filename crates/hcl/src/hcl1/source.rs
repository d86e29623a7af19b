//! The text that the parser reads, and its places in the text that the user wrote.

use std::borrow::Cow;
use std::ops::Range;

use tofu_oci_types::TextPosition;

use crate::SyntaxError;
use crate::cursor::ScanFault;

/// A text whose lines all end in `\n`: HCL 1 removes the `\r` of `\r\n` before it reads.
#[derive(Debug)]
pub(super) struct Hcl1Source<'a> {
    bytes: Cow<'a, [u8]>,
    /// The bytes of the text before which a `\r` was removed.
    returns: Vec<usize>,
}

impl<'a> Hcl1Source<'a> {
    pub(super) fn new(written: &'a [u8]) -> Self {
        if !written.windows(2).any(|pair| pair == b"\r\n") {
            return Self { bytes: Cow::Borrowed(written), returns: Vec::new() };
        }
        let mut bytes = Vec::with_capacity(written.len());
        let mut returns = Vec::new();
        for (index, byte) in written.iter().enumerate() {
            if *byte == b'\r' && written.get(index + 1) == Some(&b'\n') {
                returns.push(bytes.len());
            } else {
                bytes.push(*byte);
            }
        }
        Self { bytes: Cow::Owned(bytes), returns }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The place in the user's text.
    pub(super) fn place(&self, offset: usize) -> usize {
        offset + self.returns.partition_point(|at| *at < offset)
    }

    pub(super) fn span(&self, range: Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    pub(super) fn error(&self, fault: ScanFault, reported: Option<TextPosition>) -> SyntaxError {
        let end = self.bytes.len();
        let start = fault.span.start.min(end);
        let span = self.span(start..fault.span.end.clamp(start, end));
        SyntaxError { message: fault.message, span, reported, kind: fault.kind }
    }
}

//! From a text as written to its value.

use std::ops::Range;

use crate::HclSyntax;
use crate::{OffsetMap, Text, TextFault};

/// A byte of a value, and its place in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextPiece {
    pub(crate) byte: u8,
    pub(crate) source: usize,
    /// Whether the byte itself is there; otherwise an escape starts there.
    pub(crate) verbatim: bool,
}

/// A text of these pieces; `end` is the place after the last.
pub(crate) fn text(pieces: &[TextPiece], span: Range<usize>, end: usize, heredoc: bool) -> Text {
    let bytes: Vec<u8> = pieces.iter().map(|piece| piece.byte).collect();
    let mut value = String::with_capacity(bytes.len());
    let mut map = OffsetMap::default();
    let mut rest = pieces;
    for chunk in bytes.utf8_chunks() {
        let (valid, others) = rest.split_at(chunk.valid().len());
        let (invalid, others) = others.split_at(chunk.invalid().len());
        rest = others;
        for (index, piece) in valid.iter().enumerate() {
            map.push(value.len() + index, piece.source, piece.verbatim);
        }
        value.push_str(chunk.valid());
        for piece in invalid {
            map.push(value.len(), piece.source, false);
            value.push(char::REPLACEMENT_CHARACTER);
        }
    }
    map.finish(value.len(), end);
    Text { value, span, map, heredoc, fault: None }
}

/// A text without a value.
pub(crate) fn faulty(span: Range<usize>, fault: Range<usize>, heredoc: bool) -> Text {
    let mut map = OffsetMap::default();
    map.finish(0, span.start);
    Text { value: String::new(), span, map, heredoc, fault: Some(TextFault { span: fault }) }
}

/// Resolves the escapes of `inner`, the bytes between two quotes, the first of which stands at `start`.
///
/// # Errors
/// The piece that has no value.
pub(crate) fn unquote(
    inner: &[u8],
    quoting: HclSyntax,
    start: usize,
    place: &dyn Fn(usize) -> usize,
) -> Result<Vec<TextPiece>, Range<usize>> {
    let mut pieces = Vec::with_capacity(inner.len());
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        if quoting == HclSyntax::Native && rest.starts_with(b"${") {
            let length = interpolation(rest).ok_or(start + at..start + inner.len())?;
            verbatim(&mut pieces, rest, length, start + at, place);
            at += length;
        } else if rest[0] == b'\\' {
            let (character, length) = escape(rest, quoting).ok_or(start + at..start + at + rest.len().min(2))?;
            let source = place(start + at);
            let mut buffer = [0; 4];
            let bytes: &[u8] = match &character {
                Escaped::Byte(byte) => std::slice::from_ref(byte),
                Escaped::Character(character) => character.encode_utf8(&mut buffer).as_bytes(),
            };
            pieces.extend(bytes.iter().map(|byte| TextPiece { byte: *byte, source, verbatim: false }));
            at += length;
        } else {
            verbatim(&mut pieces, rest, 1, start + at, place);
            at += 1;
        }
    }
    Ok(pieces)
}

fn verbatim(pieces: &mut Vec<TextPiece>, bytes: &[u8], length: usize, start: usize, place: &dyn Fn(usize) -> usize) {
    let bytes = bytes[..length].iter().enumerate();
    pieces.extend(bytes.map(|(index, byte)| TextPiece { byte: *byte, source: place(start + index), verbatim: true }));
}

/// The length of the interpolation at the start of `bytes`. `None` if it has no end, or holds U+FFFD, which HCL 1
/// mistakes for broken UTF-8 there.
pub(crate) fn interpolation(bytes: &[u8]) -> Option<usize> {
    let mut depth = 1_usize;
    for (index, byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            0xef if bytes[index..].starts_with("\u{fffd}".as_bytes()) => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

enum Escaped {
    Byte(u8),
    Character(char),
}

/// The bytes of the escape at the start of `bytes`, and its length; `None` if it is invalid.
fn escape(bytes: &[u8], quoting: HclSyntax) -> Option<(Escaped, usize)> {
    let byte = match bytes.get(1)? {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' => b'\\',
        b'"' => b'"',
        b'0'..=b'7' => return Some((Escaped::Byte(u8::try_from(number(bytes.get(1..4)?, 8)?).ok()?), 4)),
        b'x' => return Some((Escaped::Byte(u8::try_from(number(bytes.get(2..4)?, 16)?).ok()?), 4)),
        b'u' => return Some((code_point(number(bytes.get(2..6)?, 16)?, quoting)?, 6)),
        b'U' => return Some((code_point(number(bytes.get(2..10)?, 16)?, quoting)?, 10)),
        _ => return None,
    };
    Some((Escaped::Byte(byte), 2))
}

fn number(digits: &[u8], base: u32) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(digits).ok()?, base).ok()
}

fn code_point(number: u32, quoting: HclSyntax) -> Option<Escaped> {
    let character = char::from_u32(number).map(Escaped::Character);
    if character.is_some() || quoting == HclSyntax::Json {
        return character;
    }
    match number {
        0xd800..0xe000 => Some(Escaped::Character(char::REPLACEMENT_CHARACTER)),
        // HCL 1 computes with a sign here, and keeps the lowest byte of a negative result.
        0x8000_0000.. => Some(Escaped::Byte(number.to_le_bytes()[0])),
        _ => None,
    }
}

/// The text of `written`, a token in quotes that starts at `start`.
pub(crate) fn quoted(written: &[u8], quoting: HclSyntax, start: usize, place: &dyn Fn(usize) -> usize) -> Text {
    let span = place(start)..place(start + written.len());
    let end = written.len().saturating_sub(1).max(1);
    match unquote(written.get(1..end).unwrap_or_default(), quoting, start + 1, place) {
        Ok(pieces) => text(&pieces, span, place(start + end), false),
        Err(piece) => faulty(span, place(piece.start)..place(piece.end), false),
    }
}

//! Texts over several lines: `<<WORD`, the lines, `WORD`.

use std::ops::Range;

use crate::cursor::{Cursor, END};
use crate::letters::{is_digit, is_letter};
use crate::text::TextPiece;
use crate::{SyntaxErrorKind, Text, text};

/// Reads a heredoc after its first `<`.
pub(super) fn scan(cursor: &mut Cursor<'_>) {
    let start = cursor.start();
    if cursor.next() != '<' {
        let message = "`<` cannot stand here; a text over several lines starts with `<<WORD`";
        return cursor.fault(SyntaxErrorKind::IllegalCharacter, start..start + 1, message);
    }
    let word = cursor.offset();
    let mut character = cursor.next();
    if character == '-' {
        character = cursor.next();
    }
    while is_letter(character) || is_digit(character) {
        character = cursor.next();
    }
    if character == END {
        return unclosed(cursor, start..cursor.offset());
    }
    if character == '\r' && cursor.peek() == '\n' {
        character = cursor.next();
    }
    if character != '\n' {
        let message = "`<<` needs one word of letters and digits after it, and nothing else on the line";
        return cursor.fault(SyntaxErrorKind::HeredocAnchor, start..cursor.offset(), message);
    }
    let open = start..cursor.start();
    let anchor = cursor.bytes(word..cursor.start());
    if matches!(anchor, b"" | b"-") {
        let message = "a word belongs after `<<`, and the same word on the line after the text";
        return cursor.fault(SyntaxErrorKind::HeredocAnchor, open, message);
    }
    let mut line = cursor.offset();
    loop {
        match cursor.next() {
            '\n' if ends(cursor.bytes(line..cursor.start()), anchor) => return,
            '\n' => line = cursor.offset(),
            END => return unclosed(cursor, open),
            _ => {}
        }
    }
}

fn unclosed(cursor: &mut Cursor<'_>, open: Range<usize>) {
    let message = "this text has no end; its word belongs on a line of its own after it, with a new line after it \
                   (and with `<<-`, at least one space before it)";
    cursor.fault(SyntaxErrorKind::UnclosedHeredoc, open, message);
}

/// Whether `line` closes the heredoc of `anchor`: the word alone, with white space before it.
fn ends(line: &[u8], anchor: &[u8]) -> bool {
    let word = anchor.strip_prefix(b"-").unwrap_or(anchor);
    // HCL 1 counts the `-` here, so that after `<<-` a word without a space before it does not end the text.
    if line.len() < anchor.len() {
        return false;
    }
    // A stray carriage return after the word is a part of it; the closing line may have more of them.
    let (word, least) = without_returns(word);
    let (line, returns) = without_returns(line);
    returns >= least && line.strip_suffix(word).is_some_and(|before| before.iter().all(|byte| is_space(*byte)))
}

/// The bytes before the carriage returns at the end, and how many of these there are.
fn without_returns(bytes: &[u8]) -> (&[u8], usize) {
    let returns = bytes.iter().rev().take_while(|byte| **byte == b'\r').count();
    (&bytes[..bytes.len() - returns], returns)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The text of the heredoc `written`, which starts at `start`.
pub(super) fn value(written: &[u8], start: usize, place: &dyn Fn(usize) -> usize) -> Text {
    let span = place(start)..place(start + written.len());
    let Some(kept) = kept(written) else {
        return text::faulty(span.clone(), span, true);
    };
    let end = kept
        .last()
        .map_or_else(|| written.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1), |run| run.end);
    let pieces: Vec<TextPiece> = kept
        .into_iter()
        .flatten()
        .map(|index| TextPiece { byte: written[index], source: place(start + index), verbatim: true })
        .collect();
    text::text(&pieces, span, place(start + end), true)
}

/// The bytes of `written` that make its value. HCL 1 finds the end by counting back as many bytes as the first line
/// has, which goes wrong when either line holds a stray carriage return; `None` if it would crash there.
fn kept(written: &[u8]) -> Option<Vec<Range<usize>>> {
    let first = written.iter().position(|byte| *byte == b'\n')?;
    let start = first + 1;
    let plain = start..(written.len() + 1).checked_sub(first)?;
    if written.get(2) != Some(&b'-') {
        return (plain.start <= plain.end).then(|| Vec::from([plain]));
    }
    let indented = start..plain.end + 1;
    let body = written.get(indented.clone())?;
    let mut lines = Vec::new();
    let mut at = start;
    for line in body.split(|byte| *byte == b'\n') {
        lines.push(at..at + line.len());
        at += line.len() + 1;
    }
    let indent = lines.last().map_or(0..0, Clone::clone);
    let prefix = &written[indent.clone()];
    if lines.iter().all(|line| written[line.clone()].starts_with(prefix)) {
        let count = lines.len() - 1;
        return Some(lines.into_iter().take(count).map(|line| line.start + prefix.len()..line.end + 1).collect());
    }
    let body = written.get(plain.clone())?;
    let blank = body.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let text = plain.start..plain.end - blank;
    Some(Vec::from([text]))
}

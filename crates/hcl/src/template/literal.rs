//! The text of a piece between sequences.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

use super::fault::{TemplateFault, Wording};

/// A text in the form in which the language compares texts (NFC).
pub(super) fn normal(text: &str) -> String {
    if text.is_ascii() { text.to_owned() } else { text.nfc().collect() }
}

/// Undoes `$${` and `%%{`, and between quotes the escapes too. `start` is the offset of the piece.
pub(super) fn text(piece: &str, quoted: bool, start: usize, faults: &mut Vec<TemplateFault>) -> String {
    let mut result = String::with_capacity(piece.len());
    let mut rest = piece;
    while let Some(first) = rest.chars().next() {
        let at = start + piece.len() - rest.len();
        let length = match rest.as_bytes() {
            [b'\\', ..] if quoted => escape(rest, at, &mut result, faults),
            [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..] => {
                result.push_str(&rest[1..3]);
                3
            }
            [b'$', b'$', ..] | [b'%', b'%', ..] => {
                result.push_str(&rest[..2]);
                2
            }
            _ => {
                result.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    result
}

/// Adds the character of the escape at the start of `rest`; returns the escape's length.
fn escape(rest: &str, at: usize, result: &mut String, faults: &mut Vec<TemplateFault>) -> usize {
    let selector = rest[1..].chars().next();
    let simple = match selector {
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('"') => '"',
        Some('\\') => '\\',
        Some('u') => return code_point(rest, 4, at, result, faults),
        Some('U') => return code_point(rest, 8, at, result, faults),
        Some(other) => {
            let length = 1 + other.len_utf8();
            faults.push(invalid(format!("`\\{other}` has no meaning"), at..at + length));
            return length;
        }
        None => {
            faults.push(invalid("a backslash stands before nothing", at..at + 1));
            return 1;
        }
    };
    result.push(simple);
    2
}

fn code_point(rest: &str, wanted: usize, at: usize, result: &mut String, faults: &mut Vec<TemplateFault>) -> usize {
    let digits: String = rest[2..].chars().take(wanted).take_while(char::is_ascii_hexdigit).collect();
    let length = 2 + digits.len();
    let character = (digits.len() == wanted).then(|| u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
    match character {
        Some(Some(character)) => result.push(character),
        Some(None) => faults.push(invalid(format!("U+{digits} is not a character"), at..at + length)),
        None => faults.push(invalid(format!("{wanted} hexadecimal digits must follow"), at..at + length)),
    }
    length
}

fn invalid(message: impl Into<Wording>, span: Range<usize>) -> TemplateFault {
    TemplateFault::new("invalid-escape-sequence", message, span)
}

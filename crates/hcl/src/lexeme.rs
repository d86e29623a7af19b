//! What both scanners of HCL 1 read alike: pieces of numbers, and texts in quotes.

use std::ops::Range;

use crate::HclSyntax;
use crate::SyntaxErrorKind;
use crate::cursor::{Cursor, END};

/// Reads decimal digits from `character` on. Returns the first character after them, which it does not take.
pub(crate) fn mantissa(cursor: &mut Cursor<'_>, mut character: char) -> char {
    let mut any = false;
    while character.is_ascii_digit() {
        character = cursor.next();
        any = true;
    }
    if any && character != END {
        cursor.unread();
    }
    character
}

/// Reads the exponent after an `e` that was taken. Without digits, it takes the character after the `e`.
pub(crate) fn exponent(cursor: &mut Cursor<'_>, character: char) {
    if is_exponent(character) {
        let mut character = cursor.next();
        if matches!(character, '-' | '+') {
            character = cursor.next();
        }
        mantissa(cursor, character);
    }
}

/// Reads the fraction or exponent after a whole part and `character`; returns whether there is one.
pub(crate) fn fraction(cursor: &mut Cursor<'_>, character: char) -> bool {
    if is_exponent(character) {
        exponent(cursor, character);
        return true;
    }
    if character != '.' {
        return false;
    }
    let digit = cursor.peek();
    if is_exponent(mantissa(cursor, digit)) {
        let character = cursor.next();
        exponent(cursor, character);
    }
    true
}

/// Reads the fraction after a point that was taken; returns whether there is one.
pub(crate) fn bare_fraction(cursor: &mut Cursor<'_>) -> bool {
    let digit = cursor.peek();
    if !digit.is_ascii_digit() {
        return false;
    }
    let character = mantissa(cursor, digit);
    // HCL 1 reads the `e` as if it had been taken.
    exponent(cursor, character);
    true
}

fn is_exponent(character: char) -> bool {
    matches!(character, 'e' | 'E')
}

/// Reads a text in quotes, after its opening quote. Returns the `${` of an interpolation with an odd number of quotes
/// before its line ends: a quote or a brace is most likely missing there.
pub(crate) fn string(cursor: &mut Cursor<'_>, dialect: HclSyntax) -> Option<Range<usize>> {
    let quote = cursor.here();
    let mut braces = 0_usize;
    let mut interpolation = Interpolation::default();
    loop {
        let character = cursor.next();
        let ends_line = character == '\n' && (braces == 0 || dialect == HclSyntax::Json);
        if ends_line || character == END {
            unclosed(cursor, quote, braces, &interpolation);
            return None;
        }
        if character == '"' && (braces == 0 || dialect == HclSyntax::Json) {
            return interpolation.suspect;
        }
        interpolation.see(character);
        if braces == 0 && character == '$' && cursor.peek() == '{' {
            let start = cursor.start();
            cursor.next();
            braces = 1;
            interpolation.open(start..cursor.offset());
        } else if braces > 0 && character == '{' {
            braces += 1;
        } else if braces > 0 && character == '}' {
            braces -= 1;
        }
        if character == '\\' {
            escape(cursor, dialect);
        }
    }
}

/// The current interpolation.
#[derive(Debug, Default)]
struct Interpolation {
    start: Range<usize>,
    quotes: usize,
    on_first_line: bool,
    suspect: Option<Range<usize>>,
}

impl Interpolation {
    fn open(&mut self, start: Range<usize>) {
        self.start = start;
        self.quotes = 0;
        self.on_first_line = true;
    }

    fn see(&mut self, character: char) {
        match character {
            '"' => self.quotes += 1,
            '\n' if self.on_first_line => {
                self.on_first_line = false;
                if self.quotes % 2 == 1 && self.suspect.is_none() {
                    self.suspect = Some(self.start.clone());
                }
            }
            _ => {}
        }
    }
}

fn unclosed(cursor: &mut Cursor<'_>, quote: Range<usize>, braces: usize, interpolation: &Interpolation) {
    let suspect = interpolation.suspect.clone().or_else(|| (braces > 0).then(|| interpolation.start.clone()));
    match suspect {
        Some(span) => {
            let message = "this `${` has no closing `}`";
            cursor.fault(SyntaxErrorKind::UnclosedInterpolation, span, message);
        }
        None => cursor.fault(SyntaxErrorKind::UnclosedString, quote, "this quote has no closing quote on its line"),
    }
}

/// Reads an escape after its backslash.
fn escape(cursor: &mut Cursor<'_>, dialect: HclSyntax) {
    let start = cursor.start();
    let character = cursor.next();
    match character {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' | '"' => {}
        '0'..='7' => digits(cursor, character, 8, 3, start, dialect),
        'x' | 'u' | 'U' => {
            let count = match character {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let first = cursor.next();
            digits(cursor, first, 16, count, start, dialect);
        }
        _ => illegal_escape(cursor, start),
    }
}

/// Reads up to `count` digits from `character` on, and one character more, which it does not take.
fn digits(cursor: &mut Cursor<'_>, mut character: char, base: u32, count: usize, start: usize, dialect: HclSyntax) {
    let mut left = count;
    while left > 0 && character.is_digit(base) {
        character = cursor.next();
        if character == END && dialect == HclSyntax::Native {
            break;
        }
        left -= 1;
    }
    if left > 0 {
        illegal_escape(cursor, start);
    }
    if dialect == HclSyntax::Json || (left != count && character != END) {
        cursor.unread();
    }
}

fn illegal_escape(cursor: &mut Cursor<'_>, start: usize) {
    // The extra character belongs to the escape only right after the backslash.
    let behind = cursor.bytes(start..cursor.offset());
    let length = if behind.len() > 2 && !behind.starts_with(b"\\\n") { cursor.start() - start } else { 2 };
    let message = match behind.get(1) {
        Some(b'0'..=b'7') => "an octal escape needs three digits",
        Some(b'x') => "`\\x` needs two hexadecimal digits",
        Some(b'u') => "`\\u` needs four hexadecimal digits",
        Some(b'U') => "`\\U` needs eight hexadecimal digits",
        _ => "this backslash does not start an escape",
    };
    cursor.fault(SyntaxErrorKind::IllegalEscape, start..start + length.max(1), message);
}

/// The kind of mistake of a character without a meaning.
pub(crate) fn illegal(character: char) -> SyntaxErrorKind {
    match character {
        '\'' | '`' | '“' | '”' => SyntaxErrorKind::OtherQuote,
        _ => SyntaxErrorKind::IllegalCharacter,
    }
}

/// A character as messages quote it.
pub(crate) fn shown(character: char) -> String {
    match character {
        '`' => "a backtick".to_owned(),
        _ if character.is_ascii_graphic() => format!("`{character}`"),
        _ => format!("`{}`", character.escape_debug()),
    }
}

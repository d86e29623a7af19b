//! Reads a text character by character, as both scanners of HCL 1 do: with its counting of lines and columns, its
//! single step back, and its habit of going on after an error.

use crate::HclSyntax;
use std::ops::Range;

use tofu_oci_types::TextPosition;

use crate::SyntaxErrorKind;

/// What replaces the end of the text. A null byte looks the same to HCL 1.
pub(crate) const END: char = '\0';

/// An error of a scanner.
#[derive(Clone, Debug)]
pub(crate) struct ScanFault {
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
    pub(crate) kind: SyntaxErrorKind,
}

/// A piece of the text, of a kind that its language knows.
#[derive(Clone, Debug)]
pub(crate) struct ScanToken<Kind> {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
    pub(crate) position: TextPosition,
}

/// The place that HCL 1 counts: the column is 0 right after a line's end.
#[derive(Clone, Copy, Debug, Default)]
struct ScanPlace {
    offset: usize,
    line: usize,
    column: usize,
}

/// A reader of characters.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    source: &'a [u8],
    dialect: HclSyntax,
    /// Where the next character is read.
    at: usize,
    /// What HCL 1 believes `at` to be; after broken UTF-8 in JSON it can be less.
    place: ScanPlace,
    before: ScanPlace,
    width: usize,
    line_width: usize,
    /// The bytes of one step back; `None` if the cursor cannot step back.
    back: Option<usize>,
    first: Option<ScanFault>,
    /// The position of the last error, which is the one that HCL 1 reports.
    last: Option<TextPosition>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(source: &'a [u8], dialect: HclSyntax) -> Self {
        let place = ScanPlace { offset: 0, line: 1, column: 0 };
        Self {
            source,
            dialect,
            at: 0,
            place,
            before: place,
            width: 0,
            line_width: 0,
            back: None,
            first: None,
            last: None,
        }
    }

    /// The next character, [`END`] at the end.
    pub(crate) fn next(&mut self) -> char {
        let Some((character, width)) = decode(&self.source[self.at..]) else {
            self.place.column += 1;
            self.width = 0;
            self.back = None;
            return END;
        };
        self.at += width;
        self.back = Some(width);
        let broken = character.is_none();
        if !broken || self.dialect == HclSyntax::Native {
            self.before = self.place;
        }
        self.place.column += 1;
        self.place.offset += width;
        self.width = width;
        let Some(character) = character else {
            self.fault(SyntaxErrorKind::NotUtf8, self.here(), "these bytes are not UTF-8; save the file as UTF-8");
            return char::REPLACEMENT_CHARACTER;
        };
        if character == '\n' {
            self.place.line += 1;
            self.line_width = self.place.column;
            self.place.column = 0;
        }
        if self.dialect == HclSyntax::Native && character == END {
            self.fault(SyntaxErrorKind::IllegalCharacter, self.here(), "a null byte cannot stand in this file");
            return END;
        }
        if self.dialect == HclSyntax::Native && character == '\u{e123}' {
            let message = "the character U+E123 is reserved and cannot stand in this file";
            self.fault(SyntaxErrorKind::IllegalCharacter, self.here(), message);
            return char::REPLACEMENT_CHARACTER;
        }
        character
    }

    /// Steps back over the character just read.
    pub(crate) fn unread(&mut self) {
        match self.back.take() {
            Some(width) => self.at -= width,
            None => self.fault(SyntaxErrorKind::Crash, self.here(), "the text ends in the middle of an escape"),
        }
        self.place = self.before;
    }

    /// The next character, which stays unread.
    pub(crate) fn peek(&mut self) -> char {
        self.back = None;
        match decode(&self.source[self.at..]) {
            Some((character, _)) => character.unwrap_or(char::REPLACEMENT_CHARACTER),
            None => END,
        }
    }

    /// After the last character read.
    pub(crate) fn offset(&self) -> usize {
        self.place.offset
    }

    /// Whether HCL 1 counts a different place. The end of the text counts as a column each time it is read.
    pub(crate) fn moved_from(&self, offset: usize, column: usize) -> bool {
        self.place.offset != offset || self.place.column != column
    }

    /// The next character that is not a blank.
    pub(crate) fn after_blanks(&mut self) -> char {
        loop {
            let character = self.next();
            if !matches!(character, ' ' | '\t' | '\n' | '\r') {
                return character;
            }
        }
    }

    /// Where the last character read starts.
    pub(crate) fn start(&self) -> usize {
        self.place.offset.saturating_sub(self.width)
    }

    /// The last character read.
    pub(crate) fn here(&self) -> Range<usize> {
        self.start()..self.place.offset
    }

    /// The column that HCL 1 counts, 0 right after a line's end.
    pub(crate) fn column(&self) -> usize {
        self.place.column
    }

    /// The position of the last character read.
    pub(crate) fn position(&self) -> TextPosition {
        if self.place.column > 0 {
            TextPosition { line: self.place.line, column: self.place.column }
        } else if self.line_width > 0 {
            TextPosition { line: self.place.line.saturating_sub(1), column: self.line_width }
        } else {
            TextPosition { line: 1, column: 1 }
        }
    }

    /// The bytes of the text.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        self.source.get(range).unwrap_or_default()
    }

    /// Notes an error and goes on.
    pub(crate) fn fault(&mut self, kind: SyntaxErrorKind, span: Range<usize>, message: impl Into<String>) {
        self.last = Some(self.position());
        // Once HCL 1 has crashed it says nothing else.
        if self.first.is_none() || kind == SyntaxErrorKind::Crash {
            self.first = Some(ScanFault { message: message.into(), span, kind });
        }
    }

    /// The first error, and the position that HCL 1 reports for all of them.
    pub(crate) fn into_fault(self) -> Option<(ScanFault, Option<TextPosition>)> {
        let last = self.last;
        self.first.map(|fault| {
            let reported = if fault.kind == SyntaxErrorKind::Crash { None } else { last };
            (fault, reported)
        })
    }
}

/// The first character of `bytes` (`None` if they are not UTF-8) and its length in bytes; `None` at the end.
fn decode(bytes: &[u8]) -> Option<(Option<char>, usize)> {
    let first = *bytes.first()?;
    let width = match first {
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let character =
        bytes.get(..width).and_then(|bytes| str::from_utf8(bytes).ok()).and_then(|text| text.chars().next());
    Some((character, if character.is_some() { width } else { 1 }))
}

//! From characters to tokens.

use std::ops::Range;

use tofu_oci_types::TextPosition;

use crate::HclSyntax;
use crate::cursor::{Cursor, END, ScanFault};
use crate::letters::{is_digit, is_letter};
use crate::{SyntaxErrorKind, lexeme};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonTokenKind {
    Illegal,
    End,
    Number,
    Float,
    Bool,
    Null,
    String,
    OpenList,
    CloseList,
    OpenBrace,
    CloseBrace,
    Comma,
    Colon,
    Period,
}

pub(super) type JsonToken = crate::cursor::ScanToken<JsonTokenKind>;

/// Reads tokens.
#[derive(Debug)]
pub(super) struct JsonScanner<'a> {
    cursor: Cursor<'a>,
}

impl<'a> JsonScanner<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(source, HclSyntax::Json) }
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        self.cursor.bytes(range)
    }

    pub(super) fn into_fault(self) -> Option<(ScanFault, Option<TextPosition>)> {
        self.cursor.into_fault()
    }

    pub(super) fn token(&mut self) -> JsonToken {
        let character = self.cursor.after_blanks();
        let start = self.cursor.start();
        let position = self.cursor.position();
        let kind = self.kind(character);
        JsonToken { kind, span: start..self.cursor.offset(), position }
    }

    fn kind(&mut self, character: char) -> JsonTokenKind {
        match character {
            END => JsonTokenKind::End,
            '0'..='9' => self.number(character),
            '"' => {
                lexeme::string(&mut self.cursor, HclSyntax::Json);
                JsonTokenKind::String
            }
            '[' => JsonTokenKind::OpenList,
            ']' => JsonTokenKind::CloseList,
            '{' => JsonTokenKind::OpenBrace,
            '}' => JsonTokenKind::CloseBrace,
            ',' => JsonTokenKind::Comma,
            ':' => JsonTokenKind::Colon,
            '.' if lexeme::bare_fraction(&mut self.cursor) => JsonTokenKind::Float,
            '.' => JsonTokenKind::Period,
            '-' if self.cursor.peek().is_ascii_digit() => {
                let digit = self.cursor.next();
                self.number(digit)
            }
            letter if is_letter(letter) => self.word(),
            other => {
                let span = self.cursor.here();
                self.illegal(other, span);
                JsonTokenKind::Illegal
            }
        }
    }

    fn illegal(&mut self, character: char, span: Range<usize>) {
        let hint = match character {
            '#' | '/' => "; JSON has no comments",
            '\'' | '`' | '“' | '”' => "; texts stand in double quotes",
            '=' => "; JSON writes `\"name\": value`",
            _ => "",
        };
        let message = format!("{} cannot stand here{hint}", lexeme::shown(character));
        self.cursor.fault(lexeme::illegal(character), span, message);
    }

    fn word(&mut self) -> JsonTokenKind {
        let start = self.cursor.start();
        let mut character = self.cursor.next();
        while is_letter(character) || is_digit(character) || character == '-' {
            character = self.cursor.next();
        }
        if character != END {
            self.cursor.unread();
        }
        let span = start..self.cursor.offset();
        match self.cursor.bytes(span.clone()) {
            b"true" | b"false" => JsonTokenKind::Bool,
            b"null" => JsonTokenKind::Null,
            _ => {
                self.cursor.fault(SyntaxErrorKind::BareWord, span, "a word without quotes is not a value in JSON");
                JsonTokenKind::Illegal
            }
        }
    }

    fn number(&mut self, first: char) -> JsonTokenKind {
        let start = self.cursor.start();
        let (behind_first, column) = (self.cursor.offset(), self.cursor.column());
        lexeme::mantissa(&mut self.cursor, first);
        let character = self.cursor.next();
        if lexeme::fraction(&mut self.cursor, character) {
            return JsonTokenKind::Float;
        }
        if character != END {
            self.cursor.unread();
        }
        if first == '0' && self.cursor.moved_from(behind_first, column) {
            let message = "a number in JSON cannot start with 0";
            self.cursor.fault(SyntaxErrorKind::IllegalNumber, start..self.cursor.offset(), message);
        }
        JsonTokenKind::Number
    }
}

//! From characters to tokens.

use std::ops::Range;

use crate::cursor::{Cursor, Dialect, END, Fault};
use crate::letters::{is_digit, is_letter};
use crate::{Position, SyntaxErrorKind, lexeme};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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

pub(super) type Token = crate::cursor::Token<Kind>;

/// Reads tokens.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(source, Dialect::Json) }
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        self.cursor.bytes(range)
    }

    pub(super) fn into_fault(self) -> Option<(Fault, Option<Position>)> {
        self.cursor.into_fault()
    }

    pub(super) fn token(&mut self) -> Token {
        let character = self.cursor.after_blanks();
        let start = self.cursor.start();
        let position = self.cursor.position();
        let kind = self.kind(character);
        Token { kind, span: start..self.cursor.offset(), position }
    }

    fn kind(&mut self, character: char) -> Kind {
        match character {
            END => Kind::End,
            '0'..='9' => self.number(character),
            '"' => {
                lexeme::string(&mut self.cursor, Dialect::Json);
                Kind::String
            }
            '[' => Kind::OpenList,
            ']' => Kind::CloseList,
            '{' => Kind::OpenBrace,
            '}' => Kind::CloseBrace,
            ',' => Kind::Comma,
            ':' => Kind::Colon,
            '.' if lexeme::bare_fraction(&mut self.cursor) => Kind::Float,
            '.' => Kind::Period,
            '-' if self.cursor.peek().is_ascii_digit() => {
                let digit = self.cursor.next();
                self.number(digit)
            }
            letter if is_letter(letter) => self.word(),
            other => {
                let span = self.cursor.here();
                self.illegal(other, span);
                Kind::Illegal
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

    fn word(&mut self) -> Kind {
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
            b"true" | b"false" => Kind::Bool,
            b"null" => Kind::Null,
            _ => {
                self.cursor.fault(SyntaxErrorKind::BareWord, span, "a word without quotes is not a value in JSON");
                Kind::Illegal
            }
        }
    }

    fn number(&mut self, first: char) -> Kind {
        let start = self.cursor.start();
        let (behind_first, column) = (self.cursor.offset(), self.cursor.column());
        lexeme::mantissa(&mut self.cursor, first);
        let character = self.cursor.next();
        if lexeme::fraction(&mut self.cursor, character) {
            return Kind::Float;
        }
        if character != END {
            self.cursor.unread();
        }
        if first == '0' && self.cursor.moved_from(behind_first, column) {
            let message = "a number in JSON cannot start with 0";
            self.cursor.fault(SyntaxErrorKind::IllegalNumber, start..self.cursor.offset(), message);
        }
        Kind::Number
    }
}

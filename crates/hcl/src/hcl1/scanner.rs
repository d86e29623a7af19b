//! From characters to tokens.

use std::ops::Range;

use tofu_oci_types::TextPosition;

use super::heredoc;
use crate::HclSyntax;
use crate::cursor::{Cursor, END, ScanFault};
use crate::letters::{is_digit, is_letter};
use crate::{SyntaxErrorKind, lexeme};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hcl1TokenKind {
    Illegal,
    End,
    Comment,
    Name,
    Number,
    Float,
    Bool,
    String,
    Heredoc,
    OpenList,
    CloseList,
    OpenBrace,
    CloseBrace,
    Comma,
    Assign,
    /// A point, a plus or a minus by itself.
    Sign,
}

pub(super) type Hcl1Token = crate::cursor::ScanToken<Hcl1TokenKind>;

/// Reads tokens.
#[derive(Debug)]
pub(super) struct Hcl1Scanner<'a> {
    cursor: Cursor<'a>,
    /// The first interpolation that looks as if its end were forgotten.
    pub(super) suspect: Option<Range<usize>>,
}

impl<'a> Hcl1Scanner<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(source, HclSyntax::Native), suspect: None }
    }

    /// The next token that is not a comment.
    pub(super) fn token(&mut self) -> Hcl1Token {
        loop {
            let token = self.scan();
            if token.kind != Hcl1TokenKind::Comment {
                return token;
            }
        }
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        self.cursor.bytes(range)
    }

    pub(super) fn into_fault(self) -> Option<(ScanFault, Option<TextPosition>)> {
        self.cursor.into_fault()
    }

    fn scan(&mut self) -> Hcl1Token {
        let character = self.cursor.after_blanks();
        let start = self.cursor.start();
        let position = self.cursor.position();
        let kind = self.kind(character);
        Hcl1Token { kind, span: start..self.cursor.offset(), position }
    }

    fn kind(&mut self, character: char) -> Hcl1TokenKind {
        match character {
            END => Hcl1TokenKind::End,
            '0'..='9' => self.number(character),
            '"' => {
                let suspect = lexeme::string(&mut self.cursor, HclSyntax::Native);
                self.suspect = self.suspect.take().or(suspect);
                Hcl1TokenKind::String
            }
            '#' | '/' => {
                self.comment(character);
                Hcl1TokenKind::Comment
            }
            '<' => {
                heredoc::scan(&mut self.cursor);
                Hcl1TokenKind::Heredoc
            }
            '[' => Hcl1TokenKind::OpenList,
            ']' => Hcl1TokenKind::CloseList,
            '{' => Hcl1TokenKind::OpenBrace,
            '}' => Hcl1TokenKind::CloseBrace,
            ',' => Hcl1TokenKind::Comma,
            '=' => Hcl1TokenKind::Assign,
            '.' if lexeme::bare_fraction(&mut self.cursor) => Hcl1TokenKind::Float,
            '-' if self.cursor.peek().is_ascii_digit() => {
                let digit = self.cursor.next();
                self.number(digit)
            }
            '+' | '-' | '.' => Hcl1TokenKind::Sign,
            letter if is_letter(letter) => self.name(),
            other => {
                self.illegal(other);
                Hcl1TokenKind::Illegal
            }
        }
    }

    fn illegal(&mut self, character: char) {
        let span = self.cursor.here();
        if character == '\u{feff}' && span.start == 0 {
            let message = "the file starts with a byte order mark; save it as UTF-8 without one";
            return self.cursor.fault(SyntaxErrorKind::ByteOrderMark, span, message);
        }
        let hint = match character {
            '\'' | '`' | '“' | '”' => "; texts stand in double quotes",
            ':' => "; an argument is written `name = value`",
            ';' => "; nothing separates arguments but a new line or a comma",
            _ => "",
        };
        let message = format!("{} cannot stand here{hint}", lexeme::shown(character));
        self.cursor.fault(lexeme::illegal(character), span, message);
    }

    fn name(&mut self) -> Hcl1TokenKind {
        let start = self.cursor.start();
        let mut character = self.cursor.next();
        while is_letter(character) || is_digit(character) || matches!(character, '-' | '.') {
            character = self.cursor.next();
        }
        if character != END {
            self.cursor.unread();
        }
        match self.cursor.bytes(start..self.cursor.offset()) {
            b"true" | b"false" => Hcl1TokenKind::Bool,
            _ => Hcl1TokenKind::Name,
        }
    }

    fn number(&mut self, first: char) -> Hcl1TokenKind {
        let start = self.cursor.start();
        if first != '0' {
            lexeme::mantissa(&mut self.cursor, first);
            let character = self.cursor.next();
            return self.end_of_number(character);
        }
        let mut character = self.cursor.next();
        if matches!(character, 'x' | 'X') {
            return self.hexadecimal(start);
        }
        // HCL 1 looks for 8 and 9 from the second digit after the zero on only.
        let mut octal = true;
        while character.is_ascii_digit() {
            character = self.cursor.next();
            octal &= !matches!(character, '8' | '9');
        }
        if lexeme::fraction(&mut self.cursor, character) {
            return Hcl1TokenKind::Float;
        }
        if !octal {
            let message = "a number that starts with 0 is octal and has no 8 or 9; leave out the 0";
            self.cursor.fault(SyntaxErrorKind::IllegalNumber, start..self.cursor.start(), message);
        }
        if character != END {
            self.cursor.unread();
        }
        Hcl1TokenKind::Number
    }

    fn hexadecimal(&mut self, start: usize) -> Hcl1TokenKind {
        let digits = self.cursor.offset();
        let mut character = self.cursor.next();
        while character.is_ascii_hexdigit() {
            character = self.cursor.next();
        }
        if self.cursor.start() == digits {
            let message = "hexadecimal digits belong after `0x`";
            self.cursor.fault(SyntaxErrorKind::IllegalNumber, start..digits, message);
        }
        if character != END {
            self.cursor.unread();
        }
        Hcl1TokenKind::Number
    }

    fn end_of_number(&mut self, character: char) -> Hcl1TokenKind {
        if lexeme::fraction(&mut self.cursor, character) {
            return Hcl1TokenKind::Float;
        }
        if character != END {
            self.cursor.unread();
        }
        Hcl1TokenKind::Number
    }

    fn comment(&mut self, first: char) {
        let start = self.cursor.start();
        if first == '/' {
            match self.cursor.peek() {
                '*' => return self.long_comment(start),
                '/' => {}
                _ => {
                    let message = "`/` cannot stand here; a comment starts with `#`, `//` or `/*`";
                    return self.cursor.fault(SyntaxErrorKind::IllegalCharacter, self.cursor.here(), message);
                }
            }
        }
        let mut character = self.cursor.next();
        while !matches!(character, '\n' | END) {
            character = self.cursor.next();
        }
        if character != END {
            self.cursor.unread();
        }
    }

    fn long_comment(&mut self, start: usize) {
        self.cursor.next();
        let open = start..self.cursor.offset();
        let mut character = self.cursor.next();
        loop {
            if character == END {
                let message = "this comment has no closing `*/`";
                return self.cursor.fault(SyntaxErrorKind::UnclosedComment, open, message);
            }
            let before = character;
            character = self.cursor.next();
            if before == '*' && character == '/' {
                return;
            }
        }
    }
}

//! Text into tokens, as HCL 2's own scanner cuts it.
//!
//! The boundaries between pieces of text matter for strip markers, which take the white space of one piece only.

use super::fault::TemplateFault;
use super::token::{TemplateToken, TemplateTokenKind};

/// All tokens of a template; the last one is [`TemplateTokenKind::End`].
pub(super) fn tokens(text: &str) -> Vec<TemplateToken> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), modes: Vec::new(), braces: 0 };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.at < text.len() {
        match lexer.modes.last() {
            None => lexer.bare(),
            Some(LexerMode::Quoted) => lexer.quoted(),
            Some(LexerMode::Heredoc { .. }) => lexer.heredoc(),
            Some(LexerMode::Expression { .. }) => lexer.expression(),
        }
    }
    lexer.push(TemplateTokenKind::End, 0);
    lexer.tokens
}

/// The current context; outside of all of these it is the template's own text.
enum LexerMode<'a> {
    Quoted,
    Heredoc { marker: &'a str, line_start: bool },
    Expression { braces: usize },
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<TemplateToken>,
    modes: Vec<LexerMode<'a>>,
    braces: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: TemplateTokenKind, length: usize) {
        self.tokens.push(TemplateToken { kind, span: self.at..self.at + length });
        self.at += length;
    }

    /// `${`, `${~`, `%{` or `%{~`, if one is here.
    fn sequence(&mut self) -> bool {
        let rest = self.rest();
        let kind = match rest.as_bytes() {
            [b'$', b'{', ..] => TemplateTokenKind::Interpolation,
            [b'%', b'{', ..] => TemplateTokenKind::Directive,
            _ => return false,
        };
        self.push(kind, if rest[2..].starts_with('~') { 3 } else { 2 });
        self.braces += 1;
        if let Some(LexerMode::Heredoc { line_start, .. }) =
            self.modes.iter_mut().rev().find(|mode| matches!(mode, LexerMode::Heredoc { .. }))
        {
            *line_start = false;
        }
        self.modes.push(LexerMode::Expression { braces: self.braces });
        true
    }

    /// The length of a `$` or `%` that opens nothing, together with an escape or a byte before an end of line.
    fn marker(&self, lines: bool) -> usize {
        let bytes = self.rest().as_bytes();
        match bytes {
            [first, second, b'{', rest @ ..] if first == second => 3 + usize::from(rest.first() == Some(&b'~')),
            [_, next, b'\n' | b'\r', ..] if lines && next.is_ascii() && *next != b'{' => 2,
            _ => 1,
        }
    }

    /// The length of the text.
    fn plain(&self, stops: &[char]) -> usize {
        let rest = self.rest();
        rest.find(stops).unwrap_or(rest.len())
    }

    fn line_end(rest: &str) -> usize {
        if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) }
    }

    fn bare(&mut self) {
        if self.sequence() {
            return;
        }
        if self.rest().starts_with(['$', '%']) {
            return self.push(TemplateTokenKind::Text, self.marker(true));
        }
        let length = self.plain(&['$', '%', '\r', '\n']);
        let end = Self::line_end(&self.rest()[length..]);
        // After a lone carriage return, the scanner takes everything as plain text.
        let length = if length + end == 0 { self.rest().len() } else { length + end };
        self.push(TemplateTokenKind::Text, length);
    }

    fn quoted(&mut self) {
        if self.sequence() {
            return;
        }
        let rest = self.rest();
        match rest.as_bytes() {
            [b'"', ..] => {
                self.push(TemplateTokenKind::CloseQuote, 1);
                self.modes.pop();
            }
            [b'\r' | b'\n', ..] => {
                let length = rest.find(|character| !matches!(character, '\r' | '\n')).unwrap_or(rest.len());
                self.push(TemplateTokenKind::QuotedNewline, length);
            }
            [b'$' | b'%'] => self.push(TemplateTokenKind::Invalid, 1),
            [b'$' | b'%', ..] => self.push(TemplateTokenKind::QuotedText, self.marker(false)),
            _ => match self.escaped_text() {
                0 => self.push(TemplateTokenKind::Invalid, 1),
                length => self.push(TemplateTokenKind::QuotedText, length),
            },
        }
    }

    /// The length of text between quotes, a backslash and what follows it together.
    fn escaped_text(&self) -> usize {
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            let stop = match character {
                '$' | '%' | '"' | '\r' | '\n' => true,
                '\\' => !characters.next().is_some_and(|(_, next)| !matches!(next, '\r' | '\n')),
                _ => false,
            };
            if stop {
                return at;
            }
        }
        self.rest().len()
    }

    fn heredoc(&mut self) {
        if self.sequence() {
            return;
        }
        let rest = self.rest();
        let (length, end) = if rest.starts_with(['$', '%']) {
            (if rest.len() > 1 { self.marker(true) } else { 0 }, 0)
        } else {
            let length = self.plain(&['$', '%', '\r', '\n']);
            (length, Self::line_end(&rest[length..]))
        };
        if length + end == 0 {
            return self.push(TemplateTokenKind::Invalid, rest.len());
        }
        let line = &self.rest()[..length];
        let Some(LexerMode::Heredoc { marker, line_start }) = self.modes.last_mut() else { return };
        if end > 0 && *line_start && line.trim() == *marker {
            self.modes.pop();
            self.push(TemplateTokenKind::CloseHeredoc, length);
            return self.push(TemplateTokenKind::Newline, end);
        }
        *line_start = end > 0;
        self.push(TemplateTokenKind::Text, length + end);
    }

    fn expression(&mut self) {
        let rest = self.rest();
        let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if spaces > 0 {
            self.at += spaces;
            return;
        }
        if rest.starts_with(is_identifier_start) {
            return self.push(TemplateTokenKind::Identifier, identifier(rest));
        }
        if rest.starts_with(|first: char| first.is_ascii_digit()) {
            return self.push(TemplateTokenKind::Number, number(rest));
        }
        if let Some(length) = comment(rest) {
            let takes_line = rest[..length].ends_with('\n');
            return self.push(TemplateTokenKind::Comment(takes_line), length);
        }
        if self.open_heredoc() {
            return;
        }
        match rest.as_bytes() {
            [b'"', ..] => {
                self.push(TemplateTokenKind::OpenQuote, 1);
                self.modes.push(LexerMode::Quoted);
            }
            [b'{', ..] => {
                self.push(TemplateTokenKind::OpenBrace, 1);
                self.braces += 1;
            }
            [b'~', b'}', ..] => self.close(TemplateTokenKind::SequenceEnd, 2),
            [b'}', ..] => self.close(TemplateTokenKind::CloseBrace, 1),
            bytes => {
                let (kind, length) = symbol(bytes);
                let width = rest.chars().next().map_or(1, char::len_utf8);
                self.push(kind, if kind == TemplateTokenKind::Invalid { width } else { length });
            }
        }
    }

    /// Ends the sequence, or a brace inside it; `otherwise` is the token of the second case.
    fn close(&mut self, otherwise: TemplateTokenKind, length: usize) {
        let ends = matches!(self.modes.last(), Some(LexerMode::Expression { braces }) if *braces == self.braces);
        self.push(if ends { TemplateTokenKind::SequenceEnd } else { otherwise }, length);
        self.braces = self.braces.saturating_sub(1);
        if ends {
            self.modes.pop();
        }
    }

    fn open_heredoc(&mut self) -> bool {
        let rest = self.rest();
        let Some(after) = rest.strip_prefix("<<") else { return false };
        let (flush, after) = after.strip_prefix('-').map_or((false, after), |after| (true, after));
        let length = if after.starts_with(is_identifier_start) { identifier(after) } else { 0 };
        let end = Self::line_end(&after[length..]);
        if length == 0 || end == 0 {
            return false;
        }
        let introduction = rest.len() - after.len() + length + end;
        self.push(TemplateTokenKind::OpenHeredoc(flush), introduction);
        self.modes.push(LexerMode::Heredoc { marker: &after[..length], line_start: true });
        true
    }
}

/// Close to Unicode's `ID_Start`, which the standard library does not have.
fn is_identifier_start(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn identifier(text: &str) -> usize {
    text.find(|character: char| !(is_identifier_start(character) || character == '-' || character.is_numeric()))
        .unwrap_or(text.len())
}

/// The length of the longest number: it may hold several points and exponents, and does not end in a point.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let (mut at, mut end) = (1, 1);
    loop {
        match bytes.get(at) {
            Some(b'0'..=b'9') => (at, end) = (at + 1, at + 1),
            Some(b'.') => at += 1,
            Some(b'e' | b'E') if digit(at + 1) => (at, end) = (at + 2, at + 2),
            Some(b'e' | b'E') if matches!(bytes.get(at + 1), Some(b'+' | b'-')) && digit(at + 2) => {
                (at, end) = (at + 3, at + 3);
            }
            _ => return end,
        }
    }
}

fn comment(text: &str) -> Option<usize> {
    if text.starts_with('#') || text.starts_with("//") {
        return Some(text.find('\n').map_or(text.len(), |end| end + 1));
    }
    text.strip_prefix("/*")?.find("*/").map(|end| end + 4)
}

fn symbol(bytes: &[u8]) -> (TemplateTokenKind, usize) {
    match bytes {
        [b'.', b'.', b'.', ..] => (TemplateTokenKind::Ellipsis, 3),
        [b'=', b'=', ..] => (TemplateTokenKind::DoubleEqual, 2),
        [b'=', b'>', ..] => (TemplateTokenKind::FatArrow, 2),
        [b'!', b'=', ..] => (TemplateTokenKind::NotEqual, 2),
        [b'>', b'=', ..] => (TemplateTokenKind::GreaterOrEqual, 2),
        [b'<', b'=', ..] => (TemplateTokenKind::LessOrEqual, 2),
        [b'&', b'&', ..] => (TemplateTokenKind::And, 2),
        [b'|', b'|', ..] => (TemplateTokenKind::Or, 2),
        [b':', b':', ..] => (TemplateTokenKind::DoubleColon, 2),
        [b'\r', b'\n', ..] => (TemplateTokenKind::Newline, 2),
        [byte, ..] => (single(*byte), 1),
        [] => (TemplateTokenKind::End, 0),
    }
}

fn single(byte: u8) -> TemplateTokenKind {
    match byte {
        b'(' => TemplateTokenKind::OpenParen,
        b')' => TemplateTokenKind::CloseParen,
        b'[' => TemplateTokenKind::OpenBracket,
        b']' => TemplateTokenKind::CloseBracket,
        b'.' => TemplateTokenKind::Dot,
        b',' => TemplateTokenKind::Comma,
        b'*' => TemplateTokenKind::Star,
        b'/' => TemplateTokenKind::Slash,
        b'%' => TemplateTokenKind::Percent,
        b'+' => TemplateTokenKind::Plus,
        b'-' => TemplateTokenKind::Minus,
        b'=' => TemplateTokenKind::Equal,
        b'<' => TemplateTokenKind::Less,
        b'>' => TemplateTokenKind::Greater,
        b'!' => TemplateTokenKind::Not,
        b'?' => TemplateTokenKind::Question,
        b':' => TemplateTokenKind::Colon,
        b'\n' => TemplateTokenKind::Newline,
        b'&' | b'|' | b'~' | b'^' => TemplateTokenKind::Bitwise,
        b';' => TemplateTokenKind::Semicolon,
        b'`' => TemplateTokenKind::Backtick,
        b'\'' => TemplateTokenKind::Apostrophe,
        _ => TemplateTokenKind::Invalid,
    }
}

/// The faults of tokens that HCL does not have. Only the first ones of a frequent kind are reported.
pub(super) fn misplaced(text: &str, tokens: &[TemplateToken]) -> Vec<TemplateFault> {
    let mut counts = FaultCounts::default();
    tokens.iter().filter_map(|token| counts.fault(text, token)).collect()
}

#[derive(Default)]
struct FaultCounts {
    bitwise: usize,
    backticks: usize,
    apostrophes: usize,
    semicolons: usize,
}

impl FaultCounts {
    fn fault(&mut self, text: &str, token: &TemplateToken) -> Option<TemplateFault> {
        let (code, message, instead) = match token.kind {
            TemplateTokenKind::Bitwise => {
                self.bitwise += 1;
                (self.bitwise <= 4).then_some((
                    "unsupported-operator",
                    "HCL has no operators for single bits",
                    Some("&& for `and`, || for `or`, ! for `not`"),
                ))?
            }
            // The mark that closes what the first one opened is not reported again.
            TemplateTokenKind::Backtick => {
                let tell = self.backticks.is_multiple_of(2);
                self.backticks = (self.backticks + 1).min(3);
                tell.then_some(("invalid-character", "a back quote does not quote here", Some("\"")))?
            }
            TemplateTokenKind::Apostrophe => {
                let tell = self.apostrophes.is_multiple_of(2);
                self.apostrophes = (self.apostrophes + 1).min(3);
                tell.then_some(("invalid-character", "a single quote does not quote here", Some("\"")))?
            }
            TemplateTokenKind::Semicolon => {
                self.semicolons += 1;
                (self.semicolons == 1).then_some((
                    "invalid-character",
                    "`;` does not separate items",
                    Some("a comma between items"),
                ))?
            }
            TemplateTokenKind::QuotedNewline => (
                "invalid-multi-line-string",
                "a text between quotes stands on one line",
                Some("\\n for an end of line"),
            ),
            TemplateTokenKind::Invalid if matches!(&text[token.span.clone()], "“" | "”") => {
                ("invalid-character", "a curly quote does not quote here", Some("\""))
            }
            TemplateTokenKind::Invalid if &text[token.span.clone()] == "\\" => (
                "invalid-character",
                "a backslash has no place in an expression",
                Some("quotes inside ${ } without a backslash (in JSON with one)"),
            ),
            TemplateTokenKind::Invalid => ("invalid-character", "this character has no place in an expression", None),
            _ => return None,
        };
        Some(TemplateFault {
            instead: instead.map(Into::into),
            ..TemplateFault::new(code, message, token.span.clone())
        })
    }
}

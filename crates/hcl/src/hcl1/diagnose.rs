//! The real mistake, and its place, for a token that cannot stand where it is.

use std::ops::Range;

use super::scanner::{Hcl1Token, Hcl1TokenKind};
use super::stop::Hcl1Stop;
use crate::SyntaxErrorKind;
use crate::cursor::ScanFault;

/// The open brackets, and the first one whose closing bracket is further left than it should be: a bracket is most
/// likely missing there.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Vec<usize>,
    misplaced: Option<usize>,
}

impl Brackets {
    pub(super) fn open(&mut self, at: usize) {
        self.open.push(at);
    }

    pub(super) fn close(&mut self, at: usize, text: &[u8]) {
        let Some(open) = self.open.pop() else { return };
        let (indent, alone) = indent(text, at);
        if self.misplaced.is_none() && alone && indent < self::indent(text, open).0 {
            self.misplaced = Some(open);
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Forgets the brackets inside the outermost `depth` ones.
    pub(super) fn forget(&mut self, depth: usize) {
        self.open.truncate(depth);
    }

    /// The bracket whose partner is missing.
    fn unclosed(&self) -> Option<usize> {
        self.misplaced.or(self.open.last().copied())
    }
}

/// The white space at the start of the line of `at`, and whether that is all before `at`.
fn indent(text: &[u8], at: usize) -> (usize, bool) {
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let blank = text[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (blank, start + blank >= at)
}

/// A `${` without its end.
pub(super) fn open_interpolation(span: Range<usize>) -> ScanFault {
    let message = "this `${` has no closing `}` on its line".to_owned();
    ScanFault { message, span, kind: SyntaxErrorKind::UnclosedInterpolation }
}

/// An argument that was given before.
pub(super) fn duplicate(token: &Hcl1Token, name: &[u8]) -> Hcl1Stop {
    let message = format!("the argument {} was already set; each can be given once only", shown(name));
    Hcl1Stop::at(token, SyntaxErrorKind::Duplicate, token.span.clone(), message)
}

/// An unclosed brace, with `found` in place of its end.
pub(super) fn unclosed(found: &Hcl1Token, brackets: &Brackets) -> Hcl1Stop {
    let span = brackets.unclosed().map_or(found.span.clone(), |open| open..open + 1);
    Hcl1Stop::at(found, SyntaxErrorKind::UnclosedBracket, span, "this brace is not closed; its `}` is missing")
}

/// Keys with neither `=` nor `{` after them.
pub(super) fn no_value(found: &Hcl1Token, keys: &[Hcl1Token], text: &[u8]) -> Hcl1Stop {
    if let Some(span) = keys.first().and_then(|key| directive(text, key.span.start)) {
        let message = "a bare quote inside `%{ … }` ends the text";
        return Hcl1Stop::at(found, SyntaxErrorKind::QuoteInDirective, span, message);
    }
    let message = if keys.len() > 1 {
        "a block needs `{` after its labels, on the same or the next line"
    } else {
        "a name needs `= VALUE` or `{ … }` after it"
    };
    Hcl1Stop::at(found, SyntaxErrorKind::MissingValue, all(keys, found), message)
}

/// A `%{` on the line of `at`, before it and up to it.
fn directive(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let start = text[line..at].windows(2).position(|pair| pair == b"%{")?;
    Some(line + start..at)
}

/// `a "b" = …`.
pub(super) fn labels_with_assign(found: &Hcl1Token, keys: &[Hcl1Token]) -> Hcl1Stop {
    let on_one_line = keys.iter().all(|key| key.position.line == found.position.line);
    match keys {
        // Names on several lines: the first has no value.
        [first, ..] if !on_one_line => {
            let message = "a name needs `= VALUE` or `{ … }` after it";
            Hcl1Stop::at(found, SyntaxErrorKind::MissingValue, first.span.clone(), message)
        }
        _ => {
            let message = "only one name can stand before `=`; a block has none between its labels and `{`";
            Hcl1Stop::at(found, SyntaxErrorKind::Misplaced, all(keys, found).start..found.span.end, message)
        }
    }
}

/// `=` or `{` with nothing before it.
pub(super) fn no_name(found: &Hcl1Token) -> Hcl1Stop {
    let message = match found.kind {
        Hcl1TokenKind::Assign => "a name belongs before `=`",
        _ => "a name belongs before `{`; a JSON file starts with `{` and has no comments",
    };
    Hcl1Stop::at(found, SyntaxErrorKind::Unexpected, found.span.clone(), message)
}

/// Something in place of a key.
pub(super) fn no_key(found: &Hcl1Token, keys: &[Hcl1Token], text: &[u8]) -> Hcl1Stop {
    if !keys.is_empty() {
        return no_value(found, keys, text);
    }
    let (kind, message) = match found.kind {
        Hcl1TokenKind::CloseBrace => (SyntaxErrorKind::StrayBracket, "this `}` closes nothing".to_owned()),
        Hcl1TokenKind::CloseList => (SyntaxErrorKind::StrayBracket, "this `]` closes nothing".to_owned()),
        kind => (SyntaxErrorKind::Unexpected, format!("a name belongs here, not {}", noun(kind))),
    };
    Hcl1Stop::at(found, kind, found.span.clone(), message)
}

/// Something in place of a value after `=`.
pub(super) fn no_literal(found: &Hcl1Token, keys: &[Hcl1Token], written: &[u8]) -> Hcl1Stop {
    match found.kind {
        Hcl1TokenKind::Name if keys.first().is_some_and(|key| key.position.line != found.position.line) => {
            Hcl1Stop::at(found, SyntaxErrorKind::MissingValue, all(keys, found), "a value belongs after the `=`")
        }
        Hcl1TokenKind::Name => bare_word(found, written),
        Hcl1TokenKind::CloseBrace | Hcl1TokenKind::CloseList | Hcl1TokenKind::Comma => {
            Hcl1Stop::at(found, SyntaxErrorKind::MissingValue, all(keys, found), "a value belongs after the `=`")
        }
        kind => {
            let message = format!("a value belongs here, not {}", noun(kind));
            Hcl1Stop::at(found, SyntaxErrorKind::Unexpected, found.span.clone(), message)
        }
    }
}

/// Something that cannot stand in a list.
pub(super) fn in_list(found: &Hcl1Token, open: &Hcl1Token, comma_needed: bool, written: &[u8]) -> Hcl1Stop {
    let opening = || open.span.clone();
    match found.kind {
        Hcl1TokenKind::Name if found.position.line == open.position.line && !comma_needed => bare_word(found, written),
        Hcl1TokenKind::Name | Hcl1TokenKind::End | Hcl1TokenKind::CloseBrace | Hcl1TokenKind::Assign => {
            let message = "this list is not closed; its `]` is missing";
            Hcl1Stop::at(found, SyntaxErrorKind::UnclosedBracket, opening(), message)
        }
        _ if comma_needed => {
            let message = "a comma is missing before this";
            Hcl1Stop::at(found, SyntaxErrorKind::MissingComma, found.span.clone(), message)
        }
        kind => {
            let message = format!("a value belongs here, not {}", noun(kind));
            Hcl1Stop::at(found, SyntaxErrorKind::Unexpected, found.span.clone(), message)
        }
    }
}

fn bare_word(found: &Hcl1Token, written: &[u8]) -> Hcl1Stop {
    let (kind, message) = match written {
        b"null" => (SyntaxErrorKind::Null, "`null` is not a value here"),
        _ => (SyntaxErrorKind::BareWord, "a word without quotes is not a value"),
    };
    Hcl1Stop::at(found, kind, found.span.clone(), message)
}

/// From the first key to the last.
fn all(keys: &[Hcl1Token], otherwise: &Hcl1Token) -> Range<usize> {
    match keys {
        [first, .., last] => first.span.start..last.span.end,
        [only] => only.span.clone(),
        [] => otherwise.span.clone(),
    }
}

fn noun(kind: Hcl1TokenKind) -> &'static str {
    match kind {
        Hcl1TokenKind::Illegal => "this character",
        Hcl1TokenKind::End => "the end",
        Hcl1TokenKind::Comment => "a comment",
        Hcl1TokenKind::Name => "a word",
        Hcl1TokenKind::Number | Hcl1TokenKind::Float => "a number",
        Hcl1TokenKind::Bool => "`true` or `false`",
        Hcl1TokenKind::String => "a text in quotes",
        Hcl1TokenKind::Heredoc => "a text of several lines",
        Hcl1TokenKind::OpenList => "`[`",
        Hcl1TokenKind::CloseList => "`]`",
        Hcl1TokenKind::OpenBrace => "`{`",
        Hcl1TokenKind::CloseBrace => "`}`",
        Hcl1TokenKind::Comma => "a comma",
        Hcl1TokenKind::Assign => "`=`",
        Hcl1TokenKind::Sign => "`.`, `+` or `-`",
    }
}

fn shown(name: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(name))
}

//! From tokens to items.

use std::collections::HashSet;

use super::diagnose::{self, Brackets};
use super::scanner::{Hcl1Scanner, Hcl1Token, Hcl1TokenKind};
use super::source::Hcl1Source;
use super::stop::Hcl1Stop;
use super::{Duplicates, heredoc};
use crate::HclSyntax;
use crate::text;
use crate::{HclBody, HclItem, HclKey, HclValue, MAX_DEPTH, Overlooked, SyntaxError, SyntaxErrorKind, TextFault};

/// Reads the whole of `source`.
pub(super) fn parse(
    source: &Hcl1Source<'_>,
    duplicates: Duplicates,
) -> Result<(HclBody, Vec<Overlooked>), SyntaxError> {
    let mut scanner = Hcl1Scanner::new(source.bytes());
    let first = scanner.token();
    let mut parser = Hcl1Parser {
        scanner,
        source,
        duplicates,
        token: first,
        ahead: true,
        brackets: Brackets::default(),
        overlooked: Vec::new(),
    };
    let (body, stop) = parser.items(None);
    let suspect = parser.scanner.suspect.take();
    if let Some((fault, reported)) = parser.scanner.into_fault() {
        return Err(source.error(fault, reported));
    }
    match stop {
        Some(Hcl1Stop::Mistake(mut fault, reported)) => {
            if let Some(span) = suspect
                && fault.kind != SyntaxErrorKind::TooDeep
            {
                *fault = diagnose::open_interpolation(span);
            }
            Err(source.error(*fault, reported))
        }
        Some(Hcl1Stop::End) | None => Ok((body, parser.overlooked)),
    }
}

/// The state of reading. The token may be one ahead, as in HCL 1: how far the scanner has come decides which of its
/// errors are seen.
#[derive(Debug)]
pub(super) struct Hcl1Parser<'s, 'a> {
    scanner: Hcl1Scanner<'s>,
    source: &'s Hcl1Source<'a>,
    duplicates: Duplicates,
    token: Hcl1Token,
    ahead: bool,
    brackets: Brackets,
    overlooked: Vec<Overlooked>,
}

impl Hcl1Parser<'_, '_> {
    fn next(&mut self) -> Hcl1Token {
        if !std::mem::take(&mut self.ahead) {
            self.token = self.scanner.token();
        }
        self.token.clone()
    }

    fn look(&mut self) -> Hcl1Token {
        let token = self.next();
        self.ahead = true;
        token
    }

    /// The items up to the end, or up to the closing brace of the block opened at `open`. With a mistake, what was
    /// read before it comes along.
    fn items(&mut self, open: Option<&Hcl1Token>) -> (HclBody, Option<Hcl1Stop>) {
        let mut body = HclBody::default();
        let mut seen = HashSet::new();
        loop {
            if open.is_some() && self.look().kind == Hcl1TokenKind::CloseBrace {
                return (body, None);
            }
            let (item, written) = match self.item() {
                Ok(item) => item,
                Err(Hcl1Stop::End) => return (body, None),
                Err(mistake) => return (body, Some(mistake)),
            };
            if item.assigned && self.duplicates == Duplicates::Refused {
                for token in &written {
                    if !seen.insert(self.scanner.bytes(token.span.clone())) {
                        let stop = diagnose::duplicate(token, self.scanner.bytes(token.span.clone()));
                        return (body, Some(stop));
                    }
                }
            }
            body.items.push(item);
            if self.look().kind == Hcl1TokenKind::Comma {
                self.next();
            }
        }
    }

    /// An item, and its keys as they are written.
    fn item(&mut self) -> Result<(HclItem, Vec<Hcl1Token>), Hcl1Stop> {
        let (keys, stop) = self.keys();
        match stop {
            None => {}
            Some(Hcl1Stop::End) if !keys.is_empty() => {}
            Some(_) if !keys.is_empty() && self.token.kind == Hcl1TokenKind::CloseBrace => {
                self.token.kind = Hcl1TokenKind::End;
            }
            Some(stop) => return Err(stop),
        }
        let (value, brace) = match self.token.kind {
            Hcl1TokenKind::Assign => (self.value(&keys)?, None),
            Hcl1TokenKind::OpenBrace => {
                let brace = self.token.clone();
                (self.object(&brace)?, Some(self.source.place(brace.span.start)))
            }
            _ => return Err(diagnose::no_value(&self.token, &keys, self.source.bytes())),
        };
        // HCL 1 looks for a comment after the value, and so for the next token.
        self.look();
        let start = keys.first().map_or(0, |key| self.source.place(key.span.start));
        let span = start..value.span().end.max(start);
        let item = HclItem {
            keys: keys.iter().map(|token| self.key(token)).collect(),
            assigned: brace.is_none(),
            value,
            span,
            brace,
        };
        Ok((item, keys))
    }

    /// The keys up to `=` or `{`, which is then the token; fewer where there is a mistake.
    fn keys(&mut self) -> (Vec<Hcl1Token>, Option<Hcl1Stop>) {
        let mut keys = Vec::new();
        loop {
            let token = self.next();
            let stop = match token.kind {
                Hcl1TokenKind::Name | Hcl1TokenKind::String => {
                    keys.push(token);
                    continue;
                }
                Hcl1TokenKind::End => Some(Hcl1Stop::End),
                Hcl1TokenKind::Assign if keys.len() > 1 => {
                    let stop = diagnose::labels_with_assign(&token, &keys);
                    return (Vec::new(), Some(stop));
                }
                Hcl1TokenKind::Assign | Hcl1TokenKind::OpenBrace if keys.is_empty() => Some(diagnose::no_name(&token)),
                Hcl1TokenKind::Assign | Hcl1TokenKind::OpenBrace => None,
                _ => Some(diagnose::no_key(&token, &keys, self.source.bytes())),
            };
            return (keys, stop);
        }
    }

    fn value(&mut self, keys: &[Hcl1Token]) -> Result<HclValue, Hcl1Stop> {
        let token = self.next();
        match token.kind {
            Hcl1TokenKind::Number
            | Hcl1TokenKind::Float
            | Hcl1TokenKind::Bool
            | Hcl1TokenKind::String
            | Hcl1TokenKind::Heredoc => Ok(self.literal(&token)),
            Hcl1TokenKind::OpenBrace => self.object(&token),
            Hcl1TokenKind::OpenList => self.list(&token),
            Hcl1TokenKind::End => {
                let start = keys.first().map_or(token.span.start, |key| key.span.start);
                let message = "the file ends before the value, so the name counts for nothing".to_owned();
                self.overlooked.push(Overlooked { message, span: self.source.span(start..token.span.start) });
                Err(Hcl1Stop::End)
            }
            _ => Err(diagnose::no_literal(&token, keys, self.scanner.bytes(token.span.clone()))),
        }
    }

    /// The object whose opening brace is the token.
    fn object(&mut self, open: &Hcl1Token) -> Result<HclValue, Hcl1Stop> {
        let depth = self.brackets.depth() + 1;
        self.enter(open)?;
        let (body, stop) = self.items(Some(open));
        if let Some(stop) = stop {
            // The HCL 1 that allows duplicates goes on when the mistake stands right before a closing brace.
            if self.duplicates == Duplicates::Refused || self.token.kind != Hcl1TokenKind::CloseBrace {
                return Err(stop);
            }
            if let Hcl1Stop::Mistake(fault, _) = stop {
                let span = self.source.span(fault.span);
                self.overlooked.push(Overlooked { message: fault.message, span });
            }
            self.brackets.forget(depth);
        }
        let close = self.next();
        if close.kind != Hcl1TokenKind::CloseBrace {
            return Err(diagnose::unclosed(&close, &self.brackets));
        }
        self.brackets.close(close.span.start, self.source.bytes());
        Ok(HclValue::Object(body, self.source.span(open.span.start..close.span.end)))
    }

    /// The list whose opening bracket is the token.
    fn list(&mut self, open: &Hcl1Token) -> Result<HclValue, Hcl1Stop> {
        self.enter(open)?;
        let mut values = Vec::new();
        let mut comma_needed = false;
        loop {
            let token = self.next();
            if comma_needed && !matches!(token.kind, Hcl1TokenKind::Comma | Hcl1TokenKind::CloseList) {
                return Err(diagnose::in_list(&token, open, true, self.scanner.bytes(token.span.clone())));
            }
            match token.kind {
                Hcl1TokenKind::Bool
                | Hcl1TokenKind::Number
                | Hcl1TokenKind::Float
                | Hcl1TokenKind::String
                | Hcl1TokenKind::Heredoc => {
                    values.push(self.literal(&token));
                    comma_needed = true;
                }
                Hcl1TokenKind::Comma => {
                    self.look();
                    comma_needed = false;
                }
                Hcl1TokenKind::OpenBrace => {
                    values.push(self.object(&token).map_err(|stop| stop.in_list(&token))?);
                    comma_needed = true;
                }
                // After a list in a list, HCL 1 asks for no comma.
                Hcl1TokenKind::OpenList => values.push(self.list(&token).map_err(|stop| stop.in_list(&token))?),
                Hcl1TokenKind::CloseList => {
                    self.brackets.close(token.span.start, self.source.bytes());
                    return Ok(HclValue::List(values, self.source.span(open.span.start..token.span.end)));
                }
                _ => return Err(diagnose::in_list(&token, open, false, self.scanner.bytes(token.span.clone()))),
            }
        }
    }

    fn enter(&mut self, open: &Hcl1Token) -> Result<(), Hcl1Stop> {
        self.brackets.open(open.span.start);
        if self.brackets.depth() <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("blocks, objects and lists stand in each other more than {MAX_DEPTH} deep");
        Err(Hcl1Stop::at(open, SyntaxErrorKind::TooDeep, open.span.clone(), message))
    }

    fn literal(&self, token: &Hcl1Token) -> HclValue {
        let bytes = self.scanner.bytes(token.span.clone());
        let span = self.source.span(token.span.clone());
        let place = |offset| self.source.place(offset);
        let text = || String::from_utf8_lossy(bytes).into_owned();
        match token.kind {
            Hcl1TokenKind::Number => HclValue::Number { text: text(), span },
            Hcl1TokenKind::Float => HclValue::Float { text: text(), span },
            Hcl1TokenKind::Bool => HclValue::Bool { value: bytes == b"true", span },
            Hcl1TokenKind::Heredoc => HclValue::String(heredoc::value(bytes, token.span.start, &place)),
            _ => HclValue::String(text::quoted(bytes, HclSyntax::Native, token.span.start, &place)),
        }
    }

    fn key(&self, token: &Hcl1Token) -> HclKey {
        let bytes = self.scanner.bytes(token.span.clone());
        let written = || String::from_utf8_lossy(bytes).into_owned();
        let span = self.source.span(token.span.clone());
        if token.kind == Hcl1TokenKind::Name {
            return HclKey { text: written(), quoted: false, json: false, span, fault: None };
        }
        let text = text::quoted(bytes, HclSyntax::Native, token.span.start, &|offset| self.source.place(offset));
        let fault: Option<TextFault> = text.fault;
        HclKey { text: if fault.is_some() { written() } else { text.value }, quoted: true, json: false, span, fault }
    }
}

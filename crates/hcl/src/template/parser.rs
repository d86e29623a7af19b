//! From tokens to a tree, with recovery after faults.
//!
//! After the first fault, HCL skips to the expected end of the broken piece, and then reports only faults that it is
//! sure of. This parser does the same, so that it reports the same faults.

use std::ops::Range;

use super::ast::{Expr, ExprKind};
use super::fault::{TemplateFault, Wording};
use super::token::{TemplateToken, TemplateTokenKind};
use super::value::TemplateValue;

/// The deepest nesting of expressions, and the longest chain of operators.
pub(super) const DEPTH: usize = 100;

pub(super) struct TemplateParser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<TemplateToken>,
    next: usize,
    /// Whether an end of line counts, innermost last.
    lines: Vec<bool>,
    depth: usize,
    too_deep: bool,
    /// Set for good with the first fault that leaves the parser at an odd place.
    pub(super) recovering: bool,
    pub(super) faults: Vec<TemplateFault>,
}

impl<'a> TemplateParser<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<TemplateToken>) -> Self {
        Self {
            text,
            tokens,
            next: 0,
            lines: vec![true],
            depth: 0,
            too_deep: false,
            recovering: false,
            faults: Vec::new(),
        }
    }

    pub(super) fn peek(&self) -> TemplateToken {
        self.upcoming().0
    }

    pub(super) fn read(&mut self) -> TemplateToken {
        let (token, next) = self.upcoming();
        self.next = next;
        token
    }

    fn upcoming(&self) -> (TemplateToken, usize) {
        let lines = self.lines.last().copied().unwrap_or(true);
        for (index, token) in self.tokens.iter().enumerate().skip(self.next) {
            match token.kind {
                TemplateTokenKind::Comment(true) if lines => {
                    return (TemplateToken { kind: TemplateTokenKind::Newline, span: token.span.clone() }, index + 1);
                }
                TemplateTokenKind::Comment(_) => {}
                TemplateTokenKind::Newline if !lines => {}
                _ => return (token.clone(), index + 1),
            }
        }
        let end = self.text.len();
        (TemplateToken { kind: TemplateTokenKind::End, span: end..end }, self.tokens.len())
    }

    /// The bytes of the token that was read last.
    pub(super) fn previous(&self) -> Range<usize> {
        match self.next.checked_sub(1).and_then(|index| self.tokens.get(index)) {
            Some(token) => token.span.clone(),
            None => self.peek().span,
        }
    }

    pub(super) fn words(&self, token: &TemplateToken) -> &'a str {
        &self.text[token.span.clone()]
    }

    pub(super) fn is_word(&self, token: &TemplateToken, word: &str) -> bool {
        token.kind == TemplateTokenKind::Identifier && self.words(token) == word
    }

    /// Runs `inner` where an end of line counts, or does not.
    pub(super) fn with_lines<T>(&mut self, count: bool, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.lines.push(count);
        let result = inner(self);
        self.lines.pop();
        result
    }

    /// Runs `inner` one level deeper. If that is too deep, skips the rest of the template.
    pub(super) fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Expr) -> Expr {
        if !self.deepen(1) {
            return placeholder(self.peek().span);
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts one link more of a chain; the caller takes all of them back with [`TemplateParser::shallower`].
    pub(super) fn deepen(&mut self, levels: usize) -> bool {
        if self.depth + levels > DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                let message = format!("the expression has more than {DEPTH} levels: split it up or write it shorter");
                self.faults.push(TemplateFault::new("expression-too-deep", message, self.peek().span));
            }
            self.recovering = true;
            self.next = self.tokens.len();
            return false;
        }
        self.depth += levels;
        true
    }

    pub(super) fn shallower(&mut self, levels: usize) {
        self.depth -= levels;
    }

    pub(super) fn fault(&mut self, code: &str, wording: impl Into<Wording>, span: Range<usize>) {
        self.faults.push(TemplateFault::new(code, wording, span));
    }

    /// A fault that may follow from an earlier one, so it is reported only if there is none.
    pub(super) fn sure_fault(&mut self, code: &str, wording: impl Into<Wording>, span: Range<usize>) {
        if !self.recovering {
            self.fault(code, wording, span);
        }
    }

    /// Whether a fault has been found since there were `before` of them, and reading on is of no use.
    pub(super) fn failed(&self, before: usize) -> bool {
        self.recovering && self.faults.len() > before
    }

    /// Skips to the place after the next `end` that is not the end of something opened on the way, and gives it.
    pub(super) fn recover(&mut self, end: TemplateTokenKind) -> TemplateToken {
        self.recovering = true;
        let start = end.opener();
        let mut open = 0_usize;
        loop {
            let token = self.read();
            let kind = token.kind.bracket();
            if kind == TemplateTokenKind::End {
                return token;
            }
            if kind == end {
                if open == 0 {
                    return token;
                }
                open -= 1;
            } else if Some(kind) == start {
                open += 1;
            }
        }
    }

    /// Skips to the place after the next pair of brackets that `start` opens.
    pub(super) fn recover_over(&mut self, start: TemplateTokenKind, end: TemplateTokenKind) {
        loop {
            let kind = self.read().kind;
            if kind == start || kind == TemplateTokenKind::End {
                break;
            }
        }
        self.recover(end);
    }
}

/// What replaces an expression that could not be read.
pub(super) fn placeholder(span: Range<usize>) -> Expr {
    Expr { kind: ExprKind::Literal(TemplateValue::ANY), span }
}

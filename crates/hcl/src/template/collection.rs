//! Tuples, objects and `for` expressions.

use super::ast::{Expr, ExprKind, For, ObjectKey};
use super::parser::{TemplateParser, placeholder};
use super::token::{TemplateToken, TemplateTokenKind};

impl TemplateParser<'_> {
    pub(super) fn tuple(&mut self) -> Expr {
        let open = self.read();
        self.with_lines(false, |parser| {
            let next = parser.peek();
            if parser.is_word(&next, "for") {
                return parser.for_expression(&open);
            }
            let mut items = Vec::new();
            let close = loop {
                if parser.peek().kind == TemplateTokenKind::CloseBracket {
                    break parser.read();
                }
                let before = parser.faults.len();
                items.push(parser.expression());
                if parser.failed(before) {
                    break parser.recover(TemplateTokenKind::CloseBracket);
                }
                let next = parser.peek();
                match next.kind {
                    TemplateTokenKind::CloseBracket => break parser.read(),
                    TemplateTokenKind::Comma => {
                        parser.read();
                        continue;
                    }
                    TemplateTokenKind::End => {
                        let message = "the ] of this list is missing";
                        parser.sure_fault("unterminated-tuple-constructor-expression", message, open.span.clone());
                    }
                    _ => parser.sure_fault("missing-item-separator", "a comma must stand here", next.span),
                }
                break parser.recover(TemplateTokenKind::CloseBracket);
            };
            Expr { kind: ExprKind::Tuple(items), span: open.span.start..close.span.end }
        })
    }

    pub(super) fn object(&mut self) -> Expr {
        let open = self.read();
        // An end of line counts in an object, except between `{` and `for`.
        let is_for = self.with_lines(false, |parser| {
            let next = parser.peek();
            parser.is_word(&next, "for")
        });
        if is_for {
            return self.for_expression(&open);
        }
        self.with_lines(true, |parser| {
            let mut items = Vec::new();
            let close = loop {
                match parser.peek().kind {
                    TemplateTokenKind::Newline => {
                        parser.read();
                        continue;
                    }
                    TemplateTokenKind::CloseBrace => break parser.read(),
                    _ => {}
                }
                match parser.item(&open) {
                    Some(item) => items.push(item),
                    None => break parser.recover(TemplateTokenKind::CloseBrace),
                }
                let next = parser.peek();
                match next.kind {
                    TemplateTokenKind::CloseBrace => break parser.read(),
                    TemplateTokenKind::Comma | TemplateTokenKind::Newline => {
                        parser.read();
                        continue;
                    }
                    TemplateTokenKind::End => parser.unterminated(&open),
                    _ => {
                        let message = "a comma must stand between the items of an object";
                        parser.sure_fault("missing-attribute-separator", message, next.span);
                    }
                }
                break parser.recover(TemplateTokenKind::CloseBrace);
            };
            Expr { kind: ExprKind::Object(items), span: open.span.start..close.span.end }
        })
    }

    fn unterminated(&mut self, open: &TemplateToken) {
        let message = "the } of this object is missing";
        self.sure_fault("unterminated-object-constructor-expression", message, open.span.clone());
    }

    /// One `key = value`; `None` if it is broken.
    fn item(&mut self, open: &TemplateToken) -> Option<(ObjectKey, Expr)> {
        let parenthesised = self.peek().kind == TemplateTokenKind::OpenParen;
        let before = self.faults.len();
        let expr = self.expression();
        if self.failed(before) {
            return None;
        }
        let separator = self.peek();
        match separator.kind {
            TemplateTokenKind::Equal | TemplateTokenKind::Colon => self.read(),
            TemplateTokenKind::Newline | TemplateTokenKind::Comma => {
                let message = ("a value must follow", "`key = value`");
                self.sure_fault("missing-attribute-value", message, separator.span);
                return None;
            }
            TemplateTokenKind::End => {
                self.unterminated(open);
                return None;
            }
            _ => {
                let message = "`=` must follow the key: put a key with points or spaces in quotes";
                self.sure_fault("missing-key/value-separator", message, separator.span);
                return None;
            }
        };
        let before = self.faults.len();
        let value = self.expression();
        (!self.failed(before)).then_some((ObjectKey { expr, parenthesised }, value))
    }

    fn for_expression(&mut self, open: &TemplateToken) -> Expr {
        let end = if open.kind == TemplateTokenKind::OpenBrace {
            TemplateTokenKind::CloseBrace
        } else {
            TemplateTokenKind::CloseBracket
        };
        self.with_lines(false, |parser| {
            parser.read();
            parser.for_body(open, end).unwrap_or_else(|| {
                let close = parser.recover(end);
                placeholder(open.span.start..close.span.end)
            })
        })
    }

    /// A `for` after its word; `None` if it is broken.
    fn for_body(&mut self, open: &TemplateToken, end: TemplateTokenKind) -> Option<Expr> {
        let (key_name, value_name) = match self.for_names() {
            Ok(names) => names,
            Err(message) => return self.broken_for(message),
        };
        let source = self.sound(Self::expression)?;
        if self.peek().kind != TemplateTokenKind::Colon {
            return self.broken_for("a colon must follow what `for` goes over");
        }
        self.read();
        let (key, value) = self.sound_pair()?;
        let ellipsis = (self.peek().kind == TemplateTokenKind::Ellipsis).then(|| self.read());
        let next = self.peek();
        let condition = if self.is_word(&next, "if") {
            self.read();
            Some(self.sound(Self::expression)?)
        } else {
            None
        };
        let close = if self.peek().kind == end {
            self.read()
        } else {
            let found = self.peek();
            self.sure_fault(FOR, "the `for` expression should end here", found.span);
            self.recover(end)
        };
        match (&key, end == TemplateTokenKind::CloseBrace) {
            (Some(key), false) => self.fault(FOR, ("a list has no keys", "{ } around"), key.span.clone()),
            (None, true) => self.fault(FOR, ("an object needs keys", "`key => value`"), value.span.clone()),
            _ => {}
        }
        if let (Some(ellipsis), false) = (&ellipsis, end == TemplateTokenKind::CloseBrace) {
            self.fault(FOR, "`...` groups by key, and a list has none", ellipsis.span.clone());
        }
        let grouped = ellipsis.is_some();
        let inner = For { key_name, value_name, source, key, value, condition, grouped };
        Some(Expr { kind: ExprKind::For(Box::new(inner)), span: open.span.start..close.span.end })
    }

    /// What `read` reads; `None` if that fails.
    fn sound(&mut self, read: impl FnOnce(&mut Self) -> Expr) -> Option<Expr> {
        let before = self.faults.len();
        let expr = read(self);
        (!self.failed(before)).then_some(expr)
    }

    /// `value` or `key => value`.
    fn sound_pair(&mut self) -> Option<(Option<Expr>, Expr)> {
        let before = self.faults.len();
        let first = self.expression();
        let pair = if self.peek().kind == TemplateTokenKind::FatArrow {
            self.read();
            (Some(first), self.expression())
        } else {
            (None, first)
        };
        (!self.failed(before)).then_some(pair)
    }

    fn broken_for(&mut self, message: &str) -> Option<Expr> {
        let found = self.peek();
        self.sure_fault(FOR, message, found.span);
        None
    }
}

const FOR: &str = "invalid-for-expression";

//! Templates: texts, interpolations and directives, first as a list and then as a tree.

use std::ops::Range;

use super::ast::{Expr, ExprKind, For};
use super::literal;
use super::parser::{TemplateParser, placeholder};
use super::token::{TemplateToken, TemplateTokenKind};
use super::value::TemplateValue;

/// A piece of a template.
enum TemplatePart {
    Text(String, Range<usize>),
    Value(Expr),
    If(Expr, Range<usize>),
    For { key_name: Option<String>, value_name: String, source: Expr, span: Range<usize> },
    Else(Range<usize>),
    EndIf(Range<usize>),
    EndFor(Range<usize>),
    End(Range<usize>),
}

impl TemplatePart {
    /// The name and place of a directive that belongs to an earlier one.
    fn follower(&self) -> Option<(&'static str, Range<usize>)> {
        match self {
            Self::Else(span) => Some(("else", span.clone())),
            Self::EndIf(span) => Some(("endif", span.clone())),
            Self::EndFor(span) => Some(("endfor", span.clone())),
            _ => None,
        }
    }
}

impl TemplateParser<'_> {
    /// Reads a template up to `end`. `start` is the offset of its opening; `flush` removes the indent.
    pub(super) fn template(&mut self, end: TemplateTokenKind, opening: Option<TemplateToken>, flush: bool) -> Expr {
        let first = self.peek().span;
        let mut parts = self.parts(end);
        if flush {
            unindent(&mut parts);
        }
        let parts = melded(parts);
        let alone = matches!(parts.as_slice(), [TemplatePart::Value(_), TemplatePart::End(_)]);
        let span = match opening {
            Some(opening) => opening.span.start..self.previous().end,
            None => first.start..self.text.len(),
        };
        let mut exprs = Assembly { parser: self, parts: parts.into_iter().peekable() }.all();
        match (alone, exprs.pop()) {
            (true, Some(only)) => Expr { kind: ExprKind::Wrapped(Box::new(only)), span },
            (_, last) => {
                exprs.extend(last);
                Expr { kind: ExprKind::Template(exprs), span }
            }
        }
    }

    fn parts(&mut self, end: TemplateTokenKind) -> Vec<TemplatePart> {
        let start = self.peek().span;
        let mut parts = Vec::new();
        // Whether a strip marker eats the white space of the next piece, and whether the last token was a text.
        let (mut strip, mut after_text) = (false, false);
        let end_span = loop {
            let token = self.read();
            if token.kind == end {
                break token.span;
            }
            let (strip_this, was_text) = (std::mem::take(&mut strip), std::mem::take(&mut after_text));
            match token.kind {
                TemplateTokenKind::Text | TemplateTokenKind::QuotedText => {
                    let quoted = token.kind == TemplateTokenKind::QuotedText;
                    let piece = &self.text[token.span.clone()];
                    let text = literal::text(piece, quoted, token.span.start, &mut self.faults);
                    let text = if strip_this { text.trim_start().to_owned() } else { text };
                    parts.push(TemplatePart::Text(text, token.span));
                    after_text = true;
                }
                TemplateTokenKind::Interpolation | TemplateTokenKind::Directive => {
                    if was_text
                        && token.span.len() == 3
                        && let Some(TemplatePart::Text(text, _)) = parts.last_mut()
                    {
                        text.truncate(text.trim_end().len());
                    }
                    let found = self.with_lines(false, |parser| match token.kind {
                        TemplateTokenKind::Interpolation => Some(parser.interpolation(&start, end, &mut strip)),
                        _ => parser.directive(&token, &mut strip),
                    });
                    parts.extend(found);
                }
                _ => {
                    self.sure_fault(
                        "unterminated-template-string",
                        "the text between quotes is not closed",
                        token.span.clone(),
                    );
                    break self.recover(end).span;
                }
            }
        };
        if parts.is_empty() {
            parts.push(TemplatePart::Text(String::new(), start.end..start.end));
        }
        parts.push(TemplatePart::End(end_span));
        parts
    }

    fn interpolation(&mut self, start: &Range<usize>, end: TemplateTokenKind, strip: &mut bool) -> TemplatePart {
        let expr = self.expression();
        let close = self.peek();
        if close.kind == TemplateTokenKind::SequenceEnd {
            self.read();
            *strip = close.span.len() == 2;
            return TemplatePart::Value(expr);
        }
        let quote = matches!(close.kind, TemplateTokenKind::OpenQuote | TemplateTokenKind::CloseQuote)
            && end == TemplateTokenKind::CloseQuote;
        if close.kind == TemplateTokenKind::End || quote {
            let message = "an interpolation is not closed: its } is missing";
            self.sure_fault("unclosed-template-interpolation-sequence", message, start.clone());
        } else {
            self.sure_fault(
                "extra-characters-after-interpolation-expression",
                ("the expression ends here and no } follows", "$${ where ${ is meant as text"),
                close.span,
            );
        }
        self.recover(TemplateTokenKind::SequenceEnd);
        TemplatePart::Value(expr)
    }

    fn directive(&mut self, opening: &TemplateToken, strip: &mut bool) -> Option<TemplatePart> {
        let word = self.peek();
        if word.kind != TemplateTokenKind::Identifier {
            self.sure_fault(
                "invalid-template-directive",
                "a directive begins with if, else, endif, for or endfor",
                word.span,
            );
            self.recover(TemplateTokenKind::SequenceEnd);
            return None;
        }
        self.read();
        let name = self.words(&word);
        let from = opening.span.start;
        let part = match name {
            "if" => {
                let condition = self.expression();
                TemplatePart::If(condition, from..self.peek().span.end)
            }
            "else" => TemplatePart::Else(from..self.peek().span.end),
            "endif" => TemplatePart::EndIf(from..self.peek().span.end),
            "endfor" => TemplatePart::EndFor(from..self.peek().span.end),
            "for" => self.for_directive(from)?,
            _ => {
                let message = (format!("`{name}` is not a directive"), "if, else, endif, for or endfor");
                self.sure_fault("invalid-template-control-keyword", message, word.span);
                self.recover(TemplateTokenKind::SequenceEnd);
                return None;
            }
        };
        let close = self.peek();
        if close.kind == TemplateTokenKind::SequenceEnd {
            self.read();
            *strip = close.span.len() == 2;
        } else {
            let code = format!("extra-characters-in-{name}-marker");
            self.sure_fault(&code, format!("the {name} directive ends here and no }} follows"), close.span);
            self.recover(TemplateTokenKind::SequenceEnd);
        }
        Some(part)
    }

    fn for_directive(&mut self, from: usize) -> Option<TemplatePart> {
        match self.for_names() {
            Ok((key_name, value_name)) => {
                let source = self.expression();
                Some(TemplatePart::For { key_name, value_name, source, span: from..self.peek().span.end })
            }
            Err(message) => {
                self.sure_fault("invalid-for-directive", message, self.peek().span);
                self.recover(TemplateTokenKind::SequenceEnd);
                None
            }
        }
    }

    /// Reads `NAME in` or `KEY, NAME in`.
    pub(super) fn for_names(&mut self) -> Result<(Option<String>, String), &'static str> {
        let name = |parser: &mut Self| {
            let token = parser.peek();
            (token.kind == TemplateTokenKind::Identifier).then(|| {
                parser.read();
                parser.words(&token).to_owned()
            })
        };
        let first = name(self).ok_or("a name must follow `for`")?;
        let names = if self.peek().kind == TemplateTokenKind::Comma {
            self.read();
            (Some(first), name(self).ok_or("a second name must follow the comma")?)
        } else {
            (None, first)
        };
        let keyword = self.peek();
        if !self.is_word(&keyword, "in") {
            return Err("`in` must follow the names of `for`");
        }
        self.read();
        Ok(names)
    }
}

/// Removes the smallest indent of all lines from each, as `<<-` demands.
fn unindent(parts: &mut [TemplatePart]) {
    let mut smallest: Option<usize> = None;
    let mut first_of_line = Vec::new();
    let mut line_start = true;
    for (index, part) in parts.iter().enumerate() {
        let text = match part {
            TemplatePart::Text(text, _) => Some(text.as_str()),
            TemplatePart::End(_) if line_start => break,
            _ => None,
        };
        if std::mem::take(&mut line_start) {
            let indent = match text {
                Some(text) if text.trim_start().is_empty() && text.ends_with('\n') => None,
                Some(text) => {
                    first_of_line.push(index);
                    Some(text.chars().take_while(|character| character.is_whitespace()).count())
                }
                None => Some(0),
            };
            smallest = smallest.into_iter().chain(indent).min();
        }
        line_start = text.is_some_and(|text| text.ends_with('\n'));
    }
    for index in first_of_line {
        if let (Some(TemplatePart::Text(text, _)), Some(indent)) = (parts.get_mut(index), smallest) {
            *text = text.chars().skip(indent).collect();
        }
    }
}

/// Joins adjacent texts.
fn melded(parts: Vec<TemplatePart>) -> Vec<TemplatePart> {
    let mut result: Vec<TemplatePart> = Vec::new();
    for part in parts {
        match (result.last_mut(), part) {
            (Some(TemplatePart::Text(before, span)), TemplatePart::Text(text, more)) => {
                before.push_str(&text);
                span.end = more.end;
            }
            (_, part) => result.push(part),
        }
    }
    result
}

/// Makes a tree of directives and the parts between them.
struct Assembly<'p, 't, I: Iterator<Item = TemplatePart>> {
    parser: &'p mut TemplateParser<'t>,
    parts: std::iter::Peekable<I>,
}

impl<I: Iterator<Item = TemplatePart>> Assembly<'_, '_, I> {
    fn all(mut self) -> Vec<Expr> {
        let mut exprs = Vec::new();
        while !matches!(self.parts.peek(), None | Some(TemplatePart::End(_))) {
            exprs.push(self.one());
        }
        exprs
    }

    fn one(&mut self) -> Expr {
        match self.parts.next() {
            Some(TemplatePart::Text(text, span)) => text_expr(&text, span),
            Some(TemplatePart::Value(expr)) => expr,
            Some(TemplatePart::If(condition, span)) => self.nested(|assembly| assembly.if_directive(condition, span)),
            Some(TemplatePart::For { key_name, value_name, source, span }) => {
                self.nested(|assembly| assembly.for_directive(key_name, value_name, source, span))
            }
            Some(other) => {
                let (name, span) = other.follower().unwrap_or(("end", 0..0));
                self.unexpected(name, "no directive before it is open", span)
            }
            None => placeholder(0..0),
        }
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Expr) -> Expr {
        if !self.parser.deepen(1) {
            let end = self.parser.text.len();
            while self.parts.next_if(|part| !matches!(part, TemplatePart::End(_))).is_some() {}
            return placeholder(end..end);
        }
        let result = inner(self);
        self.parser.shallower(1);
        result
    }

    fn unexpected(&mut self, name: &str, message: &str, span: Range<usize>) -> Expr {
        let code = format!("unexpected-{name}-directive");
        self.parser.fault(&code, format!("{name} stands where {message}"), span.clone());
        placeholder(span)
    }

    /// Reads up to the next directive that belongs to an earlier one; `Err` if there is none.
    fn body(&mut self, opener: &str, opened_at: &Range<usize>) -> Result<(Vec<Expr>, TemplatePart), Expr> {
        let mut exprs = Vec::new();
        loop {
            if let Some(TemplatePart::End(span)) = self.parts.peek() {
                let span = span.clone();
                let column = self.parser.text[..opened_at.start].chars().count() + 1;
                let message = format!("the {opener} directive of column {column} has no end{opener}");
                self.parser.fault("unexpected-end-of-template", message, span.clone());
                return Err(placeholder(span));
            }
            if let Some(follower) = self.parts.next_if(|part| part.follower().is_some()) {
                return Ok((exprs, follower));
            }
            exprs.push(self.one());
        }
    }

    fn if_directive(&mut self, condition: Expr, opening: Range<usize>) -> Expr {
        let (positive, mut follower) = match self.body("if", &opening) {
            Ok(found) => found,
            Err(placeholder) => return placeholder,
        };
        let mut negative = Vec::new();
        if matches!(follower, TemplatePart::Else(_)) {
            (negative, follower) = match self.body("if", &opening) {
                Ok(found) => found,
                Err(placeholder) => return placeholder,
            };
        }
        let end = match follower {
            TemplatePart::EndIf(span) => span,
            TemplatePart::Else(span) => return self.unexpected("else", "the if directive has one already", span),
            other => {
                let (name, span) = other.follower().unwrap_or(("endfor", opening));
                return self.unexpected(name, "an endif is due", span);
            }
        };
        Expr {
            span: opening.start..end.end,
            kind: ExprKind::Conditional {
                condition: Box::new(condition),
                positive: Box::new(block(positive, opening.end)),
                negative: Box::new(block(negative, end.start)),
            },
        }
    }

    fn for_directive(
        &mut self,
        key_name: Option<String>,
        value_name: String,
        source: Expr,
        opening: Range<usize>,
    ) -> Expr {
        let (content, follower) = match self.body("for", &opening) {
            Ok(found) => found,
            Err(placeholder) => return placeholder,
        };
        let end = match follower {
            TemplatePart::EndFor(span) => span,
            other => {
                let (name, span) = other.follower().unwrap_or(("endif", opening));
                return self.unexpected(name, "an endfor is due", span);
            }
        };
        let span = opening.start..end.end;
        let value = block(content, opening.end);
        let inner = For { key_name, value_name, source, key: None, value, condition: None, grouped: false };
        let tuple = Expr { kind: ExprKind::For(Box::new(inner)), span: span.clone() };
        Expr { kind: ExprKind::Joined(Box::new(tuple)), span }
    }
}

/// The parts between two directives as one text. `empty` is the place of the text if there are none.
fn block(mut exprs: Vec<Expr>, empty: usize) -> Expr {
    if exprs.is_empty() {
        exprs.push(text_expr("", empty..empty));
    }
    let span = exprs.first().map_or(empty, |first| first.span.start)..exprs.last().map_or(empty, |last| last.span.end);
    Expr { kind: ExprKind::Template(exprs), span }
}

fn text_expr(text: &str, span: Range<usize>) -> Expr {
    Expr { kind: ExprKind::Literal(TemplateValue::String(literal::normal(text))), span }
}

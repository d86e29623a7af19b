//! Expressions: operators, terms, calls and steps into values.

use super::ast::{AccessStep, AccessStepKind, BinaryOperator, Expr, ExprKind, UnaryOperator};
use super::number::{Number, NumberError};
use super::parser::{TemplateParser, placeholder};
use super::token::{TemplateToken, TemplateTokenKind};
use super::value::{TemplateValue, Type};

/// The operator of a token and how tightly it binds.
fn operator(kind: TemplateTokenKind) -> Option<(BinaryOperator, u8)> {
    Some(match kind {
        TemplateTokenKind::Or => (BinaryOperator::Or, 0),
        TemplateTokenKind::And => (BinaryOperator::And, 1),
        TemplateTokenKind::DoubleEqual => (BinaryOperator::Equal, 2),
        TemplateTokenKind::NotEqual => (BinaryOperator::NotEqual, 2),
        TemplateTokenKind::Greater => (BinaryOperator::Greater, 3),
        TemplateTokenKind::GreaterOrEqual => (BinaryOperator::GreaterOrEqual, 3),
        TemplateTokenKind::Less => (BinaryOperator::Less, 3),
        TemplateTokenKind::LessOrEqual => (BinaryOperator::LessOrEqual, 3),
        TemplateTokenKind::Plus => (BinaryOperator::Add, 4),
        TemplateTokenKind::Minus => (BinaryOperator::Subtract, 4),
        TemplateTokenKind::Star => (BinaryOperator::Multiply, 5),
        TemplateTokenKind::Slash => (BinaryOperator::Divide, 5),
        TemplateTokenKind::Percent => (BinaryOperator::Modulo, 5),
        _ => return None,
    })
}

impl TemplateParser<'_> {
    pub(super) fn expression(&mut self) -> Expr {
        self.deeper(Self::conditional)
    }

    fn conditional(&mut self) -> Expr {
        let start = self.peek().span.start;
        let before = self.faults.len();
        let condition = self.binary(0);
        if self.failed(before) || self.peek().kind != TemplateTokenKind::Question {
            return condition;
        }
        self.read();
        let before = self.faults.len();
        let positive = self.expression();
        if self.failed(before) {
            return condition;
        }
        let colon = self.peek();
        if colon.kind != TemplateTokenKind::Colon {
            let message = "a condition reads `test ? one : other`, and the colon is missing";
            self.fault("missing-false-expression-in-conditional", message, colon.span);
            return condition;
        }
        self.read();
        let before = self.faults.len();
        let negative = self.expression();
        if self.failed(before) {
            return condition;
        }
        Expr {
            span: start..negative.span.end,
            kind: ExprKind::Conditional {
                condition: Box::new(condition),
                positive: Box::new(positive),
                negative: Box::new(negative),
            },
        }
    }

    fn binary(&mut self, least: u8) -> Expr {
        let before = self.faults.len();
        let mut left = self.with_steps();
        if self.failed(before) {
            return left;
        }
        let mut links = 0;
        while let Some((operator, strength)) = operator(self.peek().kind)
            && strength >= least
        {
            self.read();
            if !self.deepen(1) {
                break;
            }
            links += 1;
            let before = self.faults.len();
            let right = self.binary(strength + 1);
            if self.failed(before) {
                break;
            }
            left = Expr {
                span: left.span.start..right.span.end,
                kind: ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) },
            };
        }
        self.shallower(links);
        left
    }

    fn with_steps(&mut self) -> Expr {
        let term = self.term();
        self.steps(term)
    }

    /// Reads the steps into `from`: attributes, indexes, splats.
    fn steps(&mut self, from: Expr) -> Expr {
        let start = from.span.start;
        let mut result = from;
        let mut links = 0;
        loop {
            let kind = self.peek().kind;
            if !matches!(kind, TemplateTokenKind::Dot | TemplateTokenKind::OpenBracket) || !self.deepen(1) {
                break;
            }
            links += 1;
            result = match kind {
                TemplateTokenKind::Dot => self.dot(start, result),
                _ => self.bracket(start, result),
            };
        }
        self.shallower(links);
        result
    }

    fn dot(&mut self, start: usize, source: Expr) -> Expr {
        let dot = self.read();
        let token = self.peek();
        match token.kind {
            TemplateTokenKind::Identifier => {
                self.read();
                let name = self.words(&token).to_owned();
                step(source, AccessStep { kind: AccessStepKind::Attribute(name), span: dot.span.start..token.span.end })
            }
            TemplateTokenKind::Number => {
                self.read();
                let index = self.dotted_index(&token, &token);
                step(source, AccessStep { kind: AccessStepKind::Index(index), span: dot.span.start..token.span.end })
            }
            TemplateTokenKind::Star => self.attribute_splat(start, source, &dot),
            _ => {
                self.fault("invalid-attribute-name", "a name must follow the dot", token.span);
                self.recovering = true;
                placeholder(start..dot.span.end)
            }
        }
    }

    /// The index of `.0`. `pointed` is what a fault points at.
    fn dotted_index(&mut self, token: &TemplateToken, pointed: &TemplateToken) -> TemplateValue {
        let words = self.words(token);
        if let Some((first, second)) = words.split_once('.') {
            let message = ("two indexes cannot be chained with dots", format!("[{first}][{second}]"));
            self.fault("invalid-legacy-index-syntax", message, pointed.span.clone());
            return TemplateValue::ANY;
        }
        self.number(token)
    }

    fn attribute_splat(&mut self, start: usize, source: Expr, dot: &TemplateToken) -> Expr {
        let marker = self.read();
        let mut each = Expr { kind: ExprKind::Item, span: dot.span.start..marker.span.end };
        let first = self.peek().span.start;
        let mut last = marker.span.end;
        while self.peek().kind == TemplateTokenKind::Dot {
            let dot = self.read();
            let token = self.peek();
            let kind = match token.kind {
                TemplateTokenKind::Number => {
                    self.read();
                    AccessStepKind::Index(self.dotted_index(&token, &marker))
                }
                TemplateTokenKind::Identifier => {
                    self.read();
                    AccessStepKind::Attribute(self.words(&token).to_owned())
                }
                TemplateTokenKind::Star => {
                    let message = ("`.*` takes attributes only", "[*] for a splat inside a splat");
                    self.sure_fault("nested-splat-expression-not-allowed", message, token.span);
                    self.recovering = true;
                    return source;
                }
                _ => {
                    self.sure_fault("invalid-attribute-name", "a name must follow the dot", marker.span);
                    self.recovering = true;
                    return source;
                }
            };
            last = token.span.end;
            each = step(each, AccessStep { kind, span: dot.span.start..last });
            each.span = first..last;
        }
        let kind = ExprKind::Splat { source: Box::new(source), each: Box::new(each) };
        Expr { kind, span: start..last }
    }

    fn bracket(&mut self, start: usize, source: Expr) -> Expr {
        let open = self.read();
        if self.peek().kind == TemplateTokenKind::Star {
            self.read();
            let mut close = self.read();
            if close.kind != TemplateTokenKind::CloseBracket && !self.recovering {
                let message = "the ] of [*] is missing";
                self.fault("missing-close-bracket-on-splat-index", message, close.span);
                close = self.recover(TemplateTokenKind::CloseBracket);
            }
            let item = Expr { kind: ExprKind::Item, span: open.span.start..close.span.end };
            let each = self.steps(item);
            let span = start..each.span.end;
            return Expr { kind: ExprKind::Splat { source: Box::new(source), each: Box::new(each) }, span };
        }
        let before = self.faults.len();
        let (key, close) = self.with_lines(false, |parser| {
            let key = parser.expression();
            if parser.failed(before) {
                return (key, parser.recover(TemplateTokenKind::CloseBracket));
            }
            let mut close = parser.read();
            if close.kind != TemplateTokenKind::CloseBracket && !parser.recovering {
                parser.fault("missing-close-bracket-on-index", "the ] of an index is missing", close.span);
                close = parser.recover(TemplateTokenKind::CloseBracket);
            }
            (key, close)
        });
        let bracket = open.span.start..close.span.end;
        match constant(&key) {
            Some(index) => step(source, AccessStep { kind: AccessStepKind::Index(index), span: bracket }),
            None => Expr {
                span: start..bracket.end,
                kind: ExprKind::Index { source: Box::new(source), key: Box::new(key), bracket },
            },
        }
    }

    fn term(&mut self) -> Expr {
        let token = self.peek();
        match token.kind {
            TemplateTokenKind::OpenParen => self.parentheses(),
            TemplateTokenKind::Number => {
                self.read();
                Expr { kind: ExprKind::Literal(self.number(&token)), span: token.span }
            }
            TemplateTokenKind::Identifier => {
                self.read();
                self.name(token)
            }
            TemplateTokenKind::OpenQuote => {
                self.read();
                self.template(TemplateTokenKind::CloseQuote, Some(token), false)
            }
            TemplateTokenKind::OpenHeredoc(flush) => {
                self.read();
                self.template(TemplateTokenKind::CloseHeredoc, Some(token), flush)
            }
            TemplateTokenKind::Minus => self.unary(UnaryOperator::Negate),
            TemplateTokenKind::Not => self.unary(UnaryOperator::Not),
            TemplateTokenKind::OpenBracket => self.tuple(),
            TemplateTokenKind::OpenBrace => self.object(),
            TemplateTokenKind::End => {
                self.sure_fault("missing-expression", "an expression is missing at the end", token.span.clone());
                self.recovering = true;
                placeholder(token.span)
            }
            _ => {
                let found = self.words(&token);
                let message = format!("no expression begins with `{found}`");
                self.sure_fault("invalid-expression", message, token.span.clone());
                self.recovering = true;
                placeholder(token.span)
            }
        }
    }

    fn unary(&mut self, operator: UnaryOperator) -> Expr {
        let sign = self.read();
        let operand = self.deeper(Self::with_steps);
        let span = sign.span.start..operand.span.end;
        Expr { kind: ExprKind::Unary { operator, operand: Box::new(operand) }, span }
    }

    fn parentheses(&mut self) -> Expr {
        let open = self.read();
        self.with_lines(false, |parser| {
            let before = parser.faults.len();
            let inner = parser.expression();
            if parser.faults.len() > before {
                parser.recover(TemplateTokenKind::CloseParen);
                return inner;
            }
            let close = parser.peek();
            if close.kind != TemplateTokenKind::CloseParen {
                parser.fault("unbalanced-parentheses", "a closing parenthesis is missing", close.span);
                parser.recovering = true;
            }
            let close = parser.read();
            Expr { kind: ExprKind::Parentheses(Box::new(inner)), span: open.span.start..close.span.end }
        })
    }

    fn number(&mut self, token: &TemplateToken) -> TemplateValue {
        let error = match Number::parse(self.words(token)) {
            Ok(number) => return TemplateValue::Number(number),
            Err(error) => error,
        };
        let code = if error == NumberError::Invalid { "invalid-number-literal" } else { error.code() };
        self.fault(code, format!("`{}`: {error}", self.words(token)), token.span.clone());
        TemplateValue::Unknown(Type::Number)
    }

    fn name(&mut self, token: TemplateToken) -> Expr {
        if matches!(self.peek().kind, TemplateTokenKind::OpenParen | TemplateTokenKind::DoubleColon) {
            return self.call(&token);
        }
        let kind = match self.words(&token) {
            "true" => ExprKind::Literal(TemplateValue::Bool(true)),
            "false" => ExprKind::Literal(TemplateValue::Bool(false)),
            "null" => ExprKind::Literal(TemplateValue::Null(Type::Any)),
            name => ExprKind::Name { root: name.to_owned(), root_span: token.span.clone(), steps: Vec::new() },
        };
        Expr { kind, span: token.span }
    }

    fn call(&mut self, name: &TemplateToken) -> Expr {
        let start = name.span.start;
        let mut open = self.read();
        while open.kind == TemplateTokenKind::DoubleColon {
            let part = self.read();
            if part.kind != TemplateTokenKind::Identifier {
                self.fault("missing-function-name", "a name must follow `::`", part.span.clone());
                self.recover_over(TemplateTokenKind::OpenParen, TemplateTokenKind::CloseParen);
                return placeholder(start..part.span.end);
            }
            open = self.read();
        }
        if open.kind != TemplateTokenKind::OpenParen {
            let message = "the name of a function, which is what `::` makes of it, is followed by (";
            self.fault("missing-open-parenthesis", message, open.span.clone());
            self.recover_over(TemplateTokenKind::OpenParen, TemplateTokenKind::CloseParen);
            return placeholder(start..open.span.end);
        }
        let (arguments, end) = self.with_lines(false, |parser| parser.arguments(name, &open));
        Expr { kind: ExprKind::Call(arguments), span: start..end }
    }

    fn arguments(&mut self, name: &TemplateToken, open: &TemplateToken) -> (Vec<Expr>, usize) {
        let mut arguments = Vec::new();
        let close = loop {
            if self.peek().kind == TemplateTokenKind::CloseParen {
                break self.read();
            }
            let before = self.faults.len();
            arguments.push(self.expression());
            if self.failed(before) {
                break self.recover(TemplateTokenKind::CloseParen);
            }
            let separator = self.read();
            match separator.kind {
                TemplateTokenKind::CloseParen => break separator,
                TemplateTokenKind::Comma => continue,
                TemplateTokenKind::Ellipsis if self.peek().kind == TemplateTokenKind::CloseParen => break self.read(),
                TemplateTokenKind::Ellipsis => {
                    let message = "a closing parenthesis must follow `...`";
                    self.sure_fault("missing-closing-parenthesis", message, separator.span);
                }
                TemplateTokenKind::End => {
                    let message = "the closing parenthesis of this call is missing";
                    self.fault("unterminated-function-call", message, name.span.start..open.span.end);
                }
                _ => self.fault("missing-argument-separator", "a comma must stand here", separator.span),
            }
            break self.recover(TemplateTokenKind::CloseParen);
        };
        (arguments, close.span.end)
    }
}

/// Adds the step `next` to `source`.
fn step(mut source: Expr, next: AccessStep) -> Expr {
    let span = source.span.start..next.span.end;
    match &mut source.kind {
        ExprKind::Name { steps, .. } | ExprKind::Steps { steps, .. } => {
            steps.push(next);
            source.span = span;
            source
        }
        _ => Expr { kind: ExprKind::Steps { source: Box::new(source), steps: vec![next] }, span },
    }
}

/// The value of a literal key.
fn constant(key: &Expr) -> Option<TemplateValue> {
    match &key.kind {
        ExprKind::Literal(value) => Some(value.clone()),
        ExprKind::Template(parts) => match parts.as_slice() {
            [Expr { kind: ExprKind::Literal(value), .. }] => Some(value.clone()),
            _ => None,
        },
        _ => None,
    }
}

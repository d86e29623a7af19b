//! A template as a tree: what `hcl-edit` reads, without its decoration and with its white space stripped.

use std::ops::Range;

use hcl_edit::expr::{BinaryOperator, Expression, Object, ObjectKey, Traversal, TraversalOperator, UnaryOperator};
use hcl_edit::template::{Directive, Element, IfDirective, Template as Parts};

use super::fault::TemplateFault;
use super::value::TemplateValue;

/// The most steps into one value; the parser bounds every other chain and nesting.
const STEPS: usize = 64;

/// An expression and its bytes in the template.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Literal(TemplateValue),
    Name(String),
    /// `source.key` or `source[key]`; `step` is what follows the source.
    Step {
        source: Box<Expr>,
        key: Box<Expr>,
        step: Range<usize>,
        is_attribute: bool,
    },
    /// A function call, which is always an error. Its arguments are kept for the names in them.
    Call(Vec<Expr>),
    Conditional {
        condition: Box<Expr>,
        positive: Box<Expr>,
        negative: Box<Expr>,
    },
    Unary {
        operator: UnaryOperator,
        operand: Box<Expr>,
    },
    Binary {
        operator: BinaryOperator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Tuple(Vec<Expr>),
    Object(Vec<(Expr, Expr)>),
    /// Parts that are joined into one text.
    Template(Vec<Expr>),
}

impl Expr {
    /// The parts in the order of the text.
    pub(super) fn parts(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Name(_) => Vec::new(),
            ExprKind::Step { source: first, key: second, .. } | ExprKind::Binary { left: first, right: second, .. } => {
                vec![first, second]
            }
            ExprKind::Unary { operand, .. } => vec![operand],
            ExprKind::Conditional { condition, positive, negative } => vec![condition, positive, negative],
            ExprKind::Call(items) | ExprKind::Tuple(items) | ExprKind::Template(items) => items.iter().collect(),
            ExprKind::Object(items) => items.iter().flat_map(|(key, value)| [key, value]).collect(),
        }
    }

    /// Calls `found` with every name, in the order of the text.
    pub(super) fn names<'a>(&'a self, found: &mut dyn FnMut(&'a str, &'a Range<usize>)) {
        if let ExprKind::Name(name) = &self.kind {
            found(name, &self.span);
        }
        for part in self.parts() {
            part.names(found);
        }
    }
}

/// Reads a template.
///
/// A template of one interpolation alone is its expression.
pub(super) fn read(text: &str) -> Result<Expr, TemplateFault> {
    let body = text.trim_start_matches('\u{feff}');
    let reader = TreeReader { text, before: text.len() - body.len() };
    let parts = hcl_edit::parser::parse_template(body)
        .map_err(|error| reader.syntax(error.location().offset(), error.message()))?;
    reader.template(&parts, 0..text.len())
}

struct TreeReader<'a> {
    text: &'a str,
    /// The bytes before what was parsed.
    before: usize,
}

/// Whether the white space at an end of a template is stripped.
#[derive(Clone, Copy, Default)]
struct Stripped {
    start: bool,
    end: bool,
}

impl TreeReader<'_> {
    fn syntax(&self, offset: usize, message: &str) -> TemplateFault {
        let mut at = (self.before + offset).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let rest = &self.text[at..];
        let word = &rest[..rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len())];
        let end = at + word.len().max(rest.chars().next().map_or(0, char::len_utf8));
        let is_closing = message.trim() == "expected `endif`";
        let fault = |message: &str| TemplateFault::new("invalid-syntax", message, &(at..end));
        if let Some(number) = self.large_number(at) {
            return TemplateFault::not_supported("so large a number", &number);
        }
        match rest.as_bytes() {
            _ if message.ends_with("redefined object key") => {
                TemplateFault::not_supported("a key that an object has twice", &(at..end)).instead("each key once")
            }
            _ if message.contains("nested levels") || message.contains("chained binary operators") => {
                let fault = TemplateFault::not_supported("an expression with so many levels or operators", &(at..end));
                fault.instead("it with fewer of them")
            }
            [b'\\', ..] => TemplateFault {
                code: "invalid-character",
                ..fault("a backslash has no place in an expression")
                    .instead("quotes inside ${ } without a backslash (in JSON with one)")
            },
            [b'\'' | b'`', ..] => {
                TemplateFault { code: "invalid-character", ..fault("only \" quotes a text").instead("\"") }
            }
            [b'$', b'{', ..] => fault("the expression in ${ } is not complete, or has a character that none has"),
            [b'%', b'{', ..] => {
                fault("a directive reads %{if …}, %{else} or %{endif}, and each %{if …} needs an %{endif}")
            }
            _ if is_closing && word == "else" => fault("an %{if …} has only one %{else}"),
            _ if is_closing && word == "elseif" || word == "if" && self.text[..at].ends_with("else") => {
                fault("there is no %{elseif}").instead("another %{if …} after an %{else}, with an %{endif} of its own")
            }
            _ if message.trim() == "expected `}`" && !rest.contains('}') => {
                fault("an interpolation is not closed: its } is missing")
                    .instead("} at its end, or $${ where ${ is meant as text")
            }
            _ if message.trim() == "expected `}`" => {
                fault("the expression ends here, and neither an operator nor } follows")
            }
            _ if message.starts_with("invalid expression") => fault("no expression begins here"),
            _ => fault(message.trim().split(';').next().unwrap_or_default()),
        }
    }

    /// The number around or behind a byte, if the parser has none as large.
    fn large_number(&self, at: usize) -> Option<Range<usize>> {
        let digits = |letter: char| letter.is_ascii_digit() || letter == '.';
        let behind = self.text[at..].trim_start_matches(['$', '{', '~', '-', ' ']);
        let start = match self.text.len() - behind.len() {
            start if start == at => self.text[..at].trim_end_matches(digits).len(),
            start => start,
        };
        let after = self.text[start..].trim_start_matches(digits);
        let exponent = after.trim_start_matches(['e', 'E']).trim_start_matches(['+', '-']);
        let after = if after.len() == exponent.len() { after } else { exponent.trim_start_matches(digits) };
        let number = start..self.text.len() - after.len();
        self.text[number.clone()].parse().is_ok_and(f64::is_infinite).then_some(number)
    }

    fn span(&self, of: &impl hcl_edit::Span) -> Range<usize> {
        let span = of.span().unwrap_or_default();
        self.before + span.start..self.before + span.end
    }

    /// A template; one that is an interpolation alone is its expression.
    fn template(&self, parts: &Parts, span: Range<usize>) -> Result<Expr, TemplateFault> {
        let mut elements = parts.iter();
        if let (Some(Element::Interpolation(only)), None) = (elements.next(), elements.next()) {
            return Ok(Expr { span, ..self.expr(&only.expr)? });
        }
        self.parts(parts, span, Stripped::default())
    }

    fn parts(&self, parts: &Parts, span: Range<usize>, stripped: Stripped) -> Result<Expr, TemplateFault> {
        let elements: Vec<&Element> = parts.iter().collect();
        let mut start = stripped.start;
        let mut read = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            let (part, strip_next) = match element {
                Element::Literal(text) => {
                    let end = match elements.get(index + 1) {
                        Some(Element::Interpolation(next)) => next.strip.strip_start(),
                        Some(Element::Directive(next)) => {
                            matches!(&**next, Directive::If(next) if next.if_expr.strip.strip_start())
                        }
                        Some(Element::Literal(_)) => false,
                        None => stripped.end,
                    };
                    let text = trimmed(text, Stripped { start, end });
                    (literal(TemplateValue::text(text), self.span(*element)), false)
                }
                Element::Interpolation(inner) => (self.expr(&inner.expr)?, inner.strip.strip_end()),
                Element::Directive(directive) => match &**directive {
                    Directive::If(directive) => (self.conditional(directive)?, directive.endif_expr.strip.strip_end()),
                    Directive::For(of) => {
                        return Err(TemplateFault::not_supported("%{for}", &self.span(of)).instead(NO_FOR));
                    }
                },
            };
            read.push(part);
            start = strip_next;
        }
        Ok(Expr { kind: ExprKind::Template(read), span })
    }

    fn conditional(&self, of: &IfDirective) -> Result<Expr, TemplateFault> {
        let (first, end) = (&of.if_expr, of.endif_expr.strip.strip_start());
        let middle = of.else_expr.as_ref();
        let stripped =
            Stripped { start: first.strip.strip_end(), end: middle.map_or(end, |other| other.strip.strip_start()) };
        let positive = self.parts(&first.template, self.span(&first.template), stripped)?;
        let negative = match middle {
            Some(other) => {
                let stripped = Stripped { start: other.strip.strip_end(), end };
                self.parts(&other.template, self.span(&other.template), stripped)?
            }
            None => Expr { kind: ExprKind::Template(Vec::new()), span: self.span(of) },
        };
        let condition = Box::new(self.expr(&first.cond_expr)?);
        let kind = ExprKind::Conditional { condition, positive: Box::new(positive), negative: Box::new(negative) };
        Ok(Expr { kind, span: self.span(of) })
    }

    fn boxed(&self, of: &Expression) -> Result<Box<Expr>, TemplateFault> {
        self.expr(of).map(Box::new)
    }

    fn expr(&self, of: &Expression) -> Result<Expr, TemplateFault> {
        let span = self.span(of);
        let kind = match of {
            Expression::Null(_) => ExprKind::Literal(TemplateValue::Null),
            Expression::Bool(value) => ExprKind::Literal(TemplateValue::Bool(*value.value())),
            Expression::Number(_) => {
                let number = TemplateValue::number(&self.text[span.clone()]);
                let what = "a number with so many digits";
                ExprKind::Literal(number.ok_or_else(|| TemplateFault::not_supported(what, &span))?)
            }
            Expression::String(text) => {
                self.on_one_line(&span)?;
                ExprKind::Literal(TemplateValue::text(text))
            }
            Expression::Array(items) => {
                ExprKind::Tuple(items.iter().map(|item| self.expr(item)).collect::<Result<_, _>>()?)
            }
            Expression::Object(items) => ExprKind::Object(self.items(items)?),
            Expression::StringTemplate(parts) => {
                let parts = Parts::from(parts.clone());
                for text in parts.iter().filter(|part| matches!(part, Element::Literal(_))) {
                    self.on_one_line(&self.span(text))?;
                }
                return self.template(&parts, span);
            }
            Expression::HeredocTemplate(heredoc) => return self.template(&heredoc.template, span),
            Expression::Parenthesis(inner) => return Ok(Expr { span, ..self.expr(inner.inner())? }),
            Expression::Variable(name) => ExprKind::Name(name.to_string()),
            Expression::Conditional(of) => ExprKind::Conditional {
                condition: self.boxed(&of.cond_expr)?,
                positive: self.boxed(&of.true_expr)?,
                negative: self.boxed(&of.false_expr)?,
            },
            Expression::FuncCall(call) => {
                ExprKind::Call(call.args.iter().map(|argument| self.expr(argument)).collect::<Result<_, _>>()?)
            }
            Expression::Traversal(of) => return self.steps(of),
            Expression::UnaryOp(of) => {
                ExprKind::Unary { operator: *of.operator.value(), operand: self.boxed(&of.expr)? }
            }
            Expression::BinaryOp(of) => ExprKind::Binary {
                operator: *of.operator.value(),
                left: self.boxed(&of.lhs_expr)?,
                right: self.boxed(&of.rhs_expr)?,
            },
            Expression::ForExpr(_) => return Err(TemplateFault::not_supported("`for`", &span).instead(NO_FOR)),
        };
        Ok(Expr { kind, span })
    }

    fn on_one_line(&self, span: &Range<usize>) -> Result<(), TemplateFault> {
        if self.text[span.clone()].contains(['\n', '\r']) {
            let fault = TemplateFault::new("invalid-syntax", "a text between quotes stands on one line", span);
            return Err(fault.instead("\\n for an end of line"));
        }
        Ok(())
    }

    /// The items; a bare word as a key is a text.
    fn items(&self, items: &Object) -> Result<Vec<(Expr, Expr)>, TemplateFault> {
        let mut read = Vec::new();
        for (key, value) in items {
            let word = |text: &str, span| Ok(literal(TemplateValue::text(text), span));
            let key = match key {
                ObjectKey::Ident(name) | ObjectKey::Expression(Expression::Variable(name)) => {
                    word(name, self.span(name))
                }
                ObjectKey::Expression(Expression::Null(null)) => word("null", self.span(null)),
                ObjectKey::Expression(Expression::Traversal(path)) => {
                    let message = "a key with a point in it is ambiguous";
                    let fault = TemplateFault::new("ambiguous-attribute-key", message, &self.span(&**path));
                    Err(fault.instead("it in quotes, or in parentheses to work it out"))
                }
                ObjectKey::Expression(key) => self.expr(key),
            }?;
            read.push((key, self.expr(value.expr())?));
        }
        Ok(read)
    }

    fn steps(&self, of: &Traversal) -> Result<Expr, TemplateFault> {
        let mut source = self.expr(&of.expr)?;
        if of.operators.len() > STEPS {
            return Err(TemplateFault::not_supported("so many steps into one value", &source.span));
        }
        let mut was_numbered = false;
        for operator in &of.operators {
            let step = self.span(operator);
            let (key, is_attribute) = match operator.value() {
                TraversalOperator::GetAttr(name) => (literal(TemplateValue::text(name), step.clone()), true),
                TraversalOperator::Index(key) => (self.expr(key)?, false),
                TraversalOperator::LegacyIndex(number) if !was_numbered => {
                    (literal(TemplateValue::text(&number.to_string()), step.clone()), false)
                }
                TraversalOperator::LegacyIndex(number) => {
                    let fault = TemplateFault::new("invalid-syntax", "two indexes cannot be chained with dots", &step);
                    let first = self.text[..step.start].rsplit('.').next().unwrap_or_default().trim();
                    return Err(fault.instead(format!("[{first}][{number}]")));
                }
                TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => {
                    return Err(TemplateFault::not_supported("splats", &step).instead(NO_FOR));
                }
            };
            was_numbered = matches!(operator.value(), TraversalOperator::LegacyIndex(_));
            let span = source.span.start..step.end;
            let kind = ExprKind::Step { source: Box::new(source), key: Box::new(key), step, is_attribute };
            source = Expr { kind, span };
        }
        Ok(source)
    }
}

const NO_FOR: &str = "each element by itself, such as ${list[0]}";

fn literal(value: TemplateValue, span: Range<usize>) -> Expr {
    Expr { kind: ExprKind::Literal(value), span }
}

/// Without the white space of its first or last line, which is all that a strip marker takes.
fn trimmed(mut text: &str, stripped: Stripped) -> &str {
    if stripped.start {
        let first = text.find('\n').map_or(text.len(), |end| end + 1);
        text = &text[first - text[..first].trim_start().len()..];
    }
    if stripped.end {
        let last = text.strip_suffix('\n').unwrap_or(text).rfind('\n').map_or(0, |end| end + 1);
        text = &text[..last + text[last..].trim_end().len()];
    }
    text
}

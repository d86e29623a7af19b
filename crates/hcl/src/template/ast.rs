//! A template as a tree.

use std::ops::Range;

use super::value::TemplateValue;

/// An expression and its bytes in the template.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Literal(TemplateValue),
    /// A name, and the steps into its value.
    Name {
        root: String,
        root_span: Range<usize>,
        steps: Vec<AccessStep>,
    },
    /// Steps into the value of another expression.
    Steps {
        source: Box<Expr>,
        steps: Vec<AccessStep>,
    },
    /// `source[key]` with a computed key; `bracket` is `[key]`.
    Index {
        source: Box<Expr>,
        key: Box<Expr>,
        bracket: Range<usize>,
    },
    /// `source[*]…` or `source.*…`; `each` mentions [`ExprKind::Item`].
    Splat {
        source: Box<Expr>,
        each: Box<Expr>,
    },
    /// The current element of a splat.
    Item,
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
    Object(Vec<(ObjectKey, Expr)>),
    For(Box<For>),
    Parentheses(Box<Expr>),
    /// Parts that are joined into one text.
    Template(Vec<Expr>),
    /// A template of one interpolation alone, which keeps the type of the value.
    Wrapped(Box<Expr>),
    /// The elements of a tuple joined into one text, as `%{for}` does.
    Joined(Box<Expr>),
}

/// One step into a value.
#[derive(Clone, Debug)]
pub(super) struct AccessStep {
    pub(super) kind: AccessStepKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum AccessStepKind {
    Attribute(String),
    Index(TemplateValue),
}

/// The key of an item of an object. A bare name is a text, unless it is in parentheses.
#[derive(Clone, Debug)]
pub(super) struct ObjectKey {
    pub(super) expr: Expr,
    pub(super) parenthesised: bool,
}

impl ObjectKey {
    /// The bare word that this key is.
    pub(super) fn word(&self) -> Option<&str> {
        match &self.expr.kind {
            ExprKind::Name { root, steps, .. } if steps.is_empty() => Some(root),
            ExprKind::Literal(TemplateValue::Bool(true)) => Some("true"),
            ExprKind::Literal(TemplateValue::Bool(false)) => Some("false"),
            ExprKind::Literal(TemplateValue::Null(_)) => Some("null"),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct For {
    pub(super) key_name: Option<String>,
    pub(super) value_name: String,
    pub(super) source: Expr,
    /// Present if the `for` makes an object.
    pub(super) key: Option<Expr>,
    pub(super) value: Expr,
    pub(super) condition: Option<Expr>,
    pub(super) grouped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOperator {
    Negate,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Or,
    And,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// Calls `found` with every name that the template itself does not bind, in the order of the text.
pub(super) fn free_names<'a>(
    expr: &'a Expr,
    bound: &mut Vec<&'a str>,
    found: &mut dyn FnMut(&'a str, &'a Range<usize>),
) {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Item => {}
        ExprKind::Name { root, root_span, .. } => {
            if !bound.contains(&root.as_str()) {
                found(root, root_span);
            }
        }
        ExprKind::Steps { source: inner, .. }
        | ExprKind::Unary { operand: inner, .. }
        | ExprKind::Parentheses(inner)
        | ExprKind::Wrapped(inner)
        | ExprKind::Joined(inner) => free_names(inner, bound, found),
        ExprKind::Index { source: first, key: second, .. }
        | ExprKind::Splat { source: first, each: second }
        | ExprKind::Binary { left: first, right: second, .. } => {
            free_names(first, bound, found);
            free_names(second, bound, found);
        }
        ExprKind::Conditional { condition, positive, negative } => {
            free_names(condition, bound, found);
            free_names(positive, bound, found);
            free_names(negative, bound, found);
        }
        ExprKind::Call(items) | ExprKind::Tuple(items) | ExprKind::Template(items) => {
            for item in items {
                free_names(item, bound, found);
            }
        }
        ExprKind::Object(items) => {
            for (key, value) in items {
                if key.word().is_none() {
                    free_names(&key.expr, bound, found);
                }
                free_names(value, bound, found);
            }
        }
        ExprKind::For(inner) => {
            free_names(&inner.source, bound, found);
            let before = bound.len();
            bound.extend(inner.key_name.as_deref());
            bound.push(&inner.value_name);
            for part in inner.key.iter().chain([&inner.value]).chain(&inner.condition) {
                free_names(part, bound, found);
            }
            bound.truncate(before);
        }
    }
}

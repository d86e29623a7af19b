//! What the decoder looks at: a value, an item, or items that share a name.

use std::ops::Range;

use super::{DecodeError, DecodeErrorKind};
use crate::{Body, Item, Key, Value};

/// An item, perhaps without its first keys.
#[derive(Clone, Debug)]
pub(super) struct View<'a> {
    pub(super) keys: &'a [Key],
    pub(super) held: Held<'a>,
    span: Range<usize>,
}

/// What an item holds.
#[derive(Clone, Debug)]
pub(super) enum Held<'a> {
    Value(&'a Value),
    /// An object made of one item, to undo what flattening did.
    Object(Box<View<'a>>),
}

/// What is decoded.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    Value(&'a Value),
    Item(View<'a>),
    Items(Vec<View<'a>>),
}

impl<'a> View<'a> {
    fn of(item: &'a Item) -> Self {
        Self { keys: &item.keys, held: Held::Value(&item.value), span: item.span.clone() }
    }

    /// The item without its first key.
    pub(super) fn stripped(&self) -> Self {
        Self { keys: self.keys.get(1..).unwrap_or_default(), ..self.clone() }
    }

    /// `a b {…}` as `a { b {…} }`.
    pub(super) fn expanded(&self) -> Self {
        let inner = Box::new(self.stripped());
        Self { keys: &self.keys[..1], held: Held::Object(inner), span: self.span.clone() }
    }

    /// What it holds, an object as its items.
    pub(super) fn content(&self) -> Node<'a> {
        match &self.held {
            Held::Value(value) => Node::of_value(value),
            Held::Object(inner) => Node::Items(vec![(**inner).clone()]),
        }
    }

    /// What it holds.
    pub(super) fn value(&self) -> Node<'a> {
        match &self.held {
            Held::Value(value) => Node::Value(value),
            Held::Object(_) => self.content(),
        }
    }
}

impl<'a> Node<'a> {
    pub(super) fn of_body(body: &'a Body) -> Self {
        Self::Items(body.items.iter().map(View::of).collect())
    }

    /// A value, an object as its items.
    pub(super) fn of_value(value: &'a Value) -> Self {
        match value {
            Value::Object(body, _) => Self::of_body(body),
            _ => Self::Value(value),
        }
    }

    /// The items of a body or an object; an item counts as a body of itself.
    pub(super) fn items(&self) -> Option<Vec<View<'a>>> {
        match self {
            Self::Items(items) => Some(items.clone()),
            Self::Item(item) => Some(vec![item.clone()]),
            Self::Value(Value::Object(body, _)) => Some(body.items.iter().map(View::of).collect()),
            Self::Value(_) => None,
        }
    }

    /// The byte whose place HCL 1 names.
    fn reported(&self) -> Option<usize> {
        match self {
            Self::Value(value) => Some(value.span().start),
            Self::Item(item) => item.keys.first().map(|key| key.span.start),
            Self::Items(items) => items.first()?.keys.first().map(|key| key.span.start),
        }
    }

    fn span(&self) -> Range<usize> {
        match self {
            Self::Value(value) => value.span(),
            Self::Item(item) => item.span.clone(),
            Self::Items(items) => items.first().map_or(0..0, |item| item.span.clone()),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Value(Value::List(..)) => "a list",
            Self::Value(Value::String(_)) => "a text",
            Self::Value(Value::Number { .. }) => "a number",
            Self::Value(Value::Float { .. }) => "a number with a fraction",
            Self::Value(Value::Bool { value: true, .. }) => "`true`",
            Self::Value(Value::Bool { .. }) => "`false`",
            Self::Value(Value::Null { .. }) => "`null`",
            Self::Value(Value::Object(..)) | Self::Item(_) | Self::Items(_) => "a block or an object",
        }
    }

    pub(super) fn wrong_type(&self, name: &str, wanted: &str) -> DecodeError {
        let reported = self.reported();
        DecodeError { reported, ..self.error(DecodeErrorKind::WrongType, name, wanted, self.noun()) }
    }

    pub(super) fn not_a_number(&self, name: &str) -> DecodeError {
        self.error(DecodeErrorKind::NotANumber, name, "a whole number of 64 bits", "this")
    }

    fn error(&self, kind: DecodeErrorKind, name: &str, wanted: &str, found: &str) -> DecodeError {
        let name = if name.is_empty() { String::new() } else { format!("`{name}`: ") };
        let message = format!("{name}{wanted} belongs here, not {found}");
        DecodeError { message, span: self.span(), reported: None, kind }
    }
}

/// The text of a key, or the crash of HCL 1 on it.
pub(super) fn key_text(key: &Key) -> Result<&str, DecodeError> {
    match &key.fault {
        None => Ok(&key.text),
        Some(fault) => Err(crash(fault.span.clone())),
    }
}

pub(super) fn crash(span: Range<usize>) -> DecodeError {
    let message = "this escape names no character that a text can hold".to_owned();
    DecodeError { message, span, reported: None, kind: DecodeErrorKind::Crash }
}

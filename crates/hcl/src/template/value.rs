//! Values and their types.
//!
//! Spec: cty 1.18, "The cty type system".

use std::collections::BTreeMap;

use super::number::Number;

/// A value that an expression can have.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateValue {
    /// Not known yet, but of a type that may be known: such a value checks a template before it is used.
    Unknown(Type),
    /// Not known yet, but not null.
    Present(Type),
    /// `null`.
    Null(Type),
    /// `true` or `false`.
    Bool(bool),
    Number(Number),
    /// A text, in Unicode's normal form C.
    String(String),
    /// What `[…]` makes: each element has a type of its own.
    Tuple(Vec<TemplateValue>),
    /// What `{…}` makes: each attribute has a type of its own.
    Object(BTreeMap<String, TemplateValue>),
    /// Elements of one type, as a condition makes of two tuples of different length.
    List(Type, Vec<TemplateValue>),
    /// Values of one type under names, as a condition makes of two objects with different attributes.
    Map(Type, BTreeMap<String, TemplateValue>),
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Not known.
    Any,
    Bool,
    Number,
    String,
    /// Elements, each of its own type.
    Tuple(Vec<Type>),
    /// Attributes, each of its own type.
    Object(BTreeMap<String, Type>),
    /// Elements of one type.
    List(Box<Type>),
    /// Values of one type under names.
    Map(Box<Type>),
}

impl TemplateValue {
    /// A value that is unknown.
    pub const ANY: Self = Self::Unknown(Type::Any);
    /// A text that is not known yet.
    pub const UNKNOWN_STRING: Self = Self::Unknown(Type::String);

    pub fn type_of(&self) -> Type {
        match self {
            Self::Unknown(of) | Self::Present(of) | Self::Null(of) => of.clone(),
            Self::Bool(_) => Type::Bool,
            Self::Number(_) => Type::Number,
            Self::String(_) => Type::String,
            Self::Tuple(items) => Type::Tuple(items.iter().map(Self::type_of).collect()),
            Self::Object(items) => {
                Type::Object(items.iter().map(|(name, value)| (name.clone(), value.type_of())).collect())
            }
            Self::List(of, _) => Type::List(Box::new(of.clone())),
            Self::Map(of, _) => Type::Map(Box::new(of.clone())),
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null(_))
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown(_) | Self::Present(_))
    }

    /// Whether it is certain not to be `null`.
    pub(super) fn is_present(&self) -> bool {
        !matches!(self, Self::Unknown(_) | Self::Null(_))
    }

    /// The elements with their keys, if it has any and they are known.
    pub(super) fn elements(self) -> Option<Vec<(Self, Self)>> {
        match self {
            Self::Tuple(items) | Self::List(_, items) => Some(
                items
                    .into_iter()
                    .enumerate()
                    .map(|(index, value)| (Self::Number(Number::from_index(index)), value))
                    .collect(),
            ),
            Self::Object(items) | Self::Map(_, items) => {
                Some(items.into_iter().map(|(name, value)| (Self::String(name), value)).collect())
            }
            _ => None,
        }
    }

    /// Whether the two are equal; `None` if that is not known yet.
    pub(super) fn equals(&self, other: &Self) -> Option<bool> {
        let (of, other_of) = (self.type_of(), other.type_of());
        match (self, other) {
            (Self::Null(_), value) | (value, Self::Null(_)) if value.is_present() => return Some(false),
            (Self::Unknown(_) | Self::Present(_), Self::Unknown(_) | Self::Present(_)) => return None,
            (Self::Unknown(_) | Self::Present(_), known) | (known, Self::Unknown(_) | Self::Present(_)) => {
                let unknown_of = if self.is_known() { &other_of } else { &of };
                if known.is_null() || unknown_of.is_open() || of == other_of {
                    return None;
                }
                return Some(false);
            }
            (Self::Null(_), Self::Null(_)) => return Some(true),
            _ => {}
        }
        if of.is_open() || other_of.is_open() {
            return if of.conforms(&other_of) || other_of.conforms(&of) { None } else { Some(false) };
        }
        if of != other_of {
            return Some(false);
        }
        match (self, other) {
            (Self::Tuple(left), Self::Tuple(right)) | (Self::List(_, left), Self::List(_, right)) => {
                if left.len() != right.len() {
                    return Some(false);
                }
                all_equal(left.iter().zip(right))
            }
            (Self::Object(left), Self::Object(right)) | (Self::Map(_, left), Self::Map(_, right)) => {
                if !left.keys().eq(right.keys()) {
                    return Some(false);
                }
                all_equal(left.values().zip(right.values()))
            }
            _ => Some(self == other),
        }
    }
}

fn all_equal<'a>(pairs: impl Iterator<Item = (&'a TemplateValue, &'a TemplateValue)>) -> Option<bool> {
    for (left, right) in pairs {
        if !left.equals(right)? {
            return Some(false);
        }
    }
    Some(true)
}

impl Type {
    /// Whether a part of it is not known.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::Tuple(items) => items.iter().any(Self::is_open),
            Self::Object(items) => items.values().any(Self::is_open),
            Self::List(of) | Self::Map(of) => of.is_open(),
        }
    }

    /// Whether a value of this type could be one of `wanted`, of which parts may be open.
    fn conforms(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (_, Self::Any) => true,
            (Self::Tuple(left), Self::Tuple(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.conforms(right))
            }
            (Self::Object(left), Self::Object(right)) => {
                left.keys().eq(right.keys())
                    && left.values().zip(right.values()).all(|(left, right)| left.conforms(right))
            }
            (Self::List(left), Self::List(right)) | (Self::Map(left), Self::Map(right)) => left.conforms(right),
            _ => self == wanted,
        }
    }

    pub(super) fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::String)
    }

    /// For messages, with its article.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Any => "a value of unknown type",
            Self::Bool => "a truth value",
            Self::Number => "a number",
            Self::String => "a text",
            Self::Tuple(_) | Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Map(_) => "a map",
        }
    }
}

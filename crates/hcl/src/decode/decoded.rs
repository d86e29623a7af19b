//! The shapes that a program wants, and the values.

use std::collections::BTreeMap;

/// A shape that a program wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeShape {
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits.
    Integer,
    /// A list of these.
    List(Box<DecodeShape>),
    Map(Box<DecodeShape>),
    /// These names, each with its shape; others are ignored. The value is a map of those that are given.
    Struct(Vec<(&'static str, DecodeShape)>),
    /// As the inner one, which the program keeps by a pointer: where the same name comes again, the HCL 1 that allows
    /// duplicates starts afresh, and the other one goes on with what is there.
    Pointer(Box<DecodeShape>),
    /// Any value. Objects become [`Decoded::Objects`], except in lists.
    Any,
}

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    Integer(i64),
    /// A number with a fraction; only of [`DecodeShape::Any`].
    Float(f64),
    List(Vec<Decoded>),
    Map(BTreeMap<String, Decoded>),
    /// Objects of [`DecodeShape::Any`] outside lists: each object under the name is an element.
    Objects(Vec<Decoded>),
}

impl Decoded {
    /// The text, if it is one.
    pub fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn into_list(self) -> Option<Vec<Self>> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }

    /// The values by name, if it is a map or a struct.
    pub fn into_map(self) -> Option<BTreeMap<String, Self>> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }
}

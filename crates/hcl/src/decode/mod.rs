//! From a body to the values that a program wants, with HCL 1's weak typing.
//!
//! ```text
//! wanted      taken                                         refused
//! Text        a text, a whole number as written, null ""    true, false, 2.5, a list, an object
//! Bool        true, false                                   "true", 1
//! Integer     a whole number, a text that is one            true, 2.5, a heredoc
//! List        a list, an object as its only element         a single value
//! Map         an object or blocks                           anything else
//! ```
//!
//! Names are compared without regard to case. A name given again goes on where the first left off: lists grow, of
//! anything else the last counts. A block with labels is taken where a map or a list of objects is wanted.
//!
//! Spec: hashicorp/hcl v1.0.1-vault-7 and -vault-5, measured.

mod error;
mod fold;
mod integer;
mod node;
mod reader;

use std::collections::BTreeMap;

pub use self::error::{DecodeError, DecodeErrorKind};
use self::fold::equal_fold;
use self::node::Node;
use self::reader::Reader;
use crate::{Body, Duplicates, Item, Value};

/// What a program wants to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits.
    Integer,
    /// A list of these.
    List(Box<Shape>),
    /// Values by name.
    Map(Box<Shape>),
    /// These names, each with its shape; others are passed over. Comes out as a map of those that were given.
    Struct(Vec<(&'static str, Shape)>),
    /// As the inner one, behind a pointer in the program: where the same name comes again, the HCL 1 that allows
    /// duplicates starts afresh, and the other one goes on with what is there.
    Pointer(Box<Shape>),
    /// Whatever is there. Objects become [`Decoded::Objects`], except in lists.
    Any,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// A text.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction; only of [`Shape::Any`].
    Float(f64),
    /// A list.
    List(Vec<Decoded>),
    /// Values by name.
    Map(BTreeMap<String, Decoded>),
    /// Objects of [`Shape::Any`] outside lists: each object under the name is an element.
    Objects(Vec<Decoded>),
}

impl Decoded {
    /// The text, when it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts, when it is a list of texts.
    pub fn into_texts(self) -> Option<Vec<String>> {
        let Self::List(values) = self else { return None };
        values.into_iter().map(Self::into_text).collect()
    }

    /// The text, when it is one.
    pub fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Body {
    /// The whole body as `shape`: a map or a struct.
    pub fn decode(&self, shape: &Shape, duplicates: Duplicates) -> Result<Decoded, DecodeError> {
        Reader::new(duplicates).read("", &Node::of_body(self), shape, None)
    }

    /// What stands under `name`, as `shape`; `None` where nothing does.
    ///
    /// A struct reads its fields in the order of the program, and the first error ends it: ask in the same order.
    pub fn field(
        &self,
        name: &'static str,
        shape: Shape,
        duplicates: Duplicates,
    ) -> Result<Option<Decoded>, DecodeError> {
        let shape = Shape::Struct(vec![(name, shape)]);
        match self.decode(&shape, duplicates)? {
            Decoded::Map(mut fields) => Ok(fields.remove(name)),
            _ => Ok(None),
        }
    }

    /// The text under `name`; the last where there are several.
    pub fn text(&self, name: &'static str) -> Result<Option<String>, DecodeError> {
        Ok(self.field(name, Shape::Text, Duplicates::Refused)?.and_then(Decoded::into_text))
    }

    /// The list of texts under `name`; joined where there are several.
    pub fn texts(&self, name: &'static str) -> Result<Option<Vec<String>>, DecodeError> {
        let shape = Shape::List(Box::new(Shape::Text));
        Ok(self.field(name, shape, Duplicates::Refused)?.and_then(Decoded::into_texts))
    }

    /// The whole number under `name`; the last where there are several.
    pub fn integer(&self, name: &'static str) -> Result<Option<i64>, DecodeError> {
        Ok(self.field(name, Shape::Integer, Duplicates::Refused)?.and_then(|value| match value {
            Decoded::Integer(number) => Some(number),
            _ => None,
        }))
    }

    /// The truth under `name`; the last where there are several.
    pub fn bool(&self, name: &'static str) -> Result<Option<bool>, DecodeError> {
        Ok(self.field(name, Shape::Bool, Duplicates::Refused)?.and_then(|value| match value {
            Decoded::Bool(value) => Some(value),
            _ => None,
        }))
    }

    /// The items whose first key is `name`, as the decoder compares names: without regard to case.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Item> {
        self.items.iter().filter(move |item| item.keys.first().is_some_and(|key| equal_fold(&key.text, name)))
    }
}

impl Value {
    /// The value alone as `shape`.
    pub fn decode(&self, shape: &Shape, duplicates: Duplicates) -> Result<Decoded, DecodeError> {
        Reader::new(duplicates).read("", &Node::Value(self), shape, None)
    }

    /// The value as a text.
    pub fn decode_string(&self) -> Result<String, DecodeError> {
        reader::text("", &Node::Value(self))
    }

    /// The value as `true` or `false`.
    pub fn decode_bool(&self) -> Result<bool, DecodeError> {
        reader::bool("", &Node::Value(self))
    }

    /// The value as a whole number.
    pub fn decode_int(&self) -> Result<i64, DecodeError> {
        reader::integer("", &Node::Value(self))
    }

    /// The value as a list of texts.
    pub fn decode_string_list(&self) -> Result<Vec<String>, DecodeError> {
        // As behind a name: an object stands for its items, of which none is a text.
        let node = Node::of_value(self);
        let list = Reader::new(Duplicates::Refused).read("", &node, &Shape::List(Box::new(Shape::Text)), None)?;
        Ok(list.into_texts().unwrap_or_default())
    }

    /// The value as texts by name.
    pub fn decode_string_map(&self) -> Result<BTreeMap<String, String>, DecodeError> {
        match self.decode(&Shape::Map(Box::new(Shape::Text)), Duplicates::Refused)? {
            Decoded::Map(map) => {
                Ok(map.into_iter().filter_map(|(name, text)| Some((name, text.into_text()?))).collect())
            }
            _ => Ok(BTreeMap::new()),
        }
    }
}

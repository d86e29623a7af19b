//! Decoding a node.

use std::collections::BTreeMap;

use super::integer;
use super::node::{DecodeNode, ItemView, crash, named};
use super::{DecodeError, DecodeShape, Decoded};
use crate::{Duplicates, HclKey, HclValue};

/// The result. Its error is boxed, because the reading recurses as deep as the text does.
type DecodeResult = Result<Decoded, Box<DecodeError>>;

/// Decodes a node by a shape.
pub(super) struct ShapeReader {
    duplicates: Duplicates,
    /// For each unfinished value, whether it is a list.
    lists: Vec<bool>,
}

impl ShapeReader {
    pub(super) fn new(duplicates: Duplicates) -> Self {
        Self { duplicates, lists: Vec::new() }
    }

    /// Makes `shape` of `node`, going on with `old`.
    pub(super) fn read(
        &mut self,
        name: &str,
        node: &DecodeNode<'_>,
        shape: &DecodeShape,
        old: Option<Decoded>,
    ) -> DecodeResult {
        if *shape == DecodeShape::Any {
            return self.any(name, node, old);
        }
        self.lists.push(matches!(shape, DecodeShape::List(_)));
        let result = self.read_known(name, node, shape, old);
        self.lists.pop();
        result
    }

    fn any(&mut self, name: &str, node: &DecodeNode<'_>, old: Option<Decoded>) -> DecodeResult {
        let known = match &old {
            Some(old) => shape_of(old),
            None => self.guess(name, node)?,
        };
        match known {
            Guess::Float => Ok(Decoded::Float(float(name, node)?)),
            Guess::Objects => {
                let list = self.read(name, node, &list_of(map_of(DecodeShape::Any)), old)?;
                Ok(if let Decoded::List(objects) = list { Decoded::Objects(objects) } else { list })
            }
            Guess::Shape(shape) => self.read(name, node, &shape, old),
        }
    }

    fn read_known(
        &mut self,
        name: &str,
        node: &DecodeNode<'_>,
        shape: &DecodeShape,
        old: Option<Decoded>,
    ) -> DecodeResult {
        match shape {
            DecodeShape::Text | DecodeShape::Bool | DecodeShape::Integer => Ok(single(name, node, shape)?),
            DecodeShape::List(element) => self.list(name, node, element, old),
            DecodeShape::Map(element) => self.map(name, node, element, old),
            DecodeShape::Struct(fields) => self.fields(name, node, fields, old),
            DecodeShape::Pointer(inner) => {
                let old = old.filter(|_| self.duplicates == Duplicates::Refused);
                self.read(name, node, inner, old)
            }
            DecodeShape::Any => self.read(name, node, shape, old),
        }
    }

    /// The shape of a node, for [`DecodeShape::Any`].
    fn guess(&self, name: &str, node: &DecodeNode<'_>) -> Result<Guess, Box<DecodeError>> {
        Ok(match node {
            DecodeNode::Items(_) | DecodeNode::Value(HclValue::Object(..))
                if self.lists.last().copied().unwrap_or(true) =>
            {
                Guess::Shape(map_of(DecodeShape::Any))
            }
            DecodeNode::Items(_) | DecodeNode::Value(HclValue::Object(..)) => Guess::Objects,
            DecodeNode::Value(HclValue::List(..)) => Guess::Shape(list_of(DecodeShape::Any)),
            DecodeNode::Value(HclValue::Bool { .. }) => Guess::Shape(DecodeShape::Bool),
            DecodeNode::Value(HclValue::Number { .. }) => Guess::Shape(DecodeShape::Integer),
            DecodeNode::Value(HclValue::Float { .. }) => Guess::Float,
            DecodeNode::Value(HclValue::String(_) | HclValue::Null { .. }) => Guess::Shape(DecodeShape::Text),
            DecodeNode::Item(_) => {
                return Err(DecodeError { reported: None, ..node.wrong_type(name, "a value") }.into());
            }
        })
    }

    fn list(&mut self, name: &str, node: &DecodeNode<'_>, element: &DecodeShape, old: Option<Decoded>) -> DecodeResult {
        let nodes: Vec<DecodeNode<'_>> = match node {
            DecodeNode::Items(items) => items.iter().map(|item| DecodeNode::Item(expanded(item, element))).collect(),
            DecodeNode::Value(HclValue::Object(..)) => vec![node.clone()],
            DecodeNode::Value(HclValue::List(values, _)) => values.iter().map(DecodeNode::Value).collect(),
            DecodeNode::Value(_) | DecodeNode::Item(_) => return Err(node.wrong_type(name, "a list").into()),
        };
        let mut list = match old {
            Some(Decoded::List(list) | Decoded::Objects(list)) => list,
            _ => Vec::new(),
        };
        for (index, node) in nodes.iter().enumerate() {
            list.push(self.read(&format!("{name}[{index}]"), node, element, None)?);
        }
        Ok(Decoded::List(list))
    }

    fn map(&mut self, name: &str, node: &DecodeNode<'_>, element: &DecodeShape, old: Option<Decoded>) -> DecodeResult {
        let mut map = known(old);
        for member in Box::new(node.members(name)?) {
            self.member(name, &member?, element, &mut map)?;
        }
        Ok(Decoded::Map(map))
    }

    fn member(
        &mut self,
        name: &str,
        (key, value): &(&HclKey, DecodeNode<'_>),
        element: &DecodeShape,
        map: &mut BTreeMap<String, Decoded>,
    ) -> Result<(), Box<DecodeError>> {
        let old = map.get(&key.text).cloned();
        let value = self.read(&join(name, &key.text), value, element, old)?;
        map.insert(key.text.clone(), value);
        Ok(())
    }

    fn fields(
        &mut self,
        name: &str,
        node: &DecodeNode<'_>,
        fields: &[(&'static str, DecodeShape)],
        old: Option<Decoded>,
    ) -> DecodeResult {
        let items = node.arguments(name)?;
        let mut map = known(old);
        for (field, shape) in fields {
            let name = join(name, field);
            for node in named(&items, field)? {
                let value = self.read(&name, &node, shape, map.get(*field).cloned())?;
                map.insert((*field).to_owned(), value);
            }
        }
        Ok(Decoded::Map(map))
    }
}

fn single(name: &str, node: &DecodeNode<'_>, shape: &DecodeShape) -> Result<Decoded, DecodeError> {
    match shape {
        DecodeShape::Bool => bool(name, node).map(Decoded::Bool),
        DecodeShape::Integer => integer(name, node).map(Decoded::Integer),
        _ => text(name, node).map(Decoded::Text),
    }
}

/// A shape, or a kind of value without one.
enum Guess {
    Shape(DecodeShape),
    Float,
    Objects,
}

fn shape_of(old: &Decoded) -> Guess {
    Guess::Shape(match old {
        Decoded::Text(_) => DecodeShape::Text,
        Decoded::Bool(_) => DecodeShape::Bool,
        Decoded::Integer(_) => DecodeShape::Integer,
        Decoded::Float(_) => return Guess::Float,
        Decoded::Objects(_) => return Guess::Objects,
        Decoded::List(_) => list_of(DecodeShape::Any),
        Decoded::Map(_) => map_of(DecodeShape::Any),
    })
}

fn list_of(element: DecodeShape) -> DecodeShape {
    DecodeShape::List(Box::new(element))
}

fn map_of(element: DecodeShape) -> DecodeShape {
    DecodeShape::Map(Box::new(element))
}

fn known(old: Option<Decoded>) -> BTreeMap<String, Decoded> {
    match old {
        Some(Decoded::Map(map)) => map,
        _ => BTreeMap::new(),
    }
}

fn join(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

/// Where a struct is wanted, an item of two keys is one that JSON's flattening made.
fn expanded<'a>(item: &ItemView<'a>, element: &DecodeShape) -> ItemView<'a> {
    let wants_struct = match element {
        DecodeShape::Struct(_) => true,
        DecodeShape::Pointer(inner) => matches!(**inner, DecodeShape::Struct(_)),
        _ => false,
    };
    if wants_struct && item.keys().len() == 2 { item.expanded() } else { item.clone() }
}

fn text(name: &str, node: &DecodeNode<'_>) -> Result<String, DecodeError> {
    match node {
        DecodeNode::Value(HclValue::Number { text, .. }) => Ok(text.clone()),
        DecodeNode::Value(HclValue::Null { .. }) => Ok(String::new()),
        DecodeNode::Value(HclValue::String(text)) => match &text.fault {
            None => Ok(text.value.clone()),
            Some(fault) => Err(crash(fault.span.clone())),
        },
        _ => Err(node.wrong_type(name, "a text in quotes")),
    }
}

fn bool(name: &str, node: &DecodeNode<'_>) -> Result<bool, DecodeError> {
    match node {
        DecodeNode::Value(HclValue::Bool { value, .. }) => Ok(*value),
        _ => Err(node.wrong_type(name, "`true` or `false` without quotes")),
    }
}

fn integer(name: &str, node: &DecodeNode<'_>) -> Result<i64, DecodeError> {
    let parsed = match node {
        DecodeNode::Value(HclValue::Number { text, .. }) => integer::parse(text),
        DecodeNode::Value(HclValue::String(written)) if !written.heredoc => integer::parse(&text(name, node)?),
        DecodeNode::Value(HclValue::Null { .. }) => None,
        _ => return Err(node.wrong_type(name, "a whole number")),
    };
    parsed.ok_or_else(|| node.not_a_number(name))
}

fn float(name: &str, node: &DecodeNode<'_>) -> Result<f64, DecodeError> {
    match node {
        DecodeNode::Value(HclValue::Float { text, .. } | HclValue::Number { text, .. }) => {
            text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| node.not_a_number(name))
        }
        _ => Err(node.wrong_type(name, "a number")),
    }
}

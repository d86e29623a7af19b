//! The decoding itself.

use std::collections::BTreeMap;

use super::integer;
use super::node::{Node, View, crash, named};
use super::{DecodeError, Decoded, Shape};
use crate::{Duplicates, Key, Value};

/// What comes out. The error is boxed, because the reading recurses as deep as the text does.
type Read = Result<Decoded, Box<DecodeError>>;

/// Goes through a node along a shape.
pub(super) struct Reader {
    duplicates: Duplicates,
    /// For each thing being made, whether it is a list.
    lists: Vec<bool>,
}

impl Reader {
    pub(super) fn new(duplicates: Duplicates) -> Self {
        Self { duplicates, lists: Vec::new() }
    }

    /// Makes `shape` of `node`, going on with `old`.
    pub(super) fn read(&mut self, name: &str, node: &Node<'_>, shape: &Shape, old: Option<Decoded>) -> Read {
        if *shape == Shape::Any {
            return self.any(name, node, old);
        }
        self.lists.push(matches!(shape, Shape::List(_)));
        let result = self.read_known(name, node, shape, old);
        self.lists.pop();
        result
    }

    fn any(&mut self, name: &str, node: &Node<'_>, old: Option<Decoded>) -> Read {
        let known = match &old {
            Some(old) => shape_of(old),
            None => self.guess(name, node)?,
        };
        match known {
            Guess::Float => Ok(Decoded::Float(float(name, node)?)),
            Guess::Objects => {
                let list = self.read(name, node, &list_of(map_of(Shape::Any)), old)?;
                Ok(if let Decoded::List(objects) = list { Decoded::Objects(objects) } else { list })
            }
            Guess::Shape(shape) => self.read(name, node, &shape, old),
        }
    }

    fn read_known(&mut self, name: &str, node: &Node<'_>, shape: &Shape, old: Option<Decoded>) -> Read {
        match shape {
            Shape::Text | Shape::Bool | Shape::Integer => Ok(single(name, node, shape)?),
            Shape::List(element) => self.list(name, node, element, old),
            Shape::Map(element) => self.map(name, node, element, old),
            Shape::Struct(fields) => self.fields(name, node, fields, old),
            Shape::Pointer(inner) => {
                let old = old.filter(|_| self.duplicates == Duplicates::Refused);
                self.read(name, node, inner, old)
            }
            Shape::Any => self.read(name, node, shape, old),
        }
    }

    /// The shape that something of any shape has.
    fn guess(&self, name: &str, node: &Node<'_>) -> Result<Guess, Box<DecodeError>> {
        Ok(match node {
            Node::Items(_) | Node::Value(Value::Object(..)) if self.lists.last().copied().unwrap_or(true) => {
                Guess::Shape(map_of(Shape::Any))
            }
            Node::Items(_) | Node::Value(Value::Object(..)) => Guess::Objects,
            Node::Value(Value::List(..)) => Guess::Shape(list_of(Shape::Any)),
            Node::Value(Value::Bool { .. }) => Guess::Shape(Shape::Bool),
            Node::Value(Value::Number { .. }) => Guess::Shape(Shape::Integer),
            Node::Value(Value::Float { .. }) => Guess::Float,
            Node::Value(Value::String(_) | Value::Null { .. }) => Guess::Shape(Shape::Text),
            Node::Item(_) => return Err(DecodeError { reported: None, ..node.wrong_type(name, "a value") }.into()),
        })
    }

    fn list(&mut self, name: &str, node: &Node<'_>, element: &Shape, old: Option<Decoded>) -> Read {
        let nodes: Vec<Node<'_>> = match node {
            Node::Items(items) => items.iter().map(|item| Node::Item(expanded(item, element))).collect(),
            Node::Value(Value::Object(..)) => vec![node.clone()],
            Node::Value(Value::List(values, _)) => values.iter().map(Node::Value).collect(),
            Node::Value(_) | Node::Item(_) => return Err(node.wrong_type(name, "a list").into()),
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

    fn map(&mut self, name: &str, node: &Node<'_>, element: &Shape, old: Option<Decoded>) -> Read {
        let mut map = known(old);
        for member in Box::new(node.members(name)?) {
            self.member(name, &member?, element, &mut map)?;
        }
        Ok(Decoded::Map(map))
    }

    fn member(
        &mut self,
        name: &str,
        (key, value): &(&Key, Node<'_>),
        element: &Shape,
        map: &mut BTreeMap<String, Decoded>,
    ) -> Result<(), Box<DecodeError>> {
        let old = map.get(&key.text).cloned();
        let value = self.read(&join(name, &key.text), value, element, old)?;
        map.insert(key.text.clone(), value);
        Ok(())
    }

    fn fields(&mut self, name: &str, node: &Node<'_>, fields: &[(&'static str, Shape)], old: Option<Decoded>) -> Read {
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

fn single(name: &str, node: &Node<'_>, shape: &Shape) -> Result<Decoded, DecodeError> {
    match shape {
        Shape::Bool => bool(name, node).map(Decoded::Bool),
        Shape::Integer => integer(name, node).map(Decoded::Integer),
        _ => text(name, node).map(Decoded::Text),
    }
}

/// A shape, or what no shape is for.
enum Guess {
    Shape(Shape),
    Float,
    Objects,
}

fn shape_of(old: &Decoded) -> Guess {
    Guess::Shape(match old {
        Decoded::Text(_) => Shape::Text,
        Decoded::Bool(_) => Shape::Bool,
        Decoded::Integer(_) => Shape::Integer,
        Decoded::Float(_) => return Guess::Float,
        Decoded::Objects(_) => return Guess::Objects,
        Decoded::List(_) => list_of(Shape::Any),
        Decoded::Map(_) => map_of(Shape::Any),
    })
}

fn list_of(element: Shape) -> Shape {
    Shape::List(Box::new(element))
}

fn map_of(element: Shape) -> Shape {
    Shape::Map(Box::new(element))
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
fn expanded<'a>(item: &View<'a>, element: &Shape) -> View<'a> {
    let wants_struct = match element {
        Shape::Struct(_) => true,
        Shape::Pointer(inner) => matches!(**inner, Shape::Struct(_)),
        _ => false,
    };
    if wants_struct && item.keys().len() == 2 { item.expanded() } else { item.clone() }
}

fn text(name: &str, node: &Node<'_>) -> Result<String, DecodeError> {
    match node {
        Node::Value(Value::Number { text, .. }) => Ok(text.clone()),
        Node::Value(Value::Null { .. }) => Ok(String::new()),
        Node::Value(Value::String(text)) => match &text.fault {
            None => Ok(text.value.clone()),
            Some(fault) => Err(crash(fault.span.clone())),
        },
        _ => Err(node.wrong_type(name, "a text in quotes")),
    }
}

fn bool(name: &str, node: &Node<'_>) -> Result<bool, DecodeError> {
    match node {
        Node::Value(Value::Bool { value, .. }) => Ok(*value),
        _ => Err(node.wrong_type(name, "`true` or `false` without quotes")),
    }
}

fn integer(name: &str, node: &Node<'_>) -> Result<i64, DecodeError> {
    let parsed = match node {
        Node::Value(Value::Number { text, .. }) => integer::parse(text),
        Node::Value(Value::String(written)) if !written.heredoc => integer::parse(&text(name, node)?),
        Node::Value(Value::Null { .. }) => None,
        _ => return Err(node.wrong_type(name, "a whole number")),
    };
    parsed.ok_or_else(|| node.not_a_number(name))
}

fn float(name: &str, node: &Node<'_>) -> Result<f64, DecodeError> {
    match node {
        Node::Value(Value::Float { text, .. } | Value::Number { text, .. }) => {
            text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| node.not_a_number(name))
        }
        _ => Err(node.wrong_type(name, "a number")),
    }
}

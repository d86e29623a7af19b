//! The decoding itself.

use std::collections::{BTreeMap, HashSet};

use super::fold::equal_fold;
use super::integer;
use super::node::{Node, View, crash, key_text};
use super::{DecodeError, Decoded, Shape};
use crate::{Duplicates, Key, Value};

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
    pub(super) fn read(
        &mut self,
        name: &str,
        node: &Node<'_>,
        shape: &Shape,
        old: Option<Decoded>,
    ) -> Result<Decoded, DecodeError> {
        if *shape == Shape::Any {
            let known = match &old {
                Some(old) => shape_of(old),
                None => self.guess(name, node)?,
            };
            return match known {
                Guess::Float => float(name, node).map(Decoded::Float),
                Guess::Objects => {
                    let list = self.read(name, node, &list_of(map_of(Shape::Any)), old)?;
                    Ok(if let Decoded::List(objects) = list { Decoded::Objects(objects) } else { list })
                }
                Guess::Shape(shape) => self.read(name, node, &shape, old),
            };
        }
        self.lists.push(matches!(shape, Shape::List(_)));
        let result = self.read_known(name, node, shape, old);
        self.lists.pop();
        result
    }

    fn read_known(
        &mut self,
        name: &str,
        node: &Node<'_>,
        shape: &Shape,
        old: Option<Decoded>,
    ) -> Result<Decoded, DecodeError> {
        match shape {
            Shape::Text => text(name, node).map(Decoded::Text),
            Shape::Bool => bool(name, node).map(Decoded::Bool),
            Shape::Integer => integer(name, node).map(Decoded::Integer),
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
    fn guess(&self, name: &str, node: &Node<'_>) -> Result<Guess, DecodeError> {
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
            Node::Item(_) => return Err(DecodeError { reported: None, ..node.wrong_type(name, "a value") }),
        })
    }

    fn list(
        &mut self,
        name: &str,
        node: &Node<'_>,
        element: &Shape,
        old: Option<Decoded>,
    ) -> Result<Decoded, DecodeError> {
        let nodes: Vec<Node<'_>> = match node {
            Node::Items(items) => items.iter().map(|item| Node::Item(expanded(item, element))).collect(),
            Node::Value(Value::Object(..)) => vec![node.clone()],
            Node::Value(Value::List(values, _)) => values.iter().map(Node::Value).collect(),
            Node::Value(_) | Node::Item(_) => return Err(node.wrong_type(name, "a list")),
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

    fn map(
        &mut self,
        name: &str,
        node: &Node<'_>,
        element: &Shape,
        old: Option<Decoded>,
    ) -> Result<Decoded, DecodeError> {
        let items = node.items().ok_or_else(|| node.wrong_type(name, "a block or an object"))?;
        let mut map = known(old);
        let mut done = HashSet::new();
        for item in &items {
            let Some(key) = item.keys.first() else {
                let node = Node::Items(items.clone());
                return Err(node.wrong_type(name, "a name for each value"));
            };
            let key = key_text(key)?;
            if done.contains(key) {
                continue;
            }
            let value = if item.keys.len() > 1 {
                done.insert(key);
                Node::Items(under(&items, key)?)
            } else {
                item.value()
            };
            let old = map.get(key).cloned();
            let value = self.read(&join(name, key), &value, element, old)?;
            map.insert(key.to_owned(), value);
        }
        Ok(Decoded::Map(map))
    }

    fn fields(
        &mut self,
        name: &str,
        node: &Node<'_>,
        fields: &[(&'static str, Shape)],
        old: Option<Decoded>,
    ) -> Result<Decoded, DecodeError> {
        let node = &match node {
            Node::Item(item) => match item.content() {
                Node::Value(Value::List(..)) => item.value(),
                Node::Value(_) => Node::Items(vec![item.clone()]),
                content => content,
            },
            node => node.clone(),
        };
        let items = node.items().ok_or_else(|| node.wrong_type(name, "a block or an object"))?;
        check_keys(&items)?;
        let mut map = known(old);
        for (field, shape) in fields {
            let (labelled, plain): (Vec<_>, Vec<_>) =
                under(&items, field)?.into_iter().partition(|item| !item.keys.is_empty());
            let name = join(name, field);
            if !labelled.is_empty() {
                let value = self.read(&name, &Node::Items(labelled), shape, map.get(*field).cloned())?;
                map.insert((*field).to_owned(), value);
            }
            for item in plain {
                let value = self.read(&name, &item.content(), shape, map.get(*field).cloned())?;
                map.insert((*field).to_owned(), value);
            }
        }
        Ok(Decoded::Map(map))
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

/// The items whose first key is `name`, without it.
fn under<'a>(items: &[View<'a>], name: &str) -> Result<Vec<View<'a>>, DecodeError> {
    let mut found = Vec::new();
    for item in items {
        if let Some(key) = item.keys.first()
            && equal_fold(key_text(key)?, name)
        {
            found.push(item.stripped());
        }
    }
    Ok(found)
}

/// Which keys of a struct HCL 1 looks at: all in JSON, except those of later items with labels.
fn check_keys(items: &[View<'_>]) -> Result<(), DecodeError> {
    let looked_at = |index: usize, item: &View<'_>, key: &Key| (index == 0 || item.keys.len() == 1) && key.json;
    for (index, item) in items.iter().enumerate() {
        for key in item.keys.iter().filter(|key| looked_at(index, item, key)) {
            key_text(key)?;
        }
    }
    Ok(())
}

/// Where a struct is wanted, an item of two keys is one that JSON's flattening made.
fn expanded<'a>(item: &View<'a>, element: &Shape) -> View<'a> {
    let wants_struct = match element {
        Shape::Struct(_) => true,
        Shape::Pointer(inner) => matches!(**inner, Shape::Struct(_)),
        _ => false,
    };
    if wants_struct && item.keys.len() == 2 { item.expanded() } else { item.clone() }
}

pub(super) fn text(name: &str, node: &Node<'_>) -> Result<String, DecodeError> {
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

pub(super) fn bool(name: &str, node: &Node<'_>) -> Result<bool, DecodeError> {
    match node {
        Node::Value(Value::Bool { value, .. }) => Ok(*value),
        _ => Err(node.wrong_type(name, "`true` or `false`, without quotes,")),
    }
}

pub(super) fn integer(name: &str, node: &Node<'_>) -> Result<i64, DecodeError> {
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

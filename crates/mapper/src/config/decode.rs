//! Values out of HCL 1, each beside the place where it stands.
//!
//! What a value is, and whether it is one, `tofu_oci_hcl` decides, as HCL 1's own decoder does.

use std::collections::BTreeMap;
use std::ops::Range;

use tofu_oci_hcl::{DecodeError, Decoded, Duplicates, Key, Node, Shape, Text};

use super::{Attribute, Setting};

/// A text, and the literal that it was written as; nothing where a number stands.
pub(super) struct Written<'a> {
    pub(super) value: String,
    pub(super) text: Option<&'a Text>,
    pub(super) span: Range<usize>,
}

/// A label of blocks, every block that has it, and what they say together.
pub(super) struct Labelled<'a> {
    pub(super) key: &'a Key,
    pub(super) blocks: Vec<Node<'a>>,
    pub(super) values: BTreeMap<String, Decoded>,
}

/// The text of an argument; the last one where it is given twice.
pub(super) fn text<'a>(block: &Node<'a>, name: &'static str) -> Result<Option<Written<'a>>, DecodeError> {
    let value = single(block, name, Shape::Text)?.and_then(Decoded::into_text);
    let (Some(value), Some(last)) = (value, block.named(name)?.pop()) else { return Ok(None) };
    Ok(Some(Written { value, text: last.text(), span: last.span() }))
}

/// The truth value of an argument.
pub(super) fn truth(block: &Node<'_>, name: &'static str) -> Result<Option<bool>, DecodeError> {
    Ok(match single(block, name, Shape::Bool)? {
        Some(Decoded::Bool(value)) => Some(value),
        _ => None,
    })
}

/// The whole number of an argument, which may stand in quotes.
pub(super) fn whole(block: &Node<'_>, name: &'static str) -> Result<Option<i64>, DecodeError> {
    Ok(match single(block, name, Shape::Integer)? {
        Some(Decoded::Integer(value)) => Some(value),
        _ => None,
    })
}

/// The texts of a list; joined where it is given twice, nothing where it is not given.
pub(super) fn texts(block: &Node<'_>, name: &'static str) -> Result<Option<Vec<String>>, DecodeError> {
    let list = single(block, name, list_of_texts())?.and_then(Decoded::into_list);
    Ok(list.map(|list| list.into_iter().filter_map(Decoded::into_text).collect()))
}

/// Of these values it makes no difference whether duplicates are allowed.
fn single(block: &Node<'_>, name: &'static str, shape: Shape) -> Result<Option<Decoded>, DecodeError> {
    block.argument(name, shape, Duplicates::Refused)
}

/// A list of texts.
pub(super) fn list_of_texts() -> Shape {
    Shape::List(Box::new(Shape::Text))
}

/// Values by name.
pub(super) fn map_of(shape: Shape) -> Shape {
    Shape::Map(Box::new(shape))
}

/// The blocks of a name by their labels, in the order in which these first stand there.
pub(super) fn labelled<'a>(
    top: &Node<'a>,
    name: &'static str,
    shape: Shape,
    duplicates: Duplicates,
) -> Result<Vec<Labelled<'a>>, DecodeError> {
    let decoded = top.argument(name, map_of(shape), duplicates)?.and_then(Decoded::into_map);
    let mut decoded = decoded.unwrap_or_default();
    let mut labels: Vec<Labelled<'a>> = Vec::new();
    for node in top.named(name)? {
        for member in node.members(name)? {
            let (key, block) = member?;
            if let Some(known) = labels.iter_mut().find(|known| known.key.text == key.text) {
                known.blocks.push(block);
            } else {
                let values = decoded.remove(&key.text).and_then(Decoded::into_map).unwrap_or_default();
                labels.push(Labelled { key, blocks: vec![block], values });
            }
        }
    }
    Ok(labels)
}

/// Values beside the last place of each in these blocks.
pub(super) fn attributes(blocks: &[Node<'_>], values: BTreeMap<String, Decoded>) -> Vec<Attribute> {
    let last = |name: &str| blocks.iter().rev().find_map(|block| Some(block.named(name).ok()?.pop()?.span()));
    let attribute = |(name, value): (String, Decoded)| {
        let span = last(&name).unwrap_or_default();
        Attribute { name, value: value.into(), span }
    };
    values.into_iter().map(attribute).collect()
}

impl From<Decoded> for Setting {
    fn from(value: Decoded) -> Self {
        let members = |map: BTreeMap<String, Decoded>| map.into_iter().map(|(name, value)| (name, value.into()));
        match value {
            Decoded::Text(text) => Self::Text(text),
            Decoded::Bool(value) => Self::Bool(value),
            Decoded::Integer(number) => Self::Number(number.to_string()),
            Decoded::Float(number) => Self::Number(number.to_string()),
            Decoded::List(values) => Self::List(values.into_iter().map(Self::from).collect()),
            Decoded::Map(map) => Self::Map(members(map).collect()),
            Decoded::Objects(objects) => {
                Self::Map(objects.into_iter().filter_map(Decoded::into_map).flat_map(members).collect())
            }
        }
    }
}

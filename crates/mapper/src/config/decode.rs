//! Values from HCL 1, each with its place.
//!
//! `tofu_oci_hcl` decides which values are valid, as HCL 1's own decoder does.

use std::collections::BTreeMap;
use std::ops::Range;

use tofu_oci_hcl::{DecodeError, DecodeNode, DecodeShape, Decoded, Duplicates, HclKey, Text};

use super::{BlockAttribute, ConfigSetting};

/// A text, and its literal; `None` if it is written as a number.
pub(super) struct WrittenText<'a> {
    pub(super) value: String,
    pub(super) text: Option<&'a Text>,
    pub(super) span: Range<usize>,
}

/// A label of blocks, every block that has it, and their joined value.
pub(super) struct Labelled<'a> {
    pub(super) key: &'a HclKey,
    pub(super) blocks: Vec<DecodeNode<'a>>,
    pub(super) values: BTreeMap<String, Decoded>,
}

/// The text of an argument; the last one if it is given twice.
pub(super) fn text<'a>(block: &DecodeNode<'a>, name: &'static str) -> Result<Option<WrittenText<'a>>, DecodeError> {
    let value = single(block, name, DecodeShape::Text)?.and_then(Decoded::into_text);
    let (Some(value), Some(last)) = (value, block.named(name)?.pop()) else { return Ok(None) };
    Ok(Some(WrittenText { value, text: last.text(), span: last.span() }))
}

/// The truth value of an argument.
pub(super) fn truth(block: &DecodeNode<'_>, name: &'static str) -> Result<Option<bool>, DecodeError> {
    Ok(match single(block, name, DecodeShape::Bool)? {
        Some(Decoded::Bool(value)) => Some(value),
        _ => None,
    })
}

/// The whole number of an argument, which may be in quotes.
pub(super) fn whole(block: &DecodeNode<'_>, name: &'static str) -> Result<Option<i64>, DecodeError> {
    Ok(match single(block, name, DecodeShape::Integer)? {
        Some(Decoded::Integer(value)) => Some(value),
        _ => None,
    })
}

/// The texts of a list; joined if it is given twice; `None` if it is not given.
pub(super) fn texts(block: &DecodeNode<'_>, name: &'static str) -> Result<Option<Vec<String>>, DecodeError> {
    let list = single(block, name, list_of_texts())?.and_then(Decoded::into_list);
    Ok(list.map(|list| list.into_iter().filter_map(Decoded::into_text).collect()))
}

/// For these values the treatment of duplicates makes no difference.
fn single(block: &DecodeNode<'_>, name: &'static str, shape: DecodeShape) -> Result<Option<Decoded>, DecodeError> {
    block.argument(name, shape, Duplicates::Refused)
}

/// A list of texts.
pub(super) fn list_of_texts() -> DecodeShape {
    DecodeShape::List(Box::new(DecodeShape::Text))
}

/// Values by name.
pub(super) fn map_of(shape: DecodeShape) -> DecodeShape {
    DecodeShape::Map(Box::new(shape))
}

/// The blocks of a name by their labels, in the order of each label's first block.
pub(super) fn labelled<'a>(
    top: &DecodeNode<'a>,
    name: &'static str,
    shape: DecodeShape,
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

/// Values with the last place of each in these blocks.
pub(super) fn attributes(blocks: &[DecodeNode<'_>], values: BTreeMap<String, Decoded>) -> Vec<BlockAttribute> {
    let last = |name: &str| blocks.iter().rev().find_map(|block| Some(block.named(name).ok()?.pop()?.span()));
    let attribute = |(name, value): (String, Decoded)| {
        let span = last(&name).unwrap_or_default();
        BlockAttribute { name, value: value.into(), span }
    };
    values.into_iter().map(attribute).collect()
}

impl From<Decoded> for ConfigSetting {
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

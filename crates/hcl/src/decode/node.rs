//! The nodes that the decoder reads: a value, an item, or items that share a name.

use std::collections::HashSet;
use std::ops::Range;

use super::fold::equal_fold;
use super::{DecodeError, DecodeErrorKind};
use crate::{HclBody, HclItem, HclKey, HclValue, Text};

/// An item, perhaps without its first keys.
#[derive(Clone, Debug)]
pub struct ItemView<'a> {
    keys: &'a [HclKey],
    held: ItemContent<'a>,
    span: Range<usize>,
}

/// What an item holds.
#[derive(Clone, Debug)]
enum ItemContent<'a> {
    Value(&'a HclValue),
    /// An object made of one item, which undoes the flattening.
    Object(Box<ItemView<'a>>),
}

/// A node to decode: a value, an item, or the items of a body or under a name. It is for programs that need the place
/// of a value; [`HclBody::field`] and the like give values alone.
#[derive(Clone, Debug)]
pub enum DecodeNode<'a> {
    Value(&'a HclValue),
    /// An item in a list of items.
    Item(ItemView<'a>),
    Items(Vec<ItemView<'a>>),
}

impl<'a> ItemView<'a> {
    /// The item with all its keys.
    pub fn of(item: &'a HclItem) -> Self {
        Self { keys: &item.keys, held: ItemContent::Value(&item.value), span: item.span.clone() }
    }

    /// The keys that are left.
    pub fn keys(&self) -> &'a [HclKey] {
        self.keys
    }

    /// The item without its first `count` keys.
    #[must_use]
    pub fn without(&self, count: usize) -> Self {
        Self { keys: self.keys.get(count..).unwrap_or_default(), ..self.clone() }
    }

    /// `a b {…}` as `a { b {…} }`.
    pub(super) fn expanded(&self) -> Self {
        let inner = Box::new(self.without(1));
        Self { keys: &self.keys[..1], held: ItemContent::Object(inner), span: self.span.clone() }
    }

    /// Its value; an object as its items.
    pub fn content(&self) -> DecodeNode<'a> {
        match &self.held {
            ItemContent::Value(value) => DecodeNode::of_value(value),
            ItemContent::Object(inner) => DecodeNode::Items(vec![(**inner).clone()]),
        }
    }

    /// What it holds.
    fn value(&self) -> DecodeNode<'a> {
        match &self.held {
            ItemContent::Value(value) => DecodeNode::Value(value),
            ItemContent::Object(_) => self.content(),
        }
    }
}

impl<'a> DecodeNode<'a> {
    /// The items of a body.
    pub fn of_body(body: &'a HclBody) -> Self {
        Self::Items(body.items.iter().map(ItemView::of).collect())
    }

    /// A value, an object as its items.
    pub fn of_value(value: &'a HclValue) -> Self {
        match value {
            HclValue::Object(body, _) => Self::of_body(body),
            _ => Self::Value(value),
        }
    }

    /// The items of a body or an object; an item counts as a body of itself.
    pub fn items(&self) -> Option<Vec<ItemView<'a>>> {
        match self {
            Self::Items(items) => Some(items.clone()),
            Self::Item(item) => Some(vec![item.clone()]),
            Self::Value(HclValue::Object(body, _)) => Some(body.items.iter().map(ItemView::of).collect()),
            Self::Value(_) => None,
        }
    }

    /// The items of a block, in which arguments are looked for.
    ///
    /// # Errors
    /// If it is not one.
    pub fn arguments(&self, name: &str) -> Result<Vec<ItemView<'a>>, DecodeError> {
        let node = match self {
            Self::Item(item) => match item.content() {
                Self::Value(HclValue::List(..)) => item.value(),
                Self::Value(_) => Self::Items(vec![item.clone()]),
                content => content,
            },
            node => node.clone(),
        };
        let items = node.items().ok_or_else(|| node.wrong_type(name, "a block or an object"))?;
        check_keys(&items)?;
        Ok(items)
    }

    /// Every value under the name of an argument, in the order of HCL 1: first all with labels together, then each of
    /// the others.
    ///
    /// # Errors
    /// As [`DecodeNode::arguments`].
    pub fn named(&self, name: &str) -> Result<Vec<DecodeNode<'a>>, DecodeError> {
        named(&self.arguments("")?, name)
    }

    /// The members of a map in their order, each with its node. A name may occur twice.
    ///
    /// # Errors
    /// If it is not a block or object; each member without a name is an error too.
    pub fn members(&self, name: &str) -> Result<MapMembers<'a>, DecodeError> {
        let items = self.items().ok_or_else(|| self.wrong_type(name, "a block or an object"))?;
        Ok(MapMembers { items, next: 0, done: HashSet::new(), name: name.to_owned() })
    }

    /// The text as it was written, if it is one.
    pub fn text(&self) -> Option<&'a Text> {
        match self {
            Self::Value(HclValue::String(text)) => Some(text),
            _ => None,
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

    /// The bytes to underline: those of the first item if there are several.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Value(value) => value.span(),
            Self::Item(item) => item.span.clone(),
            Self::Items(items) => items.first().map_or(0..0, |item| item.span.clone()),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Value(HclValue::List(..)) => "a list",
            Self::Value(HclValue::String(_)) => "a text",
            Self::Value(HclValue::Number { .. }) => "a number",
            Self::Value(HclValue::Float { .. }) => "a number with a fraction",
            Self::Value(HclValue::Bool { value: true, .. }) => "`true`",
            Self::Value(HclValue::Bool { .. }) => "`false`",
            Self::Value(HclValue::Null { .. }) => "`null`",
            Self::Value(HclValue::Object(..)) | Self::Item(_) | Self::Items(_) => "a block or an object",
        }
    }

    pub(super) fn wrong_type(&self, name: &str, wanted: &'static str) -> DecodeError {
        let reported = self.reported();
        DecodeError { reported, ..self.error(DecodeErrorKind::WrongType, name, wanted, self.noun()) }
    }

    pub(super) fn not_a_number(&self, name: &str) -> DecodeError {
        let found = match self {
            Self::Value(HclValue::Number { .. }) => "another number",
            _ => self.noun(),
        };
        self.error(DecodeErrorKind::NotANumber, name, "a whole number of 64 bits", found)
    }

    fn error(&self, kind: DecodeErrorKind, name: &str, wanted: &'static str, found: &'static str) -> DecodeError {
        let before = if name.is_empty() { String::new() } else { format!("`{name}`: ") };
        let message = format!("{before}{wanted} belongs here, not {found}");
        DecodeError { message, name: name.to_owned(), wanted, found, span: self.span(), reported: None, kind }
    }
}

/// The members of a map. See [`DecodeNode::members`].
#[derive(Clone, Debug)]
pub struct MapMembers<'a> {
    items: Vec<ItemView<'a>>,
    next: usize,
    /// Names whose items were all returned together.
    done: HashSet<&'a str>,
    name: String,
}

impl<'a> Iterator for MapMembers<'a> {
    type Item = Result<(&'a HclKey, DecodeNode<'a>), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let item = self.items.get(self.next)?;
            self.next += 1;
            let Some(key) = item.keys.first() else {
                return Some(
                    Err(DecodeNode::Items(self.items.clone()).wrong_type(&self.name, "a name for each value")),
                );
            };
            let name = match key_text(key) {
                Ok(name) => name,
                Err(error) => return Some(Err(error)),
            };
            if self.done.contains(name) {
                continue;
            }
            if item.keys.len() == 1 {
                return Some(Ok((key, item.value())));
            }
            self.done.insert(name);
            return Some(under(&self.items, name).map(|items| (key, DecodeNode::Items(items))));
        }
    }
}

/// Every value under the name of an argument, among the items of a block.
pub(super) fn named<'a>(items: &[ItemView<'a>], name: &str) -> Result<Vec<DecodeNode<'a>>, DecodeError> {
    let (labelled, plain): (Vec<_>, Vec<_>) = under(items, name)?.into_iter().partition(|item| !item.keys.is_empty());
    let labelled = (!labelled.is_empty()).then_some(DecodeNode::Items(labelled));
    Ok(labelled.into_iter().chain(plain.iter().map(ItemView::content)).collect())
}

/// The items whose first key is `name`, without it.
fn under<'a>(items: &[ItemView<'a>], name: &str) -> Result<Vec<ItemView<'a>>, DecodeError> {
    let mut found = Vec::new();
    for item in items {
        if let Some(key) = item.keys.first()
            && equal_fold(key_text(key)?, name)
        {
            found.push(item.without(1));
        }
    }
    Ok(found)
}

/// Which keys of a struct HCL 1 looks at: all in JSON, except those of later items with labels.
fn check_keys(items: &[ItemView<'_>]) -> Result<(), DecodeError> {
    let looked_at = |index: usize, item: &ItemView<'_>, key: &HclKey| (index == 0 || item.keys.len() == 1) && key.json;
    for (index, item) in items.iter().enumerate() {
        for key in item.keys.iter().filter(|key| looked_at(index, item, key)) {
            key_text(key)?;
        }
    }
    Ok(())
}

/// The text of a key, or the crash of HCL 1 on it.
pub(super) fn key_text(key: &HclKey) -> Result<&str, DecodeError> {
    match &key.fault {
        None => Ok(&key.text),
        Some(fault) => Err(crash(fault.span.clone())),
    }
}

pub(super) fn crash(span: Range<usize>) -> DecodeError {
    let message = "this escape names no character that a text can hold".to_owned();
    let kind = DecodeErrorKind::Crash;
    DecodeError { message, name: String::new(), wanted: "", found: "", span, reported: None, kind }
}

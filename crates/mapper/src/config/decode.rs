//! Values out of HCL 1, as weakly typed as its own decoder makes them.
//!
//! Names of arguments are compared without regard to case, labels and nested keys can stand for each other, and a list
//! that is given twice is joined. What does not fit is a [`Mismatch`].
//!
//! Spec: hashicorp/hcl v1.0.1-vault-7, decoder.

use std::collections::BTreeMap;
use std::ops::Range;

use tofu_oci_hcl::{Body, Item, Key, Text, Value};

use super::Setting;

/// What a text must be.
pub(super) const TEXT: &str = "a text in quotes";
/// What a list must be.
pub(super) const LIST: &str = "a list in square brackets";

/// An item whose first keys may have been taken off.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) keys: &'a [Key],
    pub(super) item: &'a Item,
}

/// What is decoded: a value, the items of a block, or one item.
#[derive(Clone)]
pub(super) enum Node<'a> {
    Value(&'a Value),
    Items(Vec<Entry<'a>>),
    Entry(Entry<'a>),
}

/// A value of the wrong kind.
#[derive(Clone, Debug)]
pub(super) struct Mismatch {
    /// Where HCL 1 says it is; nothing where it does not say.
    pub(super) at: Option<usize>,
    /// What to underline.
    pub(super) span: Range<usize>,
    /// The name of the argument.
    pub(super) name: String,
    /// What the value must be.
    pub(super) wanted: &'static str,
    /// What it is.
    pub(super) found: &'static str,
}

/// A text, and the literal that it was written as; nothing where a number stands.
pub(super) struct Written<'a> {
    pub(super) value: String,
    pub(super) text: Option<&'a Text>,
    pub(super) span: Range<usize>,
}

/// The items of a block, none of their keys taken off.
pub(super) fn entries(body: &Body) -> Vec<Entry<'_>> {
    body.items.iter().map(|item| Entry { keys: &item.keys, item }).collect()
}

/// What stands under `name`: first everything with more keys behind that name, then each value of exactly that name.
pub(super) fn field<'a>(list: &[Entry<'a>], name: &str) -> Vec<Node<'a>> {
    let (longer, exact): (Vec<_>, Vec<_>) = under(list, name).into_iter().partition(|entry| !entry.keys.is_empty());
    let longer = if longer.is_empty() { None } else { Some(Node::Items(longer)) };
    longer.into_iter().chain(exact.into_iter().map(|entry| Node::of(&entry.item.value))).collect()
}

/// The items under a name, the name taken off.
fn under<'a>(list: &[Entry<'a>], name: &str) -> Vec<Entry<'a>> {
    let named = |entry: &Entry<'a>| {
        let (first, keys) = entry.keys.split_first()?;
        same_name(&first.text, name).then_some(Entry { keys, item: entry.item })
    };
    list.iter().filter_map(named).collect()
}

/// Whether HCL 1 takes one name for the other when it looks for an argument.
pub(super) fn same_name(one: &str, other: &str) -> bool {
    let fold =
        |text: &str| -> String { text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect() };
    one == other || fold(one) == fold(other)
}

impl<'a> Node<'a> {
    /// A value; a block or an object is its items.
    pub(super) fn of(value: &'a Value) -> Self {
        match value {
            Value::Object(body, _) => Self::Items(entries(body)),
            _ => Self::Value(value),
        }
    }

    fn found(&self) -> &'static str {
        match self {
            Self::Items(_) | Self::Entry(_) | Self::Value(Value::Object(..)) => "a block",
            Self::Value(Value::List(..)) => "a list",
            Self::Value(Value::String(_)) => "a text",
            Self::Value(Value::Number { .. } | Value::Float { .. }) => "a number",
            Self::Value(Value::Bool { .. }) => "true or false",
            Self::Value(Value::Null { .. }) => "null",
        }
    }

    fn span(&self) -> Range<usize> {
        match self {
            Self::Value(value) => value.span(),
            Self::Entry(entry) => entry.item.span.clone(),
            Self::Items(list) => match (list.first(), list.last()) {
                (Some(from), Some(to)) => from.item.span.start..to.item.span.end,
                _ => 0..0,
            },
        }
    }

    fn mismatch(&self, name: &str, wanted: &'static str) -> Mismatch {
        let first = match self {
            Self::Value(value) => Some(value.span().start),
            Self::Entry(entry) => entry.keys.first().map(|key| key.span.start),
            Self::Items(list) => list.first().and_then(|entry| entry.keys.first()).map(|key| key.span.start),
        };
        Mismatch { at: first, span: self.span(), name: name.to_owned(), wanted, found: self.found() }
    }
}

/// The text of an argument; the last one where it is given twice.
pub(super) fn text<'a>(list: &[Entry<'a>], name: &str) -> Result<Option<Written<'a>>, Mismatch> {
    let mut found = None;
    for node in field(list, name) {
        found = Some(one_text(&node, name)?);
    }
    Ok(found)
}

fn one_text<'a>(node: &Node<'a>, name: &str) -> Result<Written<'a>, Mismatch> {
    match node {
        Node::Value(Value::String(text)) => {
            Ok(Written { value: text.value.clone(), text: Some(text), span: text.span.clone() })
        }
        Node::Value(Value::Number { text, span }) => {
            Ok(Written { value: text.clone(), text: None, span: span.clone() })
        }
        Node::Value(Value::Null { span }) => Ok(Written { value: String::new(), text: None, span: span.clone() }),
        _ => Err(node.mismatch(name, TEXT)),
    }
}

/// The truth value of an argument.
pub(super) fn truth(list: &[Entry<'_>], name: &str) -> Result<Option<bool>, Mismatch> {
    let mut found = None;
    for node in field(list, name) {
        match node {
            Node::Value(Value::Bool { value, .. }) => found = Some(*value),
            _ => return Err(node.mismatch(name, "true or false, without quotes")),
        }
    }
    Ok(found)
}

/// The whole number of an argument, which may stand in quotes.
pub(super) fn whole(list: &[Entry<'_>], name: &str) -> Result<Option<i64>, Mismatch> {
    const WANTED: &str = "a whole number";
    let mut found = None;
    for node in field(list, name) {
        let text = match &node {
            Node::Value(Value::Number { text, .. }) => text.as_str(),
            Node::Value(Value::String(text)) if !text.heredoc => text.value.as_str(),
            Node::Value(Value::Null { .. }) => "",
            _ => return Err(node.mismatch(name, WANTED)),
        };
        // A text that is no number is refused without a place.
        found = Some(integer(text).ok_or_else(|| Mismatch { at: None, ..node.mismatch(name, WANTED) })?);
    }
    Ok(found)
}

/// A whole number as Go reads it with base 0: `0x`, `0o`, `0b`, a leading 0 for octal, single `_` between digits.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, rest, prefixed) = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, base)| lower.strip_prefix(prefix).map(|rest| (base, rest, true)))
        .unwrap_or(match lower.strip_prefix('0') {
            Some(rest) if !rest.is_empty() => (8, rest, true),
            _ => (10, lower.as_str(), false),
        });
    let misplaced = rest.ends_with('_') || rest.contains("__") || (!prefixed && rest.starts_with('_'));
    if rest.starts_with(['+', '-']) || misplaced {
        return None;
    }
    let number = i128::from_str_radix(&rest.replace('_', ""), base).ok()?;
    i64::try_from(if negative { -number } else { number }).ok()
}

/// The texts of a list; joined where it is given twice, nothing where it is not given.
pub(super) fn texts(list: &[Entry<'_>], name: &str) -> Result<Option<Vec<String>>, Mismatch> {
    let mut all: Option<Vec<String>> = None;
    for node in field(list, name) {
        let items: Vec<Node<'_>> = match node {
            Node::Value(Value::List(values, _)) => values.iter().map(Node::Value).collect(),
            Node::Items(list) => list.into_iter().map(Node::Entry).collect(),
            other => return Err(other.mismatch(name, LIST)),
        };
        let all = all.get_or_insert_default();
        for item in items {
            let written =
                one_text(&item, name).map_err(|error| Mismatch { wanted: "a list of texts in quotes", ..error })?;
            all.push(written.value);
        }
    }
    Ok(all)
}

/// The members of a map: each name with what stands under it, in order.
pub(super) fn members<'a>(node: &Node<'a>, name: &str) -> Result<Vec<(&'a Key, Node<'a>)>, Mismatch> {
    let list = match node {
        Node::Items(list) => list.clone(),
        Node::Entry(entry) => vec![*entry],
        Node::Value(Value::Object(body, _)) => entries(body),
        Node::Value(_) => return Err(node.mismatch(name, "a block")),
    };
    let mut done: Vec<&str> = Vec::new();
    let mut members = Vec::new();
    for entry in &list {
        let Some((key, rest)) = entry.keys.split_first() else {
            return Err(Mismatch { at: None, ..node.mismatch(name, "a block with a label") });
        };
        if done.contains(&key.text.as_str()) {
            continue;
        }
        if rest.is_empty() {
            members.push((key, Node::Value(&entry.item.value)));
        } else {
            done.push(&key.text);
            members.push((key, Node::Items(under(&list, &key.text))));
        }
    }
    Ok(members)
}

/// The items of a block that holds arguments.
pub(super) fn arguments<'a>(node: &Node<'a>, name: &str) -> Result<Vec<Entry<'a>>, Mismatch> {
    match node {
        Node::Items(list) => Ok(list.clone()),
        Node::Entry(Entry { item, .. }) => arguments(&Node::of(&item.value), name),
        Node::Value(Value::Object(body, _)) => Ok(entries(body)),
        Node::Value(_) => Err(node.mismatch(name, "a block")),
    }
}

/// One text where any node may stand, such as the path of a development override.
pub(super) fn member_text<'a>(node: &Node<'a>, name: &str) -> Result<Written<'a>, Mismatch> {
    one_text(node, name)
}

/// Whatever stands there, in its own form.
pub(super) fn anything(node: &Node<'_>, name: &str) -> Setting {
    match node {
        Node::Value(value) => match value {
            Value::String(text) => Setting::Text(text.value.clone()),
            Value::Number { text, .. } | Value::Float { text, .. } => Setting::Number(text.clone()),
            Value::Bool { value, .. } => Setting::Bool(*value),
            Value::Null { .. } => Setting::Null,
            Value::List(values, _) => {
                Setting::List(values.iter().map(|value| anything(&Node::of(value), name)).collect())
            }
            Value::Object(body, _) => anything(&Node::Items(entries(body)), name),
        },
        Node::Items(_) | Node::Entry(_) => {
            let members = members(node, name).unwrap_or_default();
            let map: BTreeMap<String, Setting> =
                members.iter().map(|(key, node)| (key.text.clone(), anything(node, &key.text))).collect();
            Setting::Map(map)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[track_caller]
    fn check(text: &str, want: Option<i64>) {
        assert_eq!(integer(text), want, "{text:?}");
    }

    #[test]
    fn whole_numbers_are_read_as_by_go() {
        check("5", Some(5));
        check("-5", Some(-5));
        check("+5", Some(5));
        check("0", Some(0));
        check("010", Some(8));
        check("0x10", Some(16));
        check("0X1f", Some(31));
        check("0b11", Some(3));
        check("0o17", Some(15));
        check("1_000", Some(1000));
        check("0x_1", Some(1));
        check("9223372036854775807", Some(i64::MAX));
        check("-9223372036854775808", Some(i64::MIN));
        for text in ["", "-", "+", " 5", "5 ", "5.0", "1e3", "08", "_1", "1_", "1__0", "--5", "+-5", "0x", "0x-1", "a"]
        {
            check(text, None);
        }
        check("9223372036854775808", None);
    }
}

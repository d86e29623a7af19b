//! From JSON's objects to blocks with labels, as HCL 1 guesses them.

use crate::{HclBody, HclItem, HclValue};

/// Turns objects that hold objects alone into items with more keys, and lists of objects into several items, at every
/// level. Empty ones stay as they are.
pub(super) fn flatten(body: &mut HclBody) {
    let mut waiting: Vec<HclItem> = std::mem::take(&mut body.items);
    let mut done = Vec::with_capacity(waiting.len());
    while let Some(item) = waiting.pop() {
        match item.value {
            HclValue::Object(inner, _) if holds_objects_alone(&inner) => {
                waiting.extend(inner.items.into_iter().map(|child| {
                    let keys: Vec<_> = item.keys.iter().chain(&child.keys).cloned().collect();
                    HclItem { keys, span: item.span.start..child.span.end.max(item.span.start), ..child }
                }));
            }
            HclValue::List(values, _) if !values.is_empty() && values.iter().all(is_object) => {
                waiting.extend(values.into_iter().map(|value| {
                    let span = item.span.start..value.span().end.max(item.span.start);
                    HclItem { keys: item.keys.clone(), assigned: item.assigned, value, span, brace: None }
                }));
            }
            _ => done.push(item),
        }
    }
    done.reverse();
    body.items = done;
    for item in &mut body.items {
        descend(&mut item.value);
    }
}

fn descend(value: &mut HclValue) {
    match value {
        HclValue::Object(body, _) => flatten(body),
        HclValue::List(values, _) => values.iter_mut().for_each(descend),
        _ => {}
    }
}

fn holds_objects_alone(body: &HclBody) -> bool {
    !body.items.is_empty() && body.items.iter().all(|item| is_object(&item.value))
}

fn is_object(value: &HclValue) -> bool {
    matches!(value, HclValue::Object(..))
}

//! What is taken from a value: elements and attributes.

use std::ops::Range;

use super::ast::{Step, StepKind};
use super::convert::convert;
use super::fault::TemplateFault;
use super::value::{Type, Value};

/// Takes one step after the other; stops at the first that fails.
pub(super) fn walk(value: Value, steps: &[Step], faults: &mut Vec<TemplateFault>) -> Value {
    let mut current = value;
    for step in steps {
        let next = match &step.kind {
            StepKind::Attribute(name) => attribute(current, name, &step.span),
            StepKind::Index(key) => index(current, key.clone(), &step.span),
        };
        match next {
            Ok(value) => current = value,
            Err(fault) => {
                faults.push(fault);
                return Value::ANY;
            }
        }
    }
    current
}

/// The element of `source` under `key`.
pub(super) fn index(source: Value, key: Value, span: &Range<usize>) -> Result<Value, TemplateFault> {
    let invalid = |message: String| Err(TemplateFault::new("invalid-index", message, span.clone()));
    if source.is_null() {
        let message = "the value is null and has no elements";
        return Err(TemplateFault::new("attempt-to-index-null-value", message, span.clone()));
    }
    if key.is_null() {
        return invalid("null is no index".to_owned());
    }
    let (of, key_of) = (source.type_of(), key.type_of());
    if of == Type::Any || key_of == Type::Any {
        return Ok(Value::ANY);
    }
    let wanted = match of {
        Type::List(_) | Type::Tuple(_) => Type::Number,
        Type::Map(_) | Type::Object(_) => Type::String,
        _ => return invalid(format!("{} has no elements", of.name())),
    };
    let key = match convert(key, &wanted) {
        Ok(key) => key,
        Err(message) => return invalid(format!("this is no index here: {message}")),
    };
    match (of, key) {
        (Type::List(_) | Type::Tuple(_), Value::Number(number)) => {
            let length = match &source {
                Value::Tuple(items) | Value::List(_, items) => Some(items.len()),
                Value::Unknown(Type::Tuple(types)) | Value::Present(Type::Tuple(types)) => Some(types.len()),
                _ => None,
            };
            let (Some(length), place) = (length, number.to_index()) else {
                return Ok(unknown_element(&source.type_of(), None));
            };
            match place.filter(|place| *place < length) {
                Some(place) => Ok(element(source, place)),
                None if !number.is_whole() => invalid(format!("{number} is no whole number")),
                None if number.is_negative() => invalid(format!("{number} is negative, and elements count from 0")),
                None => invalid(format!("there is no element {number}: the list has {length}, counted from 0")),
            }
        }
        (_, Value::String(name)) => match source {
            Value::Object(mut items) | Value::Map(_, mut items) => match items.remove(&name) {
                Some(value) => Ok(value),
                None => invalid(format!("there is nothing under \"{name}\"{}", names(items.keys()))),
            },
            unknown => Ok(match unknown.type_of() {
                Type::Map(of) => Value::Unknown(*of),
                _ => Value::ANY,
            }),
        },
        (of, _) => Ok(unknown_element(&of, None)),
    }
}

fn element(source: Value, place: usize) -> Value {
    match source {
        Value::Tuple(mut items) | Value::List(_, mut items) => items.swap_remove(place),
        unknown => unknown_element(&unknown.type_of(), Some(place)),
    }
}

fn unknown_element(of: &Type, place: Option<usize>) -> Value {
    match (of, place) {
        (Type::List(of) | Type::Map(of), _) => Value::Unknown((**of).clone()),
        (Type::Tuple(types), Some(place)) => Value::Unknown(types.get(place).cloned().unwrap_or(Type::Any)),
        _ => Value::ANY,
    }
}

const UNSUPPORTED: &str = "unsupported-attribute";

/// The attribute of `source` under `name`.
fn attribute(source: Value, name: &str, span: &Range<usize>) -> Result<Value, TemplateFault> {
    let fault = |code, message: String| Err(TemplateFault::new(code, message, span.clone()));
    match source {
        Value::Null(_) => {
            fault("attempt-to-get-attribute-from-null-value", "the value is null and has no attributes".to_owned())
        }
        Value::Unknown(Type::Any) | Value::Present(Type::Any) => Ok(Value::ANY),
        Value::Unknown(Type::Map(of)) | Value::Present(Type::Map(of)) => Ok(Value::Unknown(*of)),
        Value::Unknown(Type::Object(types)) | Value::Present(Type::Object(types)) => match types.get(name) {
            Some(of) => Ok(Value::Unknown(of.clone())),
            None => fault(UNSUPPORTED, format!("there is no attribute `{name}`{}", names(types.keys()))),
        },
        Value::Object(mut items) => match items.remove(name) {
            Some(value) => Ok(value),
            None => fault(UNSUPPORTED, format!("there is no attribute `{name}`{}", names(items.keys()))),
        },
        Value::Map(_, mut items) => match items.remove(name) {
            Some(value) => Ok(value),
            None => fault("missing-map-element", format!("there is nothing under `{name}`{}", names(items.keys()))),
        },
        other => fault(UNSUPPORTED, format!("{} has no attributes", other.type_of().name())),
    }
}

/// The names that there are, for the end of a message.
fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!(", only {}", names.join(", ")) }
}

//! Elements and attributes of values.

use std::ops::Range;

use super::ast::{AccessStep, AccessStepKind};
use super::convert::convert;
use super::fault::TemplateFault;
use super::value::{TemplateValue, Type};

/// Takes the steps in order; stops at the first that fails.
pub(super) fn walk(value: TemplateValue, steps: &[AccessStep], faults: &mut Vec<TemplateFault>) -> TemplateValue {
    let mut current = value;
    for step in steps {
        let next = match &step.kind {
            AccessStepKind::Attribute(name) => attribute(current, name, &step.span),
            AccessStepKind::Index(key) => index(current, key.clone(), &step.span),
        };
        match next {
            Ok(value) => current = value,
            Err(fault) => {
                faults.push(fault);
                return TemplateValue::ANY;
            }
        }
    }
    current
}

/// The element of `source` under `key`.
pub(super) fn index(
    source: TemplateValue,
    key: TemplateValue,
    span: &Range<usize>,
) -> Result<TemplateValue, TemplateFault> {
    let invalid = |message: String| Err(TemplateFault::new("invalid-index", message, span.clone()));
    if source.is_null() {
        let message = "the value is null and has no elements";
        return Err(TemplateFault::new("attempt-to-index-null-value", message, span.clone()));
    }
    if key.is_null() {
        return invalid("null cannot be an index".to_owned());
    }
    let (of, key_of) = (source.type_of(), key.type_of());
    if of == Type::Any || key_of == Type::Any {
        return Ok(TemplateValue::ANY);
    }
    let wanted = match of {
        Type::List(_) | Type::Tuple(_) => Type::Number,
        Type::Map(_) | Type::Object(_) => Type::String,
        _ => return invalid(format!("{} has no elements", of.name())),
    };
    let key = match convert(key, &wanted) {
        Ok(key) => key,
        Err(message) => return invalid(format!("this cannot be an index here: {message}")),
    };
    match (of, key) {
        (Type::List(_) | Type::Tuple(_), TemplateValue::Number(number)) => {
            let length = match &source {
                TemplateValue::Tuple(items) | TemplateValue::List(_, items) => Some(items.len()),
                TemplateValue::Unknown(Type::Tuple(types)) | TemplateValue::Present(Type::Tuple(types)) => {
                    Some(types.len())
                }
                _ => None,
            };
            let (Some(length), place) = (length, number.to_index()) else {
                return Ok(unknown_element(&source.type_of(), None));
            };
            match place.filter(|place| *place < length) {
                Some(place) => Ok(element(source, place)),
                None if !number.is_whole() => invalid(format!("{number} is not a whole number")),
                None if number.is_negative() => invalid(format!("{number} is negative, and elements count from 0")),
                None => invalid(format!("there is no element {number}: the list has {length}, counted from 0")),
            }
        }
        (_, TemplateValue::String(name)) => match source {
            TemplateValue::Object(mut items) | TemplateValue::Map(_, mut items) => match items.remove(&name) {
                Some(value) => Ok(value),
                None => invalid(format!("there is nothing under \"{name}\"{}", names(items.keys()))),
            },
            unknown => Ok(match unknown.type_of() {
                Type::Map(of) => TemplateValue::Unknown(*of),
                _ => TemplateValue::ANY,
            }),
        },
        (of, _) => Ok(unknown_element(&of, None)),
    }
}

fn element(source: TemplateValue, place: usize) -> TemplateValue {
    match source {
        TemplateValue::Tuple(mut items) | TemplateValue::List(_, mut items) => items.swap_remove(place),
        unknown => unknown_element(&unknown.type_of(), Some(place)),
    }
}

fn unknown_element(of: &Type, place: Option<usize>) -> TemplateValue {
    match (of, place) {
        (Type::List(of) | Type::Map(of), _) => TemplateValue::Unknown((**of).clone()),
        (Type::Tuple(types), Some(place)) => TemplateValue::Unknown(types.get(place).cloned().unwrap_or(Type::Any)),
        _ => TemplateValue::ANY,
    }
}

const UNSUPPORTED: &str = "unsupported-attribute";

/// The attribute of `source` under `name`.
fn attribute(source: TemplateValue, name: &str, span: &Range<usize>) -> Result<TemplateValue, TemplateFault> {
    let fault = |code, message: String| Err(TemplateFault::new(code, message, span.clone()));
    match source {
        TemplateValue::Null(_) => {
            fault("attempt-to-get-attribute-from-null-value", "the value is null and has no attributes".to_owned())
        }
        TemplateValue::Unknown(Type::Any) | TemplateValue::Present(Type::Any) => Ok(TemplateValue::ANY),
        TemplateValue::Unknown(Type::Map(of)) | TemplateValue::Present(Type::Map(of)) => {
            Ok(TemplateValue::Unknown(*of))
        }
        TemplateValue::Unknown(Type::Object(types)) | TemplateValue::Present(Type::Object(types)) => {
            match types.get(name) {
                Some(of) => Ok(TemplateValue::Unknown(of.clone())),
                None => fault(UNSUPPORTED, format!("there is no attribute `{name}`{}", names(types.keys()))),
            }
        }
        TemplateValue::Object(mut items) => match items.remove(name) {
            Some(value) => Ok(value),
            None => fault(UNSUPPORTED, format!("there is no attribute `{name}`{}", names(items.keys()))),
        },
        TemplateValue::Map(_, mut items) => match items.remove(name) {
            Some(value) => Ok(value),
            None => fault("missing-map-element", format!("there is nothing under `{name}`{}", names(items.keys()))),
        },
        other => fault(UNSUPPORTED, format!("{} has no attributes", other.type_of().name())),
    }
}

/// The existing names, for the end of a message.
fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!(", only {}", names.join(", ")) }
}

//! The value of an argument.

use hcl_edit::expr::{Expression, TraversalOperator};

use super::expressions::{computed, references};
use super::fault::ShapeFault;
use super::table::ArgumentValue;
use super::types;
use crate::json::TfJsonKind;
use crate::syntax::{Constant, TfAttribute, TfValue};

/// What is wrong with the value of an argument; `None` also if that depends on more than its text.
pub(super) fn check(argument: &TfAttribute<'_>, wanted: ArgumentValue) -> Option<ShapeFault> {
    let (name, value) = (argument.name, argument.value);
    let fault = |message: String, instead: &str| Some(ShapeFault::value(value.offset(), message, instead));
    match wanted {
        ArgumentValue::Text | ArgumentValue::Truth | ArgumentValue::Constant | ArgumentValue::Alias
            if computed(value) =>
        {
            fault(format!("`{name}` needs variables or functions"), "write the value itself")
        }
        ArgumentValue::Text if is_null(value) || is_collection(value) => {
            fault(format!("`{name}` is not a text"), "write a text in quotes")
        }
        ArgumentValue::Truth if !may_be_true(value) => {
            fault(format!("`{name}` is not `true` or `false`"), "write `true` or `false`")
        }
        ArgumentValue::Type => {
            let message = types::constraint(value).err()?;
            let fault = ShapeFault::value(value.offset(), message, "write a type such as `list(string)`");
            Some(ShapeFault { code: "invalid-type-constraint", ..fault })
        }
        ArgumentValue::Alias => match value.constant() {
            Some(Constant::Text(text)) if !is_identifier(&text) => {
                Some(ShapeFault::name(value.offset(), &text, "cannot be an `alias`"))
            }
            _ => None,
        },
        ArgumentValue::References
            if !is_list(value) || value.list().is_some_and(|list| list.into_iter().any(no_reference)) =>
        {
            fault(format!("`{name}` is not a list of references"), "write a list such as `[aws_instance.web]`")
        }
        ArgumentValue::List if !is_list(value) => fault(format!("`{name}` is not a list"), "write a list"),
        ArgumentValue::ListOrAll if !may_be_ignored(value) => {
            fault(format!("`{name}` is not a list of arguments"), "write a list, or `all`")
        }
        ArgumentValue::Condition if references(value).is_some_and(|names| names.roots.is_empty()) => {
            fault(format!("`{name}` refers to nothing, so it checks nothing"), "refer to what is checked")
        }
        ArgumentValue::Address if !may_be_address(value, AddressKeys::Allowed) => {
            fault(format!("`{name}` is not the address of a resource or module"), "write it without quotes")
        }
        ArgumentValue::WholeAddress if !may_be_address(value, AddressKeys::Refused) => {
            let instead = "write it without quotes, and without keys of instances";
            fault(format!("`{name}` is not the address of a resource or module"), instead)
        }
        ArgumentValue::Word(words) if !is_one_of(value, words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            fault(format!("`{name}` is not {}", words.join(" or ")), &format!("write {}", words.join(" or ")))
        }
        _ => None,
    }
}

/// Whether an address may have keys of instances.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AddressKeys {
    Allowed,
    Refused,
}

/// Whether a text can be the name of something: a letter or `_`, and then letters, digits, `_` and `-`. Every character that is
/// not ASCII counts as a letter.
///
/// Spec: HCL 2, `hclsyntax.ValidIdentifier`.
pub(super) fn is_identifier(name: &str) -> bool {
    let letter = |character: char| character.is_ascii_alphabetic() || character == '_' || !character.is_ascii();
    name.chars().next().is_some_and(letter)
        && name.chars().all(|character| letter(character) || character.is_ascii_digit() || character == '-')
}

/// Whether the value is an address without keys of instances.
pub(super) fn has_no_keys(value: TfValue<'_>) -> bool {
    may_be_address(value, AddressKeys::Refused)
}

/// Whether the value is an empty list.
pub(super) fn is_empty(argument: &TfAttribute<'_>) -> bool {
    argument.value.list().is_some_and(|list| list.is_empty())
}

fn is_null(value: TfValue<'_>) -> bool {
    matches!(value.constant(), Some(Constant::Null))
}

fn is_collection(value: TfValue<'_>) -> bool {
    value.list().is_some() || value.pairs().is_some()
}

fn may_be_true(value: TfValue<'_>) -> bool {
    if is_collection(value) {
        return false;
    }
    match types::raw(value) {
        None => true,
        Some(Constant::Null) => false,
        Some(Constant::Text(text)) => matches!(text.as_str(), "true" | "false" | "1" | "0"),
        Some(Constant::Other(_)) => types::is_truth(unwrapped(value)),
    }
}

fn unwrapped(value: TfValue<'_>) -> TfValue<'_> {
    match value {
        TfValue::Native(Expression::Parenthesis(inner)) => unwrapped(TfValue::Native(inner.inner())),
        other => other,
    }
}

/// Whether it is a list; a list in parentheses does not count.
fn is_list(value: TfValue<'_>) -> bool {
    value.list().is_some()
}

fn no_reference(value: TfValue<'_>) -> bool {
    match value {
        TfValue::Native(expression) => matches!(
            expression,
            Expression::Number(_) | Expression::FuncCall(_) | Expression::Array(_) | Expression::Object(_)
        ),
        TfValue::Name(..) => false,
        TfValue::Json(json) => json.as_str().is_none(),
    }
}

fn may_be_ignored(value: TfValue<'_>) -> bool {
    if let Some(list) = value.list() {
        return !list.into_iter().any(|item| matches!(types::raw(item), Some(Constant::Text(text)) if text == "*"));
    }
    match value {
        TfValue::Native(Expression::Variable(word)) => word.as_str() == "all",
        TfValue::Native(other) => !matches!(other, Expression::String(_) | Expression::Number(_) | Expression::Bool(_)),
        TfValue::Name(..) => true,
        TfValue::Json(json) => match &json.kind {
            TfJsonKind::String(text) => text == "all",
            TfJsonKind::Number(_) | TfJsonKind::Bool(_) => false,
            _ => true,
        },
    }
}

fn may_be_address(value: TfValue<'_>, keys: AddressKeys) -> bool {
    match value {
        TfValue::Native(expression) => native_address(expression, keys),
        TfValue::Name(..) => true,
        TfValue::Json(json) => json.as_str().is_some_and(|text| {
            hcl_edit::parser::parse_expr(text).map_or(true, |expression| native_address(&expression, keys))
        }),
    }
}

fn native_address(expression: &Expression, keys: AddressKeys) -> bool {
    match expression {
        Expression::Parenthesis(_) => true,
        Expression::Traversal(traversal) => {
            keys == AddressKeys::Allowed
                || traversal.operators.iter().all(|operator| matches!(operator.value(), TraversalOperator::GetAttr(_)))
        }
        _ => false,
    }
}

/// Whether a value is one of these words, or may be.
fn is_one_of(value: TfValue<'_>, words: &[&str]) -> bool {
    match value {
        TfValue::Native(Expression::Variable(word)) => words.contains(&word.as_str()),
        TfValue::Native(Expression::String(text)) => words.contains(&text.as_str()),
        TfValue::Native(expression) => {
            !matches!(expression, Expression::Number(_) | Expression::Bool(_) | Expression::Null(_))
        }
        TfValue::Name(..) => true,
        TfValue::Json(json) => json.as_str().is_some_and(|text| words.contains(&text)),
    }
}

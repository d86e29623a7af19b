//! `for`: one turn for each element.

use std::collections::BTreeMap;

use super::ast::{Expr, For};
use super::convert::convert;
use super::fault::TemplateFault;
use super::scope::{Eval, TemplateFaults, TemplateScope};
use super::value::{TemplateValue, Type};

/// A `for`, and the evaluation of its parts.
struct Loop<'a> {
    of: &'a For,
    eval: Eval,
}

/// The result of a `for`: an object if it has keys, else a tuple.
pub(super) fn run(of: &For, eval: Eval, scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> TemplateValue {
    let inner = &Loop { of, eval };
    let source = (inner.eval)(&inner.of.source, scope, faults);
    if source.is_null() {
        let message = "`for` goes over elements, and this is null";
        faults.push(TemplateFault::new("iteration-over-null-value", message, inner.of.source.span.clone()));
        return TemplateValue::ANY;
    }
    let of = source.type_of();
    match of {
        Type::Any => return TemplateValue::ANY,
        Type::Bool | Type::Number | Type::String => {
            let message = format!("`for` goes over a list or an object, not over {}", of.name());
            faults.push(TemplateFault::new("iteration-over-non-iterable-value", message, inner.of.source.span.clone()));
            return TemplateValue::ANY;
        }
        _ => {}
    }
    if let Some(condition) = &inner.of.condition
        && !plausible(inner, condition, scope, faults)
    {
        return TemplateValue::ANY;
    }
    let Some(elements) = source.elements() else { return TemplateValue::ANY };
    match &inner.of.key {
        Some(key) => object(inner, key, &elements, scope, faults),
        None => tuple(inner, &elements, scope, faults),
    }
}

fn turn<'a>(
    inner: &Loop<'a>,
    outer: &'a TemplateScope<'a>,
    key: &'a TemplateValue,
    value: &'a TemplateValue,
) -> TemplateScope<'a> {
    let key = inner.of.key_name.as_deref().map(|name| (name, key));
    TemplateScope::Turn { outer, key, value: (&inner.of.value_name, value) }
}

/// Whether the condition is valid, before the elements are known.
fn plausible(inner: &Loop<'_>, condition: &Expr, scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> bool {
    let before = faults.len();
    let result = (inner.eval)(condition, &turn(inner, scope, &TemplateValue::ANY, &TemplateValue::ANY), faults);
    if result.is_null() {
        let message = "the condition after `if` is null, neither true nor false";
        faults.push(TemplateFault::new("condition-is-null", message, condition.span.clone()));
        return false;
    }
    if let Err(message) = convert(result, &Type::Bool) {
        faults.push(invalid_condition(&message, condition));
        return false;
    }
    faults.len() == before
}

fn invalid_condition(reason: &str, condition: &Expr) -> TemplateFault {
    let message = format!("the condition after `if` must be true or false: {reason}");
    TemplateFault::new("invalid-for-condition", message, condition.span.clone())
}

/// Whether this turn counts; `None` if that is unknown, which makes the whole result unknown.
fn admitted(inner: &Loop<'_>, scope: &TemplateScope<'_>, known: bool, faults: &mut TemplateFaults) -> Option<bool> {
    let Some(condition) = &inner.of.condition else { return Some(true) };
    let result = (inner.eval)(condition, scope, faults);
    let reason = match convert(result, &Type::Bool) {
        Ok(TemplateValue::Bool(admitted)) => return Some(admitted),
        Ok(TemplateValue::Null(_)) => "it is null".to_owned(),
        Ok(_) => return None,
        Err(message) => message,
    };
    if known {
        faults.push(invalid_condition(&reason, condition));
    }
    None
}

fn tuple(
    inner: &Loop<'_>,
    elements: &[(TemplateValue, TemplateValue)],
    scope: &TemplateScope<'_>,
    faults: &mut TemplateFaults,
) -> TemplateValue {
    let mut results = Vec::new();
    let mut known = true;
    for (key, value) in elements {
        let scope = turn(inner, scope, key, value);
        match admitted(inner, &scope, known, faults) {
            Some(true) => results.push((inner.eval)(&inner.of.value, &scope, faults)),
            Some(false) => {}
            None => known = false,
        }
    }
    if known { TemplateValue::Tuple(results) } else { TemplateValue::ANY }
}

fn object(
    inner: &Loop<'_>,
    key_expr: &Expr,
    elements: &[(TemplateValue, TemplateValue)],
    scope: &TemplateScope<'_>,
    faults: &mut TemplateFaults,
) -> TemplateValue {
    let mut results: BTreeMap<String, Vec<TemplateValue>> = BTreeMap::new();
    let mut known = true;
    for (key, value) in elements {
        let scope = turn(inner, scope, key, value);
        match admitted(inner, &scope, known, faults) {
            Some(true) => {}
            Some(false) => continue,
            None => {
                known = false;
                continue;
            }
        }
        let Some(name) = name(inner, key_expr, &scope, known, faults) else {
            known = false;
            continue;
        };
        let result = (inner.eval)(&inner.of.value, &scope, faults);
        let group = results.entry(name).or_default();
        if inner.of.grouped || group.is_empty() {
            group.push(result);
        } else {
            let message = ("two elements give the same key", "`...` after the value to keep both");
            faults.push(TemplateFault::new("duplicate-object-key", message, key_expr.span.clone()));
        }
    }
    if !known {
        return TemplateValue::ANY;
    }
    let entries = results.into_iter().map(|(name, mut group)| {
        let value =
            if inner.of.grouped { TemplateValue::Tuple(group) } else { group.pop().unwrap_or(TemplateValue::ANY) };
        (name, value)
    });
    TemplateValue::Object(entries.collect())
}

/// The key of this turn; `None` if there is none yet.
fn name(
    inner: &Loop<'_>,
    key: &Expr,
    scope: &TemplateScope<'_>,
    known: bool,
    faults: &mut TemplateFaults,
) -> Option<String> {
    let value = (inner.eval)(key, scope, faults);
    let reason = if value.is_null() {
        "it is null".to_owned()
    } else if !value.is_known() {
        return None;
    } else {
        match convert(value, &Type::String) {
            Ok(TemplateValue::String(name)) => return Some(name),
            Ok(_) => return None,
            Err(message) => message,
        }
    };
    if known {
        let message = format!("this cannot be the key of an object: {reason}");
        faults.push(TemplateFault::new("invalid-object-key", message, key.span.clone()));
    }
    None
}

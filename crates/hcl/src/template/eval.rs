//! Evaluates trees to values.
//!
//! After a fault, evaluation goes on with an unknown value, as in HCL: one run reports all faults.

use std::collections::BTreeMap;

use super::access;
use super::ast::{BinaryOperator, Expr, ExprKind, ObjectKey, UnaryOperator};
use super::convert::{convert, unify};
use super::fault::TemplateFault;
use super::iterate;
use super::literal;
use super::operate;
use super::scope::{TemplateFaults, TemplateScope};
use super::value::{TemplateValue, Type};

pub(super) fn eval(expr: &Expr, scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> TemplateValue {
    match &expr.kind {
        ExprKind::Literal(value) => value.clone(),
        ExprKind::Name { root, root_span, steps } => {
            if let Some(value) = scope.get(root) {
                return access::walk(value, steps, faults);
            }
            let message = format!("there is nothing named `{root}` here");
            faults.push(TemplateFault::new("unknown-variable", message, root_span.clone()));
            TemplateValue::ANY
        }
        ExprKind::Steps { source, steps } => {
            let value = eval(source, scope, faults);
            access::walk(value, steps, faults)
        }
        ExprKind::Index { source, key, bracket } => {
            let value = eval(source, scope, faults);
            let key = eval(key, scope, faults);
            access::index(value, key, bracket).unwrap_or_else(|fault| {
                faults.push(fault);
                TemplateValue::ANY
            })
        }
        ExprKind::Splat { source, each } => splat(source, each, scope, faults),
        ExprKind::Item => scope.item(),
        ExprKind::Call(_) => {
            let message = ("functions cannot be called here", "a condition, or an object with one item for each case");
            faults.push(TemplateFault::new("function-calls-not-allowed", message, expr.span.clone()));
            TemplateValue::ANY
        }
        ExprKind::Conditional { condition, positive, negative } => {
            conditional(condition, positive, negative, scope, faults)
        }
        ExprKind::Unary { operator, operand } => unary(expr, *operator, operand, scope, faults),
        ExprKind::Binary { operator, left, right } => binary(expr, *operator, left, right, scope, faults),
        ExprKind::Tuple(items) => TemplateValue::Tuple(items.iter().map(|item| eval(item, scope, faults)).collect()),
        ExprKind::Object(items) => object(items, scope, faults),
        ExprKind::For(inner) => iterate::run(inner, eval, scope, faults),
        ExprKind::Parentheses(inner) | ExprKind::Wrapped(inner) => eval(inner, scope, faults),
        ExprKind::Template(parts) => template(parts, scope, faults),
        ExprKind::Joined(inner) => joined(inner, scope, faults),
    }
}

fn template(parts: &[Expr], scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> TemplateValue {
    let mut text = Some(String::new());
    let before = faults.len();
    for part in parts {
        let value = eval(part, scope, faults);
        if value.is_null() {
            faults.push(null_in_text(part));
            continue;
        }
        if !value.is_known() {
            text = None;
            continue;
        }
        match convert(value, &Type::String) {
            Ok(TemplateValue::String(piece)) if faults.len() == before => text = text.map(|text| text + &piece),
            Ok(TemplateValue::String(_)) => {}
            Ok(other) => faults.push(not_a_text(other.type_of().name(), part)),
            Err(message) => faults.push(not_a_text(&message, part)),
        }
    }
    text.map_or(TemplateValue::Present(Type::String), |text| TemplateValue::String(literal::normal(&text)))
}

fn not_a_text(what: &str, part: &Expr) -> TemplateFault {
    let message = format!("this cannot be put into a text: {what}");
    TemplateFault::new("invalid-template-interpolation-value", message, part.span.clone())
}

fn null_in_text(part: &Expr) -> TemplateFault {
    TemplateFault { null: true, ..not_a_text("null", part) }
}

fn joined(tuple: &Expr, scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> TemplateValue {
    let TemplateValue::Tuple(items) = eval(tuple, scope, faults) else { return TemplateValue::UNKNOWN_STRING };
    let mut text = String::new();
    for item in items {
        match item {
            TemplateValue::Null(_) => faults.push(null_in_text(tuple)),
            TemplateValue::Unknown(_) | TemplateValue::Present(_) => return TemplateValue::UNKNOWN_STRING,
            known => match convert(known, &Type::String) {
                Ok(TemplateValue::String(piece)) => text.push_str(&piece),
                Ok(other) => faults.push(not_a_text(other.type_of().name(), tuple)),
                Err(message) => faults.push(not_a_text(&message, tuple)),
            },
        }
    }
    TemplateValue::String(literal::normal(&text))
}

fn conditional(
    condition: &Expr,
    positive: &Expr,
    negative: &Expr,
    scope: &TemplateScope<'_>,
    faults: &mut TemplateFaults,
) -> TemplateValue {
    let (mut positive_faults, mut negative_faults) = (TemplateFaults::new(), TemplateFaults::new());
    let positive_value = eval(positive, scope, &mut positive_faults);
    let negative_value = eval(negative, scope, &mut negative_faults);
    let untyped = |value: &TemplateValue| *value == TemplateValue::Null(Type::Any);
    let (positive_of, negative_of) = (positive_value.type_of(), negative_value.type_of());
    let common = if untyped(&positive_value) {
        Some(negative_of.clone())
    } else if untyped(&negative_value) {
        Some(positive_of.clone())
    } else if positive_of == Type::Any || negative_of == Type::Any {
        Some(Type::Any)
    } else {
        unify(&[positive_of.clone(), negative_of.clone()])
    };
    let inconsistent = "inconsistent-conditional-result-types";
    let Some(common) = common else {
        let message = format!(
            "both results of a condition must be of one type, and these are {} and {}",
            positive_of.name(),
            negative_of.name()
        );
        faults.push(TemplateFault::new(inconsistent, message, positive.span.start..negative.span.end));
        return TemplateValue::ANY;
    };
    let test = eval(condition, scope, faults);
    if test.is_null() {
        let message = "the condition is null, neither true nor false";
        faults.push(TemplateFault::new("null-condition", message, condition.span.clone()));
        return TemplateValue::Unknown(common);
    }
    if !test.is_known() {
        return either(positive_value, &negative_value, common);
    }
    let (value, own_faults, expr) = match convert(test, &Type::Bool) {
        Ok(TemplateValue::Bool(true)) => (positive_value, positive_faults, positive),
        Ok(TemplateValue::Bool(false)) => (negative_value, negative_faults, negative),
        other => {
            let reason = other.err().unwrap_or_else(|| "it is not known".to_owned());
            let message = format!("the condition must be true or false: {reason}");
            faults.push(TemplateFault::new("incorrect-condition-type", message, condition.span.clone()));
            return TemplateValue::Unknown(common);
        }
    };
    faults.extend(own_faults);
    convert(value, &common).unwrap_or_else(|message| {
        faults.push(TemplateFault::new(inconsistent, message, expr.span.clone()));
        TemplateValue::Unknown(common)
    })
}

/// The value of a condition whose result is unknown so far.
fn either(positive: TemplateValue, negative: &TemplateValue, common: Type) -> TemplateValue {
    match (&positive, negative) {
        (TemplateValue::Null(_), TemplateValue::Null(_)) => TemplateValue::Null(common),
        (TemplateValue::Number(one), TemplateValue::Number(other)) if one == other => positive,
        (one, other) if one.is_present() && other.is_present() => TemplateValue::Present(common),
        _ => TemplateValue::Unknown(common),
    }
}

fn unary(
    expr: &Expr,
    operator: UnaryOperator,
    operand: &Expr,
    scope: &TemplateScope<'_>,
    faults: &mut TemplateFaults,
) -> TemplateValue {
    let unknown = || TemplateValue::Unknown(operate::operand(operator));
    let before = faults.len();
    let given = eval(operand, scope, faults);
    let value = convert(given, &operate::operand(operator)).unwrap_or_else(|message| {
        faults.push(TemplateFault::new("invalid-operand", message, operand.span.clone()));
        unknown()
    });
    if faults.len() > before {
        return unknown();
    }
    operate::unary(operator, &value).unwrap_or_else(|error| {
        faults.push(TemplateFault::new(error.code(), error.to_string(), expr.span.clone()));
        unknown()
    })
}

fn binary(
    expr: &Expr,
    operator: BinaryOperator,
    left: &Expr,
    right: &Expr,
    scope: &TemplateScope<'_>,
    faults: &mut TemplateFaults,
) -> TemplateValue {
    let unknown = || TemplateValue::Unknown(operator.result());
    let (mut left_faults, mut right_faults, mut unfit) =
        (TemplateFaults::new(), TemplateFaults::new(), TemplateFaults::new());
    let mut side = |side: &Expr, own: &mut TemplateFaults| {
        convert(eval(side, scope, own), &operator.operands()).unwrap_or_else(|message| {
            unfit.push(TemplateFault::new("invalid-operand", message, side.span.clone()));
            TemplateValue::ANY
        })
    };
    let left_value = side(left, &mut left_faults);
    let right_value = side(right, &mut right_faults);
    if unfit.is_empty()
        && let Some((value, left_counts)) = operate::decided(operator, &left_value, &right_value, &left_faults)
    {
        faults.extend(if left_counts { left_faults } else { right_faults });
        return value;
    }
    let broken = !(unfit.is_empty() && left_faults.is_empty() && right_faults.is_empty());
    faults.extend(unfit);
    faults.extend(left_faults);
    faults.extend(right_faults);
    if broken {
        return unknown();
    }
    operate::binary(operator, left_value, right_value).unwrap_or_else(|error| {
        faults.push(TemplateFault::new(error.code(), error.to_string(), expr.span.clone()));
        unknown()
    })
}

fn object(items: &[(ObjectKey, Expr)], scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> TemplateValue {
    let mut result = Some(BTreeMap::new());
    for (key, value) in items {
        let before = faults.len();
        let key_value = object_key(key, scope, faults);
        let sound = faults.len() == before;
        let item = eval(value, scope, faults);
        let name = if !sound {
            None
        } else if key_value.is_null() {
            let message = "null cannot be the key of an object";
            faults.push(TemplateFault::new("null-value-as-key", message, value.span.clone()));
            None
        } else {
            convert(key_value, &Type::String).map_or_else(
                |message| {
                    let message = format!("this cannot be the key of an object: {message}");
                    faults.push(TemplateFault::new("incorrect-key-type", message, key.expr.span.clone()));
                    None
                },
                Some,
            )
        };
        match (name, &mut result) {
            (Some(TemplateValue::String(name)), Some(items)) => {
                items.insert(name, item);
            }
            _ => result = None,
        }
    }
    result.map_or(TemplateValue::ANY, TemplateValue::Object)
}

fn object_key(key: &ObjectKey, scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> TemplateValue {
    if !key.parenthesised {
        if let ExprKind::Name { steps, .. } = &key.expr.kind
            && !steps.is_empty()
        {
            let message = ("a key with a point in it is ambiguous", "it in quotes, or in parentheses to work it out");
            faults.push(TemplateFault::new("ambiguous-attribute-key", message, key.expr.span.clone()));
            return TemplateValue::ANY;
        }
        if let Some(word) = key.word() {
            return TemplateValue::String(literal::normal(word));
        }
    }
    eval(&key.expr, scope, faults)
}

fn splat(source: &Expr, each: &Expr, scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> TemplateValue {
    let before = faults.len();
    let value = eval(source, scope, faults);
    if faults.len() > before {
        return TemplateValue::ANY;
    }
    let of = value.type_of();
    let sequence = matches!(of, Type::Tuple(_) | Type::List(_));
    if value.is_null() {
        if !sequence {
            return TemplateValue::Tuple(Vec::new());
        }
        let message = "a splat goes over the elements of a list, and this is null";
        faults.push(TemplateFault::new("splat-of-null-value", message, source.span.clone()));
        return TemplateValue::ANY;
    }
    if of == Type::Any {
        return TemplateValue::ANY;
    }
    // What is not a list counts as a list of one; that it may yet turn out to be null leaves the result open.
    let open = !sequence && !value.is_known() && !value.is_present();
    let (items, listed) = match value {
        TemplateValue::Tuple(items) => (items, false),
        TemplateValue::List(_, items) => (items, true),
        TemplateValue::Unknown(Type::Tuple(types)) | TemplateValue::Present(Type::Tuple(types)) => {
            let types = types.into_iter().map(|of| each_of(of, each, scope, faults)).collect();
            return TemplateValue::Present(Type::Tuple(types));
        }
        TemplateValue::Unknown(Type::List(element)) | TemplateValue::Present(Type::List(element)) => {
            return TemplateValue::Present(Type::List(Box::new(each_of(*element, each, scope, faults))));
        }
        other => (vec![other], false),
    };
    let before = faults.len();
    let results: Vec<TemplateValue> =
        items.iter().map(|item| eval(each, &TemplateScope::Item { outer: scope, value: item }, faults)).collect();
    if open {
        return TemplateValue::ANY;
    }
    if faults.len() > before {
        let types = results.iter().map(TemplateValue::type_of).collect();
        return if listed { TemplateValue::ANY } else { TemplateValue::Unknown(Type::Tuple(types)) };
    }
    if !listed {
        return TemplateValue::Tuple(results);
    }
    let types: Vec<Type> = results.iter().map(TemplateValue::type_of).filter(|of| *of != Type::Any).collect();
    if types.windows(2).any(|pair| pair[0] != pair[1]) {
        let message = ("the elements come out with different types", "a `for` expression instead");
        faults.push(TemplateFault::new("invalid-nested-splat-expressions", message, each.span.clone()));
        return TemplateValue::ANY;
    }
    let element = match (types.into_iter().next(), of) {
        (Some(element), _) => element,
        (None, Type::List(element)) if results.is_empty() => each_of(*element, each, scope, faults),
        _ => Type::Any,
    };
    TemplateValue::List(element, results)
}

/// The type of a splat's result for an element of type `of`.
fn each_of(of: Type, each: &Expr, scope: &TemplateScope<'_>, faults: &mut TemplateFaults) -> Type {
    eval(each, &TemplateScope::Item { outer: scope, value: &TemplateValue::Unknown(of) }, faults).type_of()
}

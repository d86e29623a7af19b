//! Evaluates trees to values.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use hcl_edit::expr::{BinaryOperator, UnaryOperator};

use super::fault::TemplateFault;
use super::tree::{Expr, ExprKind};
use super::value::{TemplateValue, Type};

type Evaluated = Result<TemplateValue, TemplateFault>;
type Scope<'a> = &'a dyn Fn(&str) -> Option<TemplateValue>;

pub(super) fn eval(expr: &Expr, scope: Scope<'_>) -> Evaluated {
    let fault = |code, message: &str| TemplateFault::new(code, message, &expr.span);
    match &expr.kind {
        ExprKind::Literal(value) => Ok(value.clone()),
        ExprKind::Name(name) => {
            scope(name).ok_or_else(|| fault("unknown-variable", &format!("there is nothing named `{name}` here")))
        }
        ExprKind::Step { source, key, step, is_attribute } => {
            let (source, key) = (eval(source, scope)?, eval(key, scope)?);
            if *is_attribute { attribute(source, key, step) } else { index(source, key, step) }
        }
        ExprKind::Call(_) => Err(fault("function-calls-not-allowed", "functions cannot be called here")
            .instead("a condition, or an object with one item for each case")),
        ExprKind::Conditional { condition, positive, negative } => {
            let results = (eval(positive, scope), eval(negative, scope));
            conditional(condition, scope, results, &(positive.span.start..negative.span.end))
        }
        ExprKind::Unary { operator, operand } => {
            let of = if *operator == UnaryOperator::Not { Type::Bool } else { Type::Number };
            match operand_of(eval(operand, scope)?, of, operand)? {
                TemplateValue::Bool(value) => Ok(TemplateValue::Bool(!value)),
                TemplateValue::Number(number) if number != 0 && number != i64::MIN => {
                    Ok(TemplateValue::Number(-number))
                }
                TemplateValue::Number(_) | TemplateValue::Fraction(_) => Err(too_much(&expr.span)),
                TemplateValue::Null => Err(null_operand(&expr.span)),
                _ => Ok(TemplateValue::Unknown),
            }
        }
        ExprKind::Binary { operator: operator @ (BinaryOperator::And | BinaryOperator::Or), left, right } => {
            logical(*operator == BinaryOperator::Or, left, right, scope, &expr.span)
        }
        ExprKind::Binary { operator, left, right } => binary(*operator, left, right, scope, &expr.span),
        ExprKind::Tuple(items) => {
            items.iter().map(|item| eval(item, scope)).collect::<Result<_, _>>().map(TemplateValue::Tuple)
        }
        ExprKind::Object(items) => object(items, scope),
        ExprKind::Template(parts) => template(parts, scope),
    }
}

fn template(parts: &[Expr], scope: Scope<'_>) -> Evaluated {
    let mut text = Some(String::new());
    for part in parts {
        let not_a_text = |what: &str| {
            let message = format!("this cannot be put into a text: {what}");
            TemplateFault::new("invalid-template-interpolation-value", message, &part.span)
        };
        match eval(part, scope)?.into_text().map_err(|message| not_a_text(&message))? {
            TemplateValue::String(piece) => text = text.map(|text| text + &piece),
            TemplateValue::Null => return Err(TemplateFault { null: true, ..not_a_text("null") }),
            _ => text = None,
        }
    }
    Ok(text.map_or(TemplateValue::Unknown, |text| TemplateValue::text(&text)))
}

/// The faults of the result that is not chosen do not count.
fn conditional(condition: &Expr, scope: Scope<'_>, results: (Evaluated, Evaluated), span: &Range<usize>) -> Evaluated {
    if let (Ok(positive), Ok(negative)) = &results
        && !have_common_type(positive, negative)
    {
        let (positive, negative) = (positive.kind(), negative.kind());
        let message =
            format!("both results of a condition must be of one type, and these are {positive} and {negative}");
        return Err(TemplateFault::new("inconsistent-conditional-result-types", message, span));
    }
    let is_text = [&results.0, &results.1].iter().any(|result| matches!(result, Ok(TemplateValue::String(_))));
    let test = eval(condition, scope)?.into_type(Type::Bool).map_err(|reason| {
        let message = format!("the condition must be true or false: {reason}");
        TemplateFault::new("incorrect-condition-type", message, &condition.span)
    })?;
    let chosen = match test {
        TemplateValue::Bool(true) => results.0?,
        TemplateValue::Bool(false) => results.1?,
        TemplateValue::Null => {
            let message = "the condition is null, neither true nor false";
            return Err(TemplateFault::new("null-condition", message, &condition.span));
        }
        _ => TemplateValue::Unknown,
    };
    // Beside a text, a number becomes a text. Every other type was refused above.
    Ok(if is_text { chosen.clone().into_text().unwrap_or(chosen) } else { chosen })
}

fn have_common_type(one: &TemplateValue, other: &TemplateValue) -> bool {
    use TemplateValue as Value;
    match (one, other) {
        (Value::Unknown | Value::Null, _)
        | (_, Value::Unknown | Value::Null)
        | (Value::String(_), Value::Bool(_) | Value::Number(_) | Value::Fraction(_))
        | (Value::Bool(_) | Value::Number(_) | Value::Fraction(_), Value::String(_)) => true,
        _ => one.kind() == other.kind(),
    }
}

fn operand_of(value: TemplateValue, of: Type, operand: &Expr) -> Evaluated {
    value.into_type(of).map_err(|message| TemplateFault::new("invalid-operand", message, &operand.span))
}

fn null_operand(span: &Range<usize>) -> TemplateFault {
    TemplateFault::new("operation-failed", "an operator cannot work with null", span)
}

fn too_much(span: &Range<usize>) -> TemplateFault {
    TemplateFault::not_supported("arithmetic beyond whole numbers", span)
}

/// `&&` or `||`: if one side decides, the faults of the other do not count. HCL takes null for false.
fn logical(deciding: bool, left: &Expr, right: &Expr, scope: Scope<'_>, span: &Range<usize>) -> Evaluated {
    let side = |side: &Expr| match eval(side, scope) {
        Ok(value) => operand_of(value, Type::Bool, side).map(Ok),
        Err(fault) => Ok(Err(fault)),
    };
    let (left, right) = (side(left)?, side(right)?);
    let decides = |value: &Evaluated| match value {
        Ok(TemplateValue::Unknown) | Err(_) => false,
        Ok(known) => (*known == TemplateValue::Bool(true)) == deciding,
    };
    if decides(&left) || decides(&right) {
        return Ok(TemplateValue::Bool(deciding));
    }
    match (left?, right?) {
        (TemplateValue::Unknown, _) | (_, TemplateValue::Unknown) => Ok(TemplateValue::Unknown),
        (TemplateValue::Null, _) | (_, TemplateValue::Null) => Err(null_operand(span)),
        _ => Ok(TemplateValue::Bool(!deciding)),
    }
}

fn binary(operator: BinaryOperator, left: &Expr, right: &Expr, scope: Scope<'_>, span: &Range<usize>) -> Evaluated {
    let (left_value, right_value) = (eval(left, scope)?, eval(right, scope)?);
    if let BinaryOperator::Eq | BinaryOperator::NotEq = operator {
        return Ok(match left_value.equals(&right_value) {
            TemplateValue::Bool(equal) => TemplateValue::Bool(equal == (operator == BinaryOperator::Eq)),
            unknown => unknown,
        });
    }
    let left_value = operand_of(left_value, Type::Number, left)?;
    let right_value = operand_of(right_value, Type::Number, right)?;
    let (left, right) = match (left_value, right_value) {
        (TemplateValue::Number(left), TemplateValue::Number(right)) => (left, right),
        (TemplateValue::Null, _) | (_, TemplateValue::Null) => return Err(null_operand(span)),
        (TemplateValue::Unknown, _) | (_, TemplateValue::Unknown) => return Ok(TemplateValue::Unknown),
        _ => return Err(too_much(span)),
    };
    let order = left.cmp(&right);
    // HCL knows a zero with a sign, and writes it out as `-0`.
    let unsigned = |number: &i64| *number != 0 || (left >= 0 && right >= 0);
    let number = match operator {
        BinaryOperator::Greater => return Ok(TemplateValue::Bool(order == Ordering::Greater)),
        BinaryOperator::Less => return Ok(TemplateValue::Bool(order == Ordering::Less)),
        BinaryOperator::GreaterEq => return Ok(TemplateValue::Bool(order != Ordering::Less)),
        BinaryOperator::LessEq => return Ok(TemplateValue::Bool(order != Ordering::Greater)),
        BinaryOperator::Plus => left.checked_add(right),
        BinaryOperator::Minus => left.checked_sub(right),
        BinaryOperator::Mul => left.checked_mul(right).filter(unsigned),
        BinaryOperator::Div => {
            left.checked_rem(right).filter(|rest| *rest == 0 && unsigned(rest)).map(|_| left / right)
        }
        _ => left.checked_rem(right).filter(unsigned),
    };
    number.map(TemplateValue::Number).ok_or_else(|| too_much(span))
}

fn object(items: &[(Expr, Expr)], scope: Scope<'_>) -> Evaluated {
    let mut result = Some(BTreeMap::new());
    for (key, value) in items {
        let name = eval(key, scope)?.into_text().map_err(|message| {
            let message = format!("this cannot be the key of an object: {message}");
            TemplateFault::new("incorrect-key-type", message, &key.span)
        })?;
        let item = eval(value, scope)?;
        match (name, &mut result) {
            (TemplateValue::String(name), Some(items)) => {
                items.insert(name, item);
            }
            (TemplateValue::Null, _) => {
                let message = "null cannot be the key of an object";
                return Err(TemplateFault::new("null-value-as-key", message, &value.span));
            }
            _ => result = None,
        }
    }
    Ok(result.map_or(TemplateValue::Unknown, TemplateValue::Object))
}

/// The element of `source` under `key`.
fn index(source: TemplateValue, key: TemplateValue, span: &Range<usize>) -> Evaluated {
    let invalid = |message: String| Err(TemplateFault::new("invalid-index", message, span));
    if source.is_null() {
        let message = "the value is null and has no elements";
        return Err(TemplateFault::new("attempt-to-index-null-value", message, span));
    }
    if key.is_null() {
        return invalid("null cannot be an index".to_owned());
    }
    let of = match &source {
        TemplateValue::Unknown => return Ok(TemplateValue::Unknown),
        TemplateValue::Tuple(_) => Type::Number,
        TemplateValue::Object(_) => Type::String,
        other => return invalid(format!("{} has no elements", other.kind())),
    };
    let key = match key.into_type(of) {
        Ok(key) => key,
        Err(message) => return invalid(format!("this cannot be an index here: {message}")),
    };
    match (source, key) {
        (TemplateValue::Tuple(mut items), TemplateValue::Number(number)) => {
            let length = items.len();
            match usize::try_from(number) {
                Ok(place) if place < length => Ok(items.swap_remove(place)),
                Ok(_) => invalid(format!("there is no element {number}: the list has {length}, counted from 0")),
                Err(_) => invalid(format!("{number} is negative, and elements count from 0")),
            }
        }
        (TemplateValue::Tuple(_), TemplateValue::Fraction(number)) => {
            invalid(format!("{number} is not a whole number"))
        }
        (TemplateValue::Object(mut items), TemplateValue::String(name)) => match items.remove(&name) {
            Some(value) => Ok(value),
            None => invalid(format!("there is nothing under \"{name}\"{}", only(&items))),
        },
        _ => Ok(TemplateValue::Unknown),
    }
}

/// The attribute of `source` under `name`.
fn attribute(source: TemplateValue, name: TemplateValue, span: &Range<usize>) -> Evaluated {
    let fault = |code, message: String| Err(TemplateFault::new(code, message, span));
    match (source, name) {
        (TemplateValue::Unknown, _) => Ok(TemplateValue::Unknown),
        (TemplateValue::Null, _) => {
            fault("attempt-to-get-attribute-from-null-value", "the value is null and has no attributes".to_owned())
        }
        (TemplateValue::Object(mut items), TemplateValue::String(name)) => match items.remove(&name) {
            Some(value) => Ok(value),
            None => fault("unsupported-attribute", format!("there is no attribute `{name}`{}", only(&items))),
        },
        (other, _) => fault("unsupported-attribute", format!("{} has no attributes", other.kind())),
    }
}

/// The existing names, for the end of a message.
fn only(items: &BTreeMap<String, TemplateValue>) -> String {
    let names: Vec<&str> = items.keys().map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!(", only {}", names.join(", ")) }
}

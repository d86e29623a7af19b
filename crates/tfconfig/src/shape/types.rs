//! Type constraints of variables, and which values fit them.

use hcl_edit::expr::{Expression, FuncCall, ObjectKey};

use super::expressions;
use crate::json::TfJsonKind;
use crate::syntax::{Constant, TfValue};

/// A type constraint.
pub(super) enum TypeConstraint {
    Any,
    Text,
    Number,
    Truth,
    /// A list or set of this type.
    Elements(Box<TypeConstraint>),
    Map(Box<TypeConstraint>),
    Tuple(Vec<TypeConstraint>),
    Object(Vec<ObjectAttribute>),
}

/// An attribute of an object type.
pub(super) struct ObjectAttribute {
    name: String,
    of: TypeConstraint,
    optional: bool,
}

/// The type that a value of `type` is; an error says why it is not a type.
///
/// Spec: `OpenTofu` 1.12, `configs.decodeVariableType`; HCL 2, `typeexpr.TypeConstraintWithDefaults`.
pub(super) fn constraint(value: TfValue<'_>) -> Result<TypeConstraint, String> {
    match value {
        TfValue::Native(expression) => outer(expression),
        TfValue::Name(name, _) => Err(no_type(name)),
        TfValue::Json(json) => {
            let text = json.as_str().ok_or_else(|| "a type is a text in JSON".to_owned())?;
            outer(&hcl_edit::parser::parse_expr(text).map_err(|_| no_type(text))?)
        }
    }
}

fn no_type(text: &str) -> String {
    format!("`{text}` is not a type")
}

fn outer(expression: &Expression) -> Result<TypeConstraint, String> {
    match expression {
        Expression::Variable(word) if word.as_str() == "list" => {
            Ok(TypeConstraint::Elements(Box::new(TypeConstraint::Any)))
        }
        Expression::Variable(word) if word.as_str() == "map" => Ok(TypeConstraint::Map(Box::new(TypeConstraint::Any))),
        Expression::String(text) => Err(format!("the type `{}` stands in quotes", text.as_str())),
        other => inner(other),
    }
}

fn inner(expression: &Expression) -> Result<TypeConstraint, String> {
    match expression {
        Expression::Variable(word) => match word.as_str() {
            "any" => Ok(TypeConstraint::Any),
            "string" => Ok(TypeConstraint::Text),
            "number" => Ok(TypeConstraint::Number),
            "bool" => Ok(TypeConstraint::Truth),
            word @ ("list" | "set" | "map" | "object" | "tuple") => {
                Err(format!("the type `{word}` needs the type of its elements in parentheses"))
            }
            other => Err(no_type(other)),
        },
        Expression::FuncCall(call) => constructed(call),
        other => Err(no_type(other.to_string().trim())),
    }
}

fn constructed(call: &FuncCall) -> Result<TypeConstraint, String> {
    let name = call.name.name.as_str();
    if call.name.is_namespaced() || !matches!(name, "list" | "set" | "map" | "object" | "tuple") {
        return Err(no_type(&format!("{name}(…)")));
    }
    let mut arguments = call.args.iter();
    let (Some(argument), None) = (arguments.next(), arguments.next()) else {
        return Err(format!("the type `{name}` takes one type in parentheses"));
    };
    match name {
        "map" => Ok(TypeConstraint::Map(Box::new(inner(argument)?))),
        "tuple" => match argument {
            Expression::Array(types) => Ok(TypeConstraint::Tuple(types.iter().map(inner).collect::<Result<_, _>>()?)),
            _ => Err("the type `tuple` takes a list of types".to_owned()),
        },
        "object" => match argument {
            Expression::Object(attributes) => {
                let attributes = attributes.iter().map(|(key, value)| attribute(key, value.expr()));
                Ok(TypeConstraint::Object(attributes.collect::<Result<_, _>>()?))
            }
            _ => Err("the type `object` takes names and their types in braces".to_owned()),
        },
        _ => Ok(TypeConstraint::Elements(Box::new(inner(argument)?))),
    }
}

fn attribute(key: &ObjectKey, value: &Expression) -> Result<ObjectAttribute, String> {
    let name = match key {
        ObjectKey::Ident(name) | ObjectKey::Expression(Expression::Variable(name)) => name.as_str().to_owned(),
        ObjectKey::Expression(other) => {
            return Err(format!("`{}` is not the name of an attribute", other.to_string().trim()));
        }
    };
    let Expression::FuncCall(call) = value else {
        return Ok(ObjectAttribute { name, of: inner(value)?, optional: false });
    };
    if call.name.is_namespaced() || call.name.name.as_str() != "optional" {
        return Ok(ObjectAttribute { name, of: inner(value)?, optional: false });
    }
    let mut arguments = call.args.iter();
    let (Some(first), default, None) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("`optional` takes a type, and perhaps a default value".to_owned());
    };
    let of = inner(first)?;
    if let Some(default) = default.map(TfValue::Native) {
        if expressions::computed(default) {
            return Err(format!("the default value of `{name}` needs variables or functions"));
        }
        if !fits(&of, default) {
            return Err(format!("the default value of `{name}` is not of its type"));
        }
    }
    Ok(ObjectAttribute { name, of, optional: true })
}

/// Whether a value can be of a type; a value that is not known can be.
///
/// Spec: cty, `convert.Convert`.
pub(super) fn fits(wanted: &TypeConstraint, value: TfValue<'_>) -> bool {
    if let TfValue::Native(Expression::Parenthesis(value)) = value {
        return fits(wanted, TfValue::Native(value.inner()));
    }
    if let (TypeConstraint::Any, _) | (_, Some(Constant::Null)) = (wanted, raw(value)) {
        return true;
    }
    if let Some(items) = value.list() {
        return match wanted {
            TypeConstraint::Elements(of) => items.into_iter().all(|item| fits(of, item)),
            TypeConstraint::Tuple(types) => {
                items.len() == types.len() && types.iter().zip(items).all(|(of, item)| fits(of, item))
            }
            _ => false,
        };
    }
    if let Some(pairs) = value.pairs() {
        return match wanted {
            TypeConstraint::Map(of) => pairs.into_iter().all(|(_, item)| fits(of, item)),
            TypeConstraint::Object(attributes) => attributes.iter().all(|attribute| has(&pairs, attribute)),
            _ => false,
        };
    }
    let text = match raw(value) {
        Some(Constant::Text(text)) => Some(text),
        Some(Constant::Other(_)) => None,
        Some(Constant::Null) | None => return true,
    };
    match (wanted, text) {
        (TypeConstraint::Text, _) => true,
        (TypeConstraint::Number, Some(text)) => text.parse::<f64>().is_ok(),
        (TypeConstraint::Number, None) => !is_truth(value),
        (TypeConstraint::Truth, Some(text)) => matches!(text.as_str(), "true" | "false" | "1" | "0"),
        (TypeConstraint::Truth, None) => is_truth(value),
        _ => false,
    }
}

fn has(pairs: &[(TfValue<'_>, TfValue<'_>)], attribute: &ObjectAttribute) -> bool {
    let mut unknown = false;
    for (key, value) in pairs {
        match key.constant() {
            Some(Constant::Text(name) | Constant::Other(name)) if name == attribute.name => {
                return fits(&attribute.of, *value);
            }
            Some(_) => {}
            None => unknown = true,
        }
    }
    attribute.optional || unknown
}

/// The constant as a default has it: texts in JSON are no templates there.
pub(super) fn raw(value: TfValue<'_>) -> Option<Constant> {
    match value {
        TfValue::Json(json) => match &json.kind {
            TfJsonKind::String(text) => Some(Constant::Text(text.clone())),
            _ => value.constant(),
        },
        other => other.constant(),
    }
}

/// Whether it is `true` or `false`.
pub(super) fn is_truth(value: TfValue<'_>) -> bool {
    match value {
        TfValue::Native(expression) => expression.is_bool(),
        TfValue::Name(..) => false,
        TfValue::Json(json) => matches!(json.kind, TfJsonKind::Bool(_)),
    }
}

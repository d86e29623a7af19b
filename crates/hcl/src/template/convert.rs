//! Conversions to a type, and to the common type of two values.
//!
//! Spec: cty 1.18, `convert`, the unsafe conversions: a text may turn out not to be a number.

use std::collections::BTreeMap;

use super::number::Number;
use super::value::{TemplateValue, Type};

/// Brings `value` to the type `wanted`. The error says why that cannot be.
pub(super) fn convert(value: TemplateValue, wanted: &Type) -> Result<TemplateValue, String> {
    let of = value.type_of();
    if of == *wanted || *wanted == Type::Any {
        return Ok(value);
    }
    if !convertible(&of, wanted) {
        return Err(format!("{} is needed, not {}", wanted.name(), of.name()));
    }
    match (value, wanted) {
        (TemplateValue::Unknown(_), _) => Ok(TemplateValue::Unknown(closed(&of, wanted))),
        (TemplateValue::Present(_), _) => Ok(TemplateValue::Present(closed(&of, wanted))),
        (TemplateValue::Null(_), _) => Ok(TemplateValue::Null(closed(&of, wanted))),
        (TemplateValue::Bool(value), Type::String) => Ok(TemplateValue::String(value.to_string())),
        (TemplateValue::Number(value), Type::String) => Ok(TemplateValue::String(value.to_string())),
        (TemplateValue::String(text), Type::Number) => {
            Number::parse(&text).map(TemplateValue::Number).map_err(|_| format!("a number is needed, not \"{text}\""))
        }
        (TemplateValue::String(text), Type::Bool) => match text.as_str() {
            "true" | "1" => Ok(TemplateValue::Bool(true)),
            "false" | "0" => Ok(TemplateValue::Bool(false)),
            _ => Err(format!("true or false is needed, not \"{text}\"")),
        },
        (TemplateValue::Tuple(items), Type::Tuple(types)) => {
            let items = items.into_iter().zip(types).map(|(item, of)| convert(item, of));
            Ok(TemplateValue::Tuple(items.collect::<Result<_, _>>()?))
        }
        (TemplateValue::Tuple(items) | TemplateValue::List(_, items), Type::List(element)) => {
            let items: Vec<TemplateValue> =
                items.into_iter().map(|item| convert(item, element)).collect::<Result<_, _>>()?;
            list(element, items)
        }
        (TemplateValue::Object(items), Type::Object(types)) => {
            let items = types.iter().filter_map(|(name, of)| Some((name, items.get(name)?.clone(), of)));
            let items = items.map(|(name, item, of)| Ok::<_, String>((name.clone(), convert(item, of)?)));
            Ok(TemplateValue::Object(items.collect::<Result<_, _>>()?))
        }
        (TemplateValue::Map(_, items), Type::Object(types)) => {
            let items = types.iter().map(|(name, of)| match items.get(name) {
                Some(item) => Ok((name.clone(), convert(item.clone(), of)?)),
                None => Err(format!("the map has nothing under \"{name}\"")),
            });
            Ok(TemplateValue::Object(items.collect::<Result<_, _>>()?))
        }
        (TemplateValue::Object(items) | TemplateValue::Map(_, items), Type::Map(element)) => {
            let items = items.into_iter().map(|(name, item)| Ok::<_, String>((name, convert(item, element)?)));
            map(element, items.collect::<Result<_, _>>()?)
        }
        (_, wanted) => Err(format!("{} is needed, not {}", wanted.name(), of.name())),
    }
}

/// A list of the elements' own type if `element` leaves it open.
fn list(element: &Type, items: Vec<TemplateValue>) -> Result<TemplateValue, String> {
    let types: Vec<Type> = items.iter().map(TemplateValue::type_of).collect();
    let Some(element) = (if types.is_empty() { Some(element.clone()) } else { unify(&types) }) else {
        return Err("the elements of a list are of one type".to_owned());
    };
    let items = items.into_iter().map(|item| convert(item, &element)).collect::<Result<_, _>>()?;
    Ok(TemplateValue::List(element, items))
}

fn map(element: &Type, items: BTreeMap<String, TemplateValue>) -> Result<TemplateValue, String> {
    let types: Vec<Type> = items.values().map(TemplateValue::type_of).collect();
    let Some(element) = (if types.is_empty() { Some(element.clone()) } else { unify(&types) }) else {
        return Err("the values of a map are of one type".to_owned());
    };
    let items = items.into_iter().map(|(name, item)| Ok::<_, String>((name, convert(item, &element)?)));
    Ok(TemplateValue::Map(element.clone(), items.collect::<Result<_, _>>()?))
}

/// Whether the types allow the conversion from one to the other.
fn convertible(from: &Type, to: &Type) -> bool {
    if from == to {
        return true;
    }
    match (from, to) {
        (_, Type::Any)
        | (Type::Any, _)
        | (Type::Number | Type::Bool, Type::String)
        | (Type::String, Type::Number | Type::Bool) => true,
        (Type::Object(from), Type::Object(to)) => {
            to.iter().all(|(name, of)| from.get(name).is_some_and(|own| convertible(own, of)))
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to).all(|(from, to)| convertible(from, to))
        }
        (Type::List(from), Type::List(to)) | (Type::Map(from), Type::Map(to)) => convertible(from, to),
        (Type::Tuple(from), Type::List(to)) => {
            // A list that is unknown cannot be made of elements of which something is.
            let lost = **to == Type::Any && unify(from) == Some(Type::Any) && from.iter().any(|of| *of != Type::Any);
            !lost && all_convertible(from, to)
        }
        (Type::Object(from), Type::Map(to)) => {
            let types: Vec<Type> = from.values().cloned().collect();
            all_convertible(&types, to)
        }
        (Type::Map(from), Type::Object(to)) => to.values().all(|of| convertible(from, of)),
        _ => false,
    }
}

fn all_convertible(from: &[Type], to: &Type) -> bool {
    if from.is_empty() {
        return true;
    }
    let to = match to {
        Type::Any => match unify(from) {
            Some(common) => common,
            None => return false,
        },
        known => known.clone(),
    };
    from.iter().all(|from| convertible(from, &to))
}

/// `wanted` with its open parts taken from `from`.
fn closed(from: &Type, wanted: &Type) -> Type {
    match (from, wanted) {
        (Type::Any, _) => wanted.clone(),
        (_, Type::Any) => from.clone(),
        (Type::Map(from), Type::Map(to)) => Type::Map(Box::new(closed(from, to))),
        (Type::List(from), Type::List(to)) => Type::List(Box::new(closed(from, to))),
        (Type::Object(from), Type::Map(to)) => {
            let types: Vec<Type> = from.values().cloned().collect();
            Type::Map(Box::new(unify(&types).map_or_else(|| (**to).clone(), |common| closed(&common, to))))
        }
        (Type::Tuple(from), Type::List(to)) => {
            Type::List(Box::new(unify(from).map_or_else(|| (**to).clone(), |common| closed(&common, to))))
        }
        (Type::Tuple(from), Type::Tuple(to)) if from.len() == to.len() => {
            Type::Tuple(from.iter().zip(to).map(|(from, to)| closed(from, to)).collect())
        }
        (Type::Object(from), Type::Object(to)) => {
            let close = |name: &String, to: &Type| from.get(name).map_or_else(|| to.clone(), |from| closed(from, to));
            Type::Object(to.iter().map(|(name, to)| (name.clone(), close(name, to))).collect())
        }
        (Type::Map(from), Type::Object(to)) => {
            Type::Object(to.iter().map(|(name, to)| (name.clone(), closed(from, to))).collect())
        }
        _ => wanted.clone(),
    }
}

/// The type that values of all of `types` can be converted to; `None` if there is none.
///
/// Collections where one is open altogether have [`Type::Any`] in common: their values are then not known.
pub(super) fn unify(types: &[Type]) -> Option<Type> {
    if types.is_empty() {
        return None;
    }
    let count = |wanted: fn(&Type) -> bool| types.iter().filter(|of| wanted(of)).count();
    let maps = count(|of| matches!(of, Type::Map(_)));
    let lists = count(|of| matches!(of, Type::List(_)));
    let objects = count(|of| matches!(of, Type::Object(_)));
    let tuples = count(|of| matches!(of, Type::Tuple(_)));
    let open = count(|of| *of == Type::Any);
    let all = types.len();
    if maps > 0 && maps + open == all || lists > 0 && lists + open == all {
        return if open > 0 { Some(Type::Any) } else { unify_collections(types) };
    }
    if maps > 0 && maps + objects + open == all {
        let objects: Vec<Type> = types.iter().filter(|of| matches!(of, Type::Object(_))).cloned().collect();
        if let Some(common) = unify_values(&objects) {
            let mapped = types.iter().map(|of| if matches!(of, Type::Object(_)) { common.clone() } else { of.clone() });
            if let Some(common @ Type::Map(_)) = unify(&mapped.collect::<Vec<_>>()) {
                return Some(common);
            }
        }
    } else if lists > 0 && lists + tuples + open == all {
        let tuples: Vec<Type> = types.iter().filter(|of| matches!(of, Type::Tuple(_))).cloned().collect();
        if let Some(common) = unify_values(&tuples) {
            let listed = types.iter().map(|of| if matches!(of, Type::Tuple(_)) { common.clone() } else { of.clone() });
            if let Some(common @ Type::List(_)) = unify(&listed.collect::<Vec<_>>()) {
                return Some(common);
            }
        }
    } else if objects > 0 && objects + open == all {
        return if open > 0 { Some(Type::Any) } else { unify_objects(types) };
    } else if tuples > 0 && tuples + open == all {
        return if open > 0 { Some(Type::Any) } else { unify_tuples(types) };
    } else if objects > 0 && tuples > 0 {
        return None;
    }
    let wanted = |index: &usize| types.iter().all(|of| convertible(of, &types[*index]));
    preference(types).into_iter().find(wanted).map(|index| types[index].clone())
}

fn unify_collections(types: &[Type]) -> Option<Type> {
    let elements: Vec<Type> = types
        .iter()
        .filter_map(|of| match of {
            Type::List(element) | Type::Map(element) => Some((**element).clone()),
            _ => None,
        })
        .collect();
    let element = Box::new(unify(&elements)?);
    let common = if matches!(types.first(), Some(Type::Map(_))) { Type::Map(element) } else { Type::List(element) };
    types.iter().all(|of| convertible(of, &common)).then_some(common)
}

fn unify_objects(types: &[Type]) -> Option<Type> {
    let objects: Vec<&BTreeMap<String, Type>> = types
        .iter()
        .filter_map(|of| match of {
            Type::Object(attributes) => Some(attributes),
            _ => None,
        })
        .collect();
    let first = *objects.first()?;
    if objects.iter().any(|attributes| !attributes.keys().eq(first.keys())) {
        return unify_values(types);
    }
    let mut common = BTreeMap::new();
    for name in first.keys() {
        let across: Vec<Type> = objects.iter().filter_map(|attributes| attributes.get(name).cloned()).collect();
        common.insert(name.clone(), unify(&across)?);
    }
    let common = Type::Object(common);
    if types.iter().all(|of| convertible(of, &common)) { Some(common) } else { unify_values(types) }
}

fn unify_tuples(types: &[Type]) -> Option<Type> {
    let tuples: Vec<&[Type]> = types
        .iter()
        .filter_map(|of| match of {
            Type::Tuple(elements) => Some(elements.as_slice()),
            _ => None,
        })
        .collect();
    let first = *tuples.first()?;
    if tuples.iter().any(|elements| elements.len() != first.len()) {
        return unify_values(types);
    }
    let mut common = Vec::new();
    for index in 0..first.len() {
        let across: Vec<Type> = tuples.iter().filter_map(|elements| elements.get(index).cloned()).collect();
        common.push(unify(&across)?);
    }
    let common = Type::Tuple(common);
    if types.iter().all(|of| convertible(of, &common)) { Some(common) } else { unify_values(types) }
}

/// The list or map that all tuples or objects of `types` can become.
fn unify_values(types: &[Type]) -> Option<Type> {
    let mut values = Vec::new();
    for of in types {
        match of {
            Type::Tuple(elements) => values.extend(elements.iter().cloned()),
            Type::Object(attributes) => values.extend(attributes.values().cloned()),
            _ => {}
        }
    }
    let element = Box::new(unify(&values)?);
    let common = if matches!(types.first(), Some(Type::Object(_))) { Type::Map(element) } else { Type::List(element) };
    types.iter().all(|of| convertible(of, &common)).then_some(common)
}

/// The order in which types are tried: the more general ones first.
fn preference(types: &[Type]) -> Vec<usize> {
    let mut waits: Vec<usize> =
        (0..types.len()).map(|index| types.iter().filter(|other| rank(other, &types[index]) < 0).count()).collect();
    let mut queue: Vec<usize> = (0..types.len()).filter(|index| waits[*index] == 0).collect();
    let mut done = 0;
    while let Some(index) = queue.get(done).copied() {
        done += 1;
        for later in 0..types.len() {
            if rank(&types[index], &types[later]) < 0 {
                waits[later] -= 1;
                if waits[later] == 0 {
                    queue.push(later);
                }
            }
        }
    }
    queue
}

/// Negative where `left` is tried before `right`.
fn rank(left: &Type, right: &Type) -> i32 {
    match (left, right) {
        (Type::Any, Type::Any) | (Type::String, Type::String) => 0,
        (Type::Any, _) | (Type::Tuple(_), Type::List(_)) | (Type::Object(_), Type::Map(_)) => 1,
        (_, Type::Any) | (Type::List(_), Type::Tuple(_)) | (Type::Map(_), Type::Object(_)) => -1,
        (Type::String, other) if other.is_primitive() => -1,
        (other, Type::String) if other.is_primitive() => 1,
        (Type::List(left), Type::List(right)) | (Type::Map(left), Type::Map(right)) => rank(left, right),
        (Type::Object(left), Type::Object(right)) if left.keys().eq(right.keys()) => {
            rank_all(left.values().zip(right.values()))
        }
        (Type::Tuple(left), Type::Tuple(right)) if left.len() == right.len() => rank_all(left.iter().zip(right)),
        _ => 0,
    }
}

fn rank_all<'a>(pairs: impl Iterator<Item = (&'a Type, &'a Type)>) -> i32 {
    let ranks: Vec<i32> = pairs.map(|(left, right)| rank(left, right)).collect();
    match (ranks.iter().any(|rank| *rank < 0), ranks.iter().any(|rank| *rank > 0)) {
        (true, false) => -1,
        (false, true) => 1,
        _ => 0,
    }
}

//! What an expression can see while it is worked out.

use super::ast::Expr;
use super::fault::TemplateFault;
use super::value::Value;

/// What is wrong so far.
pub(super) type Faults = Vec<TemplateFault>;

/// Makes a value of an expression.
pub(super) type Eval = fn(&Expr, &Scope<'_>, &mut Faults) -> Value;

/// The names that an expression can mention.
pub(super) enum Scope<'a> {
    Root(&'a dyn Fn(&str) -> Option<Value>),
    /// One turn of a `for`.
    Turn {
        outer: &'a Scope<'a>,
        key: Option<(&'a str, &'a Value)>,
        value: (&'a str, &'a Value),
    },
    /// One element of a splat.
    Item {
        outer: &'a Scope<'a>,
        value: &'a Value,
    },
}

impl Scope<'_> {
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        match self {
            Self::Root(lookup) => lookup(name),
            Self::Turn { value, .. } if value.0 == name => Some(value.1.clone()),
            Self::Turn { key: Some(key), .. } if key.0 == name => Some(key.1.clone()),
            Self::Turn { outer, .. } | Self::Item { outer, .. } => outer.get(name),
        }
    }

    pub(super) fn item(&self) -> Value {
        match self {
            Self::Root(_) => Value::ANY,
            Self::Turn { outer, .. } => outer.item(),
            Self::Item { value, .. } => (*value).clone(),
        }
    }
}

//! The names and values that an expression can use.

use super::ast::Expr;
use super::fault::TemplateFault;
use super::value::TemplateValue;

/// The faults so far.
pub(super) type TemplateFaults = Vec<TemplateFault>;

/// Evaluates an expression.
pub(super) type Eval = fn(&Expr, &TemplateScope<'_>, &mut TemplateFaults) -> TemplateValue;

/// The names that an expression can mention.
pub(super) enum TemplateScope<'a> {
    Root(&'a dyn Fn(&str) -> Option<TemplateValue>),
    /// One turn of a `for`.
    Turn {
        outer: &'a TemplateScope<'a>,
        key: Option<(&'a str, &'a TemplateValue)>,
        value: (&'a str, &'a TemplateValue),
    },
    /// One element of a splat.
    Item {
        outer: &'a TemplateScope<'a>,
        value: &'a TemplateValue,
    },
}

impl TemplateScope<'_> {
    pub(super) fn get(&self, name: &str) -> Option<TemplateValue> {
        match self {
            Self::Root(lookup) => lookup(name),
            Self::Turn { value, .. } if value.0 == name => Some(value.1.clone()),
            Self::Turn { key: Some(key), .. } if key.0 == name => Some(key.1.clone()),
            Self::Turn { outer, .. } | Self::Item { outer, .. } => outer.get(name),
        }
    }

    pub(super) fn item(&self) -> TemplateValue {
        match self {
            Self::Root(_) => TemplateValue::ANY,
            Self::Turn { outer, .. } => outer.item(),
            Self::Item { value, .. } => (*value).clone(),
        }
    }
}

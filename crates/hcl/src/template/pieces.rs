//! A template as texts and names in a row, as far as it is one.

use hcl_edit::expr::{BinaryOperator, UnaryOperator};

use super::Template;
use super::eval::eval;
use super::tree::{Expr, ExprKind};
use super::value::{TemplateValue, Type};

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    Text(String),
    /// The value of this name, as it is.
    Name(String),
}

/// Why a template is not a row of texts and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPieces {
    /// It has no text for any value of the names.
    NoText,
    /// It computes with the names.
    Computed,
}

impl Template {
    /// What the text consists of. `known` gives the values of names; a name without one stands for any text but those that
    /// [`Template::cases`] has for it.
    ///
    /// # Errors
    /// If it has no text, or computes it.
    pub fn pieces(&self, known: &dyn Fn(&str) -> Option<TemplateValue>) -> Result<Vec<TemplatePiece>, NoPieces> {
        let mut pieces = Vec::new();
        row(&self.root, known, &mut pieces).map(|()| pieces)
    }

    /// The names that a condition compares with a text, or that choose an item of an object, each with the text.
    pub fn cases(&self) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        cases(&self.root, &mut found);
        found
    }
}

fn row<'e>(
    expr: &'e Expr,
    known: &dyn Fn(&str) -> Option<TemplateValue>,
    pieces: &mut Vec<TemplatePiece>,
) -> Result<(), NoPieces> {
    match &expr.kind {
        _ if is_known(expr, known) => {
            let value = eval(expr, known).ok().and_then(|value| value.into_text().ok());
            let Some(TemplateValue::String(text)) = value else { return Err(NoPieces::NoText) };
            pieces.push(TemplatePiece::Text(text));
            Ok(())
        }
        ExprKind::Name(name) => {
            pieces.push(TemplatePiece::Name(name.clone()));
            Ok(())
        }
        ExprKind::Template(parts) => parts.iter().try_for_each(|part| row(part, known, pieces)),
        ExprKind::Conditional { condition, positive, negative } => match holds(condition, known) {
            Some(true) => row(positive, known, pieces),
            Some(false) => row(negative, known, pieces),
            None => Err(NoPieces::Computed),
        },
        ExprKind::Step { source, key, .. } => match (&source.kind, &key.kind) {
            (ExprKind::Object(items), ExprKind::Name(name)) if items.iter().all(|(key, _)| text_of(key).is_some()) => {
                // A name without a value is not one of the keys.
                let Some(TemplateValue::String(value)) = known(name) else { return Err(NoPieces::NoText) };
                let chosen = items.iter().rev().find(|(key, _)| text_of(key) == Some(&value));
                chosen.map_or(Err(NoPieces::NoText), |(_, chosen)| row(chosen, known, pieces))
            }
            _ => Err(NoPieces::Computed),
        },
        _ => Err(NoPieces::Computed),
    }
}

/// Whether a condition holds, if that depends on known names and on comparisons with texts alone.
fn holds(expr: &Expr, known: &dyn Fn(&str) -> Option<TemplateValue>) -> Option<bool> {
    match &expr.kind {
        _ if is_known(expr, known) => match eval(expr, known).ok()?.into_type(Type::Bool) {
            Ok(TemplateValue::Bool(value)) => Some(value),
            _ => None,
        },
        ExprKind::Unary { operator: UnaryOperator::Not, operand } => holds(operand, known).map(|value| !value),
        ExprKind::Binary { operator, left, right } => match operator {
            BinaryOperator::Eq => compared(left, right).map(|_| false),
            BinaryOperator::NotEq => compared(left, right).map(|_| true),
            BinaryOperator::And => Some(holds(left, known)? && holds(right, known)?),
            BinaryOperator::Or => Some(holds(left, known)? || holds(right, known)?),
            _ => None,
        },
        _ => None,
    }
}

fn is_known(expr: &Expr, known: &dyn Fn(&str) -> Option<TemplateValue>) -> bool {
    let mut all = true;
    expr.names(&mut |name, _| all &= known(name).is_some());
    all
}

fn cases<'e>(expr: &'e Expr, found: &mut Vec<(&'e str, &'e str)>) {
    match &expr.kind {
        ExprKind::Binary { left, right, .. } => found.extend(compared(left, right)),
        ExprKind::Step { source, key, .. } => {
            if let (ExprKind::Object(items), ExprKind::Name(name)) = (&source.kind, &key.kind) {
                found.extend(items.iter().filter_map(|(key, _)| Some((name.as_str(), text_of(key)?))));
            }
        }
        _ => {}
    }
    for part in expr.parts() {
        cases(part, found);
    }
}

/// A name and the text that it is compared with.
fn compared<'e>(left: &'e Expr, right: &'e Expr) -> Option<(&'e str, &'e str)> {
    match (&left.kind, &right.kind) {
        (ExprKind::Name(name), _) => Some((name, text_of(right)?)),
        (_, ExprKind::Name(name)) => Some((name, text_of(left)?)),
        _ => None,
    }
}

fn text_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(TemplateValue::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces with `x` known as `a`, if it is, and `y` and `z` unknown.
    #[track_caller]
    fn check(template: &str, x: Option<&str>, want: &str) {
        let template = Template::parse(template).expect("a template");
        let known = |name: &str| x.filter(|_| name == "x").map(|value| TemplateValue::String(value.to_owned()));
        let shown = match template.pieces(&known) {
            Ok(pieces) => pieces.iter().fold(String::new(), |shown, piece| match piece {
                TemplatePiece::Text(text) => shown + text,
                TemplatePiece::Name(name) => shown + "<" + name + ">",
            }),
            Err(why) => format!("{why:?}"),
        };
        assert_eq!(shown, want, "{}", template.source());
    }

    #[test]
    fn a_template_is_a_row_of_texts_and_names() {
        check("a.test/${x}-${y}", None, "a.test/<x>-<y>");
        check("a.test/${x}-${y}", Some("a"), "a.test/a-<y>");
        check("a.test/ ${~ y ~} /b", None, "a.test/<y>/b");
        check("${y}", None, "<y>");
        check("a/$${y}/${(y)}", None, "a/${y}/<y>");
        check("a/${40 + 2}", None, "a/42");
        check("a/${x + 1}", Some("1"), "a/2");
        check("a/${x + 1}", Some("z"), "NoText");
    }

    #[test]
    fn a_condition_is_decided_by_what_is_known_and_by_texts_that_a_name_is_not() {
        let condition = "a/%{if x == \"own\"}o%{else}${x}%{endif}/${y}";
        check(condition, Some("own"), "a/o/<y>");
        check(condition, Some("a"), "a/a/<y>");
        check(condition, None, "a/<x>/<y>");
        check("${x != \"own\" && !(\"b\" == y) || y == \"c\" ? y : \"o\"}", None, "<y>");
        check("${x == y ? y : \"o\"}", None, "Computed");
        check("${x > y ? y : \"o\"}", None, "Computed");
        check("${{\"a\" = \"own\", b = y}[x]}", Some("a"), "own");
        check("${{\"a\" = \"own\", b = y}[x]}", Some("b"), "<y>");
        check("${{\"a\" = \"own\", b = y}[x]}", Some("c"), "NoText");
        check("${{\"a\" = \"own\", b = y}[x]}", None, "NoText");
        check("a/${y == \"b\" ? null : \"x\"}", None, "a/x");
    }

    #[test]
    fn cases_are_the_texts_that_a_name_is_compared_with() {
        let template =
            "%{if x == \"a\" || \"b\" != y}c%{else}${{\"d\" = z == \"e\" ? x : y, f = \"g\"}[z]}%{endif}${x}";
        let template = Template::parse(template).expect("a template");
        assert_eq!(template.cases(), [("x", "a"), ("y", "b"), ("z", "d"), ("z", "f"), ("z", "e")]);
    }
}

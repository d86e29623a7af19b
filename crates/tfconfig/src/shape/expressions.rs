//! What an expression needs, seen from its text.

use std::collections::BTreeSet;

use hcl_edit::expr::{BinaryOperator, Expression, ForExpr, ObjectKey, Traversal, TraversalOperator};
use hcl_edit::template::{Element, ForTemplateExpr, Template};
use hcl_edit::visit::{self, Visit};

use crate::json::TfJsonKind;
use crate::syntax::TfValue;

/// Whether the value cannot be known without variables or functions. `false` also if that depends on the way that an
/// evaluation takes.
///
/// In JSON nothing is computed where a constant is wanted: the text counts as it is written.
pub(super) fn computed(value: TfValue<'_>) -> bool {
    match value {
        TfValue::Native(expression) => native_computed(expression),
        TfValue::Name(..) | TfValue::Json(_) => false,
    }
}

fn native_computed(expression: &Expression) -> bool {
    match expression {
        Expression::Variable(_) | Expression::FuncCall(_) => true,
        Expression::Traversal(traversal) => native_computed(&traversal.expr),
        Expression::Parenthesis(inner) => native_computed(inner.inner()),
        Expression::Array(list) => list.iter().any(native_computed),
        Expression::Object(object) => object.iter().any(|(key, value)| {
            matches!(key, ObjectKey::Expression(Expression::Parenthesis(key)) if native_computed(key.inner()))
                || native_computed(value.expr())
        }),
        Expression::StringTemplate(template) => elements_computed(template),
        Expression::HeredocTemplate(heredoc) => elements_computed(&heredoc.template),
        Expression::UnaryOp(operation) => native_computed(&operation.expr),
        Expression::BinaryOp(operation) => {
            !matches!(*operation.operator.value(), BinaryOperator::And | BinaryOperator::Or)
                && (native_computed(&operation.lhs_expr) || native_computed(&operation.rhs_expr))
        }
        _ => false,
    }
}

fn elements_computed<'a>(elements: impl IntoIterator<Item = &'a Element>) -> bool {
    elements
        .into_iter()
        .any(|element| matches!(element, Element::Interpolation(filled) if native_computed(&filled.expr)))
}

/// The names that an expression refers to.
#[derive(Default)]
pub(super) struct References {
    /// The first names, those that a `for` introduces among them.
    pub(super) roots: BTreeSet<String>,
    /// The names after `var.`.
    pub(super) variables: BTreeSet<String>,
    /// Whether a `for` introduces names.
    pub(super) names_of_its_own: bool,
}

/// What a value refers to; `None` if that is not known, as of a text in JSON that is no template.
pub(super) fn references(value: TfValue<'_>) -> Option<References> {
    let mut found = References::default();
    match value {
        TfValue::Native(expression) => found.visit_expr(expression),
        TfValue::Name(..) => return None,
        TfValue::Json(json) => match &json.kind {
            TfJsonKind::String(text) => found.visit_template(&template(text)?),
            TfJsonKind::Array(_) | TfJsonKind::Object(_) => return None,
            TfJsonKind::Null | TfJsonKind::Bool(_) | TfJsonKind::Number(_) => {}
        },
    }
    Some(found)
}

fn template(text: &str) -> Option<Template> {
    hcl_edit::parser::parse_template(text).ok()
}

impl Visit for References {
    fn visit_expr(&mut self, expression: &Expression) {
        if let Expression::Variable(name) = expression {
            self.roots.insert(name.as_str().to_owned());
        }
        visit::visit_expr(self, expression);
    }

    fn visit_traversal(&mut self, traversal: &Traversal) {
        if let (Expression::Variable(root), Some(TraversalOperator::GetAttr(name))) =
            (&traversal.expr, traversal.operators.first().map(hcl_edit::Decorated::value))
            && root.as_str() == "var"
        {
            self.variables.insert(name.as_str().to_owned());
        }
        visit::visit_traversal(self, traversal);
    }

    fn visit_for_expr(&mut self, node: &ForExpr) {
        self.names_of_its_own = true;
        visit::visit_for_expr(self, node);
    }

    /// The parser's own walk skips the collection of a `%{ for }`.
    fn visit_for_template_expr(&mut self, node: &ForTemplateExpr) {
        self.names_of_its_own = true;
        self.visit_expr(&node.collection_expr);
        visit::visit_for_template_expr(self, node);
    }
}

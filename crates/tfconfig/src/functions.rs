//! Calls of functions of providers: `provider::NAME::FUNCTION(…)`, anywhere in an expression.

use hcl_edit::expr::FuncCall;
use hcl_edit::structure::Body;
use hcl_edit::template::ForTemplateExpr;
use hcl_edit::visit::{self, Visit};

use crate::facts::FunctionCall;
use crate::json::{TfJsonKind, TfJsonValue};
use crate::model::Declared;

/// The calls in a native file, in its order.
pub(crate) fn native(body: &Body, at: impl Fn(usize) -> Declared) -> Vec<FunctionCall> {
    let mut calls = Calls { at: &at, found: Vec::new() };
    calls.visit_body(body);
    calls.found
}

/// The calls in the strings of a JSON file, which are templates; each has the place of its string.
pub(crate) fn json(root: &TfJsonValue, at: impl Fn(usize) -> Declared) -> Vec<FunctionCall> {
    let mut found = Vec::new();
    in_json(root, &at, &mut found);
    found
}

fn in_json(json: &TfJsonValue, at: &dyn Fn(usize) -> Declared, found: &mut Vec<FunctionCall>) {
    match &json.kind {
        TfJsonKind::String(text) => in_template(text, json.offset, at, found),
        TfJsonKind::Array(list) => list.iter().for_each(|item| in_json(item, at, found)),
        TfJsonKind::Object(members) => {
            for member in members.iter().filter(|member| member.name != "//") {
                in_template(&member.name, member.offset, at, found);
                in_json(&member.value, at, found);
            }
        }
        TfJsonKind::Null | TfJsonKind::Bool(_) | TfJsonKind::Number(_) => {}
    }
}

fn in_template(text: &str, offset: usize, at: &dyn Fn(usize) -> Declared, found: &mut Vec<FunctionCall>) {
    // An invalid template is the concern of the program that needs its value.
    if text.contains("provider::")
        && let Ok(template) = hcl_edit::parser::parse_template(text)
    {
        let there = move |_: usize| at(offset);
        let mut calls = Calls { at: &there, found: Vec::new() };
        calls.visit_template(&template);
        found.append(&mut calls.found);
    }
}

struct Calls<'a> {
    at: &'a dyn Fn(usize) -> Declared,
    found: Vec<FunctionCall>,
}

impl Visit for Calls<'_> {
    fn visit_func_call(&mut self, call: &FuncCall) {
        let mut namespace = call.name.namespace.iter().map(|part| part.as_str());
        if namespace.next() == Some("provider")
            && let Some(name) = namespace.next()
        {
            let alias = namespace.next();
            let text = ["provider", name].into_iter().chain(alias).chain([call.name.name.as_str()]);
            let offset = call.name.namespace.first().and_then(hcl_edit::Span::span).map_or(0, |span| span.start);
            self.found.push(FunctionCall {
                name: name.to_owned(),
                alias: alias.map(str::to_owned),
                text: text.collect::<Vec<_>>().join("::"),
                at: (self.at)(offset),
            });
        }
        visit::visit_func_call(self, call);
    }

    /// The parser's own walk skips the collection of a `%{ for }`.
    fn visit_for_template_expr(&mut self, node: &ForTemplateExpr) {
        self.visit_expr(&node.collection_expr);
        visit::visit_for_template_expr(self, node);
    }
}

//! One view of both syntaxes: bodies with attributes and blocks, values that are constants, lists, maps or references.

use std::path::Path;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ObjectKey, TraversalOperator};
use hcl_edit::structure;
use tofu_oci_types::TextPosition;

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::{ConfigRef, problem};
use crate::json::{TfJsonKind, TfJsonMember, TfJsonValue};
use crate::model::Declared;

/// The inside of a block, or a file.
pub(crate) enum TfBody<'a> {
    Native(&'a structure::Body),
    Json(Vec<&'a [TfJsonMember]>),
}

/// An attribute.
pub(crate) struct TfAttribute<'a> {
    pub(crate) name: &'a str,
    pub(crate) offset: usize,
    pub(crate) value: TfValue<'a>,
}

/// A block.
pub(crate) struct TfBlock<'a> {
    pub(crate) labels: Vec<&'a str>,
    pub(crate) offset: usize,
    pub(crate) body: TfBody<'a>,
}

/// An expression.
#[derive(Clone, Copy)]
pub(crate) enum TfValue<'a> {
    Native(&'a Expression),
    /// A name in front of an `=` or a `:`.
    Name(&'a str, usize),
    Json(&'a TfJsonValue),
}

/// A value that needs no evaluation.
pub(crate) enum Constant {
    Null,
    Text(String),
    /// A number or truth value, as HCL writes it if a string is wanted.
    Other(String),
}

/// A file in the native syntax.
pub(crate) fn parse(path: &Path, text: &str) -> Result<structure::Body, TfConfigError> {
    hcl_edit::parser::parse_body(text).map_err(|error| {
        let location = error.location();
        let at = TextPosition { line: location.line(), column: location.column() };
        let at = Declared { path: path.to_owned(), at };
        problem(at, ConfigProblem::Syntax { message: error.message().trim().to_owned() })
    })
}

impl<'a> TfBody<'a> {
    pub(crate) fn attribute(&self, name: &str) -> Option<TfAttribute<'a>> {
        self.attributes().into_iter().find(|attribute| attribute.name == name)
    }

    /// Every attribute. In JSON blocks look the same and are among them.
    pub(crate) fn attributes(&self) -> Vec<TfAttribute<'a>> {
        match self {
            Self::Native(body) => body
                .attributes()
                .map(|attribute| TfAttribute {
                    name: attribute.key.as_str(),
                    offset: attribute.key.span().map_or(0, |span| span.start),
                    value: TfValue::Native(&attribute.value),
                })
                .collect(),
            Self::Json(objects) => members(objects)
                .map(|member| TfAttribute {
                    name: &member.name,
                    offset: member.offset,
                    value: TfValue::Json(&member.value),
                })
                .collect(),
        }
    }

    /// The names of attributes and blocks, in their order.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        match self {
            Self::Native(body) => body
                .iter()
                .map(|item| match item {
                    structure::Structure::Attribute(attribute) => attribute.key.as_str(),
                    structure::Structure::Block(block) => block.ident.as_str(),
                })
                .collect(),
            Self::Json(objects) => members(objects).map(|member| member.name.as_str()).collect(),
        }
    }

    /// The blocks of this kind; those without enough labels are left out.
    pub(crate) fn blocks(&self, kind: &'a str, labels: usize) -> Vec<TfBlock<'a>> {
        match self {
            Self::Native(body) => body
                .get_blocks(kind)
                .filter(|block| block.labels.len() == labels)
                .map(|block| TfBlock {
                    labels: block.labels.iter().map(structure::BlockLabel::as_str).collect(),
                    offset: block.span().map_or(0, |span| span.start),
                    body: TfBody::Native(&block.body),
                })
                .collect(),
            Self::Json(objects) => {
                let mut found = Vec::new();
                for member in members(objects).filter(|member| member.name == kind) {
                    unpack(&member.value, member.offset, labels, &mut Vec::new(), &mut found);
                }
                found
            }
        }
    }
}

/// The members that are not comments.
fn members<'a>(objects: &[&'a [TfJsonMember]]) -> impl Iterator<Item = &'a TfJsonMember> {
    objects.iter().flat_map(|members| members.iter()).filter(|member| member.name != "//")
}

/// Each level of objects is a label; below them an object is one block, and an array one for each of its objects.
fn unpack<'a>(
    value: &'a TfJsonValue,
    offset: usize,
    labels: usize,
    above: &mut Vec<&'a str>,
    found: &mut Vec<TfBlock<'a>>,
) {
    if labels > 0 {
        for member in members(&value.objects()) {
            above.push(&member.name);
            unpack(&member.value, member.offset, labels - 1, above, found);
            above.pop();
        }
        return;
    }
    for object in value.objects() {
        found.push(TfBlock { labels: above.clone(), offset, body: TfBody::Json(vec![object]) });
    }
}

impl<'a> TfValue<'a> {
    /// Where it begins.
    pub(crate) fn offset(self) -> usize {
        match self {
            Self::Native(expression) => expression.span().map_or(0, |span| span.start),
            Self::Name(_, offset) => offset,
            Self::Json(json) => json.offset,
        }
    }

    /// Its text in the file.
    pub(crate) fn written(self, file: &str) -> String {
        match self {
            Self::Native(expression) => {
                expression.span().and_then(|span| file.get(span)).unwrap_or_default().to_owned()
            }
            Self::Name(name, _) => name.to_owned(),
            Self::Json(json) => json.as_str().unwrap_or_default().to_owned(),
        }
    }

    /// The expression for people: as it is written, in JSON as HCL writes it.
    pub(crate) fn shown(self, file: &str) -> String {
        match self {
            Self::Native(_) | Self::Name(..) => self.written(file).trim().to_owned(),
            Self::Json(json) => json.shown(),
        }
    }

    /// The expression as a template of HCL.
    pub(crate) fn template(self, file: &str) -> String {
        match self {
            // Strings in JSON are templates.
            Self::Json(TfJsonValue { kind: TfJsonKind::String(text), .. }) => text.clone(),
            Self::Json(json) => format!("${{{}}}", json_expression(json, false)),
            Self::Native(_) | Self::Name(..) => format!("${{{}}}", self.written(file)),
        }
    }

    /// As `template`, for a value without names: its strings in JSON are literal.
    pub(crate) fn literal(self, file: &str) -> String {
        match self {
            Self::Json(json) => format!("${{{}}}", json_expression(json, true)),
            Self::Native(_) | Self::Name(..) => self.template(file),
        }
    }

    /// The value, if it is the same whatever the variables are.
    pub(crate) fn constant(self) -> Option<Constant> {
        match self {
            Self::Native(expression) => native_constant(expression),
            Self::Name(name, _) => Some(Constant::Text(name.to_owned())),
            Self::Json(json) => match &json.kind {
                TfJsonKind::Null => Some(Constant::Null),
                TfJsonKind::Bool(value) => Some(Constant::Other(value.to_string())),
                TfJsonKind::Number(text) => Some(Constant::Other(number(text))),
                TfJsonKind::String(text) => json_template(text),
                TfJsonKind::Array(_) | TfJsonKind::Object(_) => None,
            },
        }
    }

    /// The items of a list.
    pub(crate) fn list(self) -> Option<Vec<TfValue<'a>>> {
        match self {
            Self::Native(expression) => Some(expression.as_array()?.iter().map(TfValue::Native).collect()),
            Self::Name(..) => None,
            Self::Json(json) => match &json.kind {
                TfJsonKind::Array(list) => Some(list.iter().map(TfValue::Json).collect()),
                _ => None,
            },
        }
    }

    /// The pairs of a map.
    pub(crate) fn pairs(self) -> Option<Vec<(TfValue<'a>, TfValue<'a>)>> {
        match self {
            Self::Native(expression) => {
                let pair = |(key, value): (&'a ObjectKey, &'a hcl_edit::expr::ObjectValue)| {
                    let key = match key {
                        ObjectKey::Ident(name) => {
                            TfValue::Name(name.as_str(), name.span().map_or(0, |span| span.start))
                        }
                        ObjectKey::Expression(expression) => TfValue::Native(expression),
                    };
                    (key, TfValue::Native(value.expr()))
                };
                Some(expression.as_object()?.iter().map(pair).collect())
            }
            Self::Name(..) => None,
            Self::Json(json) => match &json.kind {
                TfJsonKind::Object(members) => {
                    let members = members.iter();
                    Some(members.map(|m| (TfValue::Name(&m.name, m.offset), TfValue::Json(&m.value))).collect())
                }
                _ => None,
            },
        }
    }

    /// The configuration that it refers to: `aws`, `aws.west` or `aws.west[each.key]`; quotes are deprecated.
    pub(crate) fn reference(self) -> Option<ConfigRef> {
        match self {
            Self::Native(expression) => reference(expression),
            Self::Name(text, _) => reference(&hcl_edit::parser::parse_expr(text).ok()?),
            Self::Json(json) => reference(&hcl_edit::parser::parse_expr(json.as_str()?).ok()?),
        }
    }

    /// The steps of an address such as `module.a["x"].aws_instance.b[0]`, without its keys.
    pub(crate) fn address(self) -> Option<Vec<String>> {
        match self {
            Self::Native(expression) => steps(expression),
            Self::Name(text, _) => steps(&hcl_edit::parser::parse_expr(text).ok()?),
            Self::Json(json) => steps(&hcl_edit::parser::parse_expr(json.as_str()?).ok()?),
        }
    }
}

fn native_constant(expression: &Expression) -> Option<Constant> {
    match expression {
        Expression::Null(_) => Some(Constant::Null),
        Expression::Bool(value) => Some(Constant::Other(value.value().to_string())),
        Expression::Number(value) => Some(Constant::Other(number(&value.value().to_string()))),
        Expression::String(text) => Some(Constant::Text(text.as_str().to_owned())),
        Expression::Parenthesis(inner) => native_constant(inner.inner()),
        Expression::HeredocTemplate(heredoc) => {
            // A heredoc with an indent is written without it; its lines keep their ends.
            let mut parts = heredoc.template.iter();
            match (parts.next(), parts.next()) {
                (None, _) => Some(Constant::Text(String::new())),
                (Some(hcl_edit::template::Element::Literal(text)), None) => Some(Constant::Text(text.to_string())),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A value of JSON as HCL writes it; its strings are templates if it is not `literal`.
fn json_expression(json: &TfJsonValue, literal: bool) -> String {
    match &json.kind {
        TfJsonKind::Null => "null".to_owned(),
        TfJsonKind::Bool(value) => value.to_string(),
        TfJsonKind::Number(text) => text.clone(),
        TfJsonKind::String(text) if !literal && (text.contains("${") || text.contains("%{")) => format!("\"{text}\""),
        TfJsonKind::String(text) => tofu_oci_hcl::hcl2_string(text),
        TfJsonKind::Array(list) => {
            let items = list.iter().map(|item| json_expression(item, literal));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        TfJsonKind::Object(members) => {
            let member = |member: &TfJsonMember| {
                format!("{} = {}", tofu_oci_hcl::hcl2_string(&member.name), json_expression(&member.value, literal))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Strings in JSON are templates; those with nothing to fill in are constants.
fn json_template(text: &str) -> Option<Constant> {
    let template = hcl_edit::parser::parse_template(text).ok()?;
    let mut constant = String::new();
    for element in &template {
        let hcl_edit::template::Element::Literal(literal) = element else { return None };
        constant.push_str(literal);
    }
    Some(Constant::Text(constant))
}

/// A number as HCL writes it if a string is wanted: `1.10` is `1.1`.
fn number(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if text.contains(['.', 'e', 'E']) => value.to_string(),
        _ => text.to_owned(),
    }
}

/// Spec: `OpenTofu` 1.12, `configs.decodeProviderConfigRef`.
fn reference(expression: &Expression) -> Option<ConfigRef> {
    match expression {
        Expression::Variable(_) | Expression::Null(_) | Expression::Bool(_) => {
            Some(ConfigRef { name: root_name(expression)?.to_owned(), alias: None, key: None })
        }
        Expression::Traversal(traversal) => {
            let name = root_name(&traversal.expr)?.to_owned();
            let mut operators = traversal.operators.iter().map(hcl_edit::Decorated::value);
            let TraversalOperator::GetAttr(alias) = operators.next()? else { return None };
            let key = match operators.next() {
                None => None,
                Some(TraversalOperator::Index(key)) => Some(key.to_string().trim().to_owned()),
                Some(_) => return None,
            };
            if operators.next().is_some() {
                return None;
            }
            Some(ConfigRef { name, alias: Some(alias.as_str().to_owned()), key })
        }
        Expression::String(text) if !text.contains('"') => {
            reference(&hcl_edit::parser::parse_expr(text.as_str()).ok()?)
        }
        _ => None,
    }
}

/// The name at the beginning of a reference; `null` is the name of a well-known provider too.
fn root_name(expression: &Expression) -> Option<&str> {
    match expression {
        Expression::Variable(name) => Some(name.as_str()),
        Expression::Null(_) => Some("null"),
        Expression::Bool(value) => Some(if *value.value() { "true" } else { "false" }),
        _ => None,
    }
}

fn steps(expression: &Expression) -> Option<Vec<String>> {
    match expression {
        Expression::Variable(name) => Some(vec![name.as_str().to_owned()]),
        Expression::Traversal(traversal) => {
            let mut steps = vec![traversal.expr.as_variable()?.as_str().to_owned()];
            for operator in &traversal.operators {
                match operator.value() {
                    TraversalOperator::GetAttr(name) => steps.push(name.as_str().to_owned()),
                    TraversalOperator::Index(_) | TraversalOperator::LegacyIndex(_) => {}
                    _ => return None,
                }
            }
            Some(steps)
        }
        _ => None,
    }
}

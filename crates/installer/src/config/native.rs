//! Files in HCL's native syntax.

use std::ops::Range;
use std::path::Path;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, Object, ObjectKey, TraversalOperator};
use hcl_edit::structure::{Attribute, Block, Body};
use tofu_oci_types::Constraints;

use super::Declared;
use super::facts::{
    Facts, ModuleCall, Required, Used, implied_name, parse_constraints, parse_source, position, problem,
};
use crate::{ConfigProblem, InstallError};

/// What a native file says.
pub(super) fn read(path: &Path, text: &str) -> Result<Facts, InstallError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = hcl_edit::parser::parse_body(text).map_err(|error| {
        let location = error.location();
        let at = Declared { path: path.to_owned(), line: location.line(), column: location.column() };
        problem(at, ConfigProblem::Syntax { message: error.message().trim().to_owned() })
    })?;
    let reader = Reader { path, text };
    let mut facts = Facts::default();
    for block in body.blocks() {
        reader.block(block, &mut facts)?;
    }
    Ok(facts)
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn at(&self, span: Option<Range<usize>>) -> Declared {
        position(self.path, self.text, span.map_or(0, |span| span.start))
    }

    fn block(&self, block: &Block, facts: &mut Facts) -> Result<(), InstallError> {
        let label = block.labels.first().map(|label| label.as_str().to_owned());
        match (block.ident.as_str(), label) {
            ("terraform" | "tofu", _) => {
                for providers in block.body.get_blocks("required_providers") {
                    for attribute in providers.body.attributes() {
                        facts.required.push(self.required(attribute)?);
                    }
                }
            }
            ("provider", Some(name)) => {
                let constraints = match block.body.get_attribute("version") {
                    Some(version) => self.constraints("version", &version.value)?,
                    None => Constraints::any(),
                };
                facts.used.push(Used { name, constraints, at: self.at(block.span()) });
            }
            ("resource" | "data" | "ephemeral", Some(resource_type)) => {
                let name = match block.body.get_attribute("provider") {
                    Some(provider) => reference(&provider.value),
                    None => Some(implied_name(&resource_type).to_owned()),
                };
                if let Some(name) = name {
                    facts.used.push(Used { name, constraints: Constraints::any(), at: self.at(block.span()) });
                }
            }
            ("module", Some(name)) => facts.modules.extend(self.module(name, &block.body)?),
            _ => {}
        }
        Ok(())
    }

    fn module(&self, name: String, body: &Body) -> Result<Option<ModuleCall>, InstallError> {
        let Some(source) = body.get_attribute("source") else { return Ok(None) };
        // A source that is computed is OpenTofu's early evaluation; its folder is known from modules.json alone.
        let text = if source.value.is_str() { self.string("source", &source.value)? } else { String::new() };
        Ok(Some(ModuleCall { name, source: text, at: self.at(source.value.span()) }))
    }

    fn required(&self, attribute: &Attribute) -> Result<Required, InstallError> {
        let name = attribute.key.as_str().to_owned();
        let at = self.at(attribute.key.span());
        let (source, constraints) = match &attribute.value {
            Expression::Object(object) => self.entry(object)?,
            value if value.is_str() => (None, self.constraints(&name, value)?),
            _ => return Err(problem(at, ConfigProblem::InvalidEntry { name })),
        };
        Ok(Required { name, source, constraints, at })
    }

    fn entry(&self, object: &Object) -> Result<(Option<tofu_oci_types::ProviderAddr>, Constraints), InstallError> {
        let (mut source, mut constraints) = (None, Constraints::any());
        for (key, value) in object {
            let value = value.expr();
            match key_text(key) {
                Some("source") => {
                    let at = self.at(value.span());
                    source = Some(parse_source(&self.string("source", value)?, &at)?);
                }
                Some("version") => constraints = self.constraints("version", value)?,
                _ => {}
            }
        }
        Ok((source, constraints))
    }

    fn constraints(&self, name: &str, value: &Expression) -> Result<Constraints, InstallError> {
        parse_constraints(&self.string(name, value)?, &self.at(value.span()))
    }

    fn string(&self, name: &str, value: &Expression) -> Result<String, InstallError> {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| problem(self.at(value.span()), ConfigProblem::NotAString { name: name.to_owned() }))
    }
}

fn key_text(key: &ObjectKey) -> Option<&str> {
    match key {
        ObjectKey::Ident(ident) => Some(ident.as_str()),
        ObjectKey::Expression(expression) => expression.as_str(),
    }
}

/// The local name in `provider = aws`, `aws.west` or `"aws.west"`.
fn reference(value: &Expression) -> Option<String> {
    match value {
        Expression::Variable(name) => Some(name.as_str().to_owned()),
        Expression::Traversal(traversal) => {
            let plain = |operator: &TraversalOperator| {
                matches!(operator, TraversalOperator::GetAttr(_) | TraversalOperator::Index(_))
            };
            let name = traversal.expr.as_variable().map(|name| name.as_str().to_owned());
            name.filter(|_| traversal.operators.iter().all(|operator| plain(operator)))
        }
        Expression::String(text) => text.as_str().split('.').next().map(str::to_owned),
        _ => None,
    }
}

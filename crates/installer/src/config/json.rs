//! Files in HCL's JSON syntax.

use std::path::Path;

use serde_json::{Map, Value};
use tofu_oci_types::Constraints;

use super::Declared;
use super::facts::{
    Facts, ModuleCall, Required, Used, implied_name, parse_constraints, parse_source, position, problem,
};
use crate::{ConfigProblem, InstallError};

/// What a JSON file says.
pub(super) fn read(path: &Path, text: &str) -> Result<Facts, InstallError> {
    let root: Value = serde_json::from_str(text).map_err(|error| {
        let at = Declared { path: path.to_owned(), line: error.line(), column: error.column() };
        problem(at, ConfigProblem::Syntax { message: error.to_string() })
    })?;
    let reader = Reader { path, text };
    let mut facts = Facts::default();
    for body in objects(&root) {
        for (block, content) in body {
            reader.block(block, content, &mut facts)?;
        }
    }
    Ok(facts)
}

/// A block's bodies: an object is one, an array of objects are several.
fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(object) => vec![object],
        Value::Array(list) => list.iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}

fn labelled(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    objects(value).into_iter().flatten()
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    /// The first place where the file has this string: JSON values carry no position.
    fn at(&self, text: &str) -> Declared {
        let offset = self.text.find(&Value::from(text).to_string()).unwrap_or(0);
        position(self.path, self.text, offset)
    }

    fn block(&self, block: &str, content: &Value, facts: &mut Facts) -> Result<(), InstallError> {
        match block {
            "terraform" | "tofu" => {
                for entries in objects(content).into_iter().filter_map(|body| body.get("required_providers")) {
                    for (name, entry) in labelled(entries) {
                        facts.required.push(self.required(name, entry)?);
                    }
                }
            }
            "provider" => {
                for (name, bodies) in labelled(content) {
                    let mut constraints = Constraints::any();
                    for version in objects(bodies).into_iter().filter_map(|body| body.get("version")) {
                        constraints = constraints.and(&self.constraints("version", version)?);
                    }
                    facts.used.push(Used { name: name.clone(), constraints, at: self.at(name) });
                }
            }
            "resource" | "data" | "ephemeral" => {
                for (resource_type, resources) in labelled(content) {
                    for (_, bodies) in labelled(resources) {
                        facts.used.push(self.used(resource_type, bodies));
                    }
                }
            }
            "module" => {
                for (name, bodies) in labelled(content) {
                    for source in objects(bodies).into_iter().filter_map(|body| body.get("source")) {
                        let source = self.string("source", source)?;
                        facts.modules.push(ModuleCall { name: name.clone(), at: self.at(&source), source });
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn used(&self, resource_type: &str, bodies: &Value) -> Used {
        let provider = objects(bodies).into_iter().find_map(|body| body.get("provider")).and_then(Value::as_str);
        let name = match provider {
            Some(reference) => reference.trim_start_matches("${").split(['.', '}']).next().unwrap_or(reference),
            None => implied_name(resource_type),
        };
        Used { name: name.to_owned(), constraints: Constraints::any(), at: self.at(resource_type) }
    }

    fn required(&self, name: &str, entry: &Value) -> Result<Required, InstallError> {
        let at = self.at(name);
        let (source, constraints) = match entry {
            Value::String(_) => (None, self.constraints(name, entry)?),
            Value::Object(members) => {
                let source = match members.get("source") {
                    Some(source) => {
                        let text = self.string("source", source)?;
                        Some(parse_source(&text, &self.at(&text))?)
                    }
                    None => None,
                };
                let version = members.get("version");
                let constraints = version.map(|version| self.constraints("version", version)).transpose()?;
                (source, constraints.unwrap_or_default())
            }
            _ => return Err(problem(at, ConfigProblem::InvalidEntry { name: name.to_owned() })),
        };
        Ok(Required { name: name.to_owned(), source, constraints, at })
    }

    fn constraints(&self, name: &str, value: &Value) -> Result<Constraints, InstallError> {
        let text = self.string(name, value)?;
        parse_constraints(&text, &self.at(&text))
    }

    fn string(&self, name: &str, value: &Value) -> Result<String, InstallError> {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| problem(self.at(name), ConfigProblem::NotAString { name: name.to_owned() }))
    }
}

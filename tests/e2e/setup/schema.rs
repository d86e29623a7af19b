//! Every line of `--json` that a test reads is what docs/reference/json.schema.json says.

use std::sync::LazyLock;

use serde_json::Value;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../docs/reference/json.schema.json")).expect("a schema"));

/// Refuses a line that the schema does not describe, and members that it does not name.
#[track_caller]
pub(crate) fn check_line(line: &Value) {
    let event = line["event"].as_str().unwrap_or_else(|| panic!("no event: {line}"));
    if let Err(problem) = fits(line, &SCHEMA["$defs"][event], event) {
        panic!("docs/reference/json.schema.json does not describe a line: {problem}\n{line}");
    }
}

fn fits(value: &Value, schema: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return fits(value, &SCHEMA["$defs"][name], at);
    }
    if let Some(several) = schema["anyOf"].as_array() {
        let problems: Vec<String> = several.iter().filter_map(|one| fits(value, one, at).err()).collect();
        return if problems.len() < several.len() { Ok(()) } else { Err(problems.join("; ")) };
    }
    if !schema["const"].is_null() || schema["enum"].is_array() {
        let is_word = schema["const"] == *value || schema["enum"].as_array().is_some_and(|all| all.contains(value));
        return if is_word { Ok(()) } else { Err(format!("{at} has another value, {value}")) };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if schema["type"] != kind && !schema["type"].as_array().is_some_and(|all| all.iter().any(|one| one == kind)) {
        return Err(format!("{at} is of another type, {kind}"));
    }
    for (nth, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(item, &schema["items"], &format!("{at}[{nth}]"))?;
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        value.get(name).ok_or_else(|| format!("{at} has no `{name}`"))?;
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let described = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
        fits(member, described.ok_or_else(|| format!("{at} has a `{name}`"))?, &format!("{at}.{name}"))?;
    }
    Ok(())
}

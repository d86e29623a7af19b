//! SARIF 2.1.0.
//!
//! Spec: OASIS, Static Analysis Results Interchange Format 2.1.0.

use serde_json::{Value, json};
use tofu_oci_checker::{CheckRule, Finding, FindingLevel, Group};
use tofu_oci_types::printable;

use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::verbs::check::checked::{Checked, Unjudged};

/// The document for an unreadable target: a failed invocation, and why.
pub(super) fn unreadable(target: &str, diagnostic: &Diagnostic) -> Document {
    let text = format!("{target}: {}", diagnostic.text());
    let notification = json!({ "level": "error", "message": { "text": printable(&text) } });
    let invocation = json!({ "executionSuccessful": false, "toolExecutionNotifications": [notification] });
    document(&[], &[], &invocation)
}

/// One run: every applied rule, and one result for each finding.
pub(super) fn render(checked: &Checked) -> Document {
    let rules = checked.rules();
    let results: Vec<Value> = checked.findings.iter().map(|finding| result(checked, &rules, finding)).collect();
    if checked.not_judged.is_empty() {
        return document(&rules, &results, &json!({ "executionSuccessful": true }));
    }
    let notification = |one: &Unjudged| {
        let about = [one.version.clone(), one.platform.as_ref().map(ToString::to_string)];
        let about = about.into_iter().flatten().map(|part| format!(", {part}")).collect::<String>();
        let text = format!("not judged: {}{about}: {}", one.place, one.cause());
        json!({ "level": "error", "message": { "text": printable(&text) } })
    };
    let notifications: Vec<Value> = checked.not_judged.iter().map(notification).collect();
    let invocation = json!({ "executionSuccessful": false, "toolExecutionNotifications": notifications });
    document(&rules, &results, &invocation)
}

fn document(rules: &[&CheckRule], results: &[Value], invocation: &Value) -> Document {
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "tofu-oci",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
                },
            },
            "invocations": [invocation],
            "results": results,
            "columnKind": "unicodeCodePoints",
        }],
    });
    Document::json_pretty(&document)
}

fn level(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Error => "error",
        FindingLevel::Warning => "warning",
        FindingLevel::Note => "note",
    }
}

fn descriptor(rule: &CheckRule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.finds },
        "fullDescription": { "text": rule.why },
        "help": { "text": format!("{}. Specification: {}.", rule.fix, rule.spec) },
        "defaultConfiguration": { "level": level(rule.level) },
    })
}

fn result(checked: &Checked, rules: &[&CheckRule], finding: &Finding) -> Value {
    let mut result = json!({
        "ruleId": finding.rule.id,
        "level": level(finding.level()),
        "message": { "text": printable(&format!("{}: {}", finding.place, finding.text)) },
        "locations": [location(checked, finding)],
    });
    if let Some(index) = rules.iter().position(|rule| rule.id == finding.rule.id) {
        result["ruleIndex"] = json!(index);
    }
    let version = finding.version.as_ref().map(|version| ("version", json!(version)));
    let platform = finding.platform.as_ref().map(|platform| ("platform", json!(platform.to_string())));
    let properties: serde_json::Map<String, Value> =
        version.into_iter().chain(platform).map(|(name, value)| (name.to_owned(), value)).collect();
    if !properties.is_empty() {
        result["properties"] = Value::Object(properties);
    }
    result
}

/// The line of a lock file; for all other targets, which are not files, a name.
fn location(checked: &Checked, finding: &Finding) -> Value {
    if finding.rule.group != Group::LockFile {
        let name = format!("{}, {}", checked.target, finding.place);
        return json!({ "logicalLocations": [{ "fullyQualifiedName": printable(&name), "kind": "resource" }] });
    }
    let after = finding.place.strip_prefix(&checked.target).unwrap_or_default();
    let mut numbers = after.split(':').filter_map(|part| part.parse::<usize>().ok());
    let mut place = json!({ "artifactLocation": { "uri": uri(&checked.target) } });
    if let Some(line) = numbers.next() {
        place["region"] = json!({ "startLine": line });
        if let Some(column) = numbers.next() {
            place["region"]["startColumn"] = json!(column);
        }
    }
    json!({ "physicalLocation": place })
}

/// A path as a URI reference, with percent-encoding.
///
/// Spec: RFC 3986, section 3.3.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("infra/a b/.terraform.lock.hcl"), "infra/a%20b/.terraform.lock.hcl");
        assert_eq!(uri("ä:x"), "%C3%A4%3Ax");
    }
}

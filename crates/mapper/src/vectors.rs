//! Measured cases of `oci_mirror` templates, as far as they concern a plain address.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tofu_oci_types::ProviderAddr;

use crate::{MapError, RepositoryTemplate, Symbol};

/// Kinds of expressions that `OpenTofu` works out and that are refused here, with what is said of them.
const UNSUPPORTED: [(&str, &str); 6] = [
    (r#"example.com/${ {"example.com": "okay"}[hostname] }/${namespace}/${type}"#, "an index"),
    (
        r#"example.com/%{if hostname == "registry.opentofu.org"}ot%{else}other%{endif}/${namespace}/${type}"#,
        "a directive",
    ),
    ("example.com/${[hostname][0]}/${namespace}/${type}", "an index"),
    // These three are refused by `OpenTofu` too, when it evaluates them.
    ("example.com/${hostname[1]}/${namespace}/${type}", "an index"),
    ("example.com/${upper(hostname)}/${namespace}/${type}", "a function call"),
    (r#"example.com/${replace(hostname, ".", "-")}/${namespace}/${type}"#, "a function call"),
];

fn table() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bytes = std::fs::read(root.join("../shared/spec/vectors/oci_mirror.json"))
        .or_else(|_| std::fs::read(root.join("testdata/vectors/oci_mirror.json")))
        .expect("the project has a copy of the table");
    serde_json::from_slice(&bytes).expect("the table is JSON")
}

#[test]
fn templates() {
    for case in table()["cases"].as_array().expect("a list of cases") {
        let template = case["template"].as_str().expect("a text");
        match template.parse::<RepositoryTemplate>() {
            Ok(template) => check_accepted(case, &template),
            Err(error) => {
                let message = error.to_string();
                if let Some((_, what)) = UNSUPPORTED.iter().find(|(unsupported, _)| *unsupported == template) {
                    assert_eq!(error.code(), "unsupported-expression", "{message}");
                    assert!(message.contains(what), "{message}");
                } else if template == "example.com" {
                    // OpenTofu takes a registry without a repository and asks for an empty name later.
                    assert_eq!(error.code(), "invalid-repository-address");
                } else if template == "${type}" || (template == "${hostname}" && case["ok"] == false) {
                    assert_eq!(error.code(), "invalid-repository-address", "no repository behind the registry");
                } else {
                    let code =
                        case["errors"][0].as_str().unwrap_or_else(|| panic!("{template} is fine, not {message}"));
                    let wanted = match code {
                        "example-invalid-repository-address" => "invalid-repository-address",
                        "hcl-parse" => "hcl-parse",
                        other => other,
                    };
                    assert!(error.code() == wanted || missing(case, template), "{message}: {case}");
                }
            }
        }
    }
}

/// Whether the case was refused before anything was evaluated, because a symbol is missing.
fn missing(case: &Value, template: &str) -> bool {
    let errors = case["errors"].as_array().expect("a list of errors");
    template.contains("$${") && errors.iter().any(|code| code == "missing-hostname")
}

fn check_accepted(case: &Value, template: &RepositoryTemplate) {
    // Include patterns come with the configuration file; without any, all three symbols are needed there.
    if case["include"].as_array().is_some_and(Vec::is_empty) {
        let wanted: BTreeSet<Symbol> = Symbol::ALL.into();
        let absent: Vec<String> =
            wanted.difference(&template.symbols()).map(|symbol| format!("missing-{}", symbol.name())).collect();
        let said: Vec<&str> =
            case["errors"].as_array().into_iter().flatten().map(|code| code.as_str().expect("a code")).collect();
        assert_eq!(absent, said, "{case}");
    }
    for mapping in case["mappings"].as_array().into_iter().flatten() {
        let address: ProviderAddr = mapping["provider"].as_str().expect("a text").parse().expect("an address");
        assert_eq!(mapping["evaluated"], template.render(&address));
        match template.apply(&address) {
            Ok(repository) => {
                assert_eq!(mapping["registry"], repository.registry(), "{mapping}");
                assert_eq!(mapping["repository"], repository.name(), "{mapping}");
            }
            Err(error) => {
                assert_eq!(mapping["error"], "invalid-repository-address", "{error}: {mapping}");
                assert!(matches!(error, MapError::UnsupportedCharacters { .. }), "{error}");
            }
        }
    }
}

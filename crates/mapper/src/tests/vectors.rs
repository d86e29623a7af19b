//! Measured cases of repository templates.

mod messages;

use std::collections::BTreeMap;

use serde_json::Value;
use tofu_oci_hcl::{Duplicates, HclItem, HclValue as Hcl};
use tofu_oci_types::ProviderAddr;
use tofu_oci_vectors::Vectors;

use crate::{RepositoryTemplate, TemplateError};

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn codes(errors: &[TemplateError]) -> Vec<String> {
    let mut codes: Vec<String> = errors.iter().map(TemplateError::code).collect();
    codes.sort();
    codes
}

/// The table's name of an error in the words of this crate: `hcl-eval-unknown:Invalid index` is `hcl:invalid-index`.
fn own_words(code: &str) -> String {
    if code == "example-invalid-repository-address" {
        return "invalid-repository-address".to_owned();
    }
    match code.split_once(':') {
        Some((stage, summary)) if stage.starts_with("hcl-") => {
            format!("hcl:{}", summary.to_lowercase().replace(' ', "-"))
        }
        _ => code.to_owned(),
    }
}

#[test]
fn templates_and_what_they_map_to() {
    let table = Vectors::open("oci_mirror.json");
    let (mut accepted, mut refused, mut mappings) = (0, 0, 0);
    table.each("cases", |case| {
        let template = case["template"].as_str().expect("a text");
        match RepositoryTemplate::check(template, &texts(&case["include"])) {
            Ok(template) => {
                assert_eq!(case["ok"], true, "{case}");
                accepted += 1;
                for mapping in case["mappings"].as_array().into_iter().flatten() {
                    check_mapping(&template, mapping);
                    mappings += 1;
                }
            }
            Err(errors) => {
                let mut wanted: Vec<String> = texts(&case["errors"]).iter().map(|code| own_words(code)).collect();
                wanted.sort();
                assert_eq!(codes(&errors), wanted, "{case}");
                refused += 1;
            }
        }
    });
    let enough = accepted >= 16 && refused >= 17 && mappings >= 30;
    assert!(enough || !table.is_own(), "{accepted} accepted, {refused} refused, {mappings}");
}

#[track_caller]
fn check_mapping(template: &RepositoryTemplate, mapping: &Value) {
    let address: ProviderAddr = mapping["provider"].as_str().expect("a text").parse().expect("an address");
    match mapping["error"].as_str() {
        Some(code) if code.starts_with("hcl-eval:") => {
            let error = template.place(&address).expect_err("must fail");
            assert_eq!(error.code(), "template-eval", "{error}: {mapping}");
        }
        Some(code) => {
            assert_eq!(mapping["evaluated"], template.render(&address).expect("a text"), "{mapping}");
            let error = template.place(&address).expect_err("must fail");
            assert_eq!(error.code(), code, "{error}: {mapping}");
        }
        None => {
            assert_eq!(mapping["evaluated"], template.render(&address).expect("a text"), "{mapping}");
            let repository = template.apply(&address).expect("a repository");
            assert_eq!(mapping["registry"], repository.registry(), "{mapping}");
            assert_eq!(mapping["repository"], repository.name(), "{mapping}");
        }
    }
}

/// The `oci_mirror` blocks of a configuration: template and include patterns, where these are texts.
fn mirrors(config: &str) -> Vec<(String, Vec<String>)> {
    let Ok(document) = tofu_oci_hcl::parse(config, Duplicates::Refused) else { return Vec::new() };
    let inside = |items: &[HclItem], name: &str| -> Vec<HclItem> {
        let named = items.iter().filter(|item| item.keys.iter().any(|key| key.text == name));
        let bodies = named.filter_map(|item| match &item.value {
            Hcl::Object(body, _) => Some(body.items.clone()),
            _ => None,
        });
        bodies.flatten().collect()
    };
    let methods = inside(&document.body.items, "provider_installation");
    let blocks = methods.iter().filter(|item| item.keys.iter().any(|key| key.text == "oci_mirror"));
    blocks
        .filter_map(|block| {
            let arguments = inside(std::slice::from_ref(block), "oci_mirror");
            let by_name: BTreeMap<&str, &Hcl> =
                arguments.iter().filter_map(|item| Some((item.keys.first()?.text.as_str(), &item.value))).collect();
            let template = match by_name.get("repository_template")? {
                Hcl::String(text) => text.value.clone(),
                Hcl::Number { text, .. } => text.clone(),
                _ => return None,
            };
            let include = match by_name.get("include") {
                Some(Hcl::List(items, _)) => items.iter().map(text).collect::<Option<_>>()?,
                Some(_) => return None,
                None => Vec::new(),
            };
            Some((template, include))
        })
        .collect()
}

fn text(value: &Hcl) -> Option<String> {
    match value {
        Hcl::String(text) => Some(text.value.clone()),
        _ => None,
    }
}

/// Codes that a template, its include patterns and a provider are enough for.
fn is_of_a_template(code: &str) -> bool {
    ["hcl:", "unknown-symbol:", "missing-"].iter().any(|prefix| code.starts_with(prefix))
        || ["template-required", "not-a-string", "null-result", "invalid-repository-address"].contains(&code)
}

#[test]
fn templates_of_whole_configurations() {
    let table = Vectors::open("real_tofu_sources.json");
    let (mut loads, mut installs, mut repositories) = (0, 0, 0);
    table.each("cases", |case| {
        let Some(config) = case["cli_config"].as_str() else { return };
        let mirrors = mirrors(config);
        let [(template, include)] = mirrors.as_slice() else { return };
        let expect = &case["expect"];
        let result = RepositoryTemplate::check(template, include);
        if let Some(code) = super::other_code(case) {
            assert_eq!(codes(&result.expect_err("must be refused")), [code], "{case}");
            return;
        }
        if let Some(code) = expect["config_error"].as_str().filter(|code| is_of_a_template(code)) {
            let errors = result.expect_err("must be refused");
            let mut wanted = texts(&expect["also"]);
            wanted.push(code.to_owned());
            wanted.retain(|code| is_of_a_template(code));
            wanted.sort();
            assert_eq!(codes(&errors), wanted, "{case}");
            loads += 1;
            return;
        }
        let Some(address) = case["provider"].as_str().and_then(|text| text.parse::<ProviderAddr>().ok()) else {
            return;
        };
        // Some releases ask a registry alone for its health before they notice that no repository is named.
        let of_releases = case["differs"].as_object().into_iter().flatten().map(|(_, expect)| expect);
        let install_error =
            of_releases.chain([expect]).filter_map(|expect| expect["install_error"].as_str()).find(|code| {
                ["template-null", "template-eval", "invalid-repository-address", "empty-repository"].contains(code)
            });
        if let Some(code) = install_error {
            let error = result.expect("a template").place(&address).expect_err("must fail");
            assert_eq!(error.code(), code, "{error}: {case}");
            installs += 1;
        } else if let Some(repository) = expect["repository"].as_str() {
            let place = result.expect("a template").place(&address).expect("a place");
            assert_eq!(place.repository.to_string(), repository, "{case}");
            repositories += 1;
        }
    });
    let enough = loads >= 51 && installs >= 10 && repositories >= 117;
    assert!(enough || !table.is_own(), "{loads} refused at load, {installs} at install, {repositories} repositories");
}

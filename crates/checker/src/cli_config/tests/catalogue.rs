//! The tables of rules and differences in `docs/reference`, and the code, say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::RULES;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table below a heading of the document, each as its cells.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let document = fs::read_to_string(root().join("docs/reference").join(page)).expect("the document is there");
    let (_, section) = document.split_once(heading).expect("the heading is there");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// Every Rust file of the project.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn project() -> String {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    sources(&root().join("tests"), &mut files);
    files.iter().map(|path| fs::read_to_string(path).expect("a text")).collect()
}

#[test]
fn the_document_has_every_rule_and_no_other() {
    let written: Vec<(String, String, String)> = table("config-findings.md", "## The rules")
        .into_iter()
        .map(|row| (row[0].trim_matches('`').to_owned(), row[1].clone(), row[2].clone()))
        .collect();
    let rules: Vec<(String, String, String)> =
        RULES.iter().map(|rule| (rule.id.to_owned(), rule.levels.to_owned(), rule.finds.to_owned())).collect();
    assert_eq!(written, rules);
    assert_eq!(rules.iter().map(|(id, ..)| id).collect::<BTreeSet<_>>().len(), rules.len(), "an id stands twice");
}

#[test]
fn every_difference_is_a_test_of_that_name() {
    let project = project();
    let rows = table("differences.md", "## Where tofu-oci is stricter than OpenTofu");
    assert!(rows.len() >= 20, "{}", rows.len());
    for row in rows {
        let test = row.last().expect("a cell").trim_matches('`');
        assert_eq!(row.len(), 4, "{row:?}");
        let name = format!("fn {test}(");
        let (before, _) = project.split_once(&name).unwrap_or_else(|| panic!("there is no test {test}"));
        assert!(before.trim_end().trim_end_matches("async").trim_end().ends_with(']'), "{test} is no test");
    }
}

/// Codes of problems stand in the sources as texts: where a problem is made, and where a template's fault gets its name.
#[test]
fn every_problem_is_a_rule_and_every_rule_is_in_the_code() {
    let mut files = Vec::new();
    sources(&root().join("crates/mapper/src/config"), &mut files);
    let is_test = |path: &&PathBuf| path.components().any(|part| part.as_os_str() == "tests");
    let config: String =
        files.iter().filter(|path| !is_test(path)).map(|path| fs::read_to_string(path).expect("a text")).collect();
    let makers = ["problem(", "Problem::load(", "mismatch(", "wrong(", "twice(", "own("];
    let mut found = 0;
    for maker in makers {
        for rest in config.split(maker).skip(1) {
            let Some(code) = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            if code.contains('-') && !code.contains(' ') {
                found += 1;
                assert!(RULES.iter().any(|rule| rule.is_of(code)), "{code} is in no table");
            }
        }
    }
    assert!(found >= 35, "{found}");
    let error = fs::read_to_string(root().join("crates/mapper/src/error.rs")).expect("a text");
    let mut files = Vec::new();
    sources(&root().join("crates/checker/src/cli_config"), &mut files);
    let checks = files.iter().filter(|path| !is_test(path) && !path.ends_with("catalogue.rs"));
    let checks: String = checks.map(|path| fs::read_to_string(path).expect("a text")).collect();
    let code = config + &error + &checks;
    for rule in RULES {
        let known = match rule.id {
            "path-required" | "url-required" => "format!(\"{argument}-required\")".to_owned(),
            "missing-hostname" | "missing-namespace" | "missing-type" => "format!(\"missing-{}\"".to_owned(),
            "unknown-symbol" => "format!(\"unknown-symbol:".to_owned(),
            id => match id.split_once(':') {
                Some((start, _)) => format!("format!(\"{start}:"),
                None => format!("\"{id}\""),
            },
        };
        assert!(code.contains(&known), "{} is in no code", rule.id);
    }
}

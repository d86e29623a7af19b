//! Findings of files in memory.

mod catalogue;
mod combination;
mod configuration;
mod files;
mod folders;
mod installation;
mod memory;
mod network_mirror;
mod never;
mod templates;

use std::collections::BTreeSet;

use super::{CliConfigFacts, CliConfigFinding, LockFacts, LockedFact, RequiredFact, findings};
use memory::{MemoryFiles, environment};
use tofu_oci_mapper::MagicSuffix;
use tofu_oci_mapper::config::{ConfigFiles, Environment, MASK, MEASURED, read, releases_text, secrets_in_line};
use tofu_oci_types::TextPosition;

/// Everything that is found, for a user `u` with these files.
fn find(
    environment: &Environment,
    files: &dyn ConfigFiles,
    lock: Option<LockFacts>,
    required: &[&str],
) -> Vec<CliConfigFinding> {
    let readings = MEASURED.map(|release| read(environment, files, release));
    let methods = readings.each_ref().map(|reading| reading.methods(environment, files));
    let required = required.iter().map(|address| RequiredFact {
        address: address.parse().expect("an address"),
        constraints: tofu_oci_types::Constraints::default(),
    });
    let required = required.collect();
    let found = findings(&CliConfigFacts {
        readings,
        methods,
        environment,
        files,
        magic_suffix: MagicSuffix::default(),
        predecessors: tofu_oci_types::Predecessors::default(),
        lock,
        required,
    });
    for finding in &found {
        let rule = super::RULES.iter().find(|rule| rule.is_of(&finding.rule));
        let rule = rule.unwrap_or_else(|| panic!("{} is in no table", finding.rule));
        assert!(rule.levels.contains(finding.level.word()), "{}: {}", rule.id, rule.levels);
        assert!(finding.detail.is_some() && finding.instead.is_some(), "{finding:?}");
    }
    found
}

fn shown(found: &[CliConfigFinding]) -> String {
    found.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// A finding with its place, without a picture of the line.
fn text(finding: &CliConfigFinding) -> String {
    let mut out = format!("{}[{}] {}\n", finding.level.word(), finding.rule, finding.title);
    if let Some(at) = &finding.at {
        let place = at.span.as_ref().filter(|_| !at.text.is_empty()).map(|span| {
            let secret = !secrets_in_line(&at.text, span.clone()).is_empty();
            let text = if secret { MASK } else { &at.text[span.clone()] };
            format!(":{} {text:?}", TextPosition::of(&at.text, span.start))
        });
        out += &format!(" --> {}{}\n", at.path.display(), place.unwrap_or_default());
    }
    if finding.releases.len() < MEASURED.len() && !finding.tells_releases {
        out += &format!("  = only in OpenTofu {}\n", releases_text(&finding.releases));
    }
    for (lead, lines) in [("= what happens: ", &finding.detail), ("= instead: ", &finding.instead)] {
        for (number, line) in lines.iter().flat_map(|text| text.lines()).enumerate() {
            out += &format!("  {:<width$}{line}\n", if number == 0 { lead } else { "" }, width = lead.len());
        }
    }
    out
}

/// The findings of one main file, where `/m` is a folder.
fn of(text: &str) -> Vec<CliConfigFinding> {
    find(&environment(), &MemoryFiles::from([("/home/u/.tofurc", text), ("/m/", "")]), None, &[])
}

fn reported(text: &str) -> String {
    shown(&of(text))
}

/// What is reported about the methods in a `provider_installation`.
fn methods(text: &str) -> String {
    reported(&installation(text))
}

fn installation(text: &str) -> String {
    format!("provider_installation {{\n{text}\n}}\n")
}

/// Checks that methods give no finding of a rule.
#[track_caller]
fn fine(rule: &str, text: &str) {
    let found = of(&installation(text));
    assert!(found.iter().all(|finding| finding.rule != rule), "{}", shown(&found));
}

/// A lock file of one provider.
fn lock(address: &str, schemes: &[&str]) -> LockFacts {
    let text = format!("provider \"{address}\" {{\n  version = \"1.0.0\"\n}}\n");
    let entry = LockedFact {
        address: address.parse().expect("an address"),
        version: "1.0.0".parse().expect("a version"),
        schemes: schemes.iter().map(|scheme| (*scheme).to_owned()).collect::<BTreeSet<_>>(),
        span: Some(9..11 + address.len()),
    };
    LockFacts { path: "/w/.terraform.lock.hcl".into(), text: text.into(), providers: vec![entry] }
}

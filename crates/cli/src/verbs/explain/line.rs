//! The explanation as JSON lines.

use serde::Serialize;
use tofu_oci_explain::providers::{
    ChainVerdict, InstallingProgram, PackageCheck, ProgramOutcome, ProviderExplanation, ProviderQuestion, RegistryRoot,
    StepAnswer,
};
use tofu_oci_types::{Platform, ProviderAddr};

use crate::report::JsonLines;

#[derive(Serialize)]
#[serde(tag = "event", rename = "method")]
struct MethodLine<'a> {
    address: &'a ProviderAddr,
    number: Option<usize>,
    method: &'a str,
    at: Option<&'a str>,
    selected: bool,
    matches: &'a str,
    place: Option<&'a str>,
    versions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearly: Vec<&'a str>,
    stray_tags: Vec<String>,
    checked_by: Option<&'static str>,
    error: Option<&'a str>,
    code: Option<&'static str>,
    root_code: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "choice")]
struct ChoiceLine<'a> {
    address: &'a ProviderAddr,
    constraints: String,
    locked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locked_by: Option<&'a ProviderAddr>,
    platform: &'a Platform,
    program: &'static str,
    releases: Vec<String>,
    outcome: &'static str,
    version: Option<String>,
    number: Option<usize>,
    code: Option<&'a str>,
    reason: String,
    dev_override: Option<String>,
}

/// One line a method, then one line for each way in which it ends.
pub(super) fn add(lines: &JsonLines, question: &ProviderQuestion<'_>, explanation: &ProviderExplanation) {
    let address = question.address;
    for step in &explanation.steps {
        let (error, code) = match &step.answer {
            StepAnswer::Fails { code, text } => (Some(text.as_str()), Some(*code)),
            StepAnswer::Unknown => (Some("it does not know the provider"), Some("provider-not-found")),
            StepAnswer::NotAsked | StepAnswer::Lists(_) => (None, None),
        };
        let versions = step.listing().into_iter().flat_map(|listing| listing.versions.iter().rev());
        lines.add(&MethodLine {
            address,
            number: step.number,
            method: &step.name,
            at: step.at.as_deref(),
            selected: step.selected,
            matches: &step.matches,
            place: step.place.as_deref(),
            versions: versions.map(ToString::to_string).collect(),
            nearly: step.nearly.iter().map(|(found, _)| found.as_str()).collect(),
            stray_tags: step.strays().map(|stray| stray.tag.to_string()).collect(),
            checked_by: step.check().map(PackageCheck::word),
            error,
            code,
            root_code: match &step.root {
                RegistryRoot::Missing => Some("not-found"),
                RegistryRoot::Fails { code, .. } => Some(code),
                RegistryRoot::NotAsked | RegistryRoot::Answers => None,
            },
        });
    }
    for ProgramOutcome { programs, verdict } in &explanation.outcomes {
        let ours = programs.contains(&InstallingProgram::Ours);
        let releases = programs.iter().filter_map(|program| match program {
            InstallingProgram::OpenTofu(release) => Some(release.to_string()),
            InstallingProgram::Ours => None,
        });
        let (outcome, version, number, code, reason) = match verdict {
            ChainVerdict::Serves { version, method, why } => {
                ("serves", Some(version), Some(*method), None, why.clone())
            }
            ChainVerdict::Stops { version, method, code, why } => {
                ("stops", version.as_ref(), Some(*method), Some(code.as_str()), why.clone())
            }
            ChainVerdict::NotFound { code, why } => ("not-found", None, None, Some(*code), why.clone()),
            ChainVerdict::NotKnown { method, why } => ("not-known", None, Some(*method), None, why.clone()),
            ChainVerdict::Refuses { errors } => {
                ("refuses", None, None, None, format!("the CLI configuration has errors: {errors}"))
            }
        };
        lines.add(&ChoiceLine {
            address,
            constraints: question.constraints.to_string(),
            locked: question.locked.as_ref().map(|locked| locked.version.to_string()),
            locked_by: question.locked.as_ref().map(|locked| &locked.by).filter(|by| *by != address),
            platform: &question.platform,
            program: if ours { "tofu-oci" } else { "OpenTofu" },
            releases: releases.collect(),
            outcome,
            version: version.map(ToString::to_string),
            number,
            code,
            reason,
            dev_override: explanation.overridden.as_ref().filter(|_| !ours).map(|path| path.display().to_string()),
        });
    }
}

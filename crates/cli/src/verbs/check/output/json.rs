//! JSON lines.

use serde::Serialize;
use tofu_oci_checker::opentofu::Prediction;
use tofu_oci_checker::{Capability, CheckedAs, Finding, Level};

use super::count;
use crate::report::json_line;
use crate::verbs::check::Checked;

#[derive(Serialize)]
struct FindingLine<'a> {
    event: &'static str,
    #[serde(flatten)]
    finding: &'a Finding,
}

#[derive(Serialize)]
struct CapabilityLine<'a> {
    event: &'static str,
    #[serde(flatten)]
    capability: &'a Capability,
}

#[derive(Serialize)]
struct ProbedLine<'a> {
    event: &'static str,
    repository: &'a str,
    requests: usize,
    meaning: &'a [String],
    left: &'a [String],
}

#[derive(Serialize)]
struct CheckedLine<'a> {
    event: &'static str,
    target: &'a str,
    errors: usize,
    warnings: usize,
    notes: usize,
    #[serde(flatten)]
    checked_as: Option<&'a CheckedAs>,
}

/// The last line of a repository, which has this member and no other: not even `event`.
#[derive(Serialize)]
struct PredictionsLine<'a> {
    predictions: &'a [Prediction],
}

/// Capabilities, findings, the summary, and the predictions last.
pub(super) fn print(checked: &Checked) {
    for capability in checked.probe.iter().flat_map(|probe| &probe.capabilities) {
        json_line(&CapabilityLine { event: "capability", capability });
    }
    for finding in &checked.findings {
        json_line(&FindingLine { event: "finding", finding });
    }
    if let Some(probe) = &checked.probe {
        json_line(&ProbedLine {
            event: "probed",
            repository: &probe.repository,
            requests: probe.requests,
            meaning: &probe.meaning,
            left: &probe.left,
        });
    }
    json_line(&CheckedLine {
        event: "checked",
        target: &checked.target,
        errors: count(checked, Level::Error),
        warnings: count(checked, Level::Warning),
        notes: count(checked, Level::Note),
        checked_as: checked.predicted.as_ref().map(|(checked_as, _)| checked_as),
    });
    if let Some((_, predictions)) = &checked.predicted {
        json_line(&PredictionsLine { predictions });
    }
}

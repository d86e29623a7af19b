//! JSON lines.

use serde::Serialize;
use tofu_oci_checker::opentofu::{ModulePrediction, RepositoryPrediction};
use tofu_oci_checker::{BuiltVersion, CheckedAs, FindingLevel, TagCounts};
use tofu_oci_types::{Platform, TofuRelease, TofuReleases};

use crate::report::JsonLines;
use crate::verbs::check::checked::{Checked, Compared, Predicted};

#[derive(Serialize)]
#[serde(tag = "event", rename = "checked")]
struct CheckedLine<'a> {
    target: &'a str,
    errors: usize,
    warnings: usize,
    notes: usize,
    not_judged: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a Compared>,
    #[serde(flatten)]
    counts: Option<TagCounts>,
    #[serde(flatten)]
    checked_as: Option<&'a CheckedAs>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    built: &'a [BuiltVersion],
}

/// The last line of a repository.
#[derive(Serialize)]
#[serde(tag = "event", rename = "predictions")]
struct PredictionsLine<'a> {
    predictions: Vec<PredictionRow<'a>>,
}

#[derive(Serialize)]
struct PredictionRow<'a> {
    opentofu: TofuRelease,
    #[serde(flatten)]
    prediction: Prediction<'a>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Prediction<'a> {
    Provider(&'a RepositoryPrediction),
    Module(&'a ModulePrediction),
}

/// A part that could not be judged.
#[derive(Serialize)]
#[serde(tag = "event", rename = "not-judged")]
struct NotJudgedLine<'a> {
    place: &'a str,
    version: Option<&'a str>,
    platform: Option<&'a Platform>,
    code: &'a str,
    text: &'a str,
    causes: &'a [String],
    hints: &'a [String],
}

/// Capabilities, findings, what was not judged, the summary, and the predictions last.
pub(super) fn print(checked: &Checked) {
    let lines = JsonLines;
    lines.add_all(checked.probe.iter().flat_map(|probe| &probe.capabilities));
    lines.add_all(&checked.findings);
    for one in &checked.not_judged {
        lines.add(&NotJudgedLine {
            place: &one.place,
            version: one.version.as_deref(),
            platform: one.platform.as_ref(),
            code: one.why.stable_name(),
            text: one.why.text(),
            causes: one.why.causes(),
            hints: one.why.hints(),
        });
    }
    lines.add_all(&checked.probe);
    lines.add(&CheckedLine {
        target: &checked.target,
        errors: checked.count(FindingLevel::Error),
        warnings: checked.count(FindingLevel::Warning),
        notes: checked.count(FindingLevel::Note),
        not_judged: checked.not_judged.len(),
        counts: checked.counts,
        against: checked.against.as_ref(),
        checked_as: match &checked.predicted {
            Some(Predicted::Providers(checked_as, _)) => Some(checked_as),
            Some(Predicted::Modules(_)) | None => None,
        },
        built: &checked.built,
    });
    let predictions: Vec<(TofuReleases, Prediction<'_>)> = match &checked.predicted {
        Some(Predicted::Providers(_, all)) => all.iter().map(|one| (one.releases, Prediction::Provider(one))).collect(),
        Some(Predicted::Modules(all)) => all.iter().map(|one| (one.releases, Prediction::Module(one))).collect(),
        None => return,
    };
    let rows = TofuRelease::ALL.into_iter().flat_map(|opentofu| {
        let of = move |(releases, _): &&(TofuReleases, Prediction<'_>)| releases.iter().any(|one| one == opentofu);
        predictions.iter().filter(of).map(move |(_, prediction)| PredictionRow { opentofu, prediction: *prediction })
    });
    lines.add(&PredictionsLine { predictions: rows.collect() });
}

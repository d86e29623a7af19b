//! JSON lines.

use serde::Serialize;
use tofu_oci_checker::opentofu::RepositoryPrediction;
use tofu_oci_checker::{CheckedAs, FindingLevel, TagCounts};

use tofu_oci_types::{Platform, TofuRelease};

use crate::report::{json_event, json_line};
use crate::verbs::check::checked::{Checked, Compared};

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
    not_judged: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a Compared>,
    #[serde(flatten)]
    counts: Option<CountsOfTags>,
    #[serde(flatten)]
    checked_as: Option<&'a CheckedAs>,
}

/// What the version tags of a repository are.
#[derive(Serialize)]
struct CountsOfTags {
    versions: usize,
    stray_tags: usize,
    other_tags: usize,
}

/// The last line of a repository.
#[derive(Serialize)]
struct PredictionsLine<'a> {
    event: &'static str,
    predictions: Vec<PredictionRow<'a>>,
}

/// A prediction for one release.
#[derive(Serialize)]
struct PredictionRow<'a> {
    opentofu: TofuRelease,
    #[serde(flatten)]
    prediction: &'a RepositoryPrediction,
}

/// A part that could not be judged.
#[derive(Serialize)]
struct NotJudgedLine<'a> {
    event: &'static str,
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
    for capability in checked.probe.iter().flat_map(|probe| &probe.capabilities) {
        json_event("capability", capability);
    }
    for finding in &checked.findings {
        json_event("finding", finding);
    }
    for one in &checked.not_judged {
        json_line(&NotJudgedLine {
            event: "not-judged",
            place: &one.place,
            version: one.version.as_deref(),
            platform: one.platform.as_ref(),
            code: one.why.stable_name(),
            text: one.why.text(),
            causes: one.why.causes(),
            hints: one.why.hints(),
        });
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
        errors: checked.count(FindingLevel::Error),
        warnings: checked.count(FindingLevel::Warning),
        notes: checked.count(FindingLevel::Note),
        not_judged: checked.not_judged.len(),
        counts: checked.counts.map(|TagCounts { versions, stray, other }| CountsOfTags {
            versions,
            stray_tags: stray,
            other_tags: other,
        }),
        against: checked.against.as_ref(),
        checked_as: checked.predicted.as_ref().map(|(checked_as, _)| checked_as),
    });
    if let Some((_, predictions)) = &checked.predicted {
        let rows = TofuRelease::ALL.into_iter().flat_map(|opentofu| {
            let same =
                predictions.iter().filter(move |prediction| prediction.releases.iter().any(|one| one == opentofu));
            same.map(move |prediction| PredictionRow { opentofu, prediction })
        });
        json_line(&PredictionsLine { event: "predictions", predictions: rows.collect() });
    }
}

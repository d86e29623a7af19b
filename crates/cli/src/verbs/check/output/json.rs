//! JSON lines.

use serde::Serialize;
use tofu_oci_checker::{CheckedAs, FindingLevel, TagCounts};

use tofu_oci_types::{Platform, TofuRelease, TofuReleases};

use crate::report::{json_event, json_line};
use crate::verbs::check::checked::{Checked, Compared, Predicted};

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
struct PredictionsLine<P> {
    event: &'static str,
    predictions: Vec<PredictionRow<P>>,
}

/// A prediction for one release.
#[derive(Serialize)]
struct PredictionRow<P> {
    opentofu: TofuRelease,
    #[serde(flatten)]
    prediction: P,
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
        checked_as: match &checked.predicted {
            Some(Predicted::Providers(checked_as, _)) => Some(checked_as),
            Some(Predicted::Modules(_)) | None => None,
        },
    });
    match &checked.predicted {
        Some(Predicted::Providers(_, predictions)) => print_predictions(predictions, |one| one.releases),
        Some(Predicted::Modules(predictions)) => print_predictions(predictions, |one| one.releases),
        None => {}
    }
}

/// A row for each release and prediction.
fn print_predictions<P: Serialize>(predictions: &[P], releases: impl Fn(&P) -> TofuReleases) {
    let rows = TofuRelease::ALL.into_iter().flat_map(|opentofu| {
        let of = |prediction: &&P| releases(prediction).iter().any(|one| one == opentofu);
        predictions.iter().filter(of).map(|prediction| PredictionRow { opentofu, prediction }).collect::<Vec<_>>()
    });
    json_line(&PredictionsLine { event: "predictions", predictions: rows.collect() });
}

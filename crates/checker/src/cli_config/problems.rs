//! The errors of the reading, once for all releases that have them, with what is left of the file.

use super::view::{ReleaseView, is_json};
use super::{CliConfigFacts, CliConfigFinding, FoundAt};
use crate::FindingLevel;
use tofu_oci_mapper::config::{
    CliConfigProblem, ConfigFile, Effect, Method, MethodKind, Severity, Topic, releases_text,
};
use tofu_oci_mapper::region::{listed, meet};
use tofu_oci_types::TofuRelease;

/// One finding for each problem.
pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    let mut reported: Vec<ProblemGroup<'_>> = Vec::new();
    for view in ReleaseView::all(facts) {
        for problem in &view.reading.problems {
            let outcome = ProblemOutcome::of(view, problem);
            match reported.iter_mut().find(|known| known.is_about(&view, problem)) {
                Some(known) => known.outcomes.push(outcome),
                None => reported.push(ProblemGroup { view, problem, outcomes: vec![outcome] }),
            }
        }
    }
    reported.iter().map(ProblemGroup::finding).collect()
}

/// The rule of a code: `unknown-symbol` of `unknown-symbol:X`; an error of HCL keeps its whole name.
fn rule(code: &str) -> &str {
    match code.split_once(':') {
        Some((rule, _)) if rule != "hcl" => rule,
        _ => code,
    }
}

/// What to write if the problem does not say it.
const GENERAL: &str = "write it as `tofu-oci help configuration` says, or omit it";

/// Whether a file is in the JSON form and has one `provider_installation`.
fn is_one_json_block(file: &ConfigFile) -> bool {
    is_json(file) && file.text.matches("\"provider_installation\"").count() == 1
}

/// A problem, and what each release that has it says and does.
struct ProblemGroup<'a> {
    view: ReleaseView<'a>,
    problem: &'a CliConfigProblem,
    outcomes: Vec<ProblemOutcome>,
}

impl ProblemGroup<'_> {
    /// Whether another release has the same problem: same code, same file, same place.
    fn is_about(&self, view: &ReleaseView<'_>, problem: &CliConfigProblem) -> bool {
        let path = |view: &ReleaseView<'_>, problem: &CliConfigProblem| {
            problem.file.and_then(|file| view.reading.files.get(file)).map(|file| file.path.clone())
        };
        self.problem.code == problem.code
            && self.problem.span == problem.span
            && self.problem.message == problem.message
            && path(&self.view, self.problem) == path(view, problem)
    }

    fn finding(&self) -> CliConfigFinding {
        let Self { view, problem, outcomes } = self;
        let is_error = view.reading.errors().any(|error| error == *problem);
        let level =
            if is_error || problem.severity == Severity::Error { FindingLevel::Error } else { FindingLevel::Warning };
        let file = problem.file.and_then(|file| view.reading.files.get(file));
        let at = file.map(|file| FoundAt::of(file, problem.span.clone()));
        let (title, instead) = match file {
            Some(file) if problem.code == "two-blocks" && is_one_json_block(file) => (
                "the methods of this provider_installation are taken for blocks of their own",
                "write every method as a list: \"direct\": [{ … }]",
            ),
            _ => (problem.message.as_str(), problem.instead.as_deref().unwrap_or(GENERAL)),
        };
        CliConfigFinding {
            tells_releases: true,
            releases: outcomes.iter().map(|outcome| outcome.release).collect(),
            instead: Some(instead.to_owned()),
            opens_to_origin: outcomes.iter().any(|outcome| outcome.opens),
            ..CliConfigFinding::new(rule(&problem.code).to_owned(), level, title).at(at).detail(self.detail())
        }
    }

    /// One line for all releases that do the same, and one for what is left.
    fn detail(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for pick in
            [|outcome: &ProblemOutcome| Some(outcome.effect.clone()), |outcome: &ProblemOutcome| outcome.rest.clone()]
        {
            let mut same: Vec<(String, Vec<TofuRelease>)> = Vec::new();
            for outcome in &self.outcomes {
                let Some(text) = pick(outcome) else { continue };
                match same.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, releases)) => releases.push(outcome.release),
                    None => same.push((text, vec![outcome.release])),
                }
            }
            lines.extend(same.iter().map(|(text, releases)| format!("{}: {text}", releases_text(releases))));
        }
        lines.join("\n")
    }
}

/// What one release says and does.
struct ProblemOutcome {
    release: TofuRelease,
    effect: String,
    /// What is left of the configuration.
    rest: Option<String>,
    opens: bool,
}

/// The sentence for a `provider_installation` of which nothing is left.
const NOTHING_LEFT: &str = "no provider_installation is left: OpenTofu takes the local plugin folders, and downloads \
                                       every other provider from its own registry, with exit code 0";

impl ProblemOutcome {
    fn of(view: ReleaseView<'_>, problem: &CliConfigProblem) -> Self {
        let rest = rest(&view, problem);
        Self {
            release: view.release,
            effect: match problem.effect {
                Effect::MethodDropped if !view.methods.explicit || !view.methods.list.is_empty() => {
                    format!("{}; the others serve", problem.consequence())
                }
                _ => problem.consequence(),
            },
            opens: rest.as_ref().is_some_and(|(_, opens)| *opens),
            rest: rest.map(|(text, _)| text),
        }
    }
}

/// What is left of the configuration, and whether providers then come from their origin.
fn rest(view: &ReleaseView<'_>, problem: &CliConfigProblem) -> Option<(String, bool)> {
    let file = view.reading.files.get(problem.file?)?;
    let loses_all = match problem.effect {
        Effect::FileDropped => file.text.is_empty() || file.text.contains("provider_inst"),
        _ => problem.topic == Topic::ProviderInstallation,
    };
    if loses_all {
        return (!view.methods.explicit).then(|| (NOTHING_LEFT.to_owned(), true));
    }
    if !matches!(problem.effect, Effect::MethodDropped | Effect::EntryIgnored) {
        return None;
    }
    let dropped = dropped(view, problem)?;
    if view.methods.list.is_empty() {
        return Some(("no method is left, so that no provider can be installed".to_owned(), false));
    }
    if dropped.kind.name() == "direct" {
        return None;
    }
    let selector = view.selector(dropped)?;
    let heirs = view.methods.list.iter().filter(|method| matches!(method.kind, MethodKind::Direct { .. }));
    let mut heirs = heirs.map(|direct| (direct, meet(&selector, &direct.selector)));
    let (direct, patterns) = heirs.find(|(_, patterns)| !patterns.is_empty())?;
    let text =
        format!("{} takes over {}: downloads from each provider's own registry", direct.label(), listed(&patterns));
    Some((text, true))
}

/// The method that a problem drops.
fn dropped<'a>(view: &ReleaseView<'a>, problem: &CliConfigProblem) -> Option<&'a Method> {
    let span = problem.span.as_ref()?;
    let methods = &view.reading.config.installation.as_ref()?.methods;
    methods.iter().find(|method| {
        method.dropped.is_some()
            && method.file == problem.file
            && method.span.start <= span.start
            && span.end <= method.span.end
    })
}

//! What the reading itself found wrong, told once for all releases that find it.

use super::{Facts, Finding, FoundAt, Level, level, releases_text};
use crate::TofuRelease;
use crate::config::{Problem, Reading, Unknown, effect};

/// One finding a problem, a misspelt or unknown name, and a file that is passed over.
pub(super) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let mut told: Vec<Told<'_>> = Vec::new();
    for (reading, release) in facts.readings.iter().zip(TofuRelease::ALL) {
        for problem in &reading.problems {
            match told.iter_mut().find(|known| known.is_about(reading, problem)) {
                Some(known) => known.releases.push((release, effect(problem))),
                None => told.push(Told { reading, problem, releases: vec![(release, effect(problem))] }),
            }
        }
    }
    let latest = &facts.readings[2];
    let mut found: Vec<Finding> = told.iter().map(Told::finding).collect();
    for unknown in &latest.unknown {
        if !is_told(&found, latest, unknown) {
            let at = latest.files.get(unknown.file).map(|file| FoundAt::of(file, Some(unknown.span.clone())));
            found.push(unknown_name(unknown, at));
        }
    }
    found.extend(latest.located.passed_over.iter().map(|passed| Finding {
        rule: "file-not-read".into(),
        level: Level::Warning,
        at: Some(FoundAt { path: passed.path.clone(), text: "".into(), span: None }),
        releases: TofuRelease::ALL.to_vec(),
        title: "this file is not read".to_owned(),
        detail: Some(format!("it is passed over: {}", passed.why)),
        instead: None,
    }));
    found
}

/// Whether a problem stands at the very place already.
fn is_told(found: &[Finding], reading: &Reading, unknown: &Unknown) -> bool {
    let path = reading.files.get(unknown.file).map(|file| &file.path);
    found
        .iter()
        .filter_map(|finding| finding.at.as_ref())
        .any(|at| Some(&at.path) == path && at.span.as_ref().is_some_and(|span| span.start == unknown.span.start))
}

fn unknown_name(unknown: &Unknown, at: Option<FoundAt>) -> Finding {
    let Unknown { name, inside, near, .. } = unknown;
    let place = inside.as_ref().map_or_else(|| "at the top of the file".to_owned(), |inside| format!("in {inside}"));
    let instead = near.map(|near| near.to_owned());
    let (rule, level) = if near.is_some() { ("misspelt-name", Level::Error) } else { ("unknown-name", Level::Warning) };
    Finding {
        rule: rule.into(),
        level,
        at,
        releases: TofuRelease::ALL.to_vec(),
        title: format!("nothing {place} is called `{name}`"),
        detail: Some("it is ignored without a word, and everything in it".to_owned()),
        instead,
    }
}

/// A problem, and what each release that finds it says and does then.
struct Told<'a> {
    reading: &'a Reading,
    problem: &'a Problem,
    releases: Vec<(TofuRelease, String)>,
}

impl Told<'_> {
    /// Whether another release has found the same: same fault, same file, same place.
    fn is_about(&self, reading: &Reading, problem: &Problem) -> bool {
        let path = |reading: &Reading, problem: &Problem| {
            problem.file.and_then(|file| reading.files.get(file)).map(|file| file.path.clone())
        };
        self.problem.code == problem.code
            && self.problem.span == problem.span
            && self.problem.message == problem.message
            && path(self.reading, self.problem) == path(reading, problem)
    }

    fn finding(&self) -> Finding {
        let Self { reading, problem, releases } = self;
        let is_error = reading.errors().any(|error| error == *problem);
        let file = problem.file.and_then(|file| reading.files.get(file));
        Finding {
            rule: problem.code.clone().into(),
            level: level(problem.severity, is_error),
            at: file.map(|file| FoundAt::of(file, problem.span.clone())),
            releases: releases.iter().map(|(release, _)| *release).collect(),
            title: problem.message.clone(),
            detail: Some(self.detail()),
            instead: problem.instead.clone(),
        }
    }

    /// One line for all releases that do the same.
    fn detail(&self) -> String {
        let mut effects: Vec<(&str, Vec<TofuRelease>)> = Vec::new();
        for (release, effect) in &self.releases {
            match effects.iter_mut().find(|(known, _)| known == effect) {
                Some((_, releases)) => releases.push(*release),
                None => effects.push((effect, vec![*release])),
            }
        }
        let line = |(effect, releases): &(&str, Vec<TofuRelease>)| format!("{}: {effect}", releases_text(releases));
        effects.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

//! The problems that `OpenTofu` finds when it makes the sources of the methods.

use super::reader::ReadingNotes;
use super::{CliConfigProblem, ConfigFile, Effect, Installation, Method, MethodKind, ProblemStage};
use crate::{PatternList, Selector};

/// Drops the methods that have a bad address or pattern.
pub(super) fn check(installation: &mut Installation, files: &[ConfigFile], findings: &mut ReadingNotes) {
    for method in installation.methods.iter_mut().filter(|method| method.dropped.is_none()) {
        if let Some(problem) = fault(method, files) {
            method.dropped = Some(findings.push(problem));
        }
    }
}

fn fault(method: &Method, files: &[ConfigFile]) -> Option<CliConfigProblem> {
    let problem = |code: &str, written: Option<&str>, message: String, instead: String| CliConfigProblem {
        stage: ProblemStage::Sources,
        file: method.file,
        span: Some(find(method, files, written)),
        effect: Effect::MethodDropped,
        ..CliConfigProblem::load(code, message).instead(instead)
    };
    if let MethodKind::NetworkMirror { url, .. } = &method.kind
        && let Err(why) = super::mirror_url::check(url)
    {
        let instead = "write an address such as \"https://mirror.example.com/providers/\"";
        return Some(problem(
            "mirror-url",
            Some(url),
            format!("a network mirror cannot be at this url: {why}"),
            instead.to_owned(),
        ));
    }
    let (list, index, error) = Selector::parse(&method.include, &method.exclude).err()?;
    let (code, written) = match list {
        PatternList::Include => ("include-pattern", method.include.get(index)),
        PatternList::Exclude => ("exclude-pattern", method.exclude.get(index)),
    };
    let problem = problem(code, written.map(String::as_str), error.to_string(), error.instead());
    Some(if error.passes_opentofu() { problem.kept_by_opentofu() } else { problem })
}

/// The place of a text inside a method's block, with its quotes; the block's head if the text is written in another
/// way.
fn find(method: &Method, files: &[ConfigFile], written: Option<&str>) -> std::ops::Range<usize> {
    let whole = method.span.clone();
    let text = method.file.and_then(|file| files.get(file)).map_or("", |file| file.text.as_str());
    let found = written.and_then(|written| {
        let quoted = format!("\"{written}\"");
        let start = whole.start + text.get(whole.clone())?.find(&quoted)?;
        Some(start..start + quoted.len())
    });
    found.unwrap_or(whole.start..(whole.start + method.kind.name().len()).min(whole.end))
}

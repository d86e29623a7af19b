//! What failed, in the reports of mirrors and bundles.

use serde::{Serialize, Serializer};
use tofu_oci_types::Version;

use crate::diagnostic::{Diagnostic, with_lines};
use crate::exit::Exit;
use crate::page::Page;

/// The members of a line that take the place of a deed.
#[derive(Serialize)]
struct MirrorFailure<'a> {
    action: &'static str,
    code: &'a str,
    error: &'a str,
    causes: &'a [String],
    hints: &'a [String],
}

impl<'a> MirrorFailure<'a> {
    fn of(failure: &'a Diagnostic) -> Self {
        Self {
            action: "failed",
            code: failure.stable_name(),
            error: failure.text(),
            causes: failure.causes(),
            hints: failure.hints(),
        }
    }
}

/// What is known of one version, or why that is unknown: their members stand in the line itself.
pub(in crate::verbs) fn or_failure<T: Serialize, S: Serializer>(
    outcome: &Result<T, Diagnostic>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match outcome {
        Ok(outcome) => outcome.serialize(serializer),
        Err(failure) => MirrorFailure::of(failure).serialize(serializer),
    }
}

/// What went wrong, each with what it is about in front, unless it names that itself; then each advice once.
pub(in crate::verbs) fn failures<'a>(
    page: &mut Page,
    failures: impl Iterator<Item = (String, &'a Diagnostic)>,
    names: impl Fn(&str, &str) -> bool,
) {
    let (mut hints, mut is_any): (Vec<&String>, bool) = (Vec::new(), false);
    for (name, failure) in failures {
        let text = failure.text();
        page.line(if names(text, &name) { text.to_owned() } else { format!("{name}: {text}") });
        failure.causes().iter().for_each(|cause| page.line(format_args!("  cause: {cause}")));
        let new: Vec<&String> = failure.hints().iter().filter(|hint| !hints.contains(hint)).collect();
        hints.extend(new);
        is_any = true;
    }
    for hint in hints {
        let (first, more) = with_lines(hint);
        page.line(format_args!("  hint: {first}"));
        page.block("        ", more);
    }
    if is_any {
        page.gap();
    }
}

/// How a run ends with these failures: one that the user cannot fix counts most, as with `check` and `verify`.
pub(in crate::verbs) fn exit_of<'a>(mut failures: impl Iterator<Item = &'a Diagnostic>) -> Exit {
    if failures.any(|failure| failure.exit() == Exit::Unexpected) { Exit::Unexpected } else { Exit::Fixable }
}

/// What a row is about: all versions, or one.
pub(in crate::verbs) fn row_name(address: &impl std::fmt::Display, version: Option<&Version>) -> String {
    version.map_or_else(|| address.to_string(), |version| format!("{address} {version}"))
}

/// How many versions became what; what is zero is left out.
pub(in crate::verbs) fn counts(counts: &[(usize, &str)], otherwise: &str) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    if counts.is_empty() { otherwise.to_owned() } else { counts.join(", ") }
}

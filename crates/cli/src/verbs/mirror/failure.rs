//! What failed, in the JSON lines of mirrors and bundles.

use serde::{Serialize, Serializer};

use crate::diagnostic::Diagnostic;

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

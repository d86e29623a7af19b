//! What failed, in the JSON lines of `mirror` and `module mirror`.

use serde::Serialize;

use crate::diagnostic::Diagnostic;

/// The members of a line that take the place of a deed.
#[derive(Serialize)]
pub(in crate::verbs) struct MirrorFailure<'a> {
    action: &'static str,
    code: &'a str,
    error: &'a str,
    causes: &'a [String],
    hints: &'a [String],
}

impl<'a> MirrorFailure<'a> {
    pub(in crate::verbs) fn of(failure: &'a Diagnostic) -> Self {
        Self {
            action: "failed",
            code: failure.stable_name(),
            error: failure.text(),
            causes: failure.causes(),
            hints: failure.hints(),
        }
    }
}

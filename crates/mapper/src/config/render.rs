//! A problem as the user sees it.

use super::{Problem, Reading};

/// Plain text for people: what, where with the line underlined, what to write instead, what `OpenTofu` does.
#[expect(clippy::unimplemented, reason = "the body comes with the next commit")]
pub fn render_problem(_reading: &Reading, _problem: &Problem) -> String {
    unimplemented!()
}

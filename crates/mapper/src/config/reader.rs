//! What all parts of a reading share: the current file, and the list of problems.

use std::ops::Range;
use std::path::Path;

use tofu_oci_hcl::{DecodeError, Duplicates, HclItem, HclSyntax};

use super::{CliConfigProblem, Effect, ProblemStage, Severity, Topic, Unknown};
use tofu_oci_types::{TextPosition, TofuRelease};

/// The problems so far.
pub(super) struct ReadingNotes {
    pub(super) release: TofuRelease,
    pub(super) problems: Vec<CliConfigProblem>,
    pub(super) unknown: Vec<Unknown>,
}

impl ReadingNotes {
    /// Adds a problem and returns its place in the list.
    pub(super) fn push(&mut self, problem: CliConfigProblem) -> usize {
        self.problems.push(problem);
        self.problems.len() - 1
    }

    /// Gives this topic to the problems that `read` finds.
    pub(super) fn about<T>(&mut self, topic: Topic, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.problems.len();
        let out = read(self);
        self.problems.iter_mut().skip(before).for_each(|problem| problem.topic = topic);
        out
    }
}

/// The current file.
#[derive(Clone, Copy)]
pub(super) struct SourceText<'a> {
    pub(super) file: usize,
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) syntax: HclSyntax,
    pub(super) duplicates: Duplicates,
}

impl SourceText<'_> {
    pub(super) fn is_json(&self) -> bool {
        self.syntax == HclSyntax::Json
    }

    /// The line of an offset as `OpenTofu` names it; `None` in JSON, for which HCL 1 keeps no places.
    pub(super) fn line(&self, offset: usize) -> Option<usize> {
        (!self.is_json()).then(|| TextPosition::of(self.text, offset).line)
    }

    /// The line in which an item starts.
    pub(super) fn line_of(&self, item: &HclItem) -> Option<usize> {
        self.line(item.span.start)
    }

    /// The line of a block's brace.
    pub(super) fn line_of_brace(&self, item: &HclItem) -> Option<usize> {
        self.line(item.brace.unwrap_or_else(|| item.value.span().start))
    }

    /// The file and line for people.
    pub(super) fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.path.display(), TextPosition::of(self.text, offset).line)
    }

    /// A problem of this file, seen while it is read.
    pub(super) fn problem(
        &self,
        code: &str,
        span: Range<usize>,
        reported: Option<usize>,
        message: impl Into<String>,
    ) -> CliConfigProblem {
        CliConfigProblem { file: Some(self.file), span: Some(span), reported, ..CliConfigProblem::load(code, message) }
    }

    /// A value of the wrong kind.
    pub(super) fn mismatch(&self, code: &str, reported: Option<usize>, error: &DecodeError) -> CliConfigProblem {
        let DecodeError { span, name, wanted, found, .. } = error;
        let instead = match *wanted {
            _ if name.contains(['.', '[']) => format!("write {wanted} there"),
            "a list" => format!("write {name} = [\"…\"]"),
            "a text in quotes" => format!("write {name} = \"…\""),
            wanted => format!("give {name} {wanted}"),
        };
        let message = format!("{name} must be {wanted}, and this is {found}");
        self.problem(code, span.clone(), reported, message).instead(instead)
    }
}

impl CliConfigProblem {
    /// An error that is seen while files are read, without a place.
    pub(super) fn load(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            severity: Severity::Error,
            stage: ProblemStage::Load,
            file: None,
            span: None,
            reported: None,
            message: message.into(),
            instead: None,
            effect: Effect::BlockIgnored,
            also: Vec::new(),
            ours: false,
            topic: Topic::Other,
        }
    }

    pub(super) fn instead(self, instead: impl Into<String>) -> Self {
        Self { instead: Some(instead.into()), ..self }
    }

    pub(super) fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    pub(super) fn topic(self, topic: Topic) -> Self {
        Self { topic, ..self }
    }

    /// Something that `OpenTofu` uses as it is, and says nothing about.
    pub(super) fn kept_by_opentofu(self) -> Self {
        self.effect(Effect::KeptAnyway).ours()
    }

    /// Something that `OpenTofu` says nothing about.
    pub(super) fn ours(self) -> Self {
        Self { ours: true, ..self }
    }
}

//! The calls and files of `module lock`, printed.

use serde::Serialize;
use tofu_oci_fetch::SignedBy;
use tofu_oci_installer::{ModulePin, ModulePinChange};
use tofu_oci_tfconfig::{CallFileWrite, CallSource};
use tofu_oci_types::{Digest, PathText, Place, Tag, TextPosition, Version, masked};

use super::outcome::{CallOutcome, LockedCall, named};
use super::remarks::{self, RemarkWeight};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::page::Page;
use crate::report::JsonLines;
use crate::verbs::context::Context;
use crate::verbs::printed::shown;

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LockEnd {
    Written,
    WouldWrite,
    Checked,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(clippy::enum_variant_names, reason = "events have these names")]
enum ModuleLockLine<'a> {
    ModuleProblem {
        code: &'a str,
        #[serde(flatten)]
        at: CallMembers<'a>,
        source: String,
        text: &'a str,
        hints: &'a [String],
    },
    ModulePin(ModulePinLine<'a>),
    ModuleLock {
        outcome: &'static str,
        calls: usize,
        changed: usize,
        problems: usize,
        /// Calls of folders, registries, git repositories and so on.
        others: usize,
        files: Vec<String>,
    },
}

/// The call that a line is about.
#[derive(Serialize)]
struct CallMembers<'a> {
    path: PathText<'a>,
    #[serde(flatten)]
    at: TextPosition,
    module: &'a str,
}

#[derive(Serialize)]
struct ModulePinLine<'a> {
    outcome: &'static str,
    #[serde(flatten)]
    at: CallMembers<'a>,
    place: Place,
    version: Option<Version>,
    tag: Option<&'a Tag>,
    from: Option<&'a Tag>,
    digest: &'a Digest,
    source: String,
    comment: Option<String>,
    signers: &'a [SignedBy],
}

fn members<'a>(call: &'a LockedCall<'_>) -> CallMembers<'a> {
    CallMembers { path: PathText(call.path()), at: call.call.at.at, module: &call.call.module }
}

/// Prints the problems, one line each, and says how many calls have one.
pub(super) fn problems(context: &Context, calls: &[&LockedCall<'_>]) -> usize {
    let found = || calls.iter().flat_map(|call| problems_of(call).into_iter().map(move |problem| (*call, problem)));
    let lines = |lines: &JsonLines| {
        for (call, problem) in found() {
            let (code, text, hints) = (problem.stable_name(), problem.text(), problem.hints());
            let (at, source) = (members(call), masked(call.call.source_text()));
            lines.add(&ModuleLockLine::ModuleProblem { code, at, source, text, hints });
        }
    };
    context.emit_all(lines, || {
        let mut page = Page::default();
        for (call, problem) in found() {
            let (text, code) = (problem.text(), problem.stable_name());
            page.line(format_args!("{}: {}: {text} ({code})", call.place(), call.name()));
        }
        page
    });
    calls.iter().filter(|call| !problems_of(call).is_empty()).count()
}

fn problems_of(call: &LockedCall<'_>) -> Vec<Diagnostic> {
    let problem = |text: String, code: &str| Diagnostic::new(Exit::Fixable, text).code(code);
    let mut problems: Vec<Diagnostic> = remarks::of(call)
        .into_iter()
        .filter(|remark| remark.weight == RemarkWeight::Problem)
        .map(|remark| problem(remark.text, remark.code).more_hints(remark.hint))
        .collect();
    match &call.outcome {
        CallOutcome::Refused(diagnostic) => problems.push(Diagnostic::clone(diagnostic)),
        CallOutcome::Pinned(_) if call.is_free() => {
            let text = format!("{} is not pinned to a digest", masked(call.call.source_text()));
            problems.push(problem(text, "module-not-pinned"));
        }
        _ => {}
    }
    problems
}

/// Prints what became of the calls, and of the files.
pub(super) fn print(context: &Context, calls: &[&LockedCall<'_>], writes: &[CallFileWrite], end: LockEnd) {
    let pinned: Vec<_> = calls.iter().filter_map(|call| Some((*call, call.found()?))).collect();
    let changed = pinned.iter().filter(|(call, _)| call.is_changed()).count();
    let wrong = calls.iter().filter(|call| !problems_of(call).is_empty()).count();
    let lines = |lines: &JsonLines| {
        let is_right = |call: &LockedCall<'_>| end != LockEnd::Checked || problems_of(call).is_empty();
        let pins = pinned.iter().filter(|(call, _)| is_right(call));
        lines.add_all(pins.map(|(call, pin)| ModuleLockLine::ModulePin(pin_line(call, pin))));
        let is_ours =
            |call: &&&LockedCall<'_>| matches!(call.outcome, CallOutcome::Pinned(_) | CallOutcome::Refused(_));
        lines.add(&ModuleLockLine::ModuleLock {
            outcome: match end {
                LockEnd::Checked if wrong == 0 => "locked",
                LockEnd::Checked => "not-locked",
                _ if writes.is_empty() => "unchanged",
                LockEnd::Written => "written",
                LockEnd::WouldWrite => "would-change",
            },
            calls: calls.iter().filter(is_ours).count(),
            changed,
            problems: wrong,
            others: calls.iter().filter(|call| matches!(call.outcome, CallOutcome::Other)).count(),
            files: files(writes),
        });
    };
    context.emit_all(lines, || {
        let mut page = Page::default();
        if end == LockEnd::Checked {
            if wrong == 0 {
                page.line(as_it_is(pinned.len()));
            }
            return page;
        }
        for (call, pin) in pinned.iter().filter(|(call, _)| call.is_changed()) {
            of_call(call, pin, end, &mut page);
        }
        if writes.is_empty() {
            page.line(format_args!("{}; nothing was changed", as_it_is(pinned.len())));
        } else {
            let wrote = if end == LockEnd::Written { "wrote" } else { "would write" };
            let files = files(writes).join(", ");
            page.line(format_args!("{wrote} {files}: {changed} of {} calls changed", pinned.len()));
        }
        page
    });
}

fn files(writes: &[CallFileWrite]) -> Vec<String> {
    writes.iter().map(|write| shown(write.path()).to_string()).collect()
}

fn as_it_is(pinned: usize) -> String {
    match pinned {
        0 => "no module comes from an OCI repository".to_owned(),
        1 => "the one module from an OCI repository is pinned".to_owned(),
        count => format!("all {count} modules from OCI repositories are pinned"),
    }
}

fn of_call(call: &LockedCall<'_>, pin: &ModulePin, end: LockEnd, page: &mut Page) {
    let tag = pin.tag.as_ref().map(named).unwrap_or_default();
    let place = place(call);
    let what = match &pin.change {
        ModulePinChange::Pinned => format!("pinned to {tag} of {place}"),
        ModulePinChange::Upgraded { from: Some(from) } if Some(from) != pin.tag.as_ref() => {
            format!("{} -> {tag} of {place}", named(from))
        }
        ModulePinChange::Upgraded { from: None } => format!("an unknown version -> {tag} of {place}"),
        ModulePinChange::Upgraded { .. } | ModulePinChange::Moved => format!("{tag} of {place} is another package now"),
        _ => format!("its digest is {tag} of {place}"),
    };
    page.line(format_args!("{}: {}: {what}", call.place(), call.name()));
    if end == LockEnd::WouldWrite {
        let comment = call.note().map(|note| format!(" # {note}")).unwrap_or_default();
        page.line(format_args!("  - {}", masked(call.call.source_text())));
        page.line(format_args!("  + {}{comment}", call.source_after()));
    } else {
        page.line(format_args!("  manifest {}", pin.digest));
    }
    if !pin.signers.is_empty() {
        let names: Vec<&str> = pin.signers.iter().map(|signer| signer.name.as_str()).collect();
        page.line(format_args!("  signed by {}", names.join(", ")));
    }
}

fn place(call: &LockedCall<'_>) -> Place {
    match &call.call.source {
        CallSource::Oci(source, _) => Place::Registry(source.repository().clone()),
        _ => unreachable!("only a call of a repository is pinned"),
    }
}

fn pin_line<'a>(call: &'a LockedCall<'_>, pin: &'a ModulePin) -> ModulePinLine<'a> {
    let (outcome, from) = match &pin.change {
        ModulePinChange::Pinned => ("pinned", None),
        ModulePinChange::Upgraded { from } => ("upgraded", from.as_ref()),
        ModulePinChange::Moved => ("moved", pin.tag.as_ref()),
        ModulePinChange::Noted => ("noted", None),
        ModulePinChange::Kept => ("kept", None),
    };
    ModulePinLine {
        outcome,
        at: members(call),
        place: place(call),
        version: pin.tag.as_ref().and_then(Tag::canonical_version),
        tag: pin.tag.as_ref(),
        from,
        digest: &pin.digest,
        source: call.source_after(),
        comment: call.note().map(|note| note.to_string()),
        signers: &pin.signers,
    }
}

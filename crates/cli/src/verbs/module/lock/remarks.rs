//! What is worth knowing of calls and their packages, and what of it `--check` takes for a problem.

use tofu_oci_installer::PinRemark;
use tofu_oci_types::{Event, printable};

use super::outcome::{CallOutcome, LockedCall, named};
use crate::invocation;
use crate::verbs::context::Context;

/// A sentence about a call, with its stable name.
pub(super) struct CallRemark {
    pub(super) code: &'static str,
    pub(super) text: String,
    pub(super) hint: Option<String>,
    pub(super) weight: RemarkWeight,
}

/// How much a remark matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RemarkWeight {
    Note,
    Warning,
    /// A warning, which is a problem for `--check`.
    Problem,
}

/// Reports the remarks on all calls; with `--check` without its problems, which it lists.
pub(super) fn report(context: &Context, calls: &[&LockedCall<'_>], is_check: bool) {
    let mut reported = Vec::new();
    for call in calls {
        for remark in of(call) {
            if is_check && remark.weight == RemarkWeight::Problem {
                continue;
            }
            let text = format!("{}: {}: {}", call.place(), call.name(), remark.text);
            let text = if remark.code == "tags-unknown" { remark.text } else { text };
            // One repository may be called many times.
            if reported.contains(&text) {
                continue;
            }
            let event = match remark.weight {
                RemarkWeight::Note => Event::note(remark.code, text.clone()),
                RemarkWeight::Warning | RemarkWeight::Problem => Event::warning(remark.code, text.clone()),
            };
            let event = remark.hint.into_iter().fold(event, Event::with_hint);
            context.reporter.event(&event);
            reported.push(text);
        }
    }
}

pub(super) fn of(call: &LockedCall<'_>) -> Vec<CallRemark> {
    let pin = match &call.outcome {
        CallOutcome::Pinned(pin) => pin,
        CallOutcome::Computed => {
            return vec![CallRemark {
                code: "module-source-computed",
                text: "the source is an expression, so it was not looked at".to_owned(),
                hint: Some("write the source as a string in quotes to have it pinned".to_owned()),
                weight: RemarkWeight::Warning,
            }];
        }
        CallOutcome::Refused(_) | CallOutcome::Other => return Vec::new(),
    };
    let mut remarks: Vec<CallRemark> = pin.remarks.iter().map(of_pin).collect();
    if let Some(unread) = call.call.unread_note() {
        remarks.push(CallRemark {
            code: "module-comment-unread",
            text: format!(
                "the comment `{}` is not a version with a constraint, so it stays as it is",
                printable(&unread)
            ),
            hint: Some("a comment that names one reads: # 1.4.0 (~> 1.4)".to_owned()),
            weight: RemarkWeight::Warning,
        });
    }
    if !call.call.has_room() && pin.tag.is_some() {
        remarks.push(CallRemark {
            code: "module-comment-taken",
            text: "the version is not noted, because the member // of the module is not a string".to_owned(),
            hint: Some("make it a string, to which `module lock` adds the version".to_owned()),
            weight: RemarkWeight::Warning,
        });
    }
    remarks
}

fn of_pin(remark: &PinRemark) -> CallRemark {
    let upgrade = || {
        Some(if invocation::says("upgrade") {
            "no newer version is admitted: change the constraint in the comment, or ask its publisher".to_owned()
        } else {
            format!("take a newer version: {} --upgrade", invocation::this_without("check"))
        })
    };
    let (code, text, hint, weight) = match remark {
        PinRemark::Withdrawn(version) => {
            ("module-withdrawn", format!("{version} was withdrawn"), upgrade(), RemarkWeight::Problem)
        }
        PinRemark::Left { withdrawn, reason } => {
            let why = reason.as_ref().map(|reason| format!(": {}", printable(reason.as_str()))).unwrap_or_default();
            let text = format!("{withdrawn} was withdrawn, so another version takes its place{why}");
            ("module-withdrawn", text, None, RemarkWeight::Warning)
        }
        PinRemark::Deprecated { version, reason } => {
            let text = format!("{version} is deprecated: {}", printable(reason.as_str()));
            ("module-deprecated", text, upgrade(), RemarkWeight::Warning)
        }
        PinRemark::TagGone(tag) => (
            "module-tag-gone",
            format!("the repository has the package, and no tag {tag} any more"),
            Some("ask its publisher: a registry may delete a package that has no tag".to_owned()),
            RemarkWeight::Problem,
        ),
        PinRemark::Behind { tag, now } => (
            "module-tag-behind",
            format!("{} names {now} now; the pin stays", named(tag)),
            Some(format!("to follow the tag: {} --upgrade", invocation::this_without("check"))),
            RemarkWeight::Note,
        ),
        PinRemark::NoVersion => (
            "module-version-unknown",
            "no tag of a version names the pinned package, so the source has no version beside it".to_owned(),
            None,
            RemarkWeight::Note,
        ),
        PinRemark::TagsUnlisted(error) => (
            "tags-unknown",
            format!("the tags cannot be listed, so that a deprecated version is not noticed: {error}"),
            None,
            RemarkWeight::Note,
        ),
    };
    CallRemark { code, text, hint, weight }
}

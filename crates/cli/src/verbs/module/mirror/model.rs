//! The report, version by version, and its counts.

use serde::Serialize;
use tofu_oci_mirror::{CallOutcome, MirrorMode, ModuleAction, ModuleMirrorLine, ModuleOutcome, UnfollowedCall};
use tofu_oci_types::{ModuleAddr, Version};

use crate::diagnostic::Diagnostic;
use crate::verbs::context::Context;
use crate::verbs::mirror::or_failure;

/// The lines of a report.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(clippy::enum_variant_names, reason = "events have these names")]
pub(super) enum ModuleMirrorEvent<'a> {
    ModuleMirror(&'a ModuleMirrorRow),
    ModuleMirrorPlan(&'a ModuleMirrorRow),
    ModuleCallLeft(&'a UnfollowedCall),
    ModuleMirrorSummary(&'a ModuleMirrorSummary),
}

#[derive(Serialize)]
pub(super) struct ModuleMirrorRow {
    pub(super) address: ModuleAddr,
    /// `None` if the row is about the module.
    pub(super) version: Option<Version>,
    pub(super) called_by: Vec<String>,
    #[serde(flatten, serialize_with = "or_failure")]
    pub(super) outcome: Result<ModuleOutcome, Diagnostic>,
}

impl ModuleMirrorRow {
    pub(super) fn of(context: &Context, line: ModuleMirrorLine) -> Self {
        let ModuleMirrorLine { address, version, called_by, outcome } = line;
        Self { address, version, called_by, outcome: outcome.map_err(|error| context.explained(error)) }
    }
}

/// How many versions became what.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ModuleMirrorSummary {
    pub(super) planned: bool,
    pub(super) added: usize,
    pub(super) present: usize,
    /// Not seen for long enough.
    pub(super) held: usize,
    /// Withdrawn at the destination, or kept out by `allow` or `deny`.
    pub(super) left: usize,
    /// No longer listed by the registry.
    pub(super) gone: usize,
    pub(super) withdrawn: usize,
    pub(super) reinstated: usize,
    pub(super) failed: usize,
    /// Calls that lead elsewhere than to the destination.
    pub(super) leaving: usize,
    /// Calls whose source or version is computed.
    pub(super) unknown: usize,
    /// Calls that lead back to a module that makes them.
    pub(super) loops: usize,
    pub(super) bytes: u64,
}

impl ModuleMirrorSummary {
    pub(super) fn of(mode: MirrorMode, rows: &[ModuleMirrorRow], calls: &[UnfollowedCall]) -> Self {
        let planned = mode == MirrorMode::Plan;
        let mut summary = Self { planned, ..Self::default() };
        for row in rows {
            let Ok(deed) = &row.outcome else {
                summary.failed += 1;
                continue;
            };
            summary.bytes = summary.bytes.saturating_add(deed.bytes);
            *match &deed.action {
                ModuleAction::Present | ModuleAction::ReplacedThere => &mut summary.present,
                ModuleAction::Held { .. } => &mut summary.held,
                ModuleAction::WithdrawnThere | ModuleAction::Denied { .. } => &mut summary.left,
                ModuleAction::Gone { .. } => &mut summary.gone,
                ModuleAction::Withdraw { .. } => &mut summary.withdrawn,
                ModuleAction::Reinstate => &mut summary.reinstated,
                _ => &mut summary.added,
            } += 1;
        }
        let count = |which: &[CallOutcome]| calls.iter().filter(|call| which.contains(&call.fate)).count();
        summary.leaving =
            count(&[CallOutcome::Leaves, CallOutcome::NoMirror, CallOutcome::NotInBundle, CallOutcome::NotFollowed]);
        summary.unknown = count(&[CallOutcome::Unknown]);
        summary.loops = count(&[CallOutcome::Loop]);
        summary
    }
}

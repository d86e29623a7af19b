//! The report, version by version, and its counts.

use serde::Serialize;
use tofu_oci_mirror::{MirrorAction, MirrorLine, MirrorMode, MirrorOutcome};
use tofu_oci_types::{ProviderAddr, Version};

use super::failure::or_failure;
use crate::diagnostic::Diagnostic;
use crate::verbs::context::Context;

/// The lines of a report.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum MirrorEvent<'a> {
    Mirror(&'a Row),
    MirrorPlan(&'a Row),
    MirrorSummary(&'a MirrorSummary),
}

#[derive(Serialize)]
pub(super) struct Row {
    pub(super) address: ProviderAddr,
    /// `None` if the row is about the provider.
    pub(super) version: Option<Version>,
    #[serde(flatten, serialize_with = "or_failure")]
    pub(super) outcome: Result<MirrorOutcome, Diagnostic>,
}

impl Row {
    pub(super) fn of(context: &Context, line: MirrorLine) -> Self {
        let MirrorLine { address, version, outcome } = line;
        Self { address, version, outcome: outcome.map_err(|error| context.explained(error)) }
    }
}

/// How many versions became what.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct MirrorSummary {
    pub(super) planned: bool,
    /// Carried, whole or for more platforms.
    pub(super) added: usize,
    pub(super) present: usize,
    pub(super) held: usize,
    /// Kept out by lists, or by what people did at the destination.
    pub(super) left: usize,
    pub(super) gone: usize,
    pub(super) withdrawn: usize,
    pub(super) reinstated: usize,
    pub(super) deprecated: usize,
    pub(super) failed: usize,
    /// `None` if a place does not say how many.
    pub(super) bytes: Option<u64>,
}

impl MirrorSummary {
    pub(super) fn of(mode: MirrorMode, rows: &[Row]) -> Self {
        let planned = mode == MirrorMode::Plan;
        let mut summary = Self { planned, bytes: Some(0), ..Self::default() };
        for row in rows {
            let Ok(deed) = &row.outcome else {
                summary.failed += 1;
                continue;
            };
            summary.bytes = summary.bytes.zip(deed.bytes).map(|(sum, more)| sum.saturating_add(more));
            let count = match &deed.action {
                MirrorAction::Add | MirrorAction::Widen { .. } => &mut summary.added,
                MirrorAction::Present | MirrorAction::ReplacedThere => &mut summary.present,
                MirrorAction::Held { .. } => &mut summary.held,
                MirrorAction::Denied { .. }
                | MirrorAction::NoPlatform
                | MirrorAction::Withdrawn { .. }
                | MirrorAction::WithdrawnThere => &mut summary.left,
                MirrorAction::Gone { .. } => &mut summary.gone,
                MirrorAction::Withdraw { .. } => &mut summary.withdrawn,
                MirrorAction::Reinstate => &mut summary.reinstated,
                MirrorAction::Deprecate { .. } => &mut summary.deprecated,
                _ => &mut summary.failed,
            };
            *count += 1;
        }
        summary
    }
}

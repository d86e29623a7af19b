//! One version of the report, and its JSON line; `docs/json.md` says what the members are.

use serde::Serialize;
use tofu_oci_mirror::{Deed, MirrorAction, MirrorLine, MirrorMode};
use tofu_oci_types::{ProviderAddr, Version};

use super::failure::MirrorFailure;
use crate::diagnostic::Diagnostic;

/// One version.
pub(super) struct Row {
    pub(super) address: ProviderAddr,
    /// `None` if the row is about the provider.
    pub(super) version: Option<Version>,
    pub(super) outcome: Result<Deed, Diagnostic>,
}

impl Row {
    pub(super) fn of(line: MirrorLine) -> Self {
        let MirrorLine { address, version, outcome } = line;
        Self { address, version, outcome: outcome.map_err(Diagnostic::from) }
    }

    pub(super) fn json(&self, mode: MirrorMode) -> RowLine<'_> {
        RowLine {
            event: if mode == MirrorMode::Plan { "mirror-plan" } else { "mirror" },
            address: &self.address,
            version: self.version.as_ref(),
            deed: self.outcome.as_ref().ok(),
            failure: self.outcome.as_ref().err().map(MirrorFailure::of),
        }
    }
}

#[derive(Serialize)]
pub(super) struct RowLine<'a> {
    event: &'static str,
    address: &'a ProviderAddr,
    version: Option<&'a Version>,
    #[serde(flatten)]
    deed: Option<&'a Deed>,
    #[serde(flatten)]
    failure: Option<MirrorFailure<'a>>,
}

/// How many versions became what.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct MirrorSummary {
    event: &'static str,
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
        let mut summary = Self { event: "mirror-summary", planned, bytes: Some(0), ..Self::default() };
        for row in rows {
            let Ok(deed) = &row.outcome else {
                summary.failed += 1;
                continue;
            };
            summary.bytes = summary.bytes.zip(deed.bytes).map(|(sum, more)| sum.saturating_add(more));
            let count = match &deed.action {
                MirrorAction::Add | MirrorAction::Widen { .. } => &mut summary.added,
                MirrorAction::Present => &mut summary.present,
                MirrorAction::Held { .. } => &mut summary.held,
                MirrorAction::Denied { .. } | MirrorAction::NoPlatform | MirrorAction::WithdrawnThere => {
                    &mut summary.left
                }
                MirrorAction::Gone => &mut summary.gone,
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

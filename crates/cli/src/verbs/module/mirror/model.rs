//! One version of the report, and its JSON line; `docs/json.md` says what the members are.

use serde::Serialize;
use tofu_oci_mirror::{CallFate, MirrorMode, ModuleAction, ModuleDeed, ModuleMirrorLine, UnfollowedCall};
use tofu_oci_types::{ModuleAddr, Version};

use crate::diagnostic::Diagnostic;
use crate::verbs::mirror::MirrorFailure;

/// One version.
pub(super) struct ModuleMirrorRow {
    pub(super) address: ModuleAddr,
    /// `None` if the row is about the module.
    pub(super) version: Option<Version>,
    pub(super) called_by: Vec<String>,
    pub(super) outcome: Result<ModuleDeed, Diagnostic>,
}

impl ModuleMirrorRow {
    pub(super) fn of(line: ModuleMirrorLine) -> Self {
        let ModuleMirrorLine { address, version, called_by, outcome } = line;
        Self { address, version, called_by, outcome: outcome.map_err(Diagnostic::from) }
    }

    pub(super) fn json(&self, mode: MirrorMode) -> ModuleMirrorRowLine<'_> {
        ModuleMirrorRowLine {
            event: if mode == MirrorMode::Plan { "module-mirror-plan" } else { "module-mirror" },
            address: &self.address,
            version: self.version.as_ref(),
            called_by: &self.called_by,
            deed: self.outcome.as_ref().ok(),
            failure: self.outcome.as_ref().err().map(MirrorFailure::of),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ModuleMirrorRowLine<'a> {
    event: &'static str,
    address: &'a ModuleAddr,
    version: Option<&'a Version>,
    called_by: &'a [String],
    #[serde(flatten)]
    deed: Option<&'a ModuleDeed>,
    #[serde(flatten)]
    failure: Option<MirrorFailure<'a>>,
}

/// A call that is not mirrored.
#[derive(Serialize)]
pub(super) struct CallLine<'a> {
    event: &'static str,
    #[serde(flatten)]
    call: &'a UnfollowedCall,
}

impl<'a> CallLine<'a> {
    pub(super) fn of(call: &'a UnfollowedCall) -> Self {
        Self { event: "module-call-left", call }
    }
}

/// How many versions became what.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ModuleMirrorSummary {
    event: &'static str,
    pub(super) planned: bool,
    pub(super) added: usize,
    pub(super) present: usize,
    /// Withdrawn at the destination.
    pub(super) left: usize,
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
        let mut summary = Self { event: "module-mirror-summary", planned, ..Self::default() };
        for row in rows {
            let Ok(deed) = &row.outcome else {
                summary.failed += 1;
                continue;
            };
            summary.bytes = summary.bytes.saturating_add(deed.bytes);
            *match &deed.action {
                ModuleAction::Present => &mut summary.present,
                ModuleAction::WithdrawnThere => &mut summary.left,
                _ => &mut summary.added,
            } += 1;
        }
        let count = |which: &[CallFate]| calls.iter().filter(|call| which.contains(&call.fate)).count();
        summary.leaving = count(&[CallFate::Leaves, CallFate::NoMirror, CallFate::NotInBundle, CallFate::NotFollowed]);
        summary.unknown = count(&[CallFate::Unknown]);
        summary.loops = count(&[CallFate::Loop]);
        summary
    }
}

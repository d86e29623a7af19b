//! One provider of a configuration, and its JSON line; `docs/json.md` says what the members are.

use std::path::Path;

use serde::Serialize;
use tofu_oci_explain::outdated::{ModuleDemand, UpgradeState, VersionComparison};
use tofu_oci_explain::releases::VersionNotice;
use tofu_oci_source::SourceError;
use tofu_oci_types::{Constraints, PathText, Place, ProviderAddr, Version};

use crate::diagnostic::Diagnostic;
use crate::verbs::show::reason;

/// What is known of one provider.
pub(super) struct ProviderRow {
    pub(super) address: ProviderAddr,
    pub(super) constraints: Constraints,
    pub(super) locked: Option<Version>,
    /// The predecessor whose entry locks it.
    pub(super) locked_by: Option<ProviderAddr>,
    pub(super) locked_is_offered: bool,
    /// What the publisher says of the locked version, or of the one that would be locked.
    pub(super) notice: Option<VersionNotice>,
    /// Where the version comes from that would be installed.
    pub(super) place: Option<Place>,
    /// The version that would be chosen, if its release cannot be read.
    pub(super) unusable: Option<(Version, SourceError)>,
    /// `None` if its versions could not be listed.
    pub(super) comparison: Option<VersionComparison>,
    /// Why they could not.
    pub(super) failure: Option<Diagnostic>,
}

impl ProviderRow {
    pub(super) fn new(address: &ProviderAddr, constraints: &Constraints, locked: Option<Version>) -> Self {
        Self {
            address: address.clone(),
            constraints: constraints.clone(),
            locked,
            locked_by: None,
            locked_is_offered: true,
            notice: None,
            place: None,
            unusable: None,
            comparison: None,
            failure: None,
        }
    }

    pub(super) fn failed(self, diagnostic: Diagnostic) -> Self {
        Self { failure: Some(diagnostic), ..self }
    }

    /// `None` if its versions could not be listed.
    pub(super) fn state(&self) -> Option<UpgradeState> {
        self.comparison.as_ref().map(|comparison| comparison.state)
    }

    /// Whether there is something to do.
    pub(super) fn is_behind(&self) -> bool {
        self.state() != Some(UpgradeState::UpToDate) || !self.locked_is_offered || self.notice.is_some()
    }

    /// What `install --upgrade` would choose.
    pub(super) fn admitted(&self) -> Option<&Version> {
        self.comparison.as_ref()?.admitted.as_ref()
    }

    pub(super) fn newest(&self) -> Option<&Version> {
        self.comparison.as_ref()?.newest.as_ref()
    }

    /// The demands that keep it from the newest one.
    pub(super) fn held_back_by(&self) -> &[ModuleDemand] {
        self.comparison.as_ref().map_or(&[], |comparison| &comparison.held_back_by)
    }
}

/// The line `outdated`.
#[derive(Serialize)]
pub(super) struct OutdatedLine<'a> {
    event: &'static str,
    address: &'a ProviderAddr,
    constraints: &'a Constraints,
    state: Option<UpgradeState>,
    locked: Option<&'a Version>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locked_by: Option<&'a ProviderAddr>,
    locked_is_offered: bool,
    notice: Option<&'a VersionNotice>,
    admitted: Option<&'a Version>,
    newest: Option<&'a Version>,
    held_back_by: Vec<DemandLine<'a>>,
    place: Option<&'a Place>,
    code: Option<&'a str>,
    reason: Option<String>,
    hints: &'a [String],
}

#[derive(Serialize)]
struct DemandLine<'a> {
    module: &'a str,
    constraints: &'a Constraints,
    path: PathText<'a>,
    line: usize,
    column: usize,
}

impl<'a> OutdatedLine<'a> {
    pub(super) fn of(row: &'a ProviderRow) -> Self {
        let held = row.held_back_by().iter().map(|demand| DemandLine {
            module: &demand.module,
            constraints: &demand.constraints,
            path: PathText(Path::new(&demand.declared.path)),
            line: demand.declared.at.line,
            column: demand.declared.at.column,
        });
        Self {
            event: "outdated",
            address: &row.address,
            constraints: &row.constraints,
            state: row.state(),
            locked: row.locked.as_ref(),
            locked_by: row.locked_by.as_ref(),
            locked_is_offered: row.locked_is_offered,
            notice: row.notice.as_ref(),
            admitted: row.admitted(),
            newest: row.newest(),
            held_back_by: held.collect(),
            place: row.place.as_ref(),
            code: match (&row.failure, &row.unusable) {
                (Some(failure), _) => Some(failure.stable_name()),
                (None, unusable) => unusable.as_ref().map(|(_, error)| error.code()),
            },
            reason: match (&row.failure, &row.unusable) {
                (Some(failure), _) => Some(failure.text().to_owned()),
                (None, unusable) => unusable.as_ref().map(|(_, error)| reason(error)),
            },
            hints: row.failure.as_ref().map_or(&[], Diagnostic::hints),
        }
    }
}

//! What is known of one provider of a configuration.

use serde::Serialize;
use tofu_oci_explain::outdated::{UpgradeState, VersionComparison};
use tofu_oci_explain::releases::VersionNotice;
use tofu_oci_types::{Constraints, Place, ProviderAddr, Version};

use crate::diagnostic::Diagnostic;

#[derive(Serialize)]
#[serde(tag = "event", rename = "outdated")]
pub(super) struct ProviderRow {
    pub(super) address: ProviderAddr,
    pub(super) constraints: Constraints,
    pub(super) locked: Option<Version>,
    /// The predecessor whose entry locks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) locked_by: Option<ProviderAddr>,
    pub(super) locked_is_offered: bool,
    /// What the publisher says of the locked version, or of the one that would be locked.
    pub(super) notice: Option<VersionNotice>,
    /// Without a state if its versions could not be listed.
    #[serde(flatten)]
    pub(super) comparison: VersionComparison,
    /// Where the version comes from that would be installed.
    pub(super) place: Option<Place>,
    /// The version that would be chosen, if its release cannot be read.
    #[serde(skip)]
    pub(super) unusable: Option<Version>,
    #[serde(flatten)]
    pub(super) trouble: Trouble,
}

/// Why its versions cannot be listed, or why the chosen one is unusable.
#[derive(Default, Serialize)]
pub(super) struct Trouble {
    pub(super) code: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) causes: Vec<String>,
    pub(super) hints: Vec<String>,
}

impl Trouble {
    /// The row names the address itself.
    pub(super) fn of(diagnostic: &Diagnostic, address: &ProviderAddr) -> Self {
        let text = diagnostic.text();
        let reason = text.strip_prefix(&format!("{address}: ")).unwrap_or(text).to_owned();
        let (causes, hints) = (diagnostic.causes().to_vec(), diagnostic.hints().to_vec());
        Self { code: Some(diagnostic.stable_name().to_owned()), reason: Some(reason), causes, hints }
    }
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
            comparison: VersionComparison::default(),
            place: None,
            unusable: None,
            trouble: Trouble::default(),
        }
    }

    /// Whether there is something to do.
    pub(super) fn is_behind(&self) -> bool {
        self.comparison.state != Some(UpgradeState::UpToDate) || !self.locked_is_offered || self.notice.is_some()
    }
}

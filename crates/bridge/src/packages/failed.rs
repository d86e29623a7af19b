//! Places that fail, as refusals.

use tofu_oci_types::ProviderAddr;

use crate::Refusal;

/// The refusal of a place that failed.
pub(crate) fn upstream(address: &ProviderAddr, code: &'static str, error: &dyn std::error::Error) -> Refusal {
    let mut reason = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        reason = format!("{reason}: {error}");
        cause = error.source();
    }
    Refusal::Upstream { address: address.clone(), code, reason }
}

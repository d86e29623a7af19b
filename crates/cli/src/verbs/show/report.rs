//! What `show` has found.

use tofu_oci_explain::releases::DescribedRelease;
use tofu_oci_fetch::SignatureStanding;
use tofu_oci_source::SourceError;
use tofu_oci_trust::Verdict;
use tofu_oci_types::Platform;

use super::subject::ReleaseNaming;

/// A release, and what is to be said of it.
pub(super) struct ShowReport {
    pub(super) facts: DescribedRelease,
    pub(super) naming: ReleaseNaming,
    pub(super) signatures: Signatures,
    /// The platform that was asked for.
    pub(super) platform: Option<Platform>,
}

pub(super) enum Signatures {
    /// They were looked at.
    Judged { verdict: Box<Verdict>, standing: SignatureStanding },
    /// The release names no provider, so that nothing can be said of signatures, which name one.
    Unnamed,
    /// The place could not be asked for them.
    Failed(Box<SourceError>),
}

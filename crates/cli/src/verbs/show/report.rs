//! What `show` has found.

use tofu_oci_explain::releases::{AttachedReferrer, DescribedRelease};
use tofu_oci_fetch::SignatureStanding;
use tofu_oci_store::StoreError;
use tofu_oci_trust::{Examined, Verdict};
use tofu_oci_types::Platform;

use super::subject::ReleaseNaming;
use crate::verbs::verify::CodeAndText;

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
    Failed(CodeAndText),
}

impl Signatures {
    /// What they come to, each of them, and why they could not be read.
    pub(super) fn line(&self) -> (Option<&SignatureStanding>, &[Examined], Option<&CodeAndText>) {
        match self {
            Self::Judged { verdict, standing } => (Some(standing), &verdict.examined, None),
            Self::Unnamed => (None, &[], None),
            Self::Failed(error) => (None, &[], Some(error)),
        }
    }
}

/// What lies beside a release, or why it cannot be listed.
pub(super) type Attached = Result<Vec<AttachedReferrer>, StoreError>;

/// Why what lies beside a release cannot be listed, as a reason why signatures may be missing.
pub(super) fn unlisted(attached: &Attached) -> Option<CodeAndText> {
    attached.as_ref().err().map(|error| CodeAndText { code: error.code(), text: error.to_string() })
}

//! What the policy and the pins say of a release.

use serde::Serialize;
use tofu_oci_source::{Release, ReleaseDescription, Search, SourceError};
use tofu_oci_trust::{Archives, Verdict};

use super::check::real_zips;
use super::{ReleaseWithEvidence, Trust};

/// The judgement on a release by all evidence beside it, and its short form. A refusal is part of the answer.
///
/// # Errors
/// If the place could not be asked.
pub async fn judged(release: &dyn Release, trust: &Trust) -> Result<(Verdict, SignatureStanding), SourceError> {
    let evidence = release.evidence(Search::Everywhere).await?;
    let archives = if evidence.is_empty() { Archives::Unknown } else { Archives::Read(real_zips(release).await?) };
    let mut found = ReleaseWithEvidence::new(release, trust, ReleaseDescription::default(), archives, evidence);
    let verdict = found.judge(trust);
    let standing = found.standing(&verdict, trust);
    Ok((verdict, standing))
}

/// What the signatures of a release come to, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum SignatureStanding {
    /// Enough keys have signed it.
    Signed {
        /// Their names in the policy.
        by: Vec<String>,
    },
    /// This very index was signed when it was pinned.
    SignedBefore,
    /// No signature counts, and the policy accepts that.
    Unsigned,
    /// The policy or the pins refuse it.
    Refused {
        /// The stable name of the refusal.
        code: &'static str,
    },
    /// No key is known that could have signed it.
    NotJudged {
        /// How many signatures lie beside it.
        found: usize,
    },
}

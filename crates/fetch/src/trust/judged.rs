//! What the policy and the pins say of a release.

use serde::Serialize;
use tofu_oci_source::{Release, ReleaseId, Search, SourceError};
use tofu_oci_trust::{Archives, ReleaseFacts, Standing, Subject, Verdict, judge};
use tofu_oci_types::Place;

use super::Trust;
use super::check::real_zips;
use crate::pin_file;

/// The judgement on a release by all evidence beside it. A refusal is part of the answer.
///
/// # Errors
/// If the place could not be asked.
pub async fn judged(release: &dyn Release, trust: &Trust) -> Result<Verdict, SourceError> {
    let evidence = release.evidence(Search::Everywhere).await?;
    let archives = if evidence.is_empty() { Archives::Unknown } else { Archives::Read(real_zips(release).await?) };
    let place = pin_file::place(&trust.pins_path, &release.id().place);
    let ReleaseId { address, version, identity, .. } = release.id();
    let of = |address| {
        let of = Subject::Provider { address, version };
        let facts = ReleaseFacts { of, place: &place, identity, archives: &archives };
        judge(&trust.policy, &trust.pins, &facts, &evidence, trust.now)
    };
    let verdict = of(address);
    let as_well = trust.judged_as_well(release).filter(|_| verdict.refusal.is_none()).map(of);
    Ok(as_well.filter(|as_well| as_well.refusal.is_some()).unwrap_or(verdict))
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

impl SignatureStanding {
    /// The short form of a verdict.
    pub fn of(verdict: &Verdict, of: Subject<'_>, place: &Place, trust: &Trust) -> Self {
        if let Some(refusal) = &verdict.refusal {
            return Self::Refused { code: refusal.code() };
        }
        match verdict.standing {
            Standing::Signed => Self::Signed { by: verdict.signers.iter().map(|signer| signer.name.clone()).collect() },
            Standing::Pinned => Self::SignedBefore,
            Standing::Unsigned if trust.policy.wants_evidence_on(&trust.pins, of, place) => Self::Unsigned,
            Standing::Unsigned => Self::NotJudged { found: verdict.examined.len() },
        }
    }
}

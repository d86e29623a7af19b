//! Who signed a release, and what its publisher says of it later; asked for again after a while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tofu_oci_fetch::{SignatureStanding, judged};
use tofu_oci_source::{ReleaseId, SourceError};
use tofu_oci_trust::{ProvenIdentity, TrustRemark};
use tokio::time::Instant;

use crate::{Catalog, ServedRelease};

/// How long a judgement is shown: someone may sign the release meanwhile.
const FRESH: Duration = Duration::from_mins(1);
/// How many are kept.
const MOST: usize = 1000;

/// What a page says of a release besides its documents.
#[derive(Clone, Debug)]
pub(super) struct ReleaseOpinion {
    pub(super) signatures: SignatureStanding,
    /// That its publisher has deprecated it: signed if the policy wants signatures of the provider.
    pub(super) notice: Option<TrustRemark>,
    /// Who built it, by the first signature of a workflow that counts.
    pub(super) built: Option<Box<ProvenIdentity>>,
}

/// The latest judgements.
#[derive(Default)]
pub(super) struct ReleaseOpinions {
    known: Mutex<HashMap<ReleaseId, (Instant, ReleaseOpinion)>>,
}

impl ReleaseOpinions {
    /// The judgement on a release by the policy of the bridge.
    pub(super) async fn on(&self, catalog: &Catalog, served: &ServedRelease) -> Result<ReleaseOpinion, SourceError> {
        let release = &*served.release;
        if let Some(known) = self.known(release.id()) {
            return Ok(known);
        }
        let trust = catalog.trust_now();
        let (verdict, signatures) = judged(release, &trust).await?;
        let notice = if trust.policy.wants_evidence(&trust.pins, &served.address) {
            verdict.remarks.iter().find(|remark| remark.code == "deprecated").cloned()
        } else {
            release.notice().await?.and_then(|notice| TrustRemark::noticed(&notice))
        };
        let mut builders = verdict.examined.iter().filter_map(|examined| verdict.builder(examined));
        let built = builders.find(|identity| identity.repository.is_some()).cloned().map(Box::new);
        let judged = ReleaseOpinion { signatures, notice, built };
        self.keep(release.id(), &judged);
        Ok(judged)
    }

    fn known(&self, release: &ReleaseId) -> Option<ReleaseOpinion> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(release).filter(|(since, _)| since.elapsed() < FRESH).map(|(_, judged)| judged.clone())
    }

    fn keep(&self, release: &ReleaseId, judged: &ReleaseOpinion) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.retain(|_, (since, _)| since.elapsed() < FRESH);
        }
        if known.len() < MOST {
            known.insert(release.clone(), (Instant::now(), judged.clone()));
        }
    }
}

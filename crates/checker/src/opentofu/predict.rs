//! The prediction.

use tofu_oci_types::{Platform, TofuReleases, Version};

use super::question::{PredictedOutcome, PredictionRequest, RepositoryPrediction, Request};
use super::steps;
use super::steps::OpenedRelease;
use crate::Rejection;
use crate::facts::RepositoryFacts;

/// What `OpenTofu` does with this repository, platform by platform. Every release that is known does the same.
pub fn predict(facts: &RepositoryFacts, asked: &PredictionRequest<'_>) -> Vec<RepositoryPrediction> {
    let chosen = choose(facts, asked.request);
    let release = chosen.as_ref().ok().and_then(|version| facts.release(version)).map(OpenedRelease::new);
    let outcome = |platform: &Platform| match (&chosen, &release) {
        (Err(because), _) => PredictedOutcome::Refuses(*because),
        (Ok(_), Some(release)) => steps::install(release, platform, asked.provider),
        (Ok(_), None) => PredictedOutcome::Unread(Rejection::RepositoryUnreadable),
    };
    let row = |platform: &Platform| {
        let (installs, because, unread) = match outcome(platform) {
            PredictedOutcome::Installs => (true, None, false),
            PredictedOutcome::InstallsAsFarAsSeen => (true, None, true),
            PredictedOutcome::Refuses(because) => (false, Some(because), false),
            PredictedOutcome::Unread(because) => (false, Some(because), true),
        };
        let version = chosen.as_ref().ok().cloned();
        RepositoryPrediction {
            releases: TofuReleases::ALL,
            platform: platform.clone(),
            version,
            installs,
            because,
            unread,
        }
    };
    asked.platforms.iter().map(row).collect()
}

/// The same for a registry that was read over plain HTTP: no release installs from it. A fault of the repository itself
/// stays the reason, because TLS would not fix it.
pub(crate) fn over_plain_http(predictions: &mut [RepositoryPrediction]) {
    for prediction in predictions.iter_mut().filter(|prediction| prediction.installs) {
        prediction.installs = false;
        prediction.because = Some(Rejection::PlainHttp);
        prediction.unread = false;
    }
}

/// The version that is chosen: the greatest by `OpenTofu`'s own order that the request admits. Among equals, which
/// differ in build metadata alone, it chooses at random; here the last of the list is taken.
fn choose(facts: &RepositoryFacts, request: Request<'_>) -> Result<Version, Rejection> {
    if matches!(request, Request::Exactly(wanted) if wanted.is_unspecified()) {
        return Err(Rejection::UnspecifiedVersion);
    }
    let (mut chosen, mut any): (Option<Version>, bool) = (None, false);
    for tag in &facts.tags {
        let version: Version = match tag.replace('_', "+").parse::<Version>() {
            Ok(version) => version,
            Err(invalid) if invalid.code() == "number-too-large" => return Err(Rejection::Crash),
            Err(_) => continue,
        };
        any = true;
        let admitted = match request {
            Request::Newest => !version.is_prerelease() && !version.is_unspecified(),
            Request::Exactly(wanted) => version == *wanted,
        };
        if admitted && chosen.as_ref().is_none_or(|best| best.precedence(&version).is_le()) {
            chosen = Some(version);
        }
    }
    chosen.ok_or(if any { Rejection::NoMatchingVersion } else { Rejection::NoVersions })
}

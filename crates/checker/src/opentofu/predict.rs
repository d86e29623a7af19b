//! The prediction.

use serde::Serialize;
use tofu_oci_types::{Platform, ProviderAddr, TofuReleases, Version};

use super::steps::Opened;
use super::{Because, steps};
use crate::facts::Facts;

/// What `OpenTofu` is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The provider, whose name the executable carries.
    pub provider: Provider<'a>,
    /// Which version.
    pub request: Request<'a>,
    /// For which platforms.
    pub platforms: &'a [Platform],
}

/// The provider that the repository is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Provider<'a> {
    /// This one.
    Named(&'a ProviderAddr),
    /// Nobody said which: any name of a provider's executable counts as the right one.
    Unnamed,
}

/// Which version is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// The one that `init` chooses without a constraint.
    Newest,
    /// This one, as the constraint `= VERSION`.
    Exactly(&'a Version),
}

/// What releases of `OpenTofu` do on one platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prediction {
    /// The releases that do the same.
    #[serde(skip)]
    pub releases: TofuReleases,
    /// The platform.
    pub platform: Platform,
    /// The version that it chooses; none when it finds none.
    pub version: Option<Version>,
    /// Whether it installs it.
    pub installs: bool,
    /// If not, why.
    pub because: Option<Because>,
    /// Whether that depends on contents that were not looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
}

/// What `OpenTofu` does with this repository, platform by platform. Every release that is known does the same.
pub fn predict(facts: &Facts, asked: &Asked<'_>) -> Vec<Prediction> {
    let chosen = choose(facts, asked.request);
    let release = chosen.as_ref().ok().and_then(|version| facts.release(version)).map(Opened::new);
    let outcome = |platform: &Platform| match (&chosen, &release) {
        (Err(because), _) => Outcome::Refuses(*because),
        (Ok(_), Some(release)) => steps::install(release, platform, asked.provider),
        (Ok(_), None) => Outcome::Unread(Because::RepositoryUnreadable),
    };
    let row = |platform: &Platform| {
        let (installs, because, unread) = match outcome(platform) {
            Outcome::Installs => (true, None, false),
            Outcome::InstallsAsFarAsSeen => (true, None, true),
            Outcome::Refuses(because) => (false, Some(because), false),
            Outcome::Unread(because) => (false, Some(because), true),
        };
        let version = chosen.as_ref().ok().cloned();
        Prediction { releases: TofuReleases::ALL, platform: platform.clone(), version, installs, because, unread }
    };
    asked.platforms.iter().map(row).collect()
}

/// The same for a repository whose registry was spoken to by plain HTTP: no release installs from it. What is wrong
/// with the repository itself stays the reason, since TLS would not mend it.
pub(crate) fn over_plain_http(predictions: &mut [Prediction]) {
    for prediction in predictions.iter_mut().filter(|prediction| prediction.installs) {
        prediction.installs = false;
        prediction.because = Some(Because::PlainHttp);
        prediction.unread = false;
    }
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It installs.
    Installs,
    /// It installs, unless something that was not looked at is wrong.
    InstallsAsFarAsSeen,
    /// It refuses.
    Refuses(Because),
    /// Nobody knows: it could not be read here, and probably not there.
    Unread(Because),
}

/// The version that is chosen: the greatest by `OpenTofu`'s own order that the request admits. Among equals, which
/// differ in build metadata alone, it chooses at random; here the last of the list stands for them.
fn choose(facts: &Facts, request: Request<'_>) -> Result<Version, Because> {
    if matches!(request, Request::Exactly(wanted) if wanted.is_unspecified()) {
        return Err(Because::UnspecifiedVersion);
    }
    let (mut chosen, mut any): (Option<Version>, bool) = (None, false);
    for tag in &facts.tags {
        let version: Version = match tag.replace('_', "+").parse::<Version>() {
            Ok(version) => version,
            Err(invalid) if invalid.code() == "number-too-large" => return Err(Because::Crash),
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
    chosen.ok_or(if any { Because::NoMatchingVersion } else { Because::NoVersions })
}

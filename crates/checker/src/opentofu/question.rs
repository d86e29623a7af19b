//! What the model is asked, and what it answers.

use serde::Serialize;
use tofu_oci_types::{Platform, ProviderAddr, TofuReleases, Version};

use super::Because;

/// What `OpenTofu` is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct PredictionRequest<'a> {
    /// The provider, whose name the executable carries.
    pub provider: AskedProvider<'a>,
    /// Which version.
    pub request: Request<'a>,
    /// For which platforms.
    pub platforms: &'a [Platform],
}

/// The provider that the repository is asked for.
#[derive(Clone, Copy, Debug)]
pub enum AskedProvider<'a> {
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
pub struct RepositoryPrediction {
    /// The releases that do the same.
    #[serde(skip)]
    pub releases: TofuReleases,
    /// The platform.
    pub platform: Platform,
    /// The version that it chooses; none if it finds none.
    pub version: Option<Version>,
    /// Whether it installs it.
    pub installs: bool,
    /// If not, why.
    pub because: Option<Because>,
    /// Whether that depends on contents that were not looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PredictedOutcome {
    /// It installs.
    Installs,
    /// It installs, unless something that was not looked at is wrong.
    InstallsAsFarAsSeen,
    /// It refuses.
    Refuses(Because),
    /// It is unknown: it could not be read here, and probably not there.
    Unread(Because),
}

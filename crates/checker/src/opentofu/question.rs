//! The question to the model, and its answer.

use serde::Serialize;
use tofu_oci_types::{Platform, ProviderAddr, TofuReleases, Version};

use crate::Rejection;

/// The installation to predict.
#[derive(Clone, Copy, Debug)]
pub struct PredictionRequest<'a> {
    /// The provider, whose name is a part of the executable's.
    pub provider: AskedProvider<'a>,
    pub request: Request<'a>,
    pub platforms: &'a [Platform],
}

/// The requested provider.
#[derive(Clone, Copy, Debug)]
pub enum AskedProvider<'a> {
    Named(&'a ProviderAddr),
    /// It is unknown: any name of a provider's executable counts as the right one.
    Unnamed,
}

impl AskedProvider<'_> {
    /// Whether a file of this name in the root of a package is its executable.
    pub(super) fn is_executable(self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix("terraform-provider-") else { return false };
        match self {
            Self::Named(address) => rest
                .strip_prefix(address.provider_type())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.'])),
            Self::Unnamed => !rest.is_empty(),
        }
    }
}

/// A requested version.
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
    /// The version that it chooses, or `None` if it finds none.
    pub version: Option<Version>,
    /// Whether it installs it.
    pub installs: bool,
    /// If not, the reason.
    pub because: Option<Rejection>,
    /// Whether that depends on contents that were not read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
}

/// The end of the installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PredictedOutcome {
    Installs,
    /// It installs, unless something that was not read is wrong.
    InstallsAsFarAsSeen,
    Refuses(Rejection),
    /// It is unknown: this program could not read the repository, and `OpenTofu` probably cannot either.
    Unread(Rejection),
}

//! The prediction.

use std::fmt;

use serde::{Serialize, Serializer};
use tofu_oci_types::{Platform, ProviderAddr, Version};

use super::steps::Opened;
use super::{Because, steps};
use crate::facts::Facts;

/// A release series of `OpenTofu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpenTofu {
    /// 1.10, the first that reads providers from OCI.
    V1_10,
    /// 1.11.
    V1_11,
    /// 1.12.
    V1_12,
    /// 1.13.
    V1_13,
}

impl OpenTofu {
    /// Every series that is known, the oldest first.
    pub const ALL: [Self; 4] = [Self::V1_10, Self::V1_11, Self::V1_12, Self::V1_13];

    /// `1.12`.
    pub fn series(self) -> &'static str {
        match self {
            Self::V1_10 => "1.10",
            Self::V1_11 => "1.11",
            Self::V1_12 => "1.12",
            Self::V1_13 => "1.13",
        }
    }
}

impl fmt::Display for OpenTofu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.series())
    }
}

impl Serialize for OpenTofu {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.series())
    }
}

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

/// What one release of `OpenTofu` does on one platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prediction {
    /// The release series.
    pub opentofu: OpenTofu,
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

/// What each release of `OpenTofu` does with this repository: a row for each release and platform, in that order.
pub fn predict(facts: &Facts, asked: &Asked<'_>) -> Vec<Prediction> {
    let chosen = choose(facts, asked.request);
    let release = chosen.as_ref().ok().and_then(|version| facts.release(version)).map(Opened::new);
    let outcome = |platform: &Platform| match (&chosen, &release) {
        (Err(because), _) => Outcome::Refuses(*because),
        (Ok(_), Some(release)) => steps::install(release, platform, asked.provider),
        (Ok(_), None) => Outcome::Unread(Because::RepositoryUnreadable),
    };
    // The series do the same, so the work is done once a platform.
    let outcomes: Vec<(&Platform, Outcome)> =
        asked.platforms.iter().map(|platform| (platform, outcome(platform))).collect();
    let row = |opentofu: OpenTofu, platform: &Platform, outcome: Outcome| {
        let (installs, because, unread) = match outcome {
            Outcome::Installs => (true, None, false),
            Outcome::InstallsAsFarAsSeen => (true, None, true),
            Outcome::Refuses(because) => (false, Some(because), false),
            Outcome::Unread(because) => (false, Some(because), true),
        };
        let version = chosen.as_ref().ok().cloned();
        Prediction { opentofu, platform: platform.clone(), version, installs, because, unread }
    };
    OpenTofu::ALL
        .iter()
        .flat_map(|opentofu| outcomes.iter().map(|(platform, outcome)| row(*opentofu, platform, *outcome)))
        .collect()
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

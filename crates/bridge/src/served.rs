//! What is served, as values.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_mirror::{MirrorError, PullThrough};
use tofu_oci_source::{Offer, Release, ReleaseDate, Source};
use tofu_oci_types::{PackageHash, Pattern, Platform, ProviderAddr, Scheme, Version};

/// Opens the place of an address for one question: what a source has read, it does not read again.
pub type OpenSource = Arc<dyn Fn(&ProviderAddr) -> Result<Arc<dyn Source>, MirrorError> + Send + Sync>;

/// Lists the providers of a place.
pub type ListProviders = Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<ProviderAddr>, MirrorError>> + Send + Sync>;

/// Which providers are served, and who offers them.
pub struct ServedPlace {
    pub include: Vec<Pattern>,
    /// Those of them that are not served.
    pub exclude: Vec<Pattern>,
    pub offered: OfferedBy,
    /// Which providers the place has; `None` if it cannot list them.
    pub list: Option<ListProviders>,
    /// What becomes of its releases that name another address.
    pub renamed: RenamedReleases,
}

/// Who offers a provider: `P` is the place, or opens it.
pub enum OfferedBy<P = OpenSource> {
    Place(P),
    /// A place that fetches what it lacks from its upstream.
    PullThrough(PullThrough),
}

/// The versions of a provider, or of what else is at an address, that clients may see.
#[derive(Clone, Debug)]
pub struct ServedVersions<A = ProviderAddr> {
    pub address: A,
    /// The versions, in ascending order of precedence; none that is withdrawn, held back or denied.
    pub versions: Vec<Version>,
    /// Those of them that the publisher of a module calls deprecated; of a provider, `warnings` say it.
    pub deprecated: Vec<Version>,
    /// Those that were withdrawn, in ascending order of precedence: for people, never for clients.
    pub withdrawn: Vec<Version>,
    /// What clients show to people, a line each: deprecations, and what the place itself says.
    pub warnings: Vec<String>,
}

/// One release that clients may see.
#[derive(Clone, Debug)]
pub struct ServedRelease {
    pub address: ProviderAddr,
    pub version: Version,
    /// The release, which opens its packages.
    pub release: Arc<dyn Release>,
    /// The plugin protocols, such as `6.0`.
    pub protocols: Vec<String>,
    pub packages: BTreeMap<Platform, ServedPackage>,
    /// When it was made, by its own word.
    pub created: Option<ReleaseDate>,
}

/// The package of one platform.
#[derive(Clone, Debug)]
pub struct ServedPackage {
    /// What it consists of.
    pub offer: Offer,
    /// What is known of its checksums without reading it: `zh:` of a zip; `h1:` if the release claims it.
    pub hashes: Vec<PackageHash>,
}

impl ServedPackage {
    /// The `h1:` that its release claims, if it counts.
    pub(crate) fn h1(&self) -> Option<&PackageHash> {
        self.hashes.iter().find(|hash| hash.scheme() == Scheme::H1)
    }
}

impl<A> ServedVersions<A> {
    /// The version that a client without a constraint chooses.
    pub(crate) fn newest(&self) -> Option<&Version> {
        newest(&self.versions)
    }
}

/// The version that a client without a constraint chooses, of versions in ascending order.
pub(crate) fn newest(versions: &[Version]) -> Option<&Version> {
    versions.iter().rfind(|version| !version.is_prerelease()).or(versions.last())
}

//! One question to the place of a provider.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use futures_util::{FutureExt as _, StreamExt as _};
use tofu_oci_fetch::{FetchError, Judgement, RenamedReleases, Trust, TrustChecker};
use tofu_oci_mirror::MirrorError;
use tofu_oci_source::{Listing, Offer, Release, ReleaseId, Source, SourceError};
use tofu_oci_types::{Event, PackageHash, Place, Platform, ProviderAddr, Reporter, Scheme, Version, printable};

use super::options::CatalogOptions;
use crate::{OfferedBy, ServedPackage, ServedRelease, ServedVersions};

/// How many notices are read at a time.
const AT_ONCE: usize = 8;
/// How many packages of a release are read at a time: a client waits for all of them.
const PACKAGES_AT_ONCE: usize = 16;
/// The most packages of a release that is served. An index has no more entries either.
const MOST_PACKAGES: usize = 1000;
/// How many deprecated versions are asked for their notice, the newest first.
const NOTICES: usize = 50;

/// What is asked about one provider.
pub(super) struct PlaceQuestion<'a> {
    address: &'a ProviderAddr,
    from: OfferedBy<Arc<dyn Source>>,
    trust: Trust,
    reporter: &'a dyn Reporter,
}

impl<'a> PlaceQuestion<'a> {
    /// Opens the place; no request is made.
    pub(super) fn new(
        address: &'a ProviderAddr,
        (offered, renamed): (&OfferedBy, RenamedReleases),
        options: &'a CatalogOptions,
    ) -> Result<Self, MirrorError> {
        let from = match offered {
            OfferedBy::Place(open) => OfferedBy::Place(open(address)?),
            OfferedBy::PullThrough(through) => OfferedBy::PullThrough(through.clone()),
        };
        let trust = Trust { now: SystemTime::now(), renamed, ..options.trust.clone() };
        Ok(Self { address, from, trust, reporter: &*options.reporter })
    }

    /// The place that is asked; `None` if there is more than one.
    pub(super) fn place(&self) -> Option<&Place> {
        match &self.from {
            OfferedBy::Place(source) => Some(source.place()),
            OfferedBy::PullThrough(_) => None,
        }
    }

    /// What clients may see of the versions. If the upstream of a mirror fails, what the mirror has is listed.
    pub(super) async fn versions(&self) -> Result<ServedVersions, MirrorError> {
        let listing = match &self.from {
            OfferedBy::Place(source) => source.versions(self.address).await?,
            OfferedBy::PullThrough(through) => through.versions(self.address).await?,
        };
        Ok(self.listed(listing).await)
    }

    /// The same for a client to whom an old answer can be given: an upstream that fails is an error.
    pub(super) async fn all_versions(&self) -> Result<ServedVersions, MirrorError> {
        match &self.from {
            OfferedBy::Place(_) => self.versions().await,
            OfferedBy::PullThrough(through) => Ok(self.listed(through.all_versions(self.address).await?).await),
        }
    }

    async fn listed(&self, listing: Listing) -> ServedVersions {
        let deprecations = self.deprecations(&listing).await;
        let Listing { mut versions, withdrawn, warnings, .. } = listing;
        let hidden: HashSet<&Version> = withdrawn.iter().collect();
        versions.retain(|version| !hidden.contains(version));
        let line = |text: String| printable(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
        let warnings = warnings.into_iter().chain(deprecations).map(line).collect();
        ServedVersions { address: self.address.clone(), versions, deprecated: Vec::new(), withdrawn, warnings }
    }

    /// The release that its place has now, unjudged.
    pub(super) async fn release(&self, version: &Version) -> Result<Arc<dyn Release>, MirrorError> {
        match &self.from {
            OfferedBy::Place(source) => Ok(source.release(self.address, version).await?),
            OfferedBy::PullThrough(through) => through.offered(self.address, version).await,
        }
    }

    /// What clients may see of a release.
    pub(super) async fn served(&self, release: &Arc<dyn Release>) -> Result<ServedRelease, MirrorError> {
        let checker = TrustChecker::new(&self.trust, self.reporter);
        checker.of_release(&**release).await?;
        let about = release.describe().await?;
        if about.platforms.len() > MOST_PACKAGES {
            let problem = format!("it has {} packages: at most {MOST_PACKAGES} are served", about.platforms.len());
            let ReleaseId { address, version, place, .. } = release.id().clone();
            return Err(SourceError::Unusable { address, version, place, problem }.into());
        }
        let offers = about.platforms.iter().map(|platform| async move {
            let offer = Arc::clone(release).offer(platform).await;
            (platform.clone(), offer)
        });
        let offers: Vec<_> = offers.collect();
        let offers: Vec<(Platform, Result<Offer, SourceError>)> =
            futures_util::stream::iter(offers).buffered(PACKAGES_AT_ONCE).collect().await;
        let mut packages = BTreeMap::new();
        let mut refused = None;
        for (platform, offer) in offers {
            let judged = match offer {
                Ok(offer) => checker.of_offer(&offer).await.map(|judged| package(offer, judged.as_deref())),
                Err(error) => Err(FetchError::Source(error)),
            };
            match judged {
                Ok(package) => drop(packages.insert(platform, package)),
                Err(FetchError::Source(error)) if error.is_transient() => return Err(error.into()),
                // One bad package does not affect the others.
                Err(error) => {
                    let text =
                        format!("{} {} for {platform} is not served: {error}", self.address, release.id().version);
                    self.reporter.event(&Event::warning(error.code(), text));
                    refused.get_or_insert(error);
                }
            }
        }
        if let Some(error) = refused.filter(|_| packages.is_empty()) {
            return Err(error.into());
        }
        Ok(ServedRelease {
            address: self.address.clone(),
            version: release.id().version.clone(),
            release: Arc::clone(release),
            protocols: about.protocols.clone(),
            packages,
            created: release.created().await.unwrap_or_default(),
        })
    }

    /// A line for each version that its publisher has deprecated, the newest first. If the policy demands signatures,
    /// only signed notices count. An unreadable notice is omitted.
    async fn deprecations(&self, listing: &Listing) -> Vec<String> {
        let listed: HashSet<&Version> = listing.versions.iter().collect();
        let named = listing.deprecated.iter().filter(|version| listed.contains(version));
        let lines: Vec<_> = named.rev().take(NOTICES).map(|version| self.deprecation(version).boxed()).collect();
        futures_util::stream::iter(lines).buffered(AT_ONCE).filter_map(std::future::ready).collect().await
    }

    async fn deprecation(&self, version: &Version) -> Option<String> {
        let (release, heard) = (self.release(version).await.ok()?, JudgementLog::default());
        let checker = TrustChecker::new(&self.trust, &heard);
        checker.of_release(&*release).await.ok()?;
        checker.report_notice(&*release).await;
        heard.deprecation()
    }
}

/// A package. An `h1:` that the index claims is left out if a signature vouches for the zip alone: whoever may write to the
/// repository could choose what ends up in lock files.
fn package(offer: Offer, judged: Option<&Judgement>) -> ServedPackage {
    let claimed = offer.claims.get(&offer.platform).into_iter().flatten();
    let admitted = |h1: &&PackageHash| judged.is_none_or(|judged| judged.admits_unfetched(&offer, h1));
    let h1 = claimed.filter(|hash| hash.scheme() == Scheme::H1).filter(admitted).cloned();
    let hashes: Vec<PackageHash> = offer.zh().into_iter().chain(h1).collect();
    ServedPackage { offer, hashes }
}

/// What a judgement reports.
#[derive(Default)]
struct JudgementLog(Mutex<Option<String>>);

impl JudgementLog {
    fn deprecation(self) -> Option<String> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reporter for JudgementLog {
    fn event(&self, event: &Event) {
        if let Event::Message { code: "deprecated", text, .. } = event {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.clone());
        }
    }
}

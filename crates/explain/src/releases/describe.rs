//! One release with its packages.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryFutureExt as _};
use serde::Serialize;
use tofu_oci_source::{LeafKind, Offer, Release, ReleaseDate, ReleaseDescription, ReleaseId, SourceError};
use tofu_oci_store::StoreError;
use tofu_oci_trust::Notice;
use tofu_oci_types::{Counter, Digest, PackageHash, Place, Platform, Reporter, Scheme};

use super::attached::{AttachedReferrer, attached};

/// How many manifests are read at once.
const AT_ONCE: usize = 8;

/// A release as its documents describe it.
#[derive(Debug)]
pub struct DescribedRelease {
    /// Which release, and where.
    pub id: ReleaseId,
    /// What it says of itself.
    pub description: ReleaseDescription,
    /// When it was made; `None` if it does not say.
    pub created: Option<ReleaseDate>,
    /// What its publisher says of it later, unverified.
    pub notice: Option<Notice>,
    /// What lies beside it.
    pub attached: Result<Vec<AttachedReferrer>, StoreError>,
    /// Its packages, or why one cannot be installed; sorted by platform.
    pub packages: Vec<(Platform, Result<DescribedPackage, SourceError>)>,
}

/// The package of one platform, by the manifests that an installer reads.
#[derive(Debug, Serialize)]
pub struct DescribedPackage {
    /// How it lies in a repository; `None` if it lies elsewhere.
    pub kind: Option<LeafKind>,
    pub manifest: Option<Digest>,
    /// What is fetched, in bytes; `None` if the place does not say.
    pub bytes: Option<u64>,
    /// The small layer beside the zip, in bytes; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_bytes: Option<u64>,
    /// `ch:` and `zh:` by its manifest, and `h1:` as the release claims it.
    pub hashes: BTreeSet<PackageHash>,
    /// The place, if a later method has the package and the first one lacks it.
    #[serde(rename = "place", skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Place>,
}

/// Reads a release: all its packages, or that of one platform. `reporter` hears how many were read.
///
/// # Errors
/// If the release cannot be described, and if none of the packages that were asked for can be installed. Otherwise what is
/// wrong with one package stands beside the others.
pub async fn describe(
    release: &Arc<dyn Release>,
    platform: Option<&Platform>,
    reporter: &dyn Reporter,
) -> Result<DescribedRelease, SourceError> {
    let description = release.describe().await?.clone();
    let wanted = match platform {
        Some(platform) => vec![platform.clone()],
        None => description.platforms.clone(),
    };
    let count = &Counter::new(reporter, "packages read", wanted.len());
    let offers = wanted.into_iter().map(|platform| async move {
        let offer = Arc::clone(release).offer(&platform).await;
        let facts = offer.map(|offer| package(&offer, release.id()));
        count.done();
        (platform, facts)
    });
    let offers: Vec<_> = offers.collect();
    let mut packages: Vec<_> = futures_util::stream::iter(offers).buffered(AT_ONCE).collect().await;
    if !packages.is_empty() && packages.iter().all(|(_, facts)| facts.is_err()) {
        return Err(packages.remove(0).1.expect_err("all of them are errors"));
    }
    // A manifest that cannot be read is reported with its package.
    let created = release.created().unwrap_or_else(|_| None).await;
    let notice = release.notice().await?;
    let attached = match (release.store(), release.id().identity.index()) {
        (Some(store), Some(index)) => attached(&*store, index).await,
        _ => Ok(Vec::new()),
    };
    Ok(DescribedRelease { id: release.id().clone(), description, created, notice, attached, packages })
}

fn package(offer: &Offer, asked: &ReleaseId) -> DescribedPackage {
    let claimed = offer.claims.get(&offer.platform).into_iter().flatten();
    let mut hashes: BTreeSet<PackageHash> = claimed.filter(|hash| hash.scheme() == Scheme::H1).cloned().collect();
    hashes.extend(offer.ch());
    hashes.extend(offer.zh());
    DescribedPackage {
        kind: offer.kind(),
        manifest: offer.manifest.clone(),
        bytes: offer.bytes(),
        small_bytes: offer.small.as_ref().and_then(|small| small.size),
        hashes,
        elsewhere: Some(offer.place().clone()).filter(|place| *place != asked.place),
    }
}

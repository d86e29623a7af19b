//! A release whose packages are zips: it becomes one of the artifact layout.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use tofu_oci_fetch::Fetcher;
use tofu_oci_packer::{PackageLayout, Publication, ReleaseContents, ReplaceTag, Signer, publish};
use tofu_oci_source::{Offer, Release, ReleaseId, Search};
use tofu_oci_store::{ComparedBy, Store, is_whole};
use tofu_oci_types::{PackageHash, Platform, Reporter};

use super::evidence::signed_sums;
use super::package::{CarriedPackage, SizeFrom};
use super::present::{PresentPackage, PresentRelease};
use super::request::{TransferRequest, Transferred};
use super::tag;
use crate::MirrorError;

/// Publishes the zips as they are, with the evidence that speaks for them.
pub(super) async fn published(
    request: &TransferRequest<'_>,
    release: Arc<dyn Release>,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    let id = release.id();
    let wanted: BTreeSet<Platform> = request.platforms.iter().cloned().collect();
    let own = tag::tag_of(id)?;
    let there = match request.listed {
        Some(tags) if !tags.contains(&own) => None,
        _ => PresentRelease::read(id, to).await?,
    };
    let mut offers = offers(&release, &wanted, request.jobs).await?;
    let Some(there) = there else {
        let asking = if offers.len() == 1 { SizeFrom::Answer } else { SizeFrom::Request };
        let packages = packages(request, &offers, asking, reporter).await?;
        return send(request, &*release, packages, to, reporter).await;
    };
    request.demand_own(id, there.published_as.as_ref(), there.place.clone())?;
    let mut is_certain = true;
    for offer in &offers {
        let Some(package) = there.packages.get(&offer.platform) else { continue };
        match package.is_offered(offer) {
            Some(true) => {}
            Some(false) => return Err(changed(id, offer, package, &there, None)),
            None => is_certain = false,
        }
    }
    let is_missing = |platform: &&Platform| !there.packages.contains_key(platform);
    let missing: Vec<Platform> = wanted.iter().filter(is_missing).cloned().collect();
    let is_whole = is_whole(to, &there.descriptor, ComparedBy::Sizes).await?;
    if missing.is_empty() && is_certain && is_whole {
        return unchanged(request, id, &there, to, reporter).await;
    }
    if !missing.is_empty() {
        if request.replace == ReplaceTag::Refuse {
            let (address, version) = (id.address.clone(), id.version.clone());
            return Err(MirrorError::FewerPlatforms { address, version, to: there.place.clone(), missing });
        }
        // Platforms that are no longer wanted stay in the release.
        let rest = there.packages.keys().filter(|platform| !wanted.contains(platform)).cloned().collect();
        offers.extend(self::offers(&release, &rest, request.jobs).await?);
    }
    let mut packages = packages(request, &offers, SizeFrom::Request, reporter).await?;
    for (CarriedPackage { zip, .. }, offer) in packages.iter_mut().zip(&offers) {
        let Some(package) = there.packages.get(&offer.platform) else { continue };
        if !package.is_zip(&zip.digest) {
            return Err(changed(id, offer, package, &there, PackageHash::zh(&zip.digest)));
        }
        zip.h1 = zip.h1.take().or_else(|| package.h1.clone());
    }
    if missing.is_empty() && is_whole {
        return unchanged(request, id, &there, to, reporter).await;
    }
    send(request, &*release, packages, to, reporter).await
}

/// The destination has the release: it gets the signature that it lacks.
async fn unchanged(
    request: &TransferRequest<'_>,
    id: &ReleaseId,
    there: &PresentRelease,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    let platforms = there.packages.keys().cloned().collect();
    tag::unchanged(request, id, there.descriptor.digest.clone(), platforms, to, reporter).await
}

/// The offers of these platforms, sorted by platform.
async fn offers(
    release: &Arc<dyn Release>,
    platforms: &BTreeSet<Platform>,
    jobs: usize,
) -> Result<Vec<Offer>, MirrorError> {
    let offers: Vec<_> = platforms.iter().map(|platform| Arc::clone(release).offer(platform)).collect();
    Ok(futures_util::stream::iter(offers).buffered(jobs.max(1)).try_collect().await?)
}

/// The packages of these offers, in their order. Bytes that are asked for their size are read only if they are sent.
async fn packages(
    request: &TransferRequest<'_>,
    offers: &[Offer],
    asking: SizeFrom,
    reporter: &dyn Reporter,
) -> Result<Vec<CarriedPackage>, MirrorError> {
    let fetcher = Fetcher::new(request.jobs, request.limits, reporter);
    let packages = offers.iter().map(|offer| CarriedPackage::new(request, offer, asking, &fetcher).boxed());
    let packages: Vec<_> = packages.collect();
    futures_util::stream::iter(packages).buffered(request.jobs.max(1)).try_collect().await
}

async fn send(
    request: &TransferRequest<'_>,
    release: &dyn Release,
    packages: Vec<CarriedPackage>,
    to: &dyn Store,
    reporter: &dyn Reporter,
) -> Result<Transferred, MirrorError> {
    let id = release.id();
    let (mut zips, streamed): (Vec<_>, Vec<_>) =
        packages.into_iter().map(|package| (package.zip, package.streamed)).unzip();
    zips.sort_by(|one, other| one.platform.cmp(&other.platform));
    let checksums: Vec<PackageHash> = zips.iter().filter_map(|zip| PackageHash::zh(&zip.digest)).collect();
    let sums = signed_sums(id, release.evidence(Search::Everywhere).await?, &checksums);
    let (protocols, listed) = (release.describe().await?.protocols.clone(), request.listed);
    let contents = ReleaseContents { protocols, packages: zips, sums, files: request.files, listed };
    let publication = Publication {
        address: &id.address,
        version: &id.version,
        layout: PackageLayout::Artifact,
        jobs: request.jobs,
        replace: request.replace,
        rename: request.rename,
        predecessors: request.predecessors,
        signer: request.signing.map(Signer::Key),
    };
    match publish(&publication, contents, to, reporter).await {
        Ok(report) => Ok(Transferred {
            index: Some(report.what.index),
            platforms: report.what.platforms.into_iter().map(|platform| platform.platform).collect(),
            transfers: report.transfers,
            unchanged: report.unchanged,
        }),
        // A package that could not be read is the cause; the store's error is its effect.
        Err(error) => match streamed.iter().flatten().find_map(|part| part.failure()) {
            Some(failure) => Err(failure.into()),
            None => Err(error.into()),
        },
    }
}

fn changed(
    id: &ReleaseId,
    offer: &Offer,
    package: &PresentPackage,
    there: &PresentRelease,
    found: Option<PackageHash>,
) -> MirrorError {
    let named = found.or_else(|| offer.zh()).or_else(|| offer.allowed.first().cloned());
    MirrorError::UpstreamChanged {
        address: id.address.clone(),
        version: id.version.clone(),
        platform: offer.platform.clone(),
        from: offer.place().clone(),
        to: there.place.clone(),
        offered: named.expect("only an offer with a checksum differs from what is there"),
        there: package.checksum(),
    }
}

//! A bundle into a destination: every release is judged before the first one is carried.

use std::sync::Arc;

use futures_util::StreamExt as _;
use tofu_oci_fetch::TrustChecker;
use tofu_oci_packer::ReplaceTag;
use tofu_oci_source::{BundleSource, Release, Source as _};
use tofu_oci_types::{Counter, Event, ProviderAddr, Reporter, Version};

use crate::plan::{Deed, MirrorAction};
use crate::run::{Carrying, MirrorLine};
use crate::{Destination, MirrorError, TransferRequest};

/// Carries every release of a bundle, with all that refers to it. The lines are in the order of the bundle. If one release
/// is refused, its line says why, and nothing is carried.
///
/// # Errors
/// If the bundle cannot be opened, or the destination not be completed.
pub async fn load_bundle(
    bundle: &BundleSource,
    destination: &dyn Destination,
    how: &Carrying<'_>,
    reporter: &dyn Reporter,
) -> Result<Vec<MirrorLine>, MirrorError> {
    let mut releases = Vec::new();
    for address in bundle.providers().await? {
        // Two providers that would share a repository are refused before anything is read.
        destination.place(&address)?;
        for version in bundle.versions(&address).await?.versions {
            releases.push((address.clone(), version));
        }
    }
    let checker = TrustChecker::new(how.trust, reporter);
    let count = Counter::new(reporter, "signatures", releases.len());
    let judged = releases.into_iter().map(async |(address, version)| {
        let release = judged(bundle, &checker, &address, &version).await;
        count.done();
        (address, version, release)
    });
    let judged: Vec<_> = judged.collect();
    let judged: Vec<_> = futures_util::stream::iter(judged).buffered(how.jobs.max(1)).collect().await;
    if judged.iter().any(|(_, _, release)| release.is_err()) {
        let refused = judged.into_iter().filter_map(|(address, version, release)| {
            Some(MirrorLine { address, version: Some(version), outcome: Err(release.err()?) })
        });
        let text = format!("{} holds a release that is refused, so nothing of it was loaded", bundle.place());
        reporter.event(&Event::warning("nothing-loaded", text));
        return Ok(refused.collect());
    }
    let carried = judged.into_iter().map(async |(address, version, release)| {
        let outcome = match release {
            Ok(release) => carried(destination, how, release, reporter).await,
            Err(error) => Err(error),
        };
        MirrorLine { address, version: Some(version), outcome }
    });
    let carried: Vec<_> = carried.collect();
    let lines: Vec<MirrorLine> = futures_util::stream::iter(carried).buffered(how.jobs.max(1)).collect().await;
    destination.finish(reporter).await?;
    Ok(lines)
}

async fn judged(
    bundle: &BundleSource,
    checker: &TrustChecker<'_>,
    address: &ProviderAddr,
    version: &Version,
) -> Result<Arc<dyn Release>, MirrorError> {
    let release = bundle.release(address, version).await?;
    for platform in release.platforms().await? {
        checker.of_offer(&Arc::clone(&release).offer(&platform).await?).await?;
    }
    Ok(release)
}

async fn carried(
    destination: &dyn Destination,
    how: &Carrying<'_>,
    release: Arc<dyn Release>,
    reporter: &dyn Reporter,
) -> Result<Deed, MirrorError> {
    let request = TransferRequest {
        platforms: release.platforms().await?,
        signing: how.signing,
        replace: ReplaceTag::Refuse,
        limits: how.limits,
        jobs: how.jobs.max(1),
        work_dir: how.work_dir,
    };
    let carried = destination.receive(&request, release, reporter).await?;
    let bytes = Some(carried.transfers.bytes);
    if carried.unchanged {
        return Ok(Deed { action: MirrorAction::Present, platforms: Vec::new(), bytes });
    }
    Ok(Deed { action: MirrorAction::Add, platforms: carried.platforms, bytes })
}

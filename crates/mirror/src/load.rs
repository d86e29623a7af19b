//! A bundle into a destination: every release is judged before the first one is carried.

use std::sync::Arc;

use futures_util::StreamExt as _;
use tofu_oci_fetch::TrustChecker;
use tofu_oci_packer::ReplaceTag;
use tofu_oci_source::{BundleSource, Release, Source as _};
use tofu_oci_types::{Counter, ProviderAddr, Reporter, Version};

use crate::destination::first_seen::FirstSeen;
use crate::plan::{MirrorAction, MirrorOutcome};
use crate::run::{Carrying, MirrorLine};
use crate::transfer::names;
use crate::{Destination, MirrorError, TransferRequest};

/// The releases of a bundle, judged.
pub struct JudgedBundle(Vec<JudgedBundledRelease>);

struct JudgedBundledRelease {
    address: ProviderAddr,
    version: Version,
    release: Result<Arc<dyn Release>, MirrorError>,
}

/// Judges every release of a bundle.
///
/// # Errors
/// If the bundle cannot be opened, or one of its providers would go to the repository of another one.
pub async fn judge_bundle(
    bundle: &BundleSource,
    destination: &dyn Destination,
    how: &Carrying<'_>,
    reporter: &dyn Reporter,
) -> Result<JudgedBundle, MirrorError> {
    let mut releases = Vec::new();
    for address in bundle.providers().await? {
        // A provider that would share the repository of another is refused before anything is read.
        destination.claim(&address)?;
        let record = FirstSeen::of(destination, &address)?.record().await?.unwrap_or_default();
        record.demand_own((destination, &address), names(how.trust))?;
        for version in bundle.versions(&address).await?.versions {
            releases.push((address.clone(), version));
        }
    }
    let checker = TrustChecker::new(how.trust, reporter);
    let count = Counter::new(reporter, "signatures", releases.len());
    let judged = releases.into_iter().map(async |(address, version)| {
        let release = judged(bundle, &checker, &address, &version).await;
        count.done();
        JudgedBundledRelease { address, version, release }
    });
    let judged: Vec<_> = judged.collect();
    Ok(JudgedBundle(futures_util::stream::iter(judged).buffered(how.jobs.max(1)).collect().await))
}

impl JudgedBundle {
    /// Whether one of the releases is refused.
    pub fn is_refused(&self) -> bool {
        self.0.iter().any(|judged| judged.release.is_err())
    }

    /// A line for each release that is refused.
    pub fn refused(self) -> Vec<MirrorLine> {
        let refused = self.0.into_iter().filter_map(|JudgedBundledRelease { address, version, release }| {
            Some(MirrorLine { address, version: Some(version), outcome: Err(release.err()?) })
        });
        refused.collect()
    }

    /// Carries every release, with all that refers to it. The lines are in the order of the bundle. One that is refused has its
    /// line, too. [`Destination::finish`] completes the destination.
    pub async fn carry(
        self,
        destination: &dyn Destination,
        how: &Carrying<'_>,
        reporter: &dyn Reporter,
    ) -> Vec<MirrorLine> {
        let carried = self.0.into_iter().map(async |JudgedBundledRelease { address, version, release }| {
            let outcome = match release {
                Ok(release) => carried(destination, how, release, reporter).await,
                Err(error) => Err(error),
            };
            MirrorLine { address, version: Some(version), outcome }
        });
        let carried: Vec<_> = carried.collect();
        futures_util::stream::iter(carried).buffered(how.jobs.max(1)).collect().await
    }
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
) -> Result<MirrorOutcome, MirrorError> {
    let (rename, predecessors) = names(how.trust);
    let request = TransferRequest {
        platforms: release.platforms().await?,
        signing: how.signing,
        files: &[],
        replace: ReplaceTag::Refuse,
        rename,
        predecessors,
        limits: how.limits,
        jobs: how.jobs.max(1),
        listed: None,
        work_dir: how.work_dir,
    };
    let carried = destination.receive(&request, release, reporter).await?;
    let bytes = Some(carried.transfers.bytes);
    if carried.unchanged {
        return Ok(MirrorOutcome { bytes, ..MirrorOutcome::still(MirrorAction::Present) });
    }
    Ok(MirrorOutcome { bytes, ..MirrorOutcome::moves(MirrorAction::Add, carried.platforms) })
}

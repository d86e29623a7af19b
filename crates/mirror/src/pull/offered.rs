//! A release that the destination lacks, as its upstream offers it, until one of its packages is asked for.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_source::{
    ClaimedHashes, Offer, Part, PartStream, Release, ReleaseDate, ReleaseDescription, ReleaseId, Search, SourceError,
    ZipNames,
};
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Event, Platform, ProviderAddr, Reporter, Version};

use super::failed_keeping::FailedKeeping;
use crate::MirrorError;

/// Fetches the release into the destination.
pub(super) type FetchRelease =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn Release>, Arc<MirrorError>>> + Send + Sync>;

/// How long a package waits for the release to be fetched. After that it comes from the upstream itself.
const WAIT: Duration = Duration::from_secs(30);

/// How many packages of one release are looked at a time.
pub(super) const AT_ONCE: usize = 8;

/// A release of the upstream. Whoever opens one of its packages, or uses one out of a cache, has the whole release fetched.
pub(super) struct UpstreamRelease {
    pub(super) upstream: Arc<dyn Release>,
    pub(super) fetch: FetchRelease,
    pub(super) reporter: Arc<dyn Reporter>,
    /// Shared by all releases of a pull-through.
    pub(super) failed_keeping: Arc<FailedKeeping>,
}

impl UpstreamRelease {
    /// The release at the destination; `None` if it is still being fetched, or cannot be kept there.
    async fn kept(&self) -> Result<Option<Arc<dyn Release>>, SourceError> {
        let ReleaseId { address, version, place, .. } = self.id().clone();
        // The fetch goes on after its caller.
        let fetch = tokio::spawn((self.fetch)());
        let Ok(Ok(fetched)) = tokio::time::timeout(WAIT, fetch).await else { return Ok(None) };
        let error = match fetched {
            Ok(release) => return Ok(Some(release)),
            Err(error) => error,
        };
        match &*error {
            MirrorError::Source(error) => Err(error.clone()),
            MirrorError::Fetch(refused) => {
                Err(SourceError::Unusable { address, version, place, problem: refused.to_string() })
            }
            other => {
                report_not_kept(&*self.reporter, &address, &version, other);
                Ok(None)
            }
        }
    }
}

#[async_trait]
impl Release for UpstreamRelease {
    fn id(&self) -> &ReleaseId {
        self.upstream.id()
    }

    fn published_as(&self) -> Option<&ProviderAddr> {
        self.upstream.published_as()
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.upstream.describe().await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        self.upstream.platforms().await
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        self.upstream.created().await
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.upstream).offer(platform).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        self.upstream.evidence(search).await
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        self.upstream.leaf_evidence().await
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        self.upstream.notice().await
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        self.upstream.zip_names().await
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        self.upstream.hashes().await
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        self.upstream.size(part).await
    }

    fn note_use(&self) {
        let key = (self.id().address.clone(), self.id().version.clone());
        if self.failed_keeping.is_recent(&key) {
            return;
        }
        let (fetch, failed_keeping, reporter) =
            ((self.fetch)(), Arc::clone(&self.failed_keeping), Arc::clone(&self.reporter));
        tokio::spawn(async move {
            if let Err(error) = fetch.await
                && failed_keeping.note(&key)
            {
                report_not_kept(&*reporter, &key.0, &key.1, &error);
            }
        });
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        if let Some(release) = self.kept().await?
            && let Some(kept) = equal_part(&release, part).await?
        {
            return release.open(&kept).await;
        }
        self.upstream.open(part).await
    }
}

fn report_not_kept(reporter: &dyn Reporter, address: &ProviderAddr, version: &Version, error: &MirrorError) {
    reporter.event(&Event::warning(error.code(), format!("{address} {version} is not kept: {error}")));
}

/// The part of a release with the same bytes; `None` if the part has no digest, or no package has it.
async fn equal_part(release: &Arc<dyn Release>, part: &Part) -> Result<Option<Part>, SourceError> {
    if part.digest.is_none() {
        return Ok(None);
    }
    let platforms = release.platforms().await?;
    let offers: Vec<_> = platforms.iter().map(|platform| Arc::clone(release).offer(platform)).collect();
    let mut offers = futures_util::stream::iter(offers).buffered(AT_ONCE);
    while let Some(offer) = offers.try_next().await? {
        if let Some(equal) = offer.package.parts().find(|one| one.digest == part.digest) {
            return Ok(Some(equal.clone()));
        }
    }
    Ok(None)
}

//! A release that the destination lacks, as its upstream offers it, until one of its packages is asked for.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tofu_oci_source::{
    ClaimedHashes, Created, Offer, Opened, Part, Release, ReleaseDescription, ReleaseId, Search, SourceError,
};
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Event, Platform, Reporter};

use crate::MirrorError;

/// Fetches the release into the destination.
pub(super) type FetchRelease =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn Release>, Arc<MirrorError>>> + Send + Sync>;

/// How long a package waits for the release to be fetched. After that it comes from the upstream itself.
const WAIT: Duration = Duration::from_secs(30);

/// A release of the upstream. What opens one of its packages has the whole release fetched.
pub(super) struct UpstreamRelease {
    pub(super) upstream: Arc<dyn Release>,
    pub(super) fetch: FetchRelease,
    pub(super) reporter: Arc<dyn Reporter>,
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
                let text = format!("{address} {version} is not kept: {other}");
                self.reporter.event(&Event::warning(other.code(), text));
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

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.upstream.describe().await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        self.upstream.platforms().await
    }

    async fn created(&self) -> Result<Option<Created>, SourceError> {
        self.upstream.created().await
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.upstream).offer(platform).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        self.upstream.evidence(search).await
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        self.upstream.notice().await
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        self.upstream.hashes().await
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        self.upstream.size(part).await
    }

    async fn open(&self, part: &Part) -> Result<Opened, SourceError> {
        if let Some(release) = self.kept().await?
            && let Some(kept) = equal_part(&release, part).await?
        {
            return release.open(&kept).await;
        }
        self.upstream.open(part).await
    }
}

/// The part of a release with the same bytes; `None` if the part has no digest, or no package has it.
async fn equal_part(release: &Arc<dyn Release>, part: &Part) -> Result<Option<Part>, SourceError> {
    if part.digest.is_none() {
        return Ok(None);
    }
    for platform in release.platforms().await? {
        let offer = Arc::clone(release).offer(&platform).await?;
        if let Some(equal) = offer.package.parts().find(|one| one.digest == part.digest) {
            return Ok(Some(equal.clone()));
        }
    }
    Ok(None)
}

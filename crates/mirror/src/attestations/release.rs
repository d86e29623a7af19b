//! A release with attestations beside it.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_source::{
    ClaimedHashes, Offer, Part, PartStream, Release, ReleaseDate, ReleaseDescription, ReleaseId, Search, SourceError,
    WantedPackage, ZipNames,
};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Platform, ProviderAddr};

/// A release with more evidence beside it than its place has.
pub(super) struct AttestedRelease {
    pub(super) release: Arc<dyn Release>,
    pub(super) evidence: Vec<Evidence>,
}

#[async_trait]
impl Release for AttestedRelease {
    fn id(&self) -> &ReleaseId {
        self.release.id()
    }

    fn published_as(&self) -> Option<&ProviderAddr> {
        self.release.published_as()
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.release.describe().await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        self.release.platforms().await
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        self.release.created().await
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.release).offer(platform).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn offer_to_fetch(
        self: Arc<Self>,
        platform: &Platform,
        wanted: &dyn WantedPackage,
    ) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.release).offer_to_fetch(platform, wanted).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        let mut found = self.release.evidence(search).await?;
        found.extend(self.evidence.iter().cloned());
        Ok(found)
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        self.release.leaf_evidence().await
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        self.release.notice().await
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        self.release.zip_names().await
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        self.release.hashes().await
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        self.release.size(part).await
    }

    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        self.release.store()
    }

    fn note_use(&self) {
        self.release.note_use();
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        self.release.open(part).await
    }
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::Digest;

    use super::*;
    use crate::transfer::tests::offered::OfferedRelease;

    #[tokio::test]
    async fn attestations_hid_the_signatures_of_manifests_of_platforms() {
        let unreadable = || Evidence::Unreadable { origin: Digest::sha256(b"leaf"), problem: "a leaf".to_owned() };
        let mut release = OfferedRelease::new("1.0.0", &["linux_amd64"]);
        release.leaf_evidence = vec![unreadable()];
        let attested = AttestedRelease { release: Arc::new(release), evidence: vec![unreadable()] };
        assert_eq!(attested.leaf_evidence().await.unwrap().len(), 1);
    }
}
